-- beat: what holds of a place from now on, where its `record` is a text: its latest heartbeat. Sets `asked_us`,
-- `number`, `due`, `channel` and `window_ms`; all are nil if the record cannot be read. Without a record the words of
-- the place hold.
if type(record) == 'string' then
  asked_us, number, due, channel, window_ms = string.match(record, '^1 (%d+) (%d+) (%d+) (%S+) (%d+)')
end
