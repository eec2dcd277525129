-- looked: the answer of a release that ended no hold, and left the queue or looked whether the name is free.
if not was_mine then
  local said = has_more and $FREED_MORE or 0
  return removed > 0 and said .. ' ' .. removed or said
end
