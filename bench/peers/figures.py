# SPDX-License-Identifier: BSD-3-Clause
"""figures - what the times of grants say. All of them are CLOCK_MONOTONIC of one machine, so they are compared as they are.

A grant is surely held from when its program learns of it to when that program calls release: two such spans of one name that overlap are a lock that
did not exclude. Of a semaphore as many may overlap as it has permits; of a read/write lock all but a writer's."""
import collections

Grant = collections.namedtuple('Grant', 'asked granted releasing released program')
Ended = collections.namedtuple('Ended', 'asked ended program')
STEPS = 50  # of a distribution


def at(ordered, part):
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else None


def median(values):
    return at(sorted(values), 0.5)


def read(lines, program):
    """(grants, waits that ended without one)"""
    grants = [Grant(*map(int, words[1:]), program) for words in lines if words[0] == 'grant']
    return grants, [Ended(*map(int, words[1:]), program) for words in lines if words[0] == 'ended']


def overlaps(grants, permits=1, writer=None):
    """Grants of one name that were given while as many earlier ones were held as there are permits; or, with a writer, beside it, and of it beside any."""
    count, held = 0, []
    for grant in sorted(grants, key=lambda grant: grant.granted):
        held = [other for other in held if other.releasing > grant.granted]
        if writer is None:
            count += len(held) >= permits
        else:
            count += bool(held) and (grant.program == writer or any(other.program == writer for other in held))
        held.append(grant)
    return count


def gaps_us(grants):
    """From a release to the next grant of that name, where it was waited for by then."""
    ordered = sorted(grants, key=lambda grant: grant.granted)
    return sorted((after.granted - before.releasing) / 1e3 for before, after in zip(ordered, ordered[1:]) if after.asked < before.releasing)


def least_share(grants, programs):
    """Of the program with the fewest grants, in parts of an even share."""
    counts = collections.Counter(grant.program for grant in grants)
    return min(counts[program] for program in range(programs)) * programs / len(grants) if grants else 0


def common(grants, ended, programs, run_ms, **rule):
    """(figures, grants in the time of the run, its begin). What was waited for by its end counts for the exclusion alone. rule: of overlaps()"""
    begun = min(wait.asked for wait in grants + ended)
    inside = [grant for grant in grants if grant.granted < begun + run_ms * 1000000]
    waits = [grant.granted - grant.asked for grant in grants] + [wait.ended - wait.asked for wait in ended]
    return {
        'grants_per_s': len(inside) * 1000 / run_ms,
        'longest_wait_ms': max(waits) / 1e6,
        'least_share': round(least_share(inside, programs), 3),
        'ended': len(ended),
        'overlaps': overlaps(grants, **rule),
    }, inside, begun


def of_one_name(grants, ended, programs, run_ms):
    found, inside, _ = common(grants, ended, programs, run_ms)
    gaps = gaps_us(inside)
    return {
        **found,
        'gap_us': [round(at(gaps, i / STEPS), 1) for i in range(STEPS)] if gaps else [],
        'gap_p50_us': at(gaps, 0.5),
        'hold_p50_us': median([(grant.releasing - grant.granted) / 1e3 for grant in inside]),
    }


def of_permits(grants, ended, programs, run_ms, permits):
    found, inside, begun = common(grants, ended, programs, run_ms, permits=permits)
    end = begun + run_ms * 1000000
    held_ms = sum(min(grant.releasing, end) - grant.granted for grant in inside) / 1e6
    return {**found, 'permits_in_use': held_ms / run_ms}


def of_readers(grants, ended, programs, run_ms, writer):
    """A wait of the writer that ended without a grant took at least so long."""
    found, inside, _ = common(grants, ended, programs, run_ms, writer=writer)
    waits = [(grant.granted - grant.asked) / 1e6 for grant in grants if grant.program == writer]
    waits += [(wait.ended - wait.asked) / 1e6 for wait in ended if wait.program == writer]
    return {**found, 'writers_grants_per_s': sum(grant.program == writer for grant in inside) * 1000 / run_ms,
            'writers_wait_p50_ms': median(waits), 'writers_longest_wait_ms': max(waits)}


def of_own_names(grants, run_ms):
    """One program alone: nothing overlaps but what it does itself."""
    return {
        'grants_per_s': len(grants) * 1000 / run_ms,
        'pair_p50_us': median([(grant.granted - grant.asked + grant.released - grant.releasing) / 1e3 for grant in grants]),
        'overlaps': overlaps(grants),
    }
