-- share: makes all of `chosen` holders of the name, which is free (`left` is -2) or shared. Their tokens follow each
-- other from `token` on, and each holds for a span of its own. Or it sets `refused` to an error and leaves nothing. The
-- set `share` has the end of each share, and `name` lives as long as the longest. A set that stands beside a free name
-- belonged to a hash that another program has deleted; is_alone: there is no such set. The token of each is put into
-- [8] of its entry in `chosen`.
do
  local fields, ends, at, last_ms = {}, {}, nil, nil
  for i = 1, #chosen do
    local waiter = chosen[i]
    local span_ms = waiter[3] + 0
    waiter[8] = i == 1 and token or string.format('%.0f', token_us + i - 1)
    fields[2 * i - 1], fields[2 * i] = waiter[1], waiter[8]
    if span_ms ~= last_ms then at, last_ms = string.format('%.0f', now_us + span_ms * 1000), span_ms end
    ends[2 * i - 1], ends[2 * i] = at, waiter[1]
    if span_ms > granted_ms then granted_ms = span_ms end
  end
  if left == -2 then
    if not is_alone then pcall('DEL', share) end
    fields[#fields + 1], fields[#fields + 2] = 'mode', 'shared'
  end
  refused = pcall('HSET', name, unpack(fields))
  if type(refused) ~= 'table' then
    refused = pcall('ZADD', share, unpack(ends))
    if type(refused) ~= 'table' and granted_ms > left then
      refused = pcall('PEXPIRE', name, granted_ms)
      if type(refused) ~= 'table' then refused = pcall('PEXPIRE', share, granted_ms) end
    end
    if type(refused) == 'table' then
      for i = 1, #chosen do
        pcall('ZREM', share, chosen[i][1])
        call('HDEL', name, chosen[i][1])
      end
      if left == -2 then call('HDEL', name, 'mode') end
    else
      refused = nil
      -- The client that made these grants looks again when the usable part of granted_ms is over (lapsed.lua). By then
      -- the longest of these windows must be over, because a share is removed only when its time is.
      granted_ms = math.floor(granted_ms * $WINDOW_REST_PART / ($WINDOW_REST_PART - 1)) + $WINDOW_REST_MS + 2
    end
  end
end
