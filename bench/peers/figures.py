# SPDX-License-Identifier: BSD-3-Clause
"""figures - what the times of grants say. All of them are CLOCK_MONOTONIC of one machine, so they are compared as they are.

A grant is surely held from when its program learns of it to when that program calls release: two such spans of one name that overlap are a lock that
did not exclude."""
import collections

Grant = collections.namedtuple('Grant', 'asked granted releasing released program')
STEPS = 50  # of a distribution


def at(ordered, part):
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else None


def median(values):
    return at(sorted(values), 0.5)


def read(lines, program):
    """(grants, waits that ended without one)"""
    grants = [Grant(*map(int, words[1:]), program) for words in lines if words[0] == 'grant']
    return grants, [tuple(map(int, words[1:])) for words in lines if words[0] == 'ended']


def overlaps(grants):
    """Grants of one name that were given before an earlier one was given back."""
    count, held_until = 0, 0
    for grant in sorted(grants, key=lambda grant: grant.granted):
        count += grant.granted < held_until
        held_until = max(held_until, grant.releasing)
    return count


def gaps_us(grants):
    """From a release to the next grant of that name, where it was waited for by then."""
    ordered = sorted(grants, key=lambda grant: grant.granted)
    return sorted((after.granted - before.releasing) / 1e3 for before, after in zip(ordered, ordered[1:]) if after.asked < before.releasing)


def least_share(grants, programs):
    """Of the program with the fewest grants, in parts of an even share."""
    counts = collections.Counter(grant.program for grant in grants)
    return min(counts[program] for program in range(programs)) * programs / len(grants) if grants else 0


def of_one_name(grants, ended, programs, run_ms):
    """In the time of the run; what was waited for by then counts for the exclusion alone."""
    begun = min(time for time in [grant.asked for grant in grants] + [asked for asked, _ in ended])
    inside = [grant for grant in grants if grant.granted < begun + run_ms * 1000000]
    gaps, waits = gaps_us(inside), [grant.granted - grant.asked for grant in grants] + [end - asked for asked, end in ended]
    return {
        'grants_per_s': len(inside) * 1000 / run_ms,
        'gap_us': [round(at(gaps, i / STEPS), 1) for i in range(STEPS)] if gaps else [],
        'gap_p50_us': at(gaps, 0.5),
        'hold_p50_us': median([(grant.releasing - grant.granted) / 1e3 for grant in inside]),
        'longest_wait_ms': max(waits) / 1e6,
        'least_share': round(least_share(inside, programs), 3),
        'ended': len(ended),
        'overlaps': overlaps(grants),
    }


def of_own_names(grants, run_ms):
    """One program alone: nothing overlaps but what it does itself."""
    return {
        'grants_per_s': len(grants) * 1000 / run_ms,
        'pair_p50_us': median([(grant.granted - grant.asked + grant.released - grant.releasing) / 1e3 for grant in grants]),
        'overlaps': overlaps(grants),
    }
