# SPDX-License-Identifier: BSD-3-Clause
"""shown.py REDIS_SERVER PAGE COMPILER... -- LIBRARY... - the first C of README.md, which a small program around it calls, and the
program in the opening comment of hilock.hpp, which stands there whole. Each fits a screen, compiles as it stands
there, gets its lock and gives it back; and does not get a lock that another holds."""
import os
import re
import sys
import tempfile

import store

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'build'))
import headers  # noqa: E402

LINES_MAX = 36
SAMPLE_LINES_MAX = 15
UNUSED = '#pragma GCC diagnostic ignored "-Wunused-parameter"\n'  # the work is a comment
BEFORE = '#include <event2/event.h>\n#include <hilock/adapters/libevent.h>\n#include <stdio.h>\n'
BEHIND = '''
int main(int argc, char **argv)
{
    struct hilock_stats stats = {.size = sizeof stats};
    struct event_base *base = event_base_new();
    struct hilock_error error;
    hilock_client *client;
    if (argc != 2 || hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = argv[1]), &error) != HILOCK_OK)
        return 1;
    make_report(client);
    do {
        event_base_loop(base, EVLOOP_ONCE);
        hilock_client_stats(client, &stats);
    } while (stats.locks);
    printf("granted %d, timed out %d\\n", (int)stats.granted, (int)stats.timed_out);
    hilock_client_close(client, 0, NULL, NULL);
    event_base_dispatch(base);
    event_base_free(base);
    return 0;
}
'''


def lines_in(source, most):
    count = len([line for line in source.splitlines() if line])
    store.expect(count <= most, f'it has {count} lines, at most {most}')
    return source


def held_by_another(url):
    store.ask(url, 'HSET', 'report:daily', 'somebody', 1, 'mode', 'mutex')


def sample(url, page, *command):
    source = lines_in(store.blocks(store.outside.read(page), 'c')[0], SAMPLE_LINES_MAX)
    with tempfile.TemporaryDirectory() as work:
        said = store.built(UNUSED + BEFORE + source + BEHIND, work, 'sample.c', *command)
        store.expect(said(url) == ('granted 1, timed out 0\n', ''), 'it gets its lock')
        store.expect(store.locks(url) == [], f'it gives it back: {store.locks(url)}')
        held_by_another(url)
        store.expect(said(url)[0] == 'granted 0, timed out 1\n', 'held by another, it does not get it')
        store.ask(url, 'DEL', 'report:daily')


def program(url, page, *command):
    source = lines_in(headers.example(os.path.dirname(os.path.dirname(page))), LINES_MAX)
    with tempfile.TemporaryDirectory() as work:
        said = store.built(source, work, 'shown.cc', *command)
        told = said(url)
        store.expect(re.fullmatch(r'ours, token [1-9]\d*.*\n', told[0]) and told[1] == '', f'it gets its lock: {told}')
        store.expect(store.locks(url) == [], f'it gives it back: {store.locks(url)}')
        held_by_another(url)
        told = said(url)
        store.expect(told[0] == '' and told[1].startswith('TIMED_OUT: '), f'held by another, it does not: {told}')
        store.ask(url, 'DEL', 'report:daily')
        told = said('http://nowhere')
        store.expect(told[0] == '' and told[1].startswith('INVALID: ') and 'url' in told[1], f'without a store it says why: {told}')


def shown(url, page, *command):
    (sample if page.endswith('.md') else program)(url, page, *command)


if __name__ == '__main__':
    store.drive(shown)
