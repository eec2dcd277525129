-- fair_grant: `first` holds it for a window, within which he has to renew. Written first and told last: a server that refuses the write (a
-- replica, no memory) tells nobody, and is_granted stays false. A grant ends the time in which FAIR keeps out.
local granted_ms = tonumber(first[4]) < tonumber(window_ms) and first[4] or window_ms
local id, span_ms = first[1], granted_ms
-- include hold.lua
if type(refused) ~= 'table' then
  is_granted = true
  gone[#gone + 1] = first[1]
  call('ZREM', queue, unpack(gone))
  gone[#gone + 1] = '*'
  call('HDEL', waiters, unpack(gone))
  if first[5] ~= '' then
    local since_asked_ms = string.format('%d', now_ms - first[2])
    redis.pcall(first[6], first[5], 'G ' .. first[1] .. ' ' .. first[3] .. ' ' .. since_asked_ms .. ' ' .. granted_ms .. ' ' .. token .. ' ' .. name)
  end
end
