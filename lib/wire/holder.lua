-- holder: reads the hash of a name: `mine`, the value of `me`, if that is one of its fields; `mode`; and `holder`, the
-- first field that is neither. HSCAN and not HKEYS: another program may keep a million fields there. It shows a small
-- hash whole.
local mine, holder, mode
local seen = call('HSCAN', name, '0', 'COUNT', '16')
for i = 1, #seen[2], 2 do
  local field = seen[2][i]
  if field == me then
    mine = seen[2][i + 1]
  elseif field == 'mode' then
    mode = seen[2][i + 1]
  else
    holder = holder or field
  end
end
if seen[1] ~= '0' then mine = mine or (me and call('HGET', name, me)) end
