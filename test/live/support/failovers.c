/* SPDX-License-Identifier: BSD-3-Clause */
/* failovers - see failovers.h. */
#include "failovers.h"

#include <stdio.h>

#include "check.h"
#include "sentinels.h"
#include "shards.h"

enum { COUNT_MAX = 512 };

struct failover { uint64_t struck_us, at_us; };

struct by_fault { size_t overlaps, backward; uint64_t overlap_us; };

unsigned failovers_wanted(void)
{
    unsigned count = check_count_wanted("FAILOVERS", 3);
    return count < COUNT_MAX ? count : COUNT_MAX;
}

static void play_one(const struct failovers_of *of, struct failover *failover, unsigned i)
{
    of->settle(of->set);
    check_pause_ms(of->serve_ms);
    failover->struck_us = check_now_us();
    failover->at_us = of->strike(of->set, i % LOAD_NAMES, (enum server_fault)(i % SERVER_FAULTS));
    check_pause_ms(1500); /* what was stopped comes back while it still believes to be master */
    server_mend();
    check_pause_ms(of->rest_ms);
}

/* What overlapped between one failover and the next. */
static void tell_overlaps(struct load *load, enum load_kind kind, const struct failover *failovers, unsigned count)
{
    struct by_fault by[SERVER_FAULTS] = {{0, 0, 0}};
    size_t overlaps = 0;
    for (unsigned i = 0; i < count; i++) {
        struct verdict one = ledger_judge_some(load->ledger, load_locks(kind), failovers[i].struck_us, i + 1 < count ? failovers[i + 1].struck_us : UINT64_MAX);
        struct by_fault *fault = &by[i % SERVER_FAULTS];
        overlaps += one.overlaps;
        fault->overlaps += one.overlaps;
        fault->backward += one.backward;
        fault->overlap_us = one.overlap_us > fault->overlap_us ? one.overlap_us : fault->overlap_us;
    }
    if (overlaps)
        print_message("overlaps of %s: after kills %zu, after stops %zu, after forced failovers %zu (the longest %.1f, %.1f and %.1f ms)\n",
                      load_kind_name(kind), by[0].overlaps, by[1].overlaps, by[2].overlaps, (double)by[0].overlap_us / 1000,
                      (double)by[1].overlap_us / 1000, (double)by[2].overlap_us / 1000);
    size_t kills = (count + SERVER_FAULTS - 1) / SERVER_FAULTS;
    size_t allowed = load->replicas ? 0 : (count - kills) * LOAD_NAMES / LOAD_KINDS;
    assert_in_range(by[SERVER_STOP].overlaps + by[SERVER_FORCED].overlaps, 0, allowed);
    assert_in_range(by[SERVER_STOP].backward + by[SERVER_FORCED].backward, 0, allowed);
}

/* Redis replicates after it has answered (operate.md: a failover may forget the latest writes). So the master that is killed may have answered a
 * grant that no replica has. Nobody can tell its holder, and while that one believes in it the new master may grant the name: once for each kill,
 * and never where replicas confirm a grant before it is one. Tokens rise all the same, as the servers of one host have one clock. */
static void judge_kills(const struct load *load, const struct failover *failovers, unsigned count)
{
    for (unsigned i = SERVER_KILL; i < count; i += SERVER_FAULTS) {
        struct verdict all = ledger_judge_some(load->ledger, UINT64_MAX, failovers[i].struck_us, i + 1 < count ? failovers[i + 1].struck_us : UINT64_MAX);
        assert_in_range(all.overlaps, 0, load->replicas ? 0 : 1);
        assert_int_equal(all.backward, 0);
    }
}

static void report(const struct failovers_of *of, struct load *load, const struct failover *failovers, unsigned count)
{
    struct load_spans spans[LOAD_KINDS] = {{.count = 0}};
    char what[32];
    snprintf(what, sizeof what, "%u failovers", count);
    for (unsigned i = 0; i < count; i++) { /* afterwards, for it may take longer than the pauses */
        uint64_t struck = of->is_spread ? LEDGER_ONE(i % LOAD_NAMES) : UINT64_MAX;
        for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++)
            if (load_locks(kind) & struck)
                load_add_span(&spans[kind], load, load_locks(kind) & struck, failovers[i].at_us);
    }
    for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++) {
        load_tell(load, kind, what, of->since, &spans[kind]);
        tell_overlaps(load, kind, failovers, count);
    }
    judge_kills(load, failovers, count);
}

void failovers_play(const struct failovers_of *of, unsigned count, unsigned replicas)
{
    struct failover failovers[COUNT_MAX];
    struct load load = {.url = of->url, .replicas = replicas};
    unsigned before = of->switches ? of->switches(of->set) : 0, switches = count;
    load_start(&load, count);
    for (unsigned i = 0; i < count; i++)
        play_one(of, &failovers[i], i);
    if (of->switches) {
        of->settle(of->set);
        switches = of->switches(of->set) - before;
    }
    load_stop(&load);
    ledger_judge(load.ledger);
    if (switches != count)
        print_message("of %u failovers only %u were ours: what overlapped in another one counts as the fault's before it\n", switches, count);
    report(of, &load, failovers, count);
    ledger_free(load.ledger);
}

/* ---- deployments ---- */

static void settle_sentinels(void *set) { sentinels_settle(set); }

static uint64_t strike_sentinels(void *set, unsigned lock, enum server_fault fault)
{
    (void)lock;
    return sentinels_failover(set, fault);
}

static unsigned switches(void *set) { return sentinels_switches(set); }

struct failovers_of failovers_of_sentinels(struct sentinels *set)
{
    return (struct failovers_of){.set = set, .settle = settle_sentinels, .strike = strike_sentinels,
                                 .url = set->url, .since = "+switch-master", .switches = switches};
}

static void settle_shards(void *set) { shards_settle(set); }

static uint64_t strike_shards(void *set, unsigned lock, enum server_fault fault)
{
    char name[32];
    snprintf(name, sizeof name, "stock:%u", lock);
    return shards_failover(set, shards_owner(set, shards_slot(set, name)), fault);
}

struct failovers_of failovers_of_shards(struct shards *set)
{
    return (struct failovers_of){.set = set, .settle = settle_shards, .strike = strike_shards,
                                 .url = set->url, .since = "the promotion", .is_spread = 1, .rest_ms = 1500};
}
