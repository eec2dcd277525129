-- fair_next: `first` is set to who is next, {id, asked_ms, number, lease_ms, channel, command that publishes there}, or stays nil.
-- By ticket the first who is ready; if none of 64 is, the first of them who is alive: his next heartbeat finds the grant. The dead go.
-- Somebody skipped keeps his place. with_me: I am one of them, and ready. has_more: too many dead, the rest next time.
-- Mostly it is the first of all: he is looked at before a batch is fetched.
local from, to, deaf = 0, 0, nil
repeat
  local batch = call('ZRANGE', queue, tostring(from), tostring(to))
  for _, id in ipairs(batch) do
    if id ~= me then
      local entry = call('HGET', waiters, id) or ''
      local asked_ms, alive_ms, number, lease_ms, channel = string.match(entry, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
      if not asked_ms or now_ms > asked_ms + alive_ms then
        gone[#gone + 1] = id
      else
        local publish, numsub = 'PUBLISH', 'NUMSUB'
        if string.byte(channel) == 33 then channel, publish, numsub = string.sub(channel, 2), 'SPUBLISH', 'SHARDNUMSUB' end
        local waiter = {id, asked_ms, number, lease_ms, channel, publish}
        -- who may not ask is told that nobody listens
        if channel == '' or (redis.pcall('PUBSUB', numsub, channel)[2] or 0) > 0 then
          first = waiter
          break
        end
        deaf = deaf or waiter
      end
    elseif with_me then
      first = {me}
      break
    end
  end
  if #batch == 0 or to > 0 then first = first or deaf end
  has_more = not first and #gone > 1000
  from, to = to + 1, to == 0 and 63 or to + 64
until first or has_more or #batch == 0
