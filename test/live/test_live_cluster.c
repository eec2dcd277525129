/* SPDX-License-Identifier: BSD-3-Clause */
/* A Redis Cluster: every waiter is served through slots that move and servers that take over. Where keys are asked for,
 * and how a queue goes where its slot goes: unit/cluster and safety_fair_cluster. */
#include <stdio.h>

#include "support/failovers.h"
#include "support/fixture.h"
#include "support/shards.h"

enum { MOVES_MAX = 512 };

static void served_through_slot_moves(struct shards *set)
{
    unsigned count = check_count_wanted("MIGRATIONS", 3);
    static struct load_spans spans[LOAD_KINDS];
    static uint64_t at_us[MOVES_MAX];
    struct load load = {.url = set->url};
    char text[32];
    CHECK(count <= MOVES_MAX);
    shards_settle(set);
    load_start(&load, count);
    for (unsigned i = 0; i < count; i++) {
        snprintf(text, sizeof text, "stock:%u", i % LOAD_NAMES);
        unsigned slot = shards_slot(set, text);
        shards_migrate(set, slot, (shards_owner(set, slot) + 1) % SHARDS_MASTERS);
        at_us[i] = check_now_us();
        check_pause_ms(300);
    }
    load_stop(&load);
    struct verdict verdict = ledger_judge(load.ledger);
    snprintf(text, sizeof text, "%u slot moves", count);
    for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++) {
        for (unsigned i = 0; i < count; i++)
            load_add_span(&spans[kind], &load, load_locks(kind), at_us[i]);
        load_tell(&load, kind, text, "the move", &spans[kind]);
        assert_int_equal(load_counts(&load, kind).lost, 0); /* nothing is lost by a move */
    }
    assert_int_equal(verdict.overlaps + verdict.met + verdict.backward, 0);
    ledger_free(load.ledger);
    shards_check_clean(set);
}

TEST(every_waiter_is_served)
{
    struct shards set;
    shards_start(&set, NULL);
    served_through_slot_moves(&set);
    struct failovers_of of = failovers_of_shards(&set);
    failovers_play(&of, failovers_wanted(), 0);
    shards_end(&set);
}
