/* SPDX-License-Identifier: BSD-3-Clause */
/* A key of another type at a held name proves the loss, at a renewal and at a release, of every kind. */
#include "play.h"

static const hilock_kind all_kinds[] = {HILOCK_MUTEX, HILOCK_FAIR, HILOCK_SIMPLE};

/* Another program's key has taken the place of ours, one of another type. */
static void overwrite(struct fixture *s, hilock_kind kind)
{
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    if (kind == HILOCK_SIMPLE)
        store_take(&s->store, "stock", "another", 600000);
    else
        store_set_string(&s->store, "stock", "text");
}

A_PLAY(a_release_that_finds_another_type_is_LOST_at_once)
{
    struct client *p = fixture_connect(s, NULL);
    for (size_t i = 0; i < sizeof all_kinds / sizeof *all_kinds; i++) {
        struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = all_kinds[i]));
        overwrite(s, all_kinds[i]);
        release(a);
        run_ms(s, 2);
        TELLS(s, "a:release LOST");
        store_delete(&s->store, "stock");
    }
}

A_PLAY(a_renewal_that_finds_another_type_is_TAKEN)
{
    struct client *p = fixture_connect(s, NULL);
    for (size_t i = 0; i < sizeof all_kinds / sizeof *all_kinds; i++) {
        held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .kind = all_kinds[i]));
        overwrite(s, all_kinds[i]);
        run_ms(s, 1100);
        TELLS(s, "a:LOST TAKEN");
        store_delete(&s->store, "stock");
        run_ms(s, 1100);
    }
}

/* A key of the queue's is not the lock's: what is released in the other way is free. */
A_PLAY(another_type_among_the_queues_keys_is_no_loss)
{
    struct handle *a = held(fixture_connect(s, NULL), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    PLAN(s, .on = "mutex_release", .act = PLAN_REFUSE, .error = "WRONGTYPE Operation against a key", .times = PLAN_ALWAYS);
    release(a);
    run_ms(s, 2);
    TELLS(s, "a:released");
    TEXT(s, store_holder(&s->store, "stock"), "");
}

/* Were it said again at once, it would never end. */
A_PLAY(another_type_in_both_ways_of_a_release_is_asked_twice)
{
    struct handle *a = held(fixture_connect(s, NULL), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    overwrite(s, HILOCK_FAIR);
    release(a);
    run_ms(s, 60000);
    TELLS(s, "a:release LOST");
    SAME(s, asked(s, "mutex_release"), 1);
    SAME(s, asked(s, "free"), 1);
}
