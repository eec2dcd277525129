-- place: puts `member` into the queue under `ticket` (a text), perhaps once more, and sets `is_added` to 1 if it was
-- not there. `id` and `beat` are its holder and the record of this heartbeat; beat nil: this is the first question,
-- which needs no record. If the server refuses a write, it sets `refused` to an error and leaves nothing. LT: the older
-- ticket stays, so a ticket is for life.
-- The record is written first: while a hash slot moves, that write is the one that may be refused. The expiry is set by
-- each heartbeat, by the first place of a queue (is_begun is false; a `*` alone has a shorter expiry), and with the
-- first number of each half minute.
local is_added
refused = nil
if beat then
  refused = pcall('HSET', places, id, beat)
  refused = type(refused) == 'table' and refused or nil
end
if not refused then
  is_added = pcall('ZADD', queue, 'LT', ticket, member)
  if type(is_added) == 'table' then
    refused = is_added
  elseif beat or has_star or not is_begun or
    last_us - last_us % $QUEUE_PERIOD_US ~= highest_us - highest_us % $QUEUE_PERIOD_US then
    refused = pcall('PEXPIRE', queue, '$QUEUE_LIVES_MS')
    if refused == 1 and beat then refused = pcall('PEXPIRE', places, '$QUEUE_LIVES_MS') end
    refused = type(refused) == 'table' and refused or nil
  end
  if refused then -- a user without the right to set an expiry gets no place
    if is_added == 1 then call('ZREM', queue, member) end
    if beat then call('HDEL', places, id) end
  end
end
