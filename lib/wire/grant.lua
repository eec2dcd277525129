-- grant: makes `first` the holder for its window, within which it must renew, or does so for all of `chosen`. The write
-- comes before the messages: if the server refuses the write (a replica, no memory), no message is sent, and is_granted
-- stays false. A grant ends the time in which a free name is left to others. The times in the message are the server's
-- own. If the walk could go on, the next place is told to ask. granted_ms is the span of the grant, or the longest one.
local is_granted = false
granted_ms = chosen and 0 or first[3]
if chosen then
  -- include share.lua
else
  local id, span_ms = first[1], first[3]
  -- include hold.lua
end
if not refused then
  is_granted = true
  for i = 1, chosen and #chosen or 1 do
    local waiter = chosen and chosen[i] or first
    gone[#gone + 1] = waiter[5]
    if waiter[11] then
      heard = heard or {}
      heard[#heard + 1] = waiter[11]
    end
  end
  if has_star then gone[#gone + 1] = '*' end
  local member = chosen and is_cut and pcall('ZRANGE', queue, '64', '64')[1]
  -- include leave.lua
  -- include keep.lua
  for i = 1, chosen and #chosen or 1 do
    local waiter = chosen and chosen[i] or first
    if waiter[2] ~= '-' then
      pcall(waiter[6], waiter[2], '$GRANT_WORD ' .. waiter[1] .. ' ' .. waiter[9] .. ' ' .. waiter[10] .. ' ' ..
        waiter[3] .. ' ' .. (waiter[8] or token) .. ' ' .. time[1] .. ' ' .. time[2] .. ': ' .. name)
    end
  end
  if member then
    -- include record.lua place
    if id then
      -- include record.lua channel
      pcall(publish, channel, '$ASK_WORD ' .. id .. ' 0: ' .. name)
    end
  end
end
