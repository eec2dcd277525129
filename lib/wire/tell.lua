-- tell: tells the waiters that lost their places although they may listen to ask again, each client once. The message
-- has the server's time, because they estimated that time when they made their promises.
for i = 1, #(late or '') do
  pcall(late[i][1], late[i][2], '$ASK_WORD ' .. late[i][3] .. ' 0 ' .. time[1] .. ' ' .. time[2] .. ': ' .. name)
end
