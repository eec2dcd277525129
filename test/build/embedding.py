# SPDX-License-Identifier: BSD-3-Clause
"""embedding.py WIRE_FOLDER - what embed.py makes of a script: parts and constants stand where they are named; and it
refuses a script that uses a name which it does not declare, a constant or a part that does not exist, and a constant
that no script uses."""
import os
import sys
import tempfile

from outside import write

HEADER = """enum {
    HL_MOST = 64,   /* so many */
    HL_GONE = -2
};
#define HL_MARK "!" /* in front */
#define HL_KEY "hilock:x"
"""
STEP = """-- step: two parts.
-- part read: sets `word`
local word = string.match(text, '^$MARK(%d+)$')
-- part tell: needs `word`
if word then redis.call('PUBLISH', word, '$KEY ' .. #word) end
"""
SCRIPT = """-- say: says it
local text, n = ARGV[1], $MOST + 1
do
  -- include step.lua read
  -- include step.lua tell
end
for i = 1, n do
  local t = {n, [i] = text, text = -n}
  if t[i] == '$GONE' then return $GONE elseif not t.text then break else n = string.byte(text) == $MARK and n end
end
repeat local last = n until last == n
return (n)
"""
MADE = """local text, n = ARGV[1], 64 + 1
do
local word = string.match(text, '^!(%d+)$')
if word then redis.call('PUBLISH', word, 'hilock:x ' .. #word) end
end
for i = 1, n do
local t = {n, [i] = text, text = -n}
if t[i] == '-2' then return -2 elseif not t.text then break else n = string.byte(text) == 33 and n end
end
repeat local last = n until last == n
return (n)
"""
REFUSED = [  # what it says, and what is written in place of what
    ('"word" is not declared where it is used: if word then', '-- include step.lua read', ''),
    ('"txt" is not declared', 'return (n)', 'return (txt)'),
    ('"m" is not declared where it is used: m = 1', 'return (n)', 'm = 1'),
    ('"i" is not declared', 'return (n)', 'return (i)'),            # the loop is over
    ('"word" is not declared', 'return (n)', 'return (word)'),      # so is the block
    ('"last" is not declared', 'return (n)', 'return (last)'),
    ('"a" is not declared', 'return (n)', 'local a = a'),           # there is none yet
    ('"print" is not declared', 'return (n)', 'print(n)'),
    ('"next" is not declared', 'return (n)', 'return {next = next}'),
    ('cannot be read at "function"', 'return (n)', 'local f = function() end'),
    ('cannot be read at ""', 'return (n)', 'if n then'),
    ('cannot be read at "end"', 'return (n)', 'end'),
    ('protocol.h has no HL_LEAST', '$MOST', '$LEAST'),
    ('protocol.h has no HL_KEY that is a number', '$MOST', '$KEY'),
    ('no script uses MOST', '$MOST', '64'),
    ('step.lua has no part "readd", but', 'lua read', 'lua readd'),
    ('step.lua has no part "", but', 'lua read', 'lua'),
]


def made(embed, folder, script):
    write(folder, 'say.lua', script)
    try:
        embed.embedded([os.path.join(folder, 'say.lua')])
        return embed.script(os.path.join(folder, 'say.lua'))
    except embed.Refused as refused:
        return str(refused)


def main(wire):
    sys.path.insert(0, wire)
    embed = __import__('embed')
    with tempfile.TemporaryDirectory() as folder:
        write(folder, 'protocol.h', HEADER)
        write(folder, 'step.lua', STEP)
        wrong = [f'{MADE}was due, and this was made:\n{text}' for text in [made(embed, folder, SCRIPT)] if text != MADE]
        for says, old, new in REFUSED:
            assert SCRIPT.count(old) == 1, old
            text = made(embed, folder, SCRIPT.replace(old, new))
            if says not in text or text.startswith('local'):
                wrong.append(f'{new or "nothing"} in place of {old}: "{says}" was due, and this was made:\n{text}')
    sys.exit('\n'.join(wrong) or 0)


if __name__ == '__main__':
    main(*sys.argv[1:])
