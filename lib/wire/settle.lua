-- settle: ends a release that granted nothing: removes the places that the walk found gone, and tells their waiters.
-- include leave.lua
-- the last place is gone, so there is nobody for whom a free name would be kept from others
if has_star and call('ZCOUNT', queue, '1', '+inf') == 0 then call('ZREM', queue, '*') end
-- include tell.lua
