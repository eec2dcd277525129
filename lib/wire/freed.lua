-- freed: frees the name, whose last holder is gone, and wakes those who listen. It sets `freed` to the answer of
-- mutex_release.lua. is_left: others were told that the name is free, and it is left to them for a moment while
-- somebody waits.
call('HDEL', name, 'mode')
-- by pcall: a user without the right to the channel still releases
local heard, freed = pcall(publish, c_channel, '0'), 1
if heard ~= 0 or java_waiter then
  local java_heard = java_waiter and pcall(publish, java_waiter, '0')
  freed = type(heard) == 'table' and $FREED_UNHEARD or 1 + heard
  local others = math.max(freed - 1, 0) + (tonumber(java_heard) or 0)
  if others > 0 and others > tonumber(string.match(terms, '%d+')) and not has_more then
    -- The others were told that the name is free, but our own waiters would be faster.
    -- include now.lua
    places = places or '$KEY_PLACE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
    if yields == nil then
      -- include yield.lua
    end
    if yields then
      if is_left then freed = $FREED_LEFT end
      pcall('ZADD', queue, string.format('-%.0f', now_us + $LEFT_MS * 1000), '*')
      local life_ms = pcall('PTTL', queue)
      if (type(life_ms) == 'table' or life_ms < 0) and type(pcall('PEXPIRE', queue, '100')) == 'table' then
        pcall('ZREM', queue, '*') -- without a queue, and no right to an expiry
      end
    end
  end
end
