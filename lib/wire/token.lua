-- token: sets `token`, as text, to max(the highest given + 1, now), and reserves `reserved` more; or leaves it nil and
-- sets `refusal` to an error: the key holds no token of ours, and keeps what it holds. So tokens rise even if the key
-- is lost or the clock steps back. SET .. GET reads and writes in one. The key lives for token_life_ms, two periods.
-- Its expiry is set unless the last, this and the highest token lie in one period, so at least one period is always
-- left.
local highest = string.format('%d', now_us + reserved)
local before = redis.pcall('SET', token_key, highest, 'KEEPTTL', 'GET')
local last = before and 9e15 or 0
if type(before) == 'string' and string.find(before, '^%d+$') then last = tonumber(before) end
if type(before) == 'table' then
  refusal = before
elseif last >= 9e15 then
  call('SET', token_key, before, 'KEEPTTL')
  refusal = redis.error_reply('BADTOKEN the token key of this name holds no token of ours')
else
  local first_us = last >= now_us and last + 1 or now_us
  local last_us, period_us = first_us + reserved, token_life_ms * 500
  local this = now_us - now_us % period_us
  token, highest = string.format('%d', first_us), string.format('%d', last_us)
  if last - last % period_us ~= this or last_us - last_us % period_us ~= this then
    call('SET', token_key, highest, 'PX', token_life_ms)
  elseif last >= now_us then
    call('SET', token_key, highest, 'KEEPTTL')
  end
end
