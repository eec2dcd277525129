/* SPDX-License-Identifier: BSD-3-Clause */
/* A release that takes the acquire of the next handle in line along: what that one has left at the store, whatever becomes of the two. */
#include "play.h"

/* A second after such a program was seen last, to the microsecond, handles hand on again. */
WITH_CLIENT(a_second_behind_another_program_it_is_handed_on_again)
{
    for (int late_us = 0; late_us <= 1; late_us++) {
        store_take(&s->store, "stock", "another", 600000);
        struct handle *a = asking(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
        unheard_ms(s, 2000);
        store_free_name(&s->store, "stock");
        TELLS_IN(s, 2, "a:OK");
        size_t before = asked(s, "mutex_release");
        run_to(s, a->at_us + 1000000 - 1 + (uint64_t)late_us);
        release_quietly(a);
        TELLS_IN(s, 20, "b:OK");
        SAME(s, asked(s, "mutex_release") - before, !late_us);
        handle_free(a);
        handle_free(b);
        run_ms(s, 5);
    }
}

/* The latest answer that showed it came two seconds before it freed the name. */
WITH_CLIENT(right_behind_another_program_the_name_is_freed)
{
    store_take(&s->store, "stock", "another", 600000);
    struct handle *a = asking(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    unheard_ms(s, 2000);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 2, "a:OK");
    release_quietly(a);
    TELLS_IN(s, 20, "b:OK");
    SAME(s, asked(s, "mutex_release"), 1);
}

GIVEN(who_gives_up_on_the_way_leaves_nothing,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000)))
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_release", .fate.back_us = 5000);
    release_quietly(a);
    run_ms(s, 1);
    HOLDS(s, is_ours(s, "stock"));
    cancel(b);
    TELLS_IN(s, 10, "b:WAITING b:CANCELLED");
    TEXT(s, store_holder(&s->store, "stock"), "");
    run_ms(s, 3000);
    SAME(s, asked(s, "mutex_release"), 2); /* the second one ran after what the first one asked for: no third is needed */
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 2, "a:OK");
}

/* The release found nothing to end, and so it asked for nobody: the next one has left nothing at the store but what it asks for itself. */
A_PLAY(a_release_that_ended_nothing_has_asked_for_nobody)
{
    for (int i = 0; i < 2; i++) {
        struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000));
        struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
        s->is_tampered = 1;
        store_delete(&s->store, "stock");
        store_forget(&s->store);
        if (i)
            PLAN(s, .on = "mutex_release", .fate.refusal = say_string("0 1")); /* and one place was removed */
        release(a);
        TELLS_IN(s, 5, "b:WAITING a:release LOST b:OK");
        release(b);
        TELLS_IN(s, 3000, "b:released");
        SAME(s, asked(s, "mutex_release"), 2 - i);
    }
}

/* That one has given up meanwhile, and nothing of it keeps others of its client waiting. */
GIVEN(who_gave_up_behind_a_release_that_ended_nothing_leaves_nothing, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1)))
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    release(a);
    run_us(s, 50);
    cancel(b);
    TELLS_IN(s, 5, "b:WAITING b:CANCELLED a:release LOST");
    asking(p, "c", "stock", NULL);
    TELLS_IN(s, 5, "c:OK");
    SAME(s, asked(s, "mutex_release"), 1);
}

/* Its answer is lost with the link. It is sent again, and asks for nobody then: what the first one asked for may still run over the old link. */
GIVEN(a_release_that_is_sent_again_asks_for_nobody, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1, .command_timeout_ms = 1000)))
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_release", .fate.resets_before = 1);
    release(a);
    TELLS_IN(s, 500, "b:WAITING a:released b:OK");
    SAME(s, asked(s, "mutex_acquire"), 2);
    release(b);
    TELLS_IN(s, 3000, "b:released");
    SAME(s, asked(s, "mutex_release"), 3); /* of b once more, when the first one can run no more */
}

/* The lease runs out before the release can be sent. */
GIVEN(the_next_in_line_of_a_release_that_never_left_asks_alone,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1)))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    run_ms(s, 1);
    cut_off(s);
    run_ms(s, 10);
    release(a);
    TELLS_IN(s, 30000, "b:WAITING a:release UNKNOWN a:SETTLED");
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 3000, "b:OK");
}
