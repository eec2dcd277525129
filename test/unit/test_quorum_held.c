/* SPDX-License-Identifier: BSD-3-Clause */
/* A hold that is decided by the votes of independent masters: renewed, healed, extended, lost, released; and what the
 * restart guard is for. */
#include "play.h"
#include "stage.h"

A_PLAY(without_a_majority_for_a_while_it_stands)
{
    struct handle *a = held(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    crash(s, 0);
    crash(s, 1);
    run_ms(s, 8200);
    s->net.places[0].mood = s->net.places[1].mood = NET_LISTENS;
    TELLS_IN(s, 10000, "a:RENEWAL_FAILED a:RENEWED");
    SAME(s, kept(s, "stock"), 3);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 5000);
}

A_PLAY(taken_at_a_majority_it_is_lost_and_never_healed)
{
    struct handle *a = held(quorum(s, 5), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    s->is_tampered = 1;
    for (unsigned i = 0; i < 3; i++)
        store_delete(store_at(s, i), "stock");
    TELLS_IN(s, 1100, "a:LOST TAKEN");
    HOLDS(s, strstr(a->detail, "our hold of \"stock\""));
    run_ms(s, 4000);
    SAME(s, kept(s, "stock"), 0);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
}

/* The first vote fails to be renewed, and another one is lost: two of three are had, and one is well. */
GIVEN(a_vote_that_is_lost_while_another_fails_is_a_failed_renewal, quorum(s, 3))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    s->is_tampered = 1;
    PLAN(s, .on = "renew", .at = store_at(s, 0), .times = PLAN_ALWAYS, .error = "LOADING Redis is loading the dataset in memory");
    run_ms(s, 3200);
    TELLS(s, "");
    store_delete(store_at(s, 1), "stock");
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .times = PLAN_ALWAYS, .error = "LOADING Redis is loading the dataset in memory");
    TELLS_IN(s, 3200, "a:RENEWAL_FAILED");
    HOLDS(s, strstr(a->detail, "a master's vote was lost, and renewals at other masters fail"));
}

GIVEN(extended_by_a_majority_or_not_at_all, quorum(s, 3))
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .renew = HILOCK_RENEW_NEVER));
    world_freeze(&store_at(s, 0)->lane);
    extend(a, 30000);
    run_us(s, 250);
    TELLS(s, "a:extended");
    PLAN(s, .on = "renew", .at = store_at(s, 1), .error = "OOM command not allowed");
    extend(a, 30000);
    TELLS_IN(s, 4000, "a:extend UNWRITABLE");
    world_thaw(&s->world, &store_at(s, 0)->lane);
    run_ms(s, 10);
    extend(a, 30000);
    release(a); /* ends it */
    TELLS_IN(s, 10, "a:extend LOST a:released");
}

/* The first master says yes and is lost before the second one answers; the third, whose vote is late, was not asked. */
HAVING(an_extend_counts_only_masters_that_still_have_it,
       handle_new(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000)))
{
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .fate.back_us = 300000);
    PLAN(s, .on = "renew", .at = store_at(s, 1), .fate.back_us = 1400000);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 1, "a:OK");
    extend(a, 30000);
    run_ms(s, 500);
    restart_empty(s, 0);
    run_ms(s, 800);
    TELLS_IN(s, 1000, "a:extend UNKNOWN");
    HOLDS(s, strstr(a->detail, "too few masters confirmed the extend"));
    HOLDS(s, is_held(a));
}

/* Whichever of the three answers last. */
HAVING(a_refused_extend_says_why_and_not_what_the_last_master_said, held(quorum(s, 3), "a", "stock", NULL))
{
    for (unsigned last = 0; last < 3; last++) {
        PLAN(s, .on = "renew", .at = store_at(s, last), .fate.back_us = 2000);
        for (unsigned i = 0; i < 3; i++)
            if (i != last)
                PLAN(s, .on = "renew", .at = store_at(s, i), .error = "OOM command not allowed");
        extend(a, 30000);
        TELLS_IN(s, 10, "a:extend UNWRITABLE");
        HOLDS(s, strstr(a->detail, "OOM command not allowed"));
        unheard_ms(s, 20000);
    }
}

/* Two of three have lost it, one after the other; the first one has voted again before the second one answers. */
HAVING(an_extend_is_not_LOST_while_the_hold_stands, held(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000)))
{
    s->is_tampered = 1;
    PLAN(s, .on = "renew", .at = store_at(s, 1), .fate.back_us = 1500000);
    PLAN(s, .on = "renew", .at = store_at(s, 2), .fate.back_us = 2000000);
    store_delete(store_at(s, 0), "stock");
    store_delete(store_at(s, 1), "stock");
    extend(a, 30000);
    run_ms(s, 1400);
    HOLDS(s, is_ours(s, "stock"));
    TELLS_IN(s, 500, "");
    TELLS_IN(s, 200, "a:extend UNKNOWN");
    HOLDS(s, is_held(a));
}

/* It is asked each third of the lease. */
HAVING(a_master_that_refuses_to_be_healed_is_asked_until_it_votes, held(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000)))
{
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .times = 3, .error = "LOADING Redis is loading the dataset in memory");
    restart_empty(s, 2);
    run_ms(s, 14000);
    SAME(s, kept(s, "stock"), 3);
}

/* One master ended the hold, and two cannot. */
A_PLAY(a_force_release_that_too_few_masters_carry_out_is_UNKNOWN)
{
    struct handle *b = handle_new(quorum(s, 3), "b", "stock", NULL);
    take_at(s, 0, 3, "another:1");
    for (unsigned i = 1; i < 3; i++)
        PLAN(s, .on = "mutex_force", .at = store_at(s, i), .error = "NOPERM this user has no permissions");
    force(b, NULL);
    TELLS_IN(s, 10, "b:force UNKNOWN");
    SAME(s, b->result.votes, 1);
}

/* The third one is away. */
HAVING(where_masters_disagree_peek_tells_what_the_first_one_says, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    take_at(s, 0, 1, "another:1");
    crash(s, 2);
    run_ms(s, 1);
    peek(a);
    TELLS_IN(s, 5, "a:peek OK");
    TEXT(s, a->holder, "another:1");
    SAME(s, a->result.votes, 1);
}

/* They have answered, and have no holder to name. */
HAVING(a_question_that_all_masters_refuse_is_UNREACHABLE, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    for (unsigned i = 0; i < 3; i++)
        PLAN(s, .on = "mutex_peek", .at = store_at(s, i), .error = "NOPERM this user has no permissions");
    peek(a);
    TELLS_IN(s, 10, "a:peek UNREACHABLE");
}

/* One gave no vote, one has lost it, and one lets it go. */
HAVING(a_release_counts_masters_without_a_vote_as_lost, handle_new(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000)))
{
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .error = "OOM command not allowed");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5, "a:OK");
    s->is_tampered = 1;
    store_delete(store_at(s, 1), "stock");
    release(a);
    TELLS_IN(s, 5, "a:release LOST");
}

/* Two masters have it. */
HAVING(a_vote_that_was_refused_for_good_is_asked_for_again_after_a_third_of_the_lease, handle_new(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000)))
{
    store_set_string(store_at(s, 2), "stock", "text");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5, "a:OK");
    store_delete(store_at(s, 2), "stock");
    run_ms(s, 2900);
    SAME(s, kept(s, "stock"), 2);
    run_ms(s, 200);
    SAME(s, kept(s, "stock"), 3);
}

/* After a twelfth of the lease. */
A_PLAY(a_master_that_comes_back_is_healed_soon)
{
    struct client *p = quorum(s, 3);
    crash(s, 2);
    run_ms(s, 5);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000));
    s->net.places[2].mood = NET_LISTENS;
    for (int i = 0; i < 8000 && counts_of(a->client).nodes_up < 3; i++)
        run_ms(s, 1);
    run_ms(s, 2600);
    SAME(s, kept(s, "stock"), 3);
}

/* Each vote that is got back has a new id, and there are only so many in the block of ids that this hold began with. */
GIVEN(however_often_a_vote_is_got_back_no_other_hold_has_its_id, quorum(s, 3))
{
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 1000));
    held(p, "b", "other", NULL);
    const char *others[3];
    for (unsigned i = 0; i < 3; i++)
        others[i] = formatted("%s", store_holder(store_at(s, i), "other"));
    s->is_tampered = 1;
    for (int round = 0; round < 270; round++) {
        store_delete(store_at(s, 2), "stock");
        for (int i = 0; i < 100 && !*store_holder(store_at(s, 2), "stock"); i++)
            run_ms(s, 10);
        for (unsigned i = 0; i < 3; i++)
            HOLDS(s, strcmp(store_holder(store_at(s, 2), "stock"), others[i]) != 0);
    }
}

GIVEN(unclear_releases_that_settle_leave_nothing_behind, quorum(s, 3))
{
    struct handle *a = handle_new(p, "a", "stock", NULL);
    size_t blocks[3];
    for (int i = 0; i < 3; i++) {
        acquire(a, HILOCK_FOREVER);
        run_ms(s, 5);
        PLAN(s, .on = "mutex_release", .at = store_at(s, 0), .holds = 1);
        PLAN(s, .on = "mutex_release", .at = store_at(s, 1), .holds = 1);
        release(a);
        TELLS_IN(s, 12000, "a:OK a:release UNKNOWN a:SETTLED");
        blocks[i] = s->memory.blocks;
    }
    SAME(s, blocks[2], blocks[1]);
}

/* The third answer to each comes when the user has been answered. */
HAVING(rounds_of_votes_leave_nothing_behind, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    size_t blocks = 0;
    for (int i = 0; i < 10; i++) {
        acquire(a, HILOCK_FOREVER);
        run_ms(s, 5);
        extend(a, 0);
        run_ms(s, 5);
        release(a);
        TELLS_IN(s, 5, "a:OK a:extended a:released");
        if (i == 1)
            blocks = s->memory.blocks;
        HOLDS(s, !blocks || s->memory.blocks == blocks);
    }
}

/* It is told in the log by its name, and not as a question. */
A_PLAY(the_votes_of_a_force_release_are_the_masters_that_ended_a_hold)
{
    struct handle *b = handle_new(quorum(s, 3), "b", "stock", NULL);
    take_at(s, 0, 1, "one:1");
    take_at(s, 1, 2, "another:1");
    peek(b);
    TELLS_IN(s, 1, "b:peek OK");
    SAME(s, b->result.votes, 2);
    SAME(s, client_lines(b->client, "force_release"), 0);
    force(b, "one:1");
    TELLS_IN(s, 1, "b:force LOST");
    SAME(s, b->result.votes, 1);
    SAME(s, client_lines(b->client, "force_release of \"stock\": LOST"), 1);
}

HAVING(a_release_that_most_do_not_answer_is_UNKNOWN_and_settles, held(quorum(s, 3), "a", "stock", NULL))
{
    world_freeze(&store_at(s, 0)->lane);
    world_freeze(&store_at(s, 1)->lane);
    release(a);
    TELLS_IN(s, 2900, "");
    TELLS_IN(s, 200, "a:release UNKNOWN");
    world_thaw(&s->world, &store_at(s, 0)->lane);
    world_thaw(&s->world, &store_at(s, 1)->lane);
    TELLS_IN(s, 5000, "a:SETTLED");
    SAME(s, client_lines(a->client, "every release of this handle is confirmed"), 1);
    SAME(s, kept(s, "stock"), 0);
}

/* A request to heal is lost with its link and still runs, behind a refusal. */
GIVEN(a_master_that_refuses_to_be_healed_is_released_too, quorum(s, 3))
{
    run_ms(s, 1);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    struct plan *stray = PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .fate.is_stray = 1, .fate.there_us = 500000);
    restart_empty(s, 2);
    for (int i = 0; i < 4000 && !stray->met; i++)
        run_ms(s, 1);
    store_take(store_at(s, 2), "stock", "another", 60000);
    net_reset_at(&s->net, s->net.places[2].store, NET_ALL);
    run_ms(s, 400);
    SAME(s, store_count(store_at(s, 2), "mutex_acquire"), 2);
    store_delete(store_at(s, 2), "stock");
    run_ms(s, 200);
    HOLDS(s, strstr(store_holder(store_at(s, 2), "stock"), p->uuid));
    release(a);
    TELLS_IN(s, 5, "a:released");
    run_ms(s, 4000); /* until that request can run no more */
    TEXT(s, store_holder(store_at(s, 2), "stock"), "");
}

/* ---- the restart guard ---- */

/* a holds by the first two of three, the second restarts empty, which a cannot learn, and b asks the last two. */
static struct handle *restarted_under_a_holder(struct fixture *s, uint32_t guard_ms)
{
    const struct hilock_client_options options = {.size = sizeof options, .restart_guard_ms = guard_ms, .lease_ms = 10000};
    struct client *p = quorum_with(s, 3, options), *q = quorum_with(s, 3, options);
    struct handle *a, *b = handle_new(q, "b", "stock", NULL);
    s->is_tampered = 1;
    crash(s, 2);
    run_ms(s, 5);
    a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.renew = HILOCK_RENEW_NEVER));
    crash(s, 0);
    s->net.places[2].mood = NET_LISTENS;
    PLAN(s, .on = "renew", .times = PLAN_ALWAYS, .error = "LOADING Redis is loading the dataset in memory");
    restart_empty(s, 1);
    run_ms(s, 3000);
    acquire(b, 2000);
    run_ms(s, 1000);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 0);
    return b;
}

A_PLAY(by_default_a_restarted_master_gives_no_vote_for_a_lease)
{
    struct handle *b = restarted_under_a_holder(s, 0);
    HOLDS(s, hilock_lock_state(b->lock) == HILOCK_STATE_WAITING);
    TELLS_IN(s, 1500, "b:UNWRITABLE");
    HOLDS(s, strstr(b->detail, "127.0.0.1:6380 started "));
    run_ms(s, 5000);
    acquire(b, 5000);
    run_ms(s, 5000);
    HOLDS(s, is_held(b));
}

A_PLAY(without_the_guard_two_hold_at_a_time)
{
    restarted_under_a_holder(s, HILOCK_GUARD_OFF);
    TELLS(s, "b:OK");
}

/* Not by the answer to that inquiry, which has nothing to do with it. The renewals stand behind it, and are late. */
HAVING(a_loss_is_told_while_an_inquiry_is_open, held(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 1000)))
{
    PLAN(s, .on = "mutex_peek", .times = 3, .fate.back_us = 2500000);
    peek(a);
    TELLS_IN(s, 2000, "a:RENEWAL_FAILED a:LOST EXPIRED");
    TELLS_IN(s, 1000, "a:peek OK");
}

/* It was answered by the others before: there is no news. */
HAVING(what_settles_behind_the_answer_of_a_release_is_not_told, held(quorum(s, 3), "a", "stock", NULL))
{
    world_freeze(&store_at(s, 2)->lane);
    release(a);
    TELLS_IN(s, 10, "a:released");
    run_ms(s, 4000);
    world_thaw(&s->world, &store_at(s, 2)->lane);
    TELLS_IN(s, 5000, "");
    SAME(s, kept(s, "stock"), 0);
}
