-- kept: kept_free_us is set to for how long a free name is left to others; 0: it is not. More than any
-- release asks for was written before the clock was set back.
local kept_free_us = 0
do
  local top = call('ZRANGE', queue, '0', '0', 'WITHSCORES')
  if top[1] == '*' then has_star, kept_free_us = true, -top[2] - now_us end
  if kept_free_us < 0 or kept_free_us > 100000 then kept_free_us = 0 end
end
