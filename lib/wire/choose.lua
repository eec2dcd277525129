-- choose: `first` is set to who is next, {holder, channel, window_ms, reserved, its member, command that publishes to it}, or stays nil.
-- By ticket the first who is ready; if none of 64 is, the first of them who is alive: its next heartbeat finds the grant. The dead go into `gone`.
-- Somebody skipped keeps the place. with_me: I am one of them, and ready. has_more: too many dead, the rest next time. has_star: `*` was met.
-- others: how many listen to c_channel, in the same question as the waiter's readiness; who may not ask is told that nobody does.
-- Mostly it is the first of all: it is looked at before a batch is fetched. By pcall: what is no queue has nobody in it.
do
  local from, to, deaf = 0, 0, nil
  repeat
    local batch = redis.pcall('ZRANGE', queue, tostring(from), tostring(to))
    for _, member in ipairs(batch) do
      local id, channel, window_ms, block, asked_us = string.match(member, '^(%S+) (%S+) (%d+) (%d+) %d+ (%d+)$')
      if member == '*' then
        has_star = true
      elseif id == me then
        if with_me then
          first = {me, nil, nil, nil, member}
          break
        end
      elseif not id or now_us > asked_us + 30000000 then
        gone[#gone + 1] = member
      else
        local publish, count = 'PUBLISH', numsub
        if string.byte(channel) == 33 then channel, publish, count = string.sub(channel, 2), 'SPUBLISH', 'SHARDNUMSUB' end
        local counts = redis.pcall('PUBSUB', count, channel, c_channel)
        local waiter = {id, channel, window_ms, block, member, publish}
        others = counts[4] or 0
        if channel == '-' or (counts[2] or 0) > 0 then
          first = waiter
          break
        end
        deaf = deaf or waiter
      end
    end
    if #batch == 0 or to > 0 then first = first or deaf end
    has_more = not first and #gone > 1000
    from, to = to + 1, to == 0 and 63 or to + 64
  until first or has_more or #batch == 0
end
