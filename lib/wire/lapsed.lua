-- lapsed: reads ARGV[4] into `lapsed`, client -> when it was granted the name. If the newest of these grants still
-- stands as it was made, it is ended here: the name is free, and left is -2.
-- A grant to a waiter stands for its window, which is longer than its client may rely on it (by a fiftieth and 20 ms).
-- So until here nobody else could take the name and hide whose grant lapsed. Once the shorter time is over by this
-- server's clock, the client does not count the grant as its own any more.
-- The grant stands as it was made if its own holder still holds the name and the hold ends when the window does: any
-- renewal moves that end by 50 ms at least, because a window is that much shorter than its lease. Otherwise it is
-- another hold, perhaps of the same client, and is left alone.
-- If the name is held all the same, these grants may have been used and released, and then their clients live. Only a
-- share that is still there, and is over, shows that nobody used it. Without that, nobody has lapsed.
lapsed = {}
do
  local window_ms = tonumber(string.match(ARGV[4], '^%d+'))
  local newest, newest_us
  for holder, us in string.gmatch(ARGV[4], ' (%S+) (%d+)') do
    local client = string.sub(holder, 1, $UUID_LENGTH)
    newest, newest_us = newest or holder, newest_us or us + 0
    lapsed[client] = lapsed[client] or us + 0
  end
  if newest and mode == 'mutex' and left > 0 and
    now_us >= newest_us + (window_ms - window_ms / $WINDOW_REST_PART - $WINDOW_REST_MS) * 1000 and
    now_us / 1000 + left <= newest_us / 1000 + window_ms + 2 then
    local mine, mode, holder, seen
    -- include holder.lua
    if holder == newest and #seen[2] == 4 then
      call('HDEL', name, holder, 'mode')
      left = -2
    end
  end
  if left ~= -2 then
    local share = '$KEY_SHARE' .. string.sub(queue, $KEY_QUEUE_LENGTH + 1)
    local ends = newest and mode == 'shared' and tonumber(pcall('ZSCORE', share, newest))
    if not ends or ends > now_us then lapsed = {} end
  end
end
if left == -2 then mode = false end
