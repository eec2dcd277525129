-- waiting: sets `ready` to how many of the first 64 places are ready, as far as this server can tell: the promise is
-- not overdue, and somebody listens. If the user lacks a right to ask for one of these, the place counts as ready.
local ready = 0
if length > 0 then
  -- include now.lua
  local at, ids = call('ZCOUNT', queue, '-inf', '(1'), {}
  local members = call('ZRANGE', queue, at, at + 63)
  for i = 1, #members do ids[i] = string.match(members[i], '^%S+') or '' end
  local records = redis.pcall('HMGET', '$KEY_PLACE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1), unpack(ids))
  for i = 1, #members do
    local member, record, asked_us, number = members[i], records[i], '0', nil
    -- include record.lua
    -- include beat.lua
    if window_ms and (records.err or time[1] <= due) then
      local kind, count = string.byte(channel), 'NUMSUB'
      if kind == $CHANNEL_SHARDED then channel, count = string.sub(channel, 2), 'SHARDNUMSUB' end
      local listens = kind == $CHANNEL_POLLS or kind == $CHANNEL_POLLS_FIRST or
        redis.pcall('PUBSUB', count, channel)[2] ~= 0
      if listens then ready = ready + 1 end
    end
  end
end
