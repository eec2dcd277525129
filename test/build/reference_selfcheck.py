# SPDX-License-Identifier: BSD-3-Clause
"""reference_selfcheck.py RENDERER_DIR - reference.py tells every gap. A small interface with its reference, its test and its guide, in which nothing
is missing, is written to a temporary directory; each case then takes one thing away."""
import os
import sys
import tempfile

import reference
from outside import write

HEADER = '''/* case.h - a case. */
/* The range tells what to do. */
typedef enum hilock_status {
    HILOCK_OK = 0,
    /* refused */
    HILOCK_INVALID = -1 /* bad argument */
} hilock_status;

struct hilock_lock_options {
    unsigned long size;
    unsigned lease_ms; /* 30000: default of the locks */
    /* Called when it is lost. */
    void (*on_lost)(int reason);
    int first, second; /* 1, 2 */
};

/* Takes it. See hilock_release. */
HILOCK_API int hilock_acquire(int wait_ms);

HILOCK_API int hilock_release(void); /* gives it back */
'''
PAGES = [('hilock', 7, 'the whole', 'case.h hilock_status'), ('hilock_lock_options', 3, 'options', 'hilock_lock_options'),
         ('hilock_acquire', 3, 'take it', 'hilock_acquire hilock_release')]
GOOD = {
    'include/hilock/case.h': HEADER,
    'case.map': 'HILOCK_1.0 {\nglobal:\n    hilock_acquire;\n    hilock_release;\nlocal:\n    *;\n};\n',
    'test/case.c': 'int main(void) { return hilock_acquire(1) + hilock_release(); }\n',
    'guide.md': '### Options: `struct hilock_lock_options`\n| option | default |\n| `size` | |\n| `lease_ms` | 30000 |\n| `on_lost` | |\n'
                '| `first`, `second` | 1, 2 |\n',
}
ENUM_PAGE, OPTIONS_PAGE, CALLS_PAGE, HTML = 'man7/hilock.7', 'man3/hilock_lock_options.3', 'man3/hilock_acquire.3', 'hilock.html'
# (part of the text told, file of the interface or of the reference, text in it, what stands there instead)
CASES = [
    ('hilock_release: declared, but in no version script', 'case.map', '    hilock_release;\n', ''),
    ('hilock_gone: in a version script', 'case.map', 'global:\n', 'global:\n    hilock_gone;\n'),
    ('hilock_release: has no contract', 'include/hilock/case.h', ' /* gives it back */', ''),
    ('hilock_acquire: has no contract', 'include/hilock/case.h', '/* Takes it. See hilock_release. */\n', ''),
    ('hilock_acquire: no man page has it', CALLS_PAGE, 'hilock_acquire', 'hilock_other'),
    ('hilock_release: no man page has it', 'man3/hilock_release.3', '.so man3/hilock_acquire.3\n', ''),
    ('hilock_release: is not in hilock.html', HTML, 'id="hilock_release"', 'class="x"'),
    ('hilock_release: no test calls it', 'test/case.c', 'hilock_release()', '0 /* hilock_release() */'),
    ('hilock_acquire: no test calls it', 'test/case.c', 'hilock_acquire(1)', '(hilock_acquire != 0)'),
    *((f'hilock_release: its man page has no {head}', CALLS_PAGE, f'.SH {head}\n', '.SH X\n') for head in ('RETURN VALUE', 'EXAMPLES', 'SEE ALSO')),
    ('HILOCK_INVALID: is not in the reference', HTML, 'HILOCK_INVALID', 'HILOCK_OTHER'),
    ('HILOCK_OK: is not in the reference', ENUM_PAGE, 'HILOCK_OK', 'OK'),
    ('hilock_lock_options.on_lost: is not in the reference', OPTIONS_PAGE, 'on_lost', 'lost'),
    ('hilock_lock_options.second: is not in the reference', OPTIONS_PAGE, ', second', ''),
    ('hilock_lock_options.first: has no row in the guide', 'guide.md', '`first`, ', ''),
    ('lease_ms: the guide does not give its default, 30000', 'guide.md', '30000', '3000'),
    ('second: the guide does not give its default, 2', 'guide.md', '1, 2', '1, 3'),
    ('hilock.html: not well-formed', HTML, '</body>', ''),
    ('hilock.html: two anchors are called hilock_acquire', HTML, 'id="hilock_release"', 'id="hilock_acquire"'),
    ('hilock_more: on no page', 'include/hilock/case.h', '/* Takes', 'HILOCK_API int hilock_more(void); /* more */\n/* Takes'),
    ('a comment that stands above nothing', 'include/hilock/case.h', '/* Takes', '/* Whose is this? */\n\n/* Takes'),
    ('a comment that stands above nothing', 'include/hilock/case.h', '/* Takes', '/* Whose is this? */\n/* Takes'),
    ('hilock.html: a link leads nowhere: hilock_release', HTML, 'id="hilock_release"', 'class="x"'),
]


def problems(case=None):
    import pages
    import to_html
    import to_man
    with tempfile.TemporaryDirectory() as root:
        for path, text in GOOD.items():
            write(root, path, replaced(text, *case[2:]) if case and case[1] == path else text)
        try:
            every = pages.read(os.path.join(root, 'include'), PAGES, ['case.h'], {'hilock_acquire': 'hilock_acquire(1);'})
        except SystemExit as refusal:
            return [str(refusal)]
        made = {**to_man.files(every, '1.0'), HTML: to_html.html(every, '1.0')}
        if case and case[1] not in GOOD:
            made[case[1]] = replaced(made[case[1]], *case[2:])
        return list(reference.check([os.path.join(root, 'include/hilock/case.h')], [os.path.join(root, 'case.map')], made,
                                    os.path.join(root, 'test'), reference.read(os.path.join(root, 'guide.md'))))


def replaced(text, this, that):
    if this not in text:
        raise SystemExit(f'the case finds no {this!r}')
    return text.replace(this, that)


def main(renderer):
    sys.path.insert(0, renderer)
    failures = [f'silent expected, told {text}' for text in problems()]
    for case in CASES:
        told = problems(case)
        if not any(case[0] in text for text in told):
            failures.append(f'{case[0]}: told {told}')
    print('\n'.join(failures) or f'{len(CASES)} gaps planted, all of them told')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
