-- leave: the places of `me` go into `gone`. The ticket says where; if nothing is there (a failover brought back an older queue), the whole
-- queue is looked through.
do
  local found = ticket ~= '?' and call('ZRANGEBYSCORE', queue, ticket, ticket) or {}
  if #found == 0 then found = call('ZRANGE', queue, '0', '-1') end
  for _, member in ipairs(found) do
    if string.sub(member, 1, #me + 1) == me .. ' ' then gone[#gone + 1] = member end
  end
end
