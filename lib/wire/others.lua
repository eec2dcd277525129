-- others: after the walk of a release, for whose `first` the name would be: sets `others` to how many listen to the
-- unlock channel and to that of Redisson's first fair waiter. If nobody fits (`held` is 1e9) and the first place is
-- another than before, its waiter is told to ask: the first one listens for the release of another program.
if first and not others then others = pcall('PUBSUB', numsub, c_channel)[2] or 0 end
if first and java_waiter then others = others + (pcall('PUBSUB', numsub, java_waiter)[2] or 0) end
local is_head_new = held == 1e9 and (was_first or removed > 0)
if is_head_new and head and head[2] ~= '-' then
  pcall(head[6], head[2], '$ASK_WORD ' .. head[1] .. ' 0: ' .. name)
end
