-- choose: sets `first` to the waiter that is next, or leaves it nil:
-- {holder, channel, window_ms, reserved, its member, command that publishes to it}.
-- The first ready waiter by ticket. If none of 64 is ready: `me`, if I ask for the first time; else the first of them
-- that is alive, whose next heartbeat finds the grant. A waiter that is skipped keeps its place. The dead go into
-- `gone`.
-- with_me: I am a waiter, and ready. has_more: too many are dead; the rest comes next time. has_star: the queue has a
-- `*`.
-- others: how many listen to c_channel, from the same question as the waiter's readiness; 0 for a user who may not ask.
-- It reads the first waiter before it fetches a batch, because that waiter is usually the one. By pcall: a key of
-- another type counts as an empty queue. A member's long words are found by plain spaces: a pattern walks over each of
-- their letters.
do
  local from, to, deaf = '0', '0', nil
  repeat
    local batch = pcall('ZRANGE', queue, from, to)
    for i = 1, #batch do
      local member = batch[i]
      local id_end = string.find(member, ' ', 2, true)
      local channel_end = id_end and string.find(member, ' ', id_end + 2, true)
      local id, window_ms, block, asked_us
      if channel_end then
        window_ms, block, asked_us = string.match(member, '^(%d+) (%d+) %d+ (%d+)$', channel_end + 1)
        id = asked_us and string.sub(member, 1, id_end - 1)
      end
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
        local channel, publish, count = string.sub(member, id_end + 1, channel_end - 1), 'PUBLISH', numsub
        if string.byte(channel) == 33 then
          channel, publish, count = string.sub(channel, 2), 'SPUBLISH', 'SHARDNUMSUB'
        end
        local counts = pcall('PUBSUB', count, channel, c_channel)
        local waiter = {id, channel, window_ms, block, member, publish}
        others = counts[4] or 0
        if channel == '-' or (counts[2] or 0) > 0 then
          first = waiter
          break
        end
        deaf = deaf or waiter
      end
    end
    if #batch == 0 or to ~= '0' then first = first or (deaf and with_me and not mine and {me}) or deaf end
    has_more = not first and #gone > 1000
    from, to = to + 1, to == '0' and 63 or to + 64
  until first or has_more or #batch == 0
end
