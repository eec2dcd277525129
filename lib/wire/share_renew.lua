-- share_renew: makes this share last for lease_ms from now on, at least. It never shortens a lease, never makes a
-- share anew, and names the token. A share whose lease has run out is over, even while its field is still in the hash:
-- the answer must not depend on whether somebody has removed the field meanwhile.
-- KEYS name share   ARGV lease_ms holder token
-- -> 0 not this share | 1 + the milliseconds that it had left
local call, name, share, me = redis.call, KEYS[1], KEYS[2], ARGV[2]
if call('HGET', name, me) ~= ARGV[3] then return 0 end
local left, until_us = call('PTTL', name), call('ZSCORE', share, me)
if until_us then
  -- include now.lua
  local left_us = until_us - now_us
  if left_us <= 0 then return 0 end
  call('ZADD', share, 'XX', 'GT', string.format('%.0f', now_us + ARGV[1] * 1000), me)
  if left < tonumber(ARGV[1]) then
    call('PEXPIRE', name, ARGV[1])
    call('PEXPIRE', share, ARGV[1])
  end
  return 1 + math.floor(left_us / 1000)
end
-- Either this hold has the name alone, because its downgrade was not done; or the set is lost. Then the first holder
-- that misses itself there puts all of them back, for as long as the name lives, so that the share of one that has
-- crashed is over some time.
if left < tonumber(ARGV[1]) then call('PEXPIRE', name, ARGV[1]) end
if call('HGET', name, 'mode') == 'shared' then
  -- include now.lua
  local life_ms = math.max(left, ARGV[1])
  local life = string.format('%.0f', now_us + math.max(left, 0) * 1000)
  local fields = call('EXISTS', share) == 0 and call('HSCAN', name, '0', 'COUNT', '1000')[2] or {}
  for i = 1, #fields, 2 do
    if fields[i] ~= 'mode' and fields[i] ~= me then call('ZADD', share, 'NX', life, fields[i]) end
  end
  call('ZADD', share, string.format('%.0f', now_us + life_ms * 1000), me)
  call('PEXPIRE', share, life_ms)
end
return 1 + math.max(left, 0)
