# SPDX-License-Identifier: BSD-3-Clause
"""spans.py REDIS_SERVER SPANS - what it writes is OTLP/JSON: each job a trace, its wait and its hold below it, in
order and within it, events between; and holds of the one lock, of any job, do not overlap, and their tokens
rise."""
import contextlib
import json
import os
import subprocess
import tempfile
import time

import store

JOBS = 4
LONG_MS = 3000  # its lease is renewed


def spans_in(path):
    with open(path, encoding='utf-8') as file:
        for line in file:
            for resource in json.loads(line)['resourceSpans']:
                for scope in resource['scopeSpans']:
                    yield from scope['spans']


def times(span):
    return [int(span['startTimeUnixNano']), *(int(event['timeUnixNano']) for event in span['events']), int(span['endTimeUnixNano'])]


def value(span, key):
    return next((int(attribute['value']['intValue']) for attribute in span['attributes'] if attribute['key'] == key), None)


def check(spans):
    by_id = {span['spanId']: span for span in spans}
    named = {name: [span for span in spans if span['name'] == name] for name in ('job', 'wait', 'hold')}
    store.expect(len(by_id) == len(spans) == 3 * JOBS and all(len(found) == JOBS for found in named.values()), 'each job, wait and hold is there once')
    store.expect(all(len(span['traceId']) == 32 and len(span['spanId']) == 16 for span in spans), 'ids have their lengths')
    store.expect(all('parentSpanId' not in job for job in named['job']) and len({job['traceId'] for job in named['job']}) == JOBS, 'a job is a trace')
    for child in named['wait'] + named['hold']:
        parent = by_id[child['parentSpanId']]
        if parent['name'] != 'job' or parent['traceId'] != child['traceId'] or times(parent)[0] > times(child)[0] or times(child)[-1] > times(parent)[-1]:
            raise SystemExit(f'not so: a child lies within its job: {child} {parent}')
    store.expect(all(times(span) == sorted(times(span)) for span in spans), 'times rise: the begin, the events, the end')
    ends = {wait['parentSpanId']: times(wait)[-1] for wait in named['wait']}
    store.expect(all(ends[hold['parentSpanId']] == times(hold)[0] for hold in named['hold']), 'a hold begins where its wait ends')
    holds = sorted(named['hold'], key=times)
    store.expect(all(times(one)[-1] <= times(next_one)[0] for one, next_one in zip(holds, holds[1:])), 'holds do not overlap')
    tokens = [value(hold, 'lock.token') for hold in holds]
    store.expect(all(tokens) and tokens == sorted(set(tokens)), f'tokens rise: {tokens}')
    steps = {event['name'] for span in spans for event in span['events']}
    store.expect({'attempt', 'held by another', 'place', 'renewed'} <= steps, f'steps: {sorted(steps)}')


def lost(program, url, path):
    """Its lock is taken away by force, again and again."""
    with store.running(program, url, path, str(LONG_MS), stderr=subprocess.STDOUT) as process:
        while process.poll() is None:
            store.ask(url, 'DEL', 'stock:lamp')
            time.sleep(0.05)
        store.expect_end(process, process.stdout.read())
    ends = [(span['status']['code'], span['status']['message']) for span in spans_in(path) if span['name'] == 'hold']
    store.expect((2, 'lost') in ends, f'a hold that was lost is an error: {ends}')


def spans_of(url, program):
    with tempfile.TemporaryDirectory() as work, contextlib.ExitStack() as stack:
        paths, jobs = [os.path.join(work, f'spans{job}.json') for job in range(JOBS)], []
        for path in paths:  # the others wait for the first
            work_ms = str(20 if jobs else LONG_MS)
            jobs.append(stack.enter_context(store.running(program, url, path, work_ms, stderr=subprocess.STDOUT)))
            store.until(lambda: 'stock:lamp' in store.locks(url), 'it is held')
        for process in jobs:
            text = process.stdout.read()
            store.expect_end(process, text)
            store.expect(not text, 'and says nothing')
        check([span for path in paths for span in spans_in(path)])
        lost(program, url, paths[0])


if __name__ == '__main__':
    store.drive(spans_of)
