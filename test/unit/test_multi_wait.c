/* SPDX-License-Identifier: BSD-3-Clause */
/* What a multi keeps while it waits: next to nothing behind another program, all that it has behind a holder that hands over. */
#include "played.h"

static const char *const abc[] = {"a", "b", "c", NULL};

static int has_all(struct fixture *s, const char *const *names)
{
    for (; *names; names++)
        if (!is_ours(s, *names))
            return 0;
    return 1;
}

static int has_none(struct fixture *s, const char *const *names)
{
    for (; *names; names++)
        if (is_ours(s, *names))
            return 0;
    return 1;
}

/* For so long a name is kept at once, and it is looked at every millisecond. */
enum { KEPT_MS = 20 };

static unsigned kept_for_ms(struct fixture *s, const char *name, unsigned span_ms)
{
    unsigned longest = 0, run = 0;
    for (unsigned i = 0; i < span_ms; i++) {
        run_ms(s, 1);
        run = is_ours(s, name) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

WITH_CLIENT(behind_another_program_nothing_is_kept_for_long)
{
    store_take(&s->store, "b", "another", 60000);
    struct handle *m = acquiring(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    TELLS_AFTER(s, 5, "m:WAITING");
    TEXT(s, m->holder, "another");
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{b}"), 1);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{a}"), 0);
    unsigned longest_ms = kept_for_ms(s, "a", 4000);
    HOLDS(s, longest_ms > 0 && longest_ms < 3 * KEPT_MS); /* pauses may be shorter than a millisecond */
    store_free_name(&s->store, "b");
    TELLS_AFTER(s, 100, "m:OK");
    HOLDS(s, has_all(s, abc));
}

/* Its release hands over: who comes with the name that is waited for in the queue has the others already. */
IN_FIXTURE(behind_a_holder_that_hands_over_it_keeps_what_it_has)
{
    struct handle *one = held(fixture_connect(s, NULL), "one", "b", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    acquiring(multi_new(fixture_connect(s, NULL), "m", abc, HILOCK_LOCK_OPTIONS(.lease_ms = 3000)), HILOCK_FOREVER);
    TELLS_AFTER(s, 5, "m:WAITING");
    SAME(s, kept_for_ms(s, "a", 9000), 9000);
    HOLDS(s, !is_ours(s, "c"));
    release_quietly(one);
    TELLS_AFTER(s, 5, "m:OK");
    HOLDS(s, has_all(s, abc));
}

/* Here a round trip takes 20 ms, and nobody says that the name is free. */
IN_FIXTURE(its_pauses_are_64_round_trips_at_most)
{
    s->net.there_us = s->net.back_us = 10000;
    struct handle *m = multi_new(fixture_open(s, NULL), "m", abc, NULL);
    run_ms(s, 1000);
    s->is_untold = 1;
    for (int i = 0; i < 8; i++) {
        store_take(&s->store, "b", "another", 600000);
        acquire(m, HILOCK_FOREVER);
        run_ms(s, 10000);
        store_delete(&s->store, "b");
        run_ms(s, 64 * 20 + 200);
        HOLDS(s, is_held(m));
        release_quietly(m);
        run_ms(s, 100);
    }
}

WITH_CLIENT(it_wanders_to_the_next_busy_name)
{
    store_take(&s->store, "c", "another", 60000);
    acquiring(multi_new(p, "m", abc, NULL), HILOCK_FOREVER);
    run_ms(s, 20);
    while (is_ours(s, "a"))
        run_us(s, 200);
    store_take(&s->store, "a", "a third", 60000);
    store_free_name(&s->store, "c");
    run_ms(s, 200);
    HOLDS(s, has_none(s, abc));
    store_free_name(&s->store, "a");
    TELLS_AFTER(s, 100, "m:WAITING m:OK");
}
