-- grant: `first` holds the name for its window, within which it has to renew. The write comes before the message: a
-- server that refuses the write (a replica, no memory) sends no message, and is_granted stays false. A grant ends the
-- time in which a free name is left to others. The stamps are the server's own: the member has that of the heartbeat.
local is_granted, id, span_ms = false, first[1], first[3]
-- include hold.lua
if not refused then
  is_granted = true
  gone[#gone + 1] = first[5]
  if has_star then gone[#gone + 1] = '*' end
  if #gone > 0 then call('ZREM', queue, unpack(gone)) end
  if first[2] ~= '-' then
    pcall(first[6], first[2],
      'G ' .. first[5] .. ' ' .. token .. ' ' .. time[1] .. ' ' .. time[2] .. ' ' .. name)
  end
end
