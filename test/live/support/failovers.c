/* SPDX-License-Identifier: BSD-3-Clause */
/* failovers - see failovers.h. */
#include "failovers.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "check.h"

enum { COUNT_MAX = 512 };

struct failover { uint64_t struck_us, at_us, span_us; };

struct by_fault { size_t overlaps; uint64_t overlap_us; };

static const char *const names[] = {"kill", "stop", "forced"};

unsigned failovers_wanted(void)
{
    unsigned count = check_count_wanted("FAILOVERS", 3);
    return count < COUNT_MAX ? count : COUNT_MAX;
}

static int ascending(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void play_one(const struct failovers_of *of, struct failover *failover, unsigned i)
{
    of->settle(of->set);
    check_pause_ms(of->serve_ms);
    failover->struck_us = check_now_us();
    failover->at_us = of->strike(of->set, i % LOAD_NAMES, (enum failovers_fault)(i % FAILOVERS_FAULTS));
    check_pause_ms(1500); /* what was stopped comes back while it still believes to be master */
    of->mend(of->set);
    check_pause_ms(of->rest_ms);
}

/* Afterwards, for it may take longer than the pauses. */
static void measure_one(const struct failovers_of *of, const struct load *load, struct failover *failover, unsigned i)
{
    uint64_t first_us = of->is_spread ? ledger_first_after_of(load->ledger, i % LOAD_NAMES, failover->at_us) : ledger_first_after(load->ledger, failover->at_us);
    CHECK(first_us);
    failover->span_us = first_us - failover->at_us;
    print_message("failover %u (%s): the next grant %.1f ms after %s\n", i + 1, names[i % FAILOVERS_FAULTS], (double)failover->span_us / 1000, of->since);
}

/* What overlapped between one failover and the next. */
static void tell_overlaps(struct load *load, const struct failover *failovers, unsigned count, const struct verdict *all)
{
    struct by_fault by[FAILOVERS_FAULTS] = {{0, 0}};
    for (unsigned i = 0; i < count; i++) {
        struct verdict one = ledger_judge_between(load->ledger, failovers[i].struck_us, i + 1 < count ? failovers[i + 1].struck_us : UINT64_MAX);
        struct by_fault *fault = &by[i % FAILOVERS_FAULTS];
        fault->overlaps += one.overlaps;
        fault->overlap_us = one.overlap_us > fault->overlap_us ? one.overlap_us : fault->overlap_us;
    }
    if (all->overlaps)
        print_message("overlaps: both holds had been acknowledged by a server, and neither was longer than %d ms and the lateness of a loop; the longest "
                      "overlap lasted %.1f ms. After kills %zu, after stops %zu, after forced failovers %zu (the longest %.1f, %.1f and %.1f ms)\n",
                      LOAD_HOLD_MS, (double)all->overlap_us / 1000, by[0].overlaps, by[1].overlaps, by[2].overlaps, (double)by[0].overlap_us / 1000,
                      (double)by[1].overlap_us / 1000, (double)by[2].overlap_us / 1000);
}

static struct verdict report(const struct failovers_of *of, struct load *load, const struct failover *failovers, unsigned count)
{
    struct load_counts counts = load_counts(load);
    struct verdict verdict = ledger_judge(load->ledger);
    uint64_t spans[COUNT_MAX];
    for (unsigned i = 0; i < count; i++)
        spans[i] = failovers[i].span_us;
    qsort(spans, count, sizeof *spans, ascending);
    print_message("%u failovers, replicas = %u, %zu grants; %s to next grant: p50 %.1f ms, max %.1f ms; longest wait %llu ms; %llu losses, %llu unclear "
                  "releases, %zu overlaps of belief, %zu tokens that did not rise\n",
                  count, load->replicas, verdict.grants, of->since, (double)spans[count / 2] / 1000, (double)spans[count - 1] / 1000,
                  (unsigned long long)counts.longest_wait_ms, (unsigned long long)counts.lost, (unsigned long long)counts.unclear, verdict.overlaps,
                  verdict.backward);
    tell_overlaps(load, failovers, count, &verdict);
    return verdict;
}

struct verdict failovers_play(const struct failovers_of *of, unsigned count, unsigned replicas)
{
    struct failover failovers[COUNT_MAX];
    struct load load = {.url = of->url, .replicas = replicas};
    struct verdict verdict;
    load_start(&load, 200000 + 80000 * (size_t)count);
    for (unsigned i = 0; i < count; i++)
        play_one(of, &failovers[i], i);
    load_stop(&load);
    for (unsigned i = 0; i < count; i++)
        measure_one(of, &load, &failovers[i], i);
    verdict = report(of, &load, failovers, count);
    assert_int_equal(verdict.open, 0);
    assert_true(verdict.changes > verdict.grants / 20);
    ledger_free(load.ledger);
    return verdict;
}
