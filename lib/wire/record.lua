-- record: a place in the queue, and its latest heartbeat. Only this text knows how they are written, and what a channel
-- in them means; mutex_acquire.lua lists the words. A member of the queue is '<holder> <place>', and the record of a
-- heartbeat is '<version> <asked_us> <beat>'.

-- part asked: takes `asks` apart. It sets `ticket` to a text, or leaves it nil: the request is a try. With a ticket it
-- sets `member`, and `beat` to the record of this heartbeat; nil: there is none. `most_waiting`: the caller has no
-- ticket, and gets none while so many others have one. `is_far`: the caller polls, and is not the first.
local ticket, member, beat, most_waiting, is_far
local ticket_end = string.find(asks, ' ', $NOT_AFTER_DIGITS + 2, true)
if ticket_end then
  local place_end = string.find(asks, ';', ticket_end, true)
  ticket = string.sub(asks, $NOT_AFTER_DIGITS + 2, ticket_end - 1)
  if ticket == '0' then
    most_waiting = $QUEUE_MAX
  elseif string.byte(ticket) == 45 then
    most_waiting, ticket = 0 - ticket, '0'
  end
  member = me .. string.sub(asks, ticket_end, place_end and place_end - 1 or -1)
  beat = place_end and '$RECORD_VERSION ' .. now .. string.sub(asks, place_end + 1)
  is_far = place_end and string.find(asks, ' $CHANNEL_POLLS ', place_end, true)
end

-- part named: takes the third argument of a release apart: `next` is the place of the next handle, `place` the one to
-- leave, with its holder; nil: there is none.
local next, place = ARGV[3], nil
if next == '' then
  next = nil
elseif next and next < '!' then
  next, place = nil, me .. next
end

-- part holders: sets `ids` to the holders of the members in `batch`, by which their records are found.
local ids = {}
for i = 1, #batch do ids[i] = string.match(batch[i], '^%S+') or '' end

-- part place: takes `member` apart. It sets `id`, the holder, and `channel`, `due`, `window_ms`, `block` and `limit`.
-- All are nil if it is no place of this version, or cannot be read. A word is found by the plain space behind it,
-- because a pattern walks over each letter.
local id, channel, due, window_ms, block, limit
do
  local id_end = string.find(member, ' ', 2, true)
  local version, space = string.byte(member, (id_end or 0) + 1, (id_end or 0) + 2)
  local channel_end = id_end and version == $RECORD_VERSION and space == 32 and
    string.find(member, ' ', id_end + 3, true)
  if channel_end then
    due, window_ms, block, limit = string.match(member, '^(%d+) (%d+) (%d+) (%d+)', channel_end + 1)
    if limit then id, channel = string.sub(member, 1, id_end - 1), string.sub(member, id_end + 3, channel_end - 1) end
  end
end

-- part beat: reads what is true of a place from now on: its latest heartbeat, if `record` is a text. It sets
-- `asked_us`, `number`, `due`, `channel` and `window_ms`; all are nil if the record cannot be read. Without a record
-- the words of the place are true.
-- A client that does not know the server's clock cannot say when its next heartbeat is due, but no client lets more
-- than PROMISE_MAX_MS pass between two. So the time counts from this server's own stamp of the latest one, or from the
-- ticket. Otherwise a poller of a client that is gone would stand first for as long as others wait.
if type(record) == 'string' then
  asked_us, number, due, channel, window_ms = string.match(record, '^$RECORD_VERSION (%d+) (%d+) (%d+) (%S+) (%d+)')
end
if due == '$DUE_NEVER_S' then
  local since_us = tonumber(asked_us == '0' and redis.pcall('ZSCORE', queue, member) or asked_us)
  if since_us then due = string.format('%.0f', math.floor(since_us / 1000000) + $PROMISE_MAX_MS / 1000 + 1) end
end

-- part channel: takes `channel` apart. If it is sharded, the mark in front is taken off. It sets `publish` and `count`,
-- which publish there and count its listeners; `is_poller`: nobody listens, and it is none; `kind`, its first letter,
-- by which a poller that is the first is known.
local kind, publish, count = string.byte(channel), 'PUBLISH', 'NUMSUB'
local is_poller = kind == $CHANNEL_POLLS or kind == $CHANNEL_POLLS_FIRST
if kind == $CHANNEL_SHARDED then
  channel, publish, count = string.sub(channel, 2), 'SPUBLISH', 'SHARDNUMSUB'
end
