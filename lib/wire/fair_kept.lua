-- fair_kept: kept_free_ms is set to for how long a free name is left to other kinds; 0: it is not. More than any
-- release asks for was written before the clock was set back.
kept_free_ms = (call('HGET', waiters, '*') or 0) - now_ms
if kept_free_ms < 0 or kept_free_ms > 100 then kept_free_ms = 0 end
