-- beat: reads what is true of a place from now on: its latest heartbeat, if `record` is a text. It sets `asked_us`,
-- `number`, `due`, `channel` and `window_ms`; all are nil if the record cannot be read. Without a record the words of
-- the place are true.
if type(record) == 'string' then
  asked_us, number, due, channel, window_ms = string.match(record, '^$RECORD_VERSION (%d+) (%d+) (%d+) (%S+) (%d+)')
end
