-- tell: those that lost their places although they may listen are told to ask again, each client once, and what time
-- it is here: their promises were made by their estimate of it.
for i = 1, #(late or '') do
  pcall(late[i][1], late[i][2], 'F1 ' .. late[i][3] .. ' 0 ' .. time[1] .. ' ' .. time[2] .. ': ' .. name)
end
