-- hold: makes `id` the holder of the free name under `token`, for `span_ms`; or sets `refused` to an error and leaves
-- nothing: a user without the right to set an expiry makes no hold.
refused = redis.pcall('HSET', name, id, token, 'mode', 'mutex')
if type(refused) ~= 'table' then
  refused = redis.pcall('PEXPIRE', name, span_ms)
  if type(refused) == 'table' then call('HDEL', name, id, 'mode') end
end
