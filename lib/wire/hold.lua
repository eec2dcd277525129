-- hold: `id` becomes the holder of the free name under `token`, for `span_ms`; or `refused` is an error, and nothing
-- is left: who may not set an expiry makes no hold without one.
refused = redis.pcall('HSET', name, id, token, 'mode', 'mutex')
if type(refused) ~= 'table' then
  refused = redis.pcall('PEXPIRE', name, span_ms)
  if type(refused) == 'table' then call('HDEL', name, id, 'mode') end
end
