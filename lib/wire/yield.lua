-- yield: sets `yields` to whether the free name is left to others for 5 ms. The more often nobody took the name, the
-- rarer that becomes: not again before 10 ms, then 20, and up to 2.6 s. The field `*` of the records has how often
-- nobody took it, and until when it is not left to others again; a request that sees another program hold removes that
-- field. A time further ahead was written before the clock was set back, and does not count.
do
  local untaken, next_us = string.match(tostring(pcall('HGET', places, '*')), '^(%d+) (%d+)$')
  next_us = (next_us or 0) - now_us
  yields = next_us <= 0 or next_us > 3000000
  if yields then
    untaken = math.min((untaken or 0) + 1, 9)
  end
  -- In a cluster the key is not made here: its slot may be moving, and the records be at another server.
  if yields and (numsub == 'NUMSUB' or pcall('EXISTS', places) == 1) then
    pcall('HSET', places, '*', string.format('%.0f %.0f', untaken, now_us + 5000 * 2 ^ untaken))
    local life_ms = pcall('PTTL', places)
    if (type(life_ms) == 'table' or life_ms < 5000) and type(pcall('PEXPIRE', places, '5000')) == 'table' then
      pcall('HDEL', places, '*') -- no right to an expiry
    end
  end
end
