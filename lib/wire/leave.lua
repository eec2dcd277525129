-- leave: puts the places of `me` into `gone`; by pcall, because a hold may be released already. The ticket says where
-- they are. If nothing is there (a failover brought back an older queue), it searches the whole queue.
do
  local found = ticket ~= '?' and redis.pcall('ZRANGEBYSCORE', queue, ticket, ticket) or {}
  if #found == 0 then found = redis.pcall('ZRANGE', queue, '0', '-1') end
  for _, member in ipairs(found) do
    if string.sub(member, 1, #me + 1) == me .. ' ' then gone[#gone + 1] = member end
  end
end
