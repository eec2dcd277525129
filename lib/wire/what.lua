-- what: behind holder: 'mutex' a lock of ours; 'rlock' a Redisson RLock: one field, and no `mode`; 'read', 'write'
-- its RReadWriteLock; '' nothing; or 'other'.
local what = 'other'
if seen[1] ~= '0' then mode = mode or call('HGET', name, 'mode') end
if mode == 'mutex' or mode == 'read' or mode == 'write' then
  what = mode
elseif seen[1] == '0' and not mode and #seen[2] <= 2 then
  what = #seen[2] == 2 and 'rlock' or ''
end
