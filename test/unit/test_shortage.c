/* SPDX-License-Identifier: BSD-3-Clause */
/* Who stands in line behind another has next to nothing; when its turn comes there may be no memory for more. */
#include <stdlib.h>

#include "play.h"
#include "stage.h"

static void run_out(struct fixture *s) { s->memory.is_out = s->memory.spares_links = 1; }

WITH_CLIENT(who_waits_behind_another_costs_one_block)
{
    struct handle *c = handle_new(p, "c", "stock", NULL), *d = handle_new(p, "d", "stock", NULL);
    held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    run_ms(s, 1);
    size_t blocks = s->memory.blocks;
    size_t bytes = s->memory.bytes;
    acquire(c, HILOCK_FOREVER);
    run_ms(s, 1);
    SAME(s, s->memory.blocks, blocks + 1);
    HOLDS(s, s->memory.bytes <= bytes + 128);
    acquire(d, 5000);
    run_ms(s, 1);
    SAME(s, s->memory.blocks, blocks + 2);
    TELLS(s, "b:WAITING c:WAITING d:WAITING");
    TELLS_IN(s, 5000, "d:TIMED_OUT");
    SAME(s, s->memory.blocks, blocks + 1);
}

WITH_CLIENT(who_has_no_memory_until_its_end_is_told_so)
{
    store_take(&s->store, "stock", "another", 60000);
    struct handle *a = asking(p, "a", "stock", NULL);
    run_ms(s, 10);
    /* It has another lease than the others, so the waiter before it cannot leave it its place in the queue. */
    struct handle *b = acquiring(handle_new(p, "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 20000)), 100);
    asking(p, "c", "stock", NULL);
    unheard_ms(s, 10);
    run_out(s);
    cancel(a);
    run_ms(s, 60);
    s->memory.is_out = 0; /* it comes to its end before the line is looked at again */
    TELLS_IN(s, 200, "a:CANCELLED b:NO_MEMORY");
    TEXT(s, b->result.detail, "no memory to ask for \"stock\", from its turn until the wait ended: shed load");
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 10, "c:OK");
}

WITH_CLIENT(a_release_that_nobody_is_told_of_is_handed_on_without_memory)
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL), *c = asking(p, "c", "stock", NULL);
    unheard_ms(s, 1);
    run_out(s);
    release_quietly(a);
    run_us(s, 1);
    release_quietly(b);
    run_us(s, 1);
    TELLS(s, "b:OK c:OK");
    s->memory.is_out = 0;
    SAME(s, asked(s, "mutex_release"), 0);
    release_quietly(c);
}

HOLDING(without_memory_for_its_answer_a_release_goes_to_the_store, NULL)
{
    asking(p, "b", "stock", NULL);
    unheard_ms(s, 1);
    run_out(s);
    release(a);
    TELLS_IN(s, 1, "a:released");
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, a->result.attempts, 1);
    s->memory.is_out = 0;
    TELLS_IN(s, 60, "b:OK");
}

/* One of its names was granted too late: without memory for another hold it sleeps until the release of this one is answered. */
WITH_CLIENT(a_multi_that_gives_back_without_memory_waits_for_the_answer)
{
    static const char *const names[] = {"a", "b", NULL};
    PLAN(s, .on = "mutex_acquire", .after = 1, .fate.back_us = 1800000);
    PLAN(s, .on = "mutex_release", .fate.back_us = 300000);
    acquiring(multi_new(p, "m", names, HILOCK_LOCK_OPTIONS(.lease_ms = 3000)), HILOCK_FOREVER);
    run_ms(s, 1790);
    run_out(s);
    run_ms(s, 50);
    SAME(s, asked(s, "mutex_release"), 1);
    uint64_t steps = s->world.steps;
    run_ms(s, 100);
    HOLDS(s, s->world.steps - steps < 10);
    s->memory.is_out = 0;
    TELLS_IN(s, 1000, "m:OK");
}

/* One that fails is for the alarms of many calls. */
HOLDING(an_extend_that_finds_no_memory_leaves_nothing_behind, NULL)
{
    enum { CALLS = 16, ALLOCATIONS = 3 };
    unsigned refused = 0;
    s->is_untold = 1;
    for (int i = 0; i < CALLS; i++)
        extend(a, 0);
    for (int failing = 1; failing <= ALLOCATIONS; failing++) {
        s->memory.fail_at = s->memory.asked + (uint64_t)failing;
        s->memory.fails = 1;
        refused += extend(a, 0) == HILOCK_NO_MEMORY;
        s->memory.fail_at = 0;
    }
    SAME(s, refused, 2); /* the call itself, and its alarm */
    run_ms(s, 5);
    SAME(s, a->calls, 1 + CALLS + ALLOCATIONS - 2);
}

/* Whichever allocation of an acquire fails, also one for the alarms of many holds: it is refused, or granted a moment later. */
A_PLAY(an_acquire_that_finds_no_memory_leaves_nothing_behind)
{
    enum { HOLDS = 16, ALLOCATIONS = 8 };
    s->is_untold = 1;
    for (int failing = 1; failing <= ALLOCATIONS; failing++) {
        struct client *p = fixture_connect(s, NULL);
        for (int i = 0; i < HOLDS; i++)
            asking(p, "h", formatted("%d %d", failing, i), NULL);
        run_ms(s, 1);
        struct handle *a = handle_new(p, "a", formatted("stock %d", failing), NULL);
        s->memory.fail_at = s->memory.asked + (uint64_t)failing;
        s->memory.fails = 1;
        hilock_status status = acquire(a, HILOCK_FOREVER);
        s->memory.fail_at = 0;
        HOLDS(s, status == HILOCK_OK || status == HILOCK_NO_MEMORY);
        run_ms(s, 100);
        SAME(s, is_held(a), status == HILOCK_OK);
    }
}

WITH_CLIENT(a_link_that_found_no_memory_is_tried_again_soon)
{
    cut_off(s);
    s->place->mood = NET_LISTENS;
    s->memory.is_out = 1;
    run_ms(s, 500);
    HOLDS(s, strstr(p->log, "out of memory while connecting"));
    s->memory.is_out = 0;
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 1000, "a:OK");
}

/* Whichever part of it had no memory: its call was refused, or it waits, and asks when there is some. */
WITH_CLIENT(a_FAIR_wait_without_memory_asks_when_there_is_some)
{
    unsigned accepted = 0;
    for (uint64_t fail = 1; fail <= 8; fail++) {
        struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
        run_ms(s, 5);
        s->memory.fail_at = s->memory.asked + fail;
        s->memory.fails = 1;
        hilock_status status = acquire(a, HILOCK_FOREVER);
        run_ms(s, 200);
        HOLDS(s, status == HILOCK_OK ? is_held(a) : status == HILOCK_NO_MEMORY);
        accepted += status == HILOCK_OK;
        handle_free(a);
        run_ms(s, 5);
    }
    HOLDS(s, accepted >= 4);
    fixture_hush(s);
}

/* Without memory for its grant channel it polls. */
A_PLAY(a_FAIR_handle_that_was_made_with_little_memory_waits_all_the_same)
{
    store_grant(&s->store, "stock", "x:9", 600000);
    for (uint64_t fail = 1; fail <= 6; fail++) {
        struct client *p = fixture_connect(s, NULL);
        s->memory.fail_at = s->memory.asked + fail;
        s->memory.fails = 1;
        struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
        s->memory.fail_at = 0;
        if (!a->lock)
            continue;
        acquire(a, 100);
        TELLS_IN(s, 200, "a:WAITING a:TIMED_OUT");
        client_abandon(p);
    }
}

/* Its turn came when there was no memory. The multi is older, and comes to that name a moment later. */
WITH_CLIENT(whose_turn_has_come_is_not_passed_for_want_of_memory)
{
    for (uint64_t fail = 3; fail <= 4; fail++) { /* behind the acquire and its line */
        struct handle *m = gathering(p, NULL, "b", store_grant), *x = handle_new(p, "x", "c", NULL);
        unheard_ms(s, 50);
        s->memory.fail_at = s->memory.asked + fail;
        s->memory.fails = 1;
        SAME(s, acquire(x, HILOCK_FOREVER), HILOCK_OK);
        s->memory.fail_at = 0;
        store_delete(&s->store, "b");
        TELLS_IN(s, 60, "x:OK");
        release_quietly(x);
        TELLS_IN(s, 5, "m:OK");
        handle_free(m);
        handle_free(x);
        store_clear(&s->store);
        run_ms(s, 5);
    }
}
