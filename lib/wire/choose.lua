-- choose: the walk along the queue. It sets `first` to the waiter that is next, or leaves it nil:
-- {holder, channel, span_ms, reserved, its place, command that publishes to it, most, room for its token, number and
-- time of its heartbeat, its holder if it has a record}
-- [7], most, is how many may hold the name together with this waiter; nil: it wants the name for itself. If it shares,
-- `chosen` is the list of all waiters that get their share now, and `first` is the first of them. They follow each
-- other in the queue, up to the first one that does not fit. `head` is the first waiter that is ready, whether it fits
-- or not.
-- A waiter that is not ready goes into `gone`, and its record, if it has one, into `heard`. It is not ready in one of
-- three cases. Its promised heartbeat is overdue (compared as text, in seconds of the server). Or it belongs to a
-- client whose grant has lapsed, and has not asked since (lapsed: client -> when it was granted the name). Or the
-- server says that nobody listens on its channel. Its ticket is for life: a living client brings the ticket along with
-- its next question. `removed` counts such waiters: 1 for each that nobody listens for, 1000 for each that is overdue,
-- 1000000 for each whose grant lapsed. Those that may listen all the same are put into `late`, one for each channel, so
-- that they are told.
-- A waiter whose listeners may not be asked for is ready. A poller is ready while it looks in short steps because it is
-- first (`~`). Any other poller (`-`) is skipped and keeps its place, and so is a place that cannot be read.
-- Set by the caller: `left`: -2 if the name is free. `held`: how many hold it now; 1e9: nobody fits. `with_me`: the
-- caller is a waiter, and ready. `is_shut`: nobody may have the name now.
-- Set here as well: `held` includes those chosen. `takes`: the caller is among the chosen. `is_shut`: nobody behind the
-- chosen may have the name now. `is_cut`: 64 places were looked at and the walk is not over. `has_more`: the same, and
-- some of the 64 are removed, so that the next call sees others. `has_star`: the queue has a `*`. `has_marks`: the
-- queue may have members that are no places, which would stand in front. `others`: how many listen to c_channel, from
-- the same question that asked for a waiter's listeners; nil: not asked.
-- The walk reads the first place alone, because that one is usually the next; then seven more, then the others. It
-- reads by pcall, so a key of another type counts as an empty queue. The listeners of a channel are asked for once.
do
  local from, to, asked, last_channel, before = '0', '0', nil, nil, #gone
  repeat
    local batch, records = pcall('ZRANGE', queue, from, to), nil
    if to ~= '0' and #batch > 0 then
      -- include record.lua holders
      records = pcall('HMGET', places, unpack(ids))
    end
    for i = 1, #batch do
      local member, waiter = batch[i], nil
      -- include record.lua place
      if i == 1 and to == '0' then has_marks = not id end
      if id == me then
        if with_me then waiter = {me, '-', ARGV[2], 0, member, nil, most and most + 0} end
      elseif id then
        local number, asked_us, record = '1', '0', nil
        if records then record = records[i] else record = pcall('HGET', places, id) end
        -- include record.lua beat
        if window_ms then
          local listens, weight = 1, nil
          -- include record.lua channel
          -- a record that may not be read is not a missing record: such a place is not overdue
          local is_unread = type(record) == 'table' or records and records.err
          if not is_unread and time[1] > due then
            weight = $REMOVED_OVERDUE
          elseif lapsed and (asked_us == '0' and pcall('ZSCORE', queue, member) or asked_us) + 0 <=
            (lapsed[string.sub(id, 1, $UUID_LENGTH)] or 0) then
            weight = $REMOVED_LAPSED
          elseif not is_poller then
            listens = asked and asked[channel]
            if not listens then
              local counts = pcall('PUBSUB', count, channel, c_channel)
              listens = counts[2] or 1
              if count == numsub then others = counts[4] or 0 end
              if records or limit ~= '1' then
                asked = asked or {}
                asked[channel] = listens
              end
            end
            weight = listens == 0 and $REMOVED_UNHEARD or nil
          end
          if weight then
            -- The count is that of this server alone: a channel that is not sharded may have its listener at another
            -- node.
            if not (listens == 0 and kind == $CHANNEL_SHARDED or is_poller or channel == last_channel) and
              #(late or '') < 8 then
              late = late or {}
              late[#late + 1], last_channel = {publish, channel, id}, channel
            end
            removed = removed + weight
            gone[#gone + 1] = member
            if record then
              heard = heard or {}
              heard[#heard + 1] = id
            end
          elseif not is_poller or kind == $CHANNEL_POLLS_FIRST and now_us - asked_us < 150000 then
            waiter = {id, is_poller and '-' or channel, window_ms, block, member, publish,
              limit ~= '1' and limit + 0 or nil, nil, number, asked_us, record and id or nil}
          end
        end
      elseif member == '*' then
        has_star = true
      end
      if waiter then
        local most_there = waiter[7]
        head = head or waiter
        if held >= (most_there or 1) then
          is_shut = true
        elseif not most_there then
          first, is_shut = waiter, true
        else
          first, chosen, held = first or waiter, chosen or {}, held + 1
          chosen[#chosen + 1], takes = waiter, takes or id == me
        end
        if is_shut then break end
      end
    end
    is_cut = not is_shut and to == '63' and #batch == 56
    has_more = is_cut and #gone > before
    if to == '0' and #batch == 1 then
      from, to = '1', '7'
    elseif to == '7' and #batch == 7 then
      from, to = '8', '63'
    else
      to = nil
    end
  until is_shut or not to
end
