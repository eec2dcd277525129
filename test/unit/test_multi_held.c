/* SPDX-License-Identifier: BSD-3-Clause */
/* Several names that are held at once: by the user's own terms, with one validity, extended and released as one; and a wait that comes
 * after such a hold. */
#include "play.h"
#include "stage.h"

static struct handle *held_all(struct client *p, const struct hilock_lock_options *options)
{
    struct handle *m = acquiring(multi_new(p, "m", abc, options), HILOCK_FOREVER);
    TELLS_IN(p->fixture, 1, "m:OK");
    return m;
}

/* ---- its terms ---- */

HAVING(several_names_that_are_not_renewed_end_with_their_lease,
       held_all(fixture_connect(s, NULL), HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER)))
{
    TELLS_IN(s, 3000, "m:LOST EXPIRED");
    SAME(s, asked(s, "renew"), 0); /* though its names were renewed while it was gathering them */
}

/* Two of the names were got two seconds before the third one. */
WITH_CLIENT(of_several_names_hold_max_counts_from_the_grant_of_all)
{
    struct handle *m = gathering(p, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .hold_max_ms = 5000), "c", store_grant);
    run_ms(s, 2000);
    HOLDS(s, is_ours(s, "a") && is_ours(s, "b"));
    store_free_name(&s->store, "c");
    run_ms(s, 50);
    TELLS(s, "m:WAITING m:OK");
    uint64_t granted_us = m->at_us;
    run_to(s, granted_us + 5000000 - 1);
    TELLS(s, "");
    run_us(s, 1);
    TELLS(s, "m:LOST HOLD_MAX");
}

/* Also where the hold before was by terms that renew nothing. */
WITH_CLIENT(a_later_wait_renews_the_names_that_it_keeps)
{
    struct handle *m = held_all(p, HILOCK_LOCK_OPTIONS(.lease_ms = 1000, .renew = HILOCK_RENEW_NEVER));
    release(m);
    TELLS_IN(s, 1, "m:released");
    store_take(&s->store, "b", "another", 600000);
    acquire(m, HILOCK_FOREVER);
    for (int i = 1; i < 4; i++) { /* refused so often that it takes one after the other */
        run_ms(s, 10);
        (i < 3 ? store_take : store_grant)(&s->store, i % 2 ? "c" : "b", "another", 600000);
        store_free_name(&s->store, i % 2 ? "b" : "c");
    }
    run_ms(s, 10);
    for (int i = 0; i < 4000; i++) {
        run_ms(s, 1);
        HOLDS(s, is_ours(s, "a"));
    }
}

/* ---- its validity ---- */

static uint32_t left(const hilock_validity *validity) { return hilock_validity_remaining_ms(validity); }

HAVING(the_validity_of_several_names_ends_with_their_release, held_all(fixture_connect(s, NULL), NULL))
{
    hilock_validity *validity = NULL;
    SAME(s, hilock_lock_validity(a->lock, &validity), HILOCK_OK);
    HOLDS(s, left(validity) > 20000);
    release(a);
    SAME(s, left(validity), 0);
    hilock_validity_unref(validity);
    TELLS_IN(s, 1, "m:released");
}

HAVING(the_validity_of_several_names_ends_with_their_client, held_all(fixture_connect(s, NULL), NULL))
{
    hilock_validity *validity = NULL;
    SAME(s, hilock_lock_validity(a->lock, &validity), HILOCK_OK);
    s->is_tampered = 1; /* the names stay at the server */
    client_abandon(p);
    SAME(s, left(validity), 0);
    hilock_validity_unref(validity);
}

/* ---- its answers ---- */

HAVING(a_release_of_several_names_is_one_attempt_and_has_no_votes, held_all(fixture_connect(s, NULL), NULL))
{
    SAME(s, a->result.votes, 0);
    extend(a, 0);
    TELLS_IN(s, 1, "m:extended");
    SAME(s, a->result.votes, 0);
    release(a);
    TELLS_IN(s, 1, "m:released");
    SAME(s, a->result.attempts, 1);
    SAME(s, a->result.votes, 0);
}

HAVING(an_extend_that_finds_a_name_lost_says_so_instead_of_on_lost, held_all(fixture_connect(s, NULL), NULL))
{
    s->is_tampered = 1;
    store_delete(&s->store, "b");
    extend(a, 60000);
    TELLS_IN(s, 5, "m:extend LOST");
    HOLDS(s, strstr(a->detail, "our hold of \"b\"; all 3 names"));
    TELLS_IN(s, 60000, "");
    for (size_t i = 0; abc[i]; i++)
        HOLDS(s, !is_ours(s, abc[i]));
}

/* Whichever allocation fails: the extend is refused, or it is answered, and nothing is left of it. */
HAVING(an_extend_of_several_names_without_memory_is_refused_whole, held_all(fixture_connect(s, NULL), NULL))
{
    unsigned refused = 0;
    size_t before = s->memory.blocks;
    for (uint64_t fail = 1; fail < 12; fail++) {
        s->memory.fail_at = s->memory.asked + fail;
        s->memory.fails = 100;
        hilock_status status = extend(a, 0);
        s->memory.fail_at = 0;
        refused += status == HILOCK_NO_MEMORY;
        TELLS_IN(s, 5, status == HILOCK_OK ? "m:extended" : "");
        HOLDS(s, s->memory.blocks <= before + 3); /* what its names keep for the next one */
    }
    HOLDS(s, refused >= 3);
    HOLDS(s, is_held(a));
}

/* ---- what is left ---- */

/* The words of refusals are given back with the grant. */
WITH_CLIENT(a_hold_keeps_nothing_of_its_wait)
{
    size_t blocks[2];
    struct handle *m = multi_new(p, "m", abc, NULL);
    store_take(&s->store, "b", "another", 60000);
    for (int i = 0; i < 2; i++) {
        acquire(m, HILOCK_FOREVER);
        run_ms(s, 5);
        if (i == 0)
            store_free_name(&s->store, "b");
        run_ms(s, 50);
        HOLDS(s, is_held(m));
        blocks[i] = s->memory.blocks;
        release(m);
        run_ms(s, 50);
    }
    SAME(s, blocks[0], blocks[1]);
}

WITH_CLIENT(several_names_without_memory_for_their_handle_leave_nothing_behind)
{
    unsigned refused = 0;
    handle_free(multi_new(p, "m", abc, NULL)); /* its terms are kept for the next one */
    for (uint64_t fail = 1; fail < 20; fail++) {
        size_t before = s->memory.blocks;
        s->memory.fail_at = s->memory.asked + fail;
        s->memory.fails = 1;
        struct handle *m = multi_new(p, "m", abc, NULL);
        s->memory.fail_at = 0;
        refused += !m->lock;
        if (m->lock)
            handle_free(m);
        SAME(s, s->memory.blocks, before);
    }
    HOLDS(s, refused >= 5);
}

/* ---- a name that is lost while others are waited for ---- */

/* It has "a" and "b" and waits for "c": "a" goes to another client of ours. It looks who has "c" every 20 ms, and no more once it waits for "a" alone. */
WITH_CLIENT(who_lost_the_first_name_waits_for_that_and_looks_at_no_other)
{
    gathering(p, HILOCK_LOCK_OPTIONS(.lease_ms = 1000), "c", store_grant);
    s->is_tampered = 1;
    store_grant(&s->store, "a", "another", 600000);
    for (int i = 0; i < 500 && is_ours(s, "b"); i++)
        run_ms(s, 1);
    HOLDS(s, !is_ours(s, "b"));
    run_ms(s, 2);
    size_t before = asked(s, "mutex_acquire");
    run_ms(s, 60);
    SAME(s, asked(s, "mutex_acquire"), before);
}

/* The renewal of "a" was on the wire when the server lost its data: it proves nothing, though it was sent after the last answer of the old link. With
 * so many holds "a" is asked for a moment after the link is back, and in that moment the rest is got. */
A_PLAY(a_renewal_without_an_answer_verifies_no_member)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 0));
    struct handle *m = gathering(p, NULL, "b", store_grant);
    struct plan *renewal = PLAN(s, .on = "renew", .fate.there_us = 5000000);
    s->is_untold = s->is_tampered = 1;
    for (int i = 0; i < 15000 && !renewal->met; i++)
        run_ms(s, 1);
    for (int i = 0; i < 100; i++)
        asking(p, "o", formatted("other%d", i), NULL);
    run_us(s, 10);
    loses_the_first(s, m);
}
