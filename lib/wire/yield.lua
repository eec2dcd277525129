-- yield: sets `yields` to whether the free name is left to others for 5 ms. The more often nobody took it the rarer:
-- then not again before 10 ms, 20, and up to 2.6 s. `*` among the records has how often, and until when not; who
-- sees another program hold takes it out. A time further ahead was written before the clock was set back.
do
  local untaken, next_us = string.match(tostring(pcall('HGET', places, '*')), '^(%d+) (%d+)$')
  next_us = (next_us or 0) - now_us
  yields = next_us <= 0 or next_us > 3000000
  if yields then
    untaken = math.min((untaken or 0) + 1, 9)
  end
  -- in a cluster the key is not made here: its slot may be moving, and its records be elsewhere
  if yields and (numsub == 'NUMSUB' or pcall('EXISTS', places) == 1) then
    pcall('HSET', places, '*', string.format('%.0f %.0f', untaken, now_us + 5000 * 2 ^ untaken))
    local life_ms = pcall('PTTL', places)
    if (type(life_ms) == 'table' or life_ms < 5000) and type(pcall('PEXPIRE', places, '5000')) == 'table' then
      pcall('HDEL', places, '*') -- no right to an expiry
    end
  end
end
