-- record: takes the place `member` apart into its words, which mutex_acquire.lua lists. It sets `id`, the holder, and
-- `channel`, `due`, `window_ms`, `block` and `limit`. All are nil if it is no place of this version, or cannot be read.
-- Only this text knows how a place is written. A word is found by the plain space behind it, because a pattern walks
-- over each letter.
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
