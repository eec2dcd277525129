# SPDX-License-Identifier: BSD-3-Clause
"""counts.py [ROOT [BUILD [BEFORE]]] - what the inside of lib/ weighs, as a page with the commit that it is of: files and
ties; flags of every sort; tables of calls; planted bugs; who knows the queue's record; and, with a build directory, what
six walks pass. BEFORE is such a page: its figures stand beside these. Not a test: figures to set beside others. Needs
python3-clang (state.py), binutils and, with BUILD, redis-server. COUNTS.md is made so:

    /usr/bin/python3 test/build/counts.py . BUILD test/build/COUNTS.md >new && mv new test/build/COUNTS.md

Exit status 1: a planted struct was counted wrongly, a source could not be read, or MEANT names a member that is gone.
Ties and circles are of calls and includes in the sources (circles.py). A walk is what walks.c calls, while it runs."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

import circles
import outside
import state

LOCK = ('core/', 'hold/', 'wait/', 'lock/')  # wait is a part of lock since 72af9d92
MACHINE = (*LOCK, 'group/')
FEATURES = {  # words of it, and the files that are its own
    'FAIR': (r'\bhl_fair_\w+|HILOCK_FAIR', 'fair'),
    'multi': (r'\bhl_multi_\w+|\bmulti\b', 'multi'),
    'quorum': (r'\bhl_quorum_\w+|hl_masters_\w+|\bis_quorum\b|\bmasters\b', 'quorum'),
    'hand-off': (r'\bhl_tenure_(?:next|hand_on)\b|\bhand(?:s|ed)?_(?:off|on|over)\w*', 'tenure'),
    'replicas': (r'\bhl_replicas_\w+|\breplicas\b', 'replicas'),
}

# Pointers, times and numbers whose NULL or 0 (or another value, if it says so) means more than "not there". Judged by
# hand, because only a reader can. A member that is gone is red: mend this table.
MEANT = {
    ('hl_acquire', 'hold'): 'NULL: its turn to ask has not come',
    ('hl_acquire', 'place'): 'NULL: it waits without a place in the queue',
    ('hl_cell', 'core'): 'NULL: the client is gone',
    ('hl_extend', 'attempts'): '0: it was not asked for yet',
    ('hl_hold', 'due_at_us'): '0: the alarm is stopped',
    ('', 'extended_until_us'): '0: no extend was sent',
    ('hl_caller', 'lock'): 'NULL: nobody is told what became of the release',
    ('hl_hold', 'may_run_until_us'): '0: no acquire is unanswered',
    ('hl_hold', 'token'): '0: the kind has no tokens',
    ('hl_hold', 'window_ms'): '0: the grant is a lease, not a window',
    ('hl_queue_place', 'polls_first_since_us'): '0: the waiter does not poll at position 1',
    ('hl_queue_place', 'position'): '0: no answer told the position',
    ('hl_queue_place', 'ticket'): '0: it does not stand in the queue',
    ('hl_terms', 'min_validity_ms'): '0: half of what was granted',
    ('hl_view', 'age_ms'): '0: the words name our own holder',
    ('hilock_lock', 'acquire'): 'NULL: the handle does not wait',
    ('hilock_lock', 'attempt'): 'NULL: a plain handle, not of a group',
    ('hilock_lock', 'hold'): 'NULL: the handle does not hold',
}
# Why a table of calls is one, though only one struct of lib fills it.
REASONS = {
    'hl_route_events': 'News of servers goes up, from node to client',
    'hl_tls_ops': 'A library without OpenSSL links the other file, tls_none.c, which has none',
}
# Bits of masks that no enum lists: how many.
BITS = {}
# Tested for 0 or NULL as well, but that only means "not there", or "none" of a number. What is tested and in no table
# counts as a flag until somebody has judged it.
ABSENT = {
    '': '', 'hl_acquire': 'attempts on_result', 'hl_attempt': 'ticket', 'hl_call': 'on_result',
    'hl_core': 'cell route waiting held',
    'hl_extras': 'validity', 'hl_gather': 'attempts named on_result open unsettled voted', 'hl_grant_channel': 'listener node',
    'hl_group': 'end', 'hl_group_strategy': 'node', 'hl_handle_ops': 'done downgrade list token', 'hl_hold': 'failures id served', 'hl_holds': 'count recent_releases rechecks',
    'hl_inquiry': 'holder_length listing', 'hl_listing': 'all texts', 'hl_locks': 'inquiries_open places shortage_timer undo_terms',
    'hl_line': 'grant_channel holder_or_error holders queued_at_store unlock_listener waiting_here', 'hl_member': 'lock',
    'hl_name': 'line recheck unanswered_releases', 'hl_notice': 'pending', 'hl_terms': 'hold_max_ms on_event replicas share_local_ms wait_report_ms',
    'hl_vote': 'words', 'hl_withdrawal': 'carried', 'hilock_lock': 'extras name', 'hilock_validity': 'cell', 'hl_ended': 'name',
}
# A place that knows how the queue's record is written: lines like these, within NEAR lines of code of each other. They
# name the variables of scripts, so they are mended with these; the page lists what they found.
RECORD = {
    'lua': (r'string\.(?:match|find|sub|byte|gmatch)\((?:member|members\[i\]|batch\[i\]|record|records\[i\]|next|first|head|found\[i\])[,)]'
            r'|\b(?:member|record|beat|place) = .*\.\. |\bnext, place = .*\.\. |string\.match\(asks, .*asked|\basked = string|== me \.\. \' \''),
    'c': r'(?:add|append)_(?:text|number)\(command,[^;]*(?:channel\b|due_s\b|(?<!lapsed->)window_ms|WINDOW)|enum \{ WINDOW,',
}
NEAR = 9
PLANTED = {  # what check_self counts
    'lib/hold/a.h': """struct hl_a { unsigned bit : 1; int by_call; int other; enum e { NO, YES } named; unsigned counter; const char *text;
    unsigned long due_us; unsigned char copied, compared; int cut; void (*call)(void); };
struct hl_ops { void (*one)(void); void (*two)(void); };
enum { REPORT_A = 1, REPORT_B = 2, REPORT_C = 4 };
""",
    'lib/hold/a.c': """#include "hold/a.h"
static int is_good(int x) { return x > 1 && x < 9; }
static void one(void) {}
static void two(void) {}
static const struct hl_ops ops = {one, .two = two};
void a(struct hl_a *a, int x);
void a(struct hl_a *a, int x)
{
    *a = (struct hl_a){.bit = 1, .other = 1, .named = NO};
    a->by_call = is_good(x);
    a->other = is_good(x) ? 2 : 0;
    a->named = x ? YES : NO;
    a->counter++;
    a->copied = a->bit;
    a->compared = x >= 5;
    a->due_us = x ? 0xffUL : -1;
    a->call = one;
    a->cut = x < 7 ? x : 7;
    if (a->text && ops.one)
        a->counter = 0;
}
""",
}


def fail(text):
    sys.exit('counts.py: ' + text)


def check_self():
    """What is counted in a source whose flags are known."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in PLANTED.items():
            outside.write(root, path, text)
        found = state.Sources(root, MACHINE)
    for what, is_so, should in (
            ('plain flags', sorted(member for _, member, _ in found.plain_flags()), ['bit', 'by_call', 'compared', 'copied', 'named']),
            ('special values', found.special_values(), [('hl_a', 'due_us', '-1')]),
            ('tested', found.tested_members(), {('hl_a', 'text'), ('hl_ops', 'one')}),
            ('masks', found.masks, {'REPORT_A to REPORT_C': 3}),
            ('tables', found.single_tables(), {'hl_ops': ['one', 'two']}),
            ('pointers', found.single_pointers(), [('hl_a', 'call', 'one')]),
            ('errors', found.errors, [])):
        if is_so != should:
            fail(f'{what} of the planted struct: {is_so}, and it has {should}')


def uncommented(text):
    """C, with its lines where they were."""
    return re.sub(r'/\*.*?\*/', lambda found: '\n' * found[0].count('\n'), text, flags=re.S)


def sources(root):
    """{path below lib/: text, without comments}"""
    folder = os.path.join(root, 'lib')
    return {os.path.relpath(path, folder): uncommented(outside.read(path))
            for path in sorted(glob.glob(os.path.join(folder, '**/*.[ch]'), recursive=True))}


def listed(names):
    """'struct: member, member; ...' of pairs"""
    by_struct = collections.defaultdict(list)
    for struct, member, *_ in names:
        by_struct[struct].append(member)
    return [f'`{struct}`: {", ".join(members)}' for struct, members in by_struct.items()]


class Page:
    """The rows of the table, and the lists below it."""
    def __init__(self):
        self.rows, self.lists = {}, []

    def count(self, what, names):
        self.rows[what] = len(names)

    def show(self, what, lines):
        if lines:
            self.lists.append((what, list(lines)))


def count_files(page, root, texts):
    ties = circles.in_sources(root)
    pairs = {(one, other) for one, others in ties.items() for other in others}
    folders = {}
    for one, other in pairs:
        if circles.folder_of(one) != circles.folder_of(other):
            folders.setdefault(circles.folder_of(one), {})[circles.folder_of(other)] = 'needs'
    calls = {pair for pair in pairs if all(path.endswith('.c') for path in pair)}
    page.count('files of lib', texts)
    page.count('files of core, hold and lock', [path for path in texts if path.startswith(LOCK)])
    page.count('ties from file to file', calls)
    page.rows['pairs tied both ways'] = sum((other, one) in calls for one, other in calls) // 2
    page.count('circles of folders', circles.circles(folders))
    page.rows['untagged unions of lib'] = sum(len(re.findall(r'\bunion \{', text)) for text in texts.values())


def count_flags(page, found):
    plain = sorted(found.plain_flags(), key=lambda flag: (flag[2], flag[0]))
    names = {flag[:2] for flag in plain}
    special = [value for value in found.special_values() if value[:2] not in names]
    tested = found.tested_members() - names
    known = {pair[:2] for pair in found.fields.values()}
    meant = {pair: why for pair, why in MEANT.items() if pair in known}
    absent = {(struct, member) for struct, members in ABSENT.items() for member in members.split()}
    gone = sorted({*MEANT, *BITS, *absent} - known)
    unjudged = sorted(tested - set(MEANT) - absent)
    bits = sum(found.masks.values()) + sum(BITS.values())
    page.count('plain flags of core, hold, lock and group', plain)
    page.rows['bits of masks there'] = bits
    page.count('special values of numbers there', special)
    page.count('NULLs and zeros with a meaning there', [*meant, *unjudged])
    page.rows['flags of every sort there'] = len(plain) + bits + len(special) + len(meant) + len(unjudged)
    page.show('Plain flags: integers that are only ever 0 or 1', listed(plain))
    page.show('Bits of masks', [f'{name}: {count}' for name, count in found.masks.items()] +
              [f'`{struct}.{member}`: {count}' for (struct, member), count in BITS.items()])
    page.show('Special values beside ordinary ones', [f'`{struct}.{member}`: {value}' for struct, member, value in sorted(special)])
    page.show('NULL or 0 means more than "not there"', [f'`{struct}.{member}`, {why}' for (struct, member), why in meant.items()])
    page.show('Tested for NULL or 0, and nobody has judged it yet', [f'`{struct}.{member}`' for struct, member in unjudged])
    return [f'{struct}.{member} is gone, and stands in MEANT, BITS or ABSENT' for struct, member in gone]


def count_tables(page, root, found):
    pointers = found.single_pointers()
    other = '\n'.join(outside.read(path) for folder in ('test', 'bench')
                      for path in glob.glob(os.path.join(root, folder, '**/*.[ch]'), recursive=True))
    doors, tables = {}, {}
    for struct, calls in found.single_tables().items():
        is_door = re.search(rf'\bstruct {struct}\b[^;{{}}()]*(?:= |\))\{{', other)
        (doors if is_door else tables)[struct] = calls
    page.count('tables of calls with one implementation', tables)
    page.count('tables of calls of which test and bench have others', doors)
    page.count('single pointers with one value', pointers)
    page.show('Tables of calls with one implementation', [
        f'`{struct}`: {", ".join(calls)}' + (f'. {REASONS[struct]}' if struct in REASONS else '') for struct, calls in tables.items()])
    page.show('Tables of calls of which test and bench have others', [f'`{struct}`: {", ".join(calls)}' for struct, calls in doors.items()])
    page.show('Other pointers to a call, or to a table, that have one value', [f'`{struct}.{member}`: {value}' for struct, member, value in pointers])


def count_words(page, root, texts):
    planted = sum(len(re.findall(r'(?<!define )\bHL_PLANTED\(', text)) for text in texts.values())
    page.rows['sites of planted bugs in lib'] = planted
    for language, pattern in RECORD.items():
        places = []
        for path in sorted(glob.glob(os.path.join(root, f'lib/wire/*.{language}'))):
            text = outside.read(path)
            text = re.sub(r'--.*', '', text) if language == 'lua' else uncommented(text)
            code = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
            found = [i for i, (_, line) in enumerate(code) if re.search(pattern, line)]
            places += [f'`{os.path.basename(path)}:{code[i][0]}`' for i, before in zip(found, [-NEAR - 1, *found]) if i - before > NEAR]
        name = language.upper() if language == 'c' else language.capitalize()
        page.count(f'places that know the queue\'s record, {name}', places)
        page.rows[f'files with such a place, {name}'] = len({place.partition(':')[0] for place in places})
        page.show(f'Places that know the queue\'s record, {name}', places)
    for feature, (words, own) in FEATURES.items():
        others = [text for path, text in texts.items() if path.startswith(MACHINE) and not re.search(rf'/{own}\.', path)]
        page.rows[f'mentions of {feature} in the machine outside of {own}.*'] = sum(len(re.findall(words, text)) for text in others)


def places(program, addresses):
    """{address: (function, file)}"""
    command, text = ['addr2line', '-f', '-e', program], '\n'.join(addresses)
    lines = subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return dict(zip(addresses, zip(lines[::2], (line.rpartition(':')[0] for line in lines[1::2]))))


# Where the second walk of a pair begins: the release is answered, and the acquire that it carried gets its answer.
SPLITS = {'release that asks for the next handle': ('hl_request_answer_carried', 'hl_place_next_answered', 'hl_place_on_carried_answered')}


def walks_of(text, known):
    """(name, [(function, site)]) of each walk, and once more of the part before its split."""
    for name, calls in re.findall(r'walk (.*)\n((?:0x.*\n)*)', text):
        calls = [tuple(call.split()) for call in calls.splitlines()]
        if name not in SPLITS:
            yield name, calls
            continue
        split = next(i for i, (function, _) in enumerate(calls) if known[function][0] in SPLITS[name])
        yield name, calls[:split]
        yield f'{name}, and the grant of that handle', calls


def count_walks(page, build, texts, server):
    """A change of file is a call, each time that it happens, from one file to another; inline functions do not count. They
    are known by their names, because addr2line files them under the source that includes them."""
    program = os.path.join(build, 'test/build/walks')
    subprocess.run(['ninja', '-C', build, '--quiet', 'test/build/walks'], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as work, outside.redis(server, work) as url:
        text = subprocess.run([program, url.partition('@')[2]], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=outside.ENDS_WITHIN_S).stdout
    known = places(program, sorted(set(re.findall(r'0x\w+', text))))
    inline = {name for path, source in texts.items() if path.endswith('.h')
              for name in re.findall(r'\bstatic inline [^;{]*?\b(\w+)\(', source)}
    for name, calls in walks_of(text, known):
        pairs = [(known[function], known[site][1]) for function, site in calls]
        pairs = [(callee, caller) for callee, caller in pairs if callee[0] not in inline and '/lib/' in callee[1]]
        for where, folders in (('in core, hold and lock', LOCK), ('in lib', ('',))):
            passed = {callee for callee, _ in pairs if any(f'/lib/{folder}' in callee[1] for folder in folders)}
            changes = sum(callee[1] != caller for callee, caller in pairs if callee in passed)
            page.rows[f'{name}, {where}: functions / files / changes of file'] = \
                f'{len(passed)} / {len({file for _, file in passed})} / {changes}'


def commit_of(root):
    """The latest commit that changed lib/."""
    def git(*words):
        done = subprocess.run(['git', '-C', root, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ''
    commit = git('log', '-1', '--format=%h', '--abbrev=8', '--', 'lib')
    return (commit or 'unknown') + ('-dirty' if git('status', '--porcelain', '--', 'lib') else '')


def first_column(path):
    """(commit, {figure: text}) of a page that this made."""
    rows = [[cell.strip() for cell in line.strip('|\n').split('|')] for line in outside.read(path).splitlines() if line.startswith('|')]
    return rows[0][1], {row[0]: row[1] for row in rows[2:]}


def write(page, commit, before):
    """before: None, or another commit and its figures."""
    columns = [before] if before and before[0] != commit else []
    columns.append((commit, page.rows))
    print(f'# Figures of the inside\n\nMade by `counts.py`; no figure is typed. Commit: {commit}, the latest that '
          'changed `lib/`.\nWhat each row counts is explained in `counts.py`, `state.py` and `walks.c`.\n')
    print('| figure |', ' | '.join(name for name, _ in columns), '|\n|---|' + '---|' * len(columns))
    for what in page.rows:
        print(f'| {what} |', ' | '.join(str(rows.get(what, '')) for _, rows in columns), '|')
    for what, lines in page.lists:
        print(f'\n## {what}\n', *(f'- {line}' for line in lines), sep='\n')


def main(root='.', build=None, before=None, server='redis-server'):
    check_self()
    page, texts, found = Page(), sources(root), state.Sources(root, MACHINE)
    wrong = found.errors + count_flags(page, found)
    count_tables(page, root, found)
    count_words(page, root, texts)
    if build:
        count_walks(page, build, texts, server)
    count_files(page, root, texts)
    write(page, commit_of(root), first_column(before) if before and os.path.exists(before) else None)
    if wrong:
        fail('\n'.join(wrong))


if __name__ == '__main__':
    main(*sys.argv[1:])
