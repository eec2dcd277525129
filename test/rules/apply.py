#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""apply.py ROOT OUT --rules FILE.. --lua SCRIPT.lua.. --c SOURCE.c.. - the library with all rules in it, each broken
behind a switch.

README.md has how a rule is written. Of each source a copy is made in OUT: where a rule has a patch both texts stand,
and HL_PLANTED(rule) decides when it runs. Of a script all texts are embedded, and hl_plant_switch (plant.c) puts one in
the place that the library knows. rules.def names what can be switched on, judged.def what must then go red. A patch
whose old text does not stand exactly once in its file, or that overlaps another, stops the build. What did not change is
not written, so it is not compiled again.

apply.py ROOT --pages RULES.. - whether each promise still stands on its page."""
import argparse
import collections
import hashlib
import os
import re
import sys

Patch = collections.namedtuple('Patch', 'rule path form old new where')
FORMS = {'expression', 'statement', 'text'}
KINDS = ['HL_PLANT', 'HL_SIM_PLANT', 'HL_TLS_PLANT', 'HL_RULE']
FINDERS = {'twins': 'HL_PLANT', 'sim': 'HL_SIM_PLANT', 'tls': 'HL_TLS_PLANT'}  # of a planted bug, and how it is listed


class Rule:
    def __init__(self, name, where):
        self.name, self.where = name, where
        self.page = self.promise = self.wrong = self.judge = self.test = self.wound = None
        self.patches = []


class Wrong(Exception):
    pass


def rules_of(path):
    """The rules of one file, in their order."""
    rules, old, new, target = [], [], [], None

    def end_of_patch():
        if target:
            rules[-1].patches.append(Patch(rules[-1].name, *target, '\n'.join(old), '\n'.join(new), where))
        old.clear(), new.clear()

    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file.read().split('\n'), 1):
            where = f'{path}:{number}'
            word, _, rest = line.strip().partition(' ')
            if not line.strip() or line.startswith('#'):
                continue
            if not line.startswith(' '):
                end_of_patch()
                target = None
                rules.append(Rule(line, where))
            elif not rules:
                raise Wrong(f'{where}: no rule begins here')
            elif word == 'breaks':
                rules[-1].page, _, rules[-1].promise = rest.partition(': ')
            elif word == 'wrong':
                rules[-1].wrong = rest
            elif word == 'in':
                end_of_patch()
                place, _, form = rest.partition(' ')
                if not place.endswith('.lua') and form not in FORMS:
                    raise Wrong(f'{where}: how is it put there? {", ".join(sorted(FORMS))}')
                target = place, form
            elif word == 'red':
                end_of_patch()
                target = None
                found = re.fullmatch(r'(\w+)/(\w+): (.*)', rest) or re.fullmatch(f'({"|".join(FINDERS)})()()', rest)
                if not found:
                    raise Wrong(f'{where}: "red <program>/<test>: <what it says>", or "red <{"|".join(FINDERS)}>"')
                rules[-1].judge, rules[-1].test, rules[-1].wound = found.groups()
            elif re.match(r'  [-+]( |$)', line):
                (old if line[2] == '-' else new).append(line[4:])
            else:
                raise Wrong(f'{where}: a line of a rule is breaks or wrong, in, -, + or red')
        end_of_patch()
    return rules


def checked(rules):
    names = collections.Counter(rule.name for rule in rules)
    for rule in rules:
        if not re.fullmatch(r'[A-Z][A-Z0-9_]+', rule.name) or names[rule.name] > 1:
            raise Wrong(f'{rule.where}: {rule.name}: one name for each, in capital letters')
        if not (rule.wrong if rule.judge in FINDERS else rule.promise) or not rule.patches or not rule.judge:
            raise Wrong(f'{rule.where}: {rule.name} needs what it breaks, or what is wrong then, in which file, and what goes red')
        if any(not patch.old for patch in rule.patches):
            raise Wrong(f'{rule.where}: {rule.name} has a patch without an old text')
    return rules


def place_of(text, patch):
    """(begin, end) of the old text."""
    count = text.count(patch.old)
    if count != 1:
        raise Wrong(f'{patch.where}: {patch.rule}: {patch.path} has this {count} times, and not once:\n{patch.old}')
    begin = text.index(patch.old)
    return begin, begin + len(patch.old)


def both(place_text, patches, line):
    """What stands in place of a text that one or several rules change; line: as the compiler is told where it stands."""
    form = patches[0].form
    if form == 'expression':
        return ''.join(f'(HL_PLANTED({patch.rule}) ? ({patch.new}) : ' for patch in patches) + \
            f'({place_text})' + ')' * len(patches)
    if form == 'statement':
        return '{ ' + ''.join(f'if (HL_PLANTED({patch.rule})) {{\n{patch.new}\n}} else ' for patch in patches) + \
            f'{{\n{line}{place_text}\n}} }}'
    return patches[0].new


def line_of(text, at, path):
    return f'#line {text.count(chr(10), 0, at) + 1} "{path}"\n'


def planted(text, patches, path):
    """The source with both texts; lines keep their numbers."""
    places = collections.defaultdict(list)
    for patch in patches:
        places[place_of(text, patch)].append(patch)
    made, at, before = [], 0, None
    for (begin, end), here in sorted(places.items()):
        if begin < at or len({patch.form for patch in here}) > 1 or (len(here) > 1 and here[0].form == 'text'):
            raise Wrong(f'{here[0].where}: {here[0].rule} overlaps {before or here[1].rule}')
        line_end = text.index('\n', end) + 1
        made += text[at:begin], both(text[begin:end], here, line_of(text, begin, path))
        following = [other for other in places if end <= other[0] < line_end]
        at, before = end, here[0].rule
        if not following:
            made += text[end:line_end], line_of(text, line_end, path)
            at = line_end
    return f'#include "base/plant.h"\n#line 1 "{path}"\n' + ''.join(made) + text[at:]


def flat(path):
    return path.removeprefix('lib/').replace('/', '_')


def c_text(text):
    return '\n'.join('    "%s\\n"' % line.replace('\\', '\\\\').replace('"', '\\"') for line in text.splitlines())


def sha1_of(text):
    return hashlib.sha1(text.encode()).hexdigest()


def scripts(embed, paths, changed):
    """scripts.c: each script as it is, and once for each rule that changes it. All are as long as the longest, by empty
    lines: so what the library knows of a script is only ever written over. changed: rule -> name of a file -> text."""
    made = ['/* Made of the .lua files by apply.py. */\n#include "plant.h"\n#include "wire/scripts.h"\n\n'
            '#pragma GCC diagnostic ignored "-Woverlength-strings"\n']
    stems, rows, unused = [], [], set(changed)
    for path in paths:
        stem = os.path.splitext(os.path.basename(path))[0]
        texts = {'NONE': embed.script(path)}
        for rule, files in changed.items():
            text = embed.script(path, files)
            if text != texts['NONE']:
                texts[rule] = text
        unused -= texts.keys()
        longest = max(len(text.encode()) for text in texts.values())
        texts = {rule: text + '\n' * (longest - len(text.encode())) for rule, text in texts.items()}
        stems.append(stem)
        made.append(f'\nstatic char {stem}_text[{longest + 1}], {stem}_sha1[41];\n'
                    f'const struct hl_script hl_script_{stem} = {{"{stem}", {stem}_text, {longest}, {stem}_sha1}};\n')
        rows += (f'    {{HL_PLANT_{rule}, {stem}_text, {stem}_sha1,\n{c_text(text)},\n    "{sha1_of(text)}"}},\n'
                 for rule, text in texts.items())
    if unused:
        raise Wrong(f'{", ".join(sorted(unused))}: changes no script')
    made.append('\nconst struct hl_script *const hl_scripts[] = {%s, 0};\n' % ', '.join(f'&hl_script_{s}' for s in stems))
    made.append('const struct plant_script plant_scripts[] = {\n' + ''.join(rows) + '    {0}};\n')
    return ''.join(made)


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def written(out, name, text):
    path = os.path.join(out, name)
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            if file.read() == text:
                return
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def made_in(asked):
    sys.path.insert(0, os.path.join(asked.root, 'lib/wire'))
    sys.dont_write_bytecode = True
    embed = __import__('embed')
    rules = checked([rule for path in asked.rules for rule in rules_of(path)])
    by_path = collections.defaultdict(list)
    for rule in rules:
        for patch in rule.patches:
            by_path[patch.path].append(patch)
    for path in asked.c:
        named = os.path.relpath(path, asked.root)
        with open(path, encoding='utf-8') as file:
            text = file.read()
        changed = by_path.pop(named, None)
        if '#include "base/mutant.h"' in text:
            changed = None  # ../mutants tries something else there
        written(asked.out, 'ruled_' + flat(named),
                planted(text, changed, path) if changed else f'#line 1 "{path}"\n{text}')
    of_scripts = collections.defaultdict(dict)
    for path in sorted(by_path):
        if not re.fullmatch(r'lib/wire/\w+\.lua|lib/link/tls\w*\.c', path):
            raise Wrong(f'{by_path[path][0].where}: {path} is no source of the library')
        with open(os.path.join(asked.root, path), encoding='utf-8') as file:
            whole = file.read()
        if path.endswith('.c'):
            planted(whole, by_path[path], path)  # a build without TLS has no use for it, but it must apply
            continue
        for patch in by_path[path]:
            text = of_scripts[patch.rule].get(os.path.basename(path), whole)
            begin, end = place_of(text, patch)
            of_scripts[patch.rule][os.path.basename(path)] = text[:begin] + patch.new + text[end:]
    written(asked.out, 'ruled_scripts.c', scripts(embed, asked.lua, of_scripts))
    written(asked.out, 'rules.def', '/* Made by apply.py. */\n' + ''.join(
        f'#ifndef {kind}\n#define {kind}(name, text)\n#endif\n' for kind in KINDS) + '#include "base/plants.def"\n' +
            ''.join(f'{FINDERS.get(rule.judge, "HL_RULE")}({rule.name}, {quoted(rule.wrong or rule.promise)})\n' for rule in rules))
    written(asked.out, 'judged.def', '/* Made by apply.py. */\n' + ''.join(
        f'JUDGED({rule.name}, {quoted(rule.judge)}, {quoted(rule.test)}, {quoted(rule.wound)})\n'
        for rule in rules if rule.judge not in FINDERS))


def words_of(text):
    """Without line ends, and without the stars before the lines of a comment."""
    return re.sub(r'\s+(\*\s+)?', ' ', text)


def withdrawn(root, paths):
    """Promises that their page does not make any more."""
    for rule in (rule for path in paths for rule in rules_of(path) if rule.page):
        with open(os.path.join(root, rule.page), encoding='utf-8') as file:
            if words_of(rule.promise) not in words_of(file.read()):
                yield f'{rule.where}: {rule.name}: {rule.page} does not say any more: {rule.promise}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('root')
    parser.add_argument('out', nargs='?')
    for what in ('rules', 'lua', 'c', 'pages'):
        parser.add_argument('--' + what, nargs='+')
    asked = parser.parse_args()
    try:
        if asked.pages:
            sys.exit('\n'.join(withdrawn(asked.root, asked.pages)) or 0)
        made_in(asked)
    except Wrong as wrong:
        sys.exit(str(wrong))


if __name__ == '__main__':
    main()
