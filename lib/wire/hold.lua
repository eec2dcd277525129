-- hold: makes `id` the holder of the free name under `token`, for `span_ms`; or sets `refused` to an error and leaves
-- nothing: a user without the right to set an expiry makes no hold. HSET answers 2 where it made the key.
refused = pcall('HSET', name, id, token, 'mode', 'mutex')
if refused == 2 or type(refused) ~= 'table' then
  refused = pcall('PEXPIRE', name, span_ms)
  if refused == 1 then
    refused = nil
  else
    call('HDEL', name, id, 'mode')
  end
end
