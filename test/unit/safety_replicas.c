/* SPDX-License-Identifier: BSD-3-Clause */
/* What a confirmed grant promises: that replicas have it when it is reported, and that no other pays for the wait. */
#include "safety.h"
#include "stage.h"

/* Over a link that wrote nothing WAIT counts every replica that is connected. */
ALSO(REPLICAS_WRONG_LINK, a_grant_that_no_replica_has_is_told_to_nobody, "a:NOT_REPLICATED")
SAFETY(REPLICAS_REPORTED_EARLY, a_grant_that_no_replica_has_is_told_to_nobody, "a:NOT_REPLICATED")
{
    struct client *p = shop(s);
    s->store.replicas_away = 1;
    acquiring(handle_new(p, "a", "stock", &confirmed), HILOCK_TRY);
    TELLS_IN(s, 1100, "a:NOT_REPLICATED");
    TEXT(s, store_holder(&s->store, "stock"), "");
}

SAFETY(REPLICAS_OLD_LINK, what_an_old_link_wrote_is_written_again, "a:NOT_REPLICATED")
{
    struct handle *a = handle_new(shop(s), "a", "stock", &confirmed);
    s->store.replicas_away = 1;
    PLAN(s, .on = "WAIT", .fate.resets_before = 1);
    acquire(a, 900);
    TELLS_IN(s, 950, "a:NOT_REPLICATED");
}

SAFETY_GIVEN(REPLICAS_LINK_FOR_ALL, a_blocked_WAIT_delays_no_other_lock, "b:OK", shop(s))
{
    struct handle *b = handle_new(p, "b", "other", NULL);
    s->store.replicas_away = 1;
    asking(p, "a", "stock", &confirmed);
    run_ms(s, 10);
    acquire(b, HILOCK_TRY);
    TELLS_IN(s, 1, "b:OK");
}

/* It is granted, and given up before all that was asked over that link is answered. */
SAFETY(REPLICAS_STAYS_SHUT, nobody_stands_behind_a_WAIT_that_is_not_asked_for, "a:CANCELLED c:WAITING c:OK")
{
    struct client *p = shop(s);
    struct handle *b = held(fixture_connect(s, NULL), "b", "two", NULL);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 50000, .after = 1);
    struct handle *a = asking(p, "a", "one", &confirmed);
    asking(p, "c", "two", &confirmed);
    run_ms(s, 10);
    SAME(s, asked(s, "WAIT"), 0);
    cancel(a);
    run_ms(s, 100);
    release_quietly(b);
    TELLS_IN(s, 100, "a:CANCELLED c:WAITING c:OK");
}

SAFETY(REPLICAS_UNASKED_FORGOTTEN, what_was_granted_before_the_link_was_lost_is_given_back, "nothing is reported")
{
    struct handle *a = handle_new(shop(s), "a", "stock", &confirmed);
    s->store.replicas_away = 1;
    acquire(a, 500);
    run_ms(s, 10);
    SAME(s, asked(s, "WAIT"), 1);
    cut_off(s);
    run_ms(s, 600);
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 3000, "a:UNREACHABLE");
    TEXT(s, store_holder(&s->store, "stock"), "");
}

/* b has it, then d; c, who waited for d before a, gives up: it is a's turn, whom no message wakes. */
SAFETY(REPLICAS_STEPS_BACK_ASLEEP, who_stepped_back_is_the_first_again_one_day, "c:CANCELLED a:OK")
{
    const struct hilock_lock_options simple = {.size = sizeof simple, .kind = HILOCK_SIMPLE};
    struct client *p = shop(s), *other = fixture_connect(s, NULL);
    s->store.replicas_away = 1;
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .replicas = 1, .replica_timeout_ms = 100));
    run_ms(s, 10);
    struct handle *b = asking(p, "b", "stock", &simple), *c = asking(p, "c", "stock", &simple);
    run_ms(s, 200);
    s->store.replicas_away = 0;
    struct handle *d = asking(other, "d", "stock", &simple);
    run_ms(s, 10);
    PLAN(s, .on = "SET", .fate.there_us = 150000);
    release_quietly(b);
    TELLS_IN(s, 300, "b:OK d:WAITING d:OK c:WAITING a:WAITING");
    cancel(c);
    run_ms(s, 10);
    release_quietly(d);
    TELLS_IN(s, 1000, "c:CANCELLED a:OK");
}

SAFETY(REPLICAS_KEPT, what_was_not_confirmed_is_left_to_others, "b:WAITING b:OK a:WAITING")
{
    struct client *p = shop(s), *other = fixture_connect(s, NULL);
    s->store.replicas_away = 1;
    asking(p, "a", "stock", &confirmed);
    run_ms(s, 10);
    asking(other, "b", "stock", NULL);
    TELLS_IN(s, 1100, "b:WAITING b:OK a:WAITING");
}

SAFETY_GIVEN(REPLICAS_PUSH_BELIEVED, a_push_is_not_enough, "b:WAITING b:NOT_REPLICATED", shop(s))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)),
                *b = handle_new(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .replicas = 1));
    s->store.replicas_away = 1;
    acquire(b, 800);
    run_ms(s, 20);
    release_quietly(a);
    TELLS_IN(s, 900, "b:WAITING b:NOT_REPLICATED");
}

SAFETY_GIVEN(REPLICAS_HANDED_ON, a_hold_that_too_few_have_is_not_handed_on, "b:NOT_REPLICATED", shop(s))
{
    struct handle *a = held(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", &confirmed);
    s->store.replicas_away = 1;
    acquire(b, 500);
    unheard_ms(s, 10);
    release_quietly(a);
    TELLS_IN(s, 600, "b:NOT_REPLICATED");
}
