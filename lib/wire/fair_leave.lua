-- fair_leave: those who are gone leave the queue, where nobody was granted.
if #gone > 0 then
  call('HDEL', waiters, unpack(gone))
  if call('ZREM', queue, unpack(gone)) > 0 and call('EXISTS', queue) == 0 then call('DEL', waiters) end
end
