-- what: after holder: 'mutex' a lock of ours; 'rlock' a Redisson RLock: one field, <client>:<thread>, its value a
-- count, and no `mode`; 'read', 'write' its RReadWriteLock; '' nothing; or 'other', for example a map with one entry.
local what = 'other'
if seen[1] ~= '0' then mode = mode or call('HGET', name, 'mode') end
if mode == 'mutex' or mode == 'read' or mode == 'write' then
  what = mode
elseif seen[1] == '0' and not mode and #seen[2] <= 2 then
  local field, value = seen[2][1], seen[2][2]
  if not field then
    what = ''
  elseif string.match(field .. ':', ':%-?%d+:') and string.match(value, '^%d+$') then
    what = 'rlock'
  end
end
