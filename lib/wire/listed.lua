-- listed: puts the holders of the name behind the answer of a peek, LISTED_MAX at most, those first that last longest.
-- Each takes three items: the holder, its value (the token, if it is ours), and what is left of its lease in ms; -1: no
-- end. Their lengths are cut, because another program may keep anything in its hash. If the set of a shared name is
-- lost, or may not be read, the fields that HSCAN showed are listed, with the time that the name has left.
do
  local ids, ends, values = {}, {}, nil
  local members = what == 'shared' and redis.pcall('ZRANGE', share, '-$LISTED_MAX', '-1', 'WITHSCORES') or {}
  for i = #members - 1, 1, -2 do
    local left_us = members[i + 1] - now_us
    if left_us > 0 then ids[#ids + 1], ends[#ends + 1] = members[i], math.ceil(left_us / 1000) end
  end
  if #ids > 0 then
    values = call('HMGET', name, unpack(ids))
  elseif what ~= 'other' then
    values = {}
    for i = 1, #seen[2], 2 do
      if seen[2][i] ~= 'mode' and #ids < $LISTED_MAX then
        ids[#ids + 1], ends[#ends + 1], values[#values + 1] = seen[2][i], left, seen[2][i + 1]
      end
    end
  end
  for i = 1, #ids do
    if values[i] then
      answer[#answer + 1] = string.sub(ids[i], 1, $PEEKED_HOLDER_MAX)
      answer[#answer + 1] = string.sub(values[i], 1, 20)
      answer[#answer + 1] = ends[i]
    end
  end
end
