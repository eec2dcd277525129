-- fair_token: `token` is set to max(highest + 1, now), as for a MUTEX; to nil if the key holds none of ours, and `refusal` to an error.
-- SET .. GET reads and writes in one.
token = time[1] .. string.sub('00000' .. time[2], -6)
local highest = redis.pcall('SET', token_key, token, 'PX', token_life_ms, 'GET')
local last = type(highest) == 'string' and tonumber(highest) or 0
if type(highest) == 'table' then
  token, refusal = nil, highest
elseif last >= 9e15 then
  call('SET', token_key, highest, 'PX', token_life_ms)
  token, refusal = nil, redis.error_reply('BADTOKEN the token key of this name holds no token of ours')
elseif last >= now_us then
  token = string.format('%d', last + 1)
  call('SET', token_key, token, 'PX', token_life_ms)
end
