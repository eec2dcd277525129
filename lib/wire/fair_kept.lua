-- fair_kept: kept_free_us is set to for how long a free name is left to other kinds; 0: it is not. More than any
-- release asks for was written before the clock was set back.
local kept_free_us = 0
do
  local top = call('ZRANGE', queue, '0', '0', 'WITHSCORES')
  if top[1] == '*' then kept_free_us = -top[2] - now_us end
  if kept_free_us < 0 or kept_free_us > 100000 then kept_free_us = 0 end
end
