-- waiting: sets `ready` to how many of the first 64 places are ready, as far as this server can tell: the promise is
-- not overdue, and somebody listens. If the user lacks a right to ask for one of these, the place counts as ready.
local ready = 0
if length > 0 then
  -- include now.lua
  local at = call('ZCOUNT', queue, '-inf', '(1')
  local batch = call('ZRANGE', queue, at, at + 63)
  -- include record.lua holders
  local records = redis.pcall('HMGET', '$KEY_PLACE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1), unpack(ids))
  for i = 1, #batch do
    local member, record, asked_us, number = batch[i], records[i], '0', nil
    -- include record.lua place
    -- include record.lua beat
    if window_ms and (records.err or time[1] <= due) then
      -- include record.lua channel
      local listens = is_poller or redis.pcall('PUBSUB', count, channel)[2] ~= 0
      if listens then ready = ready + 1 end
    end
  end
end
