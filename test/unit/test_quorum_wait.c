/* SPDX-License-Identifier: BSD-3-Clause */
/* How a wait for the votes of independent masters goes on: which master is the arbiter, when it is left for another, and what the answer
 * says when the time is up. */
#include "play.h"
#include "stage.h"

/* ---- the arbiter ---- */

/* The second wait begins in its queue, because the first one found the name held. */
GIVEN(a_silent_arbiter_is_left_also_where_the_wait_began_in_its_queue, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), 100);
    TELLS_IN(s, 200, "a:WAITING a:TIMED_OUT");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 5);
    size_t before = store_count(store_at(s, 1), "mutex_acquire");
    world_freeze(&store_at(s, 0)->lane);
    run_ms(s, 1000);
    HOLDS(s, store_count(store_at(s, 1), "mutex_acquire") > before);
    world_thaw(&s->world, &store_at(s, 0)->lane);
}

/* It looks at the others now and then, and nobody is there to be asked. */
GIVEN(a_look_that_asks_nobody_leaves_the_patience_as_it_is, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    asking(p, "a", "stock", NULL);
    crash(s, 1);
    crash(s, 2);
    run_ms(s, 40000);
    s->net.places[1].mood = s->net.places[2].mood = NET_LISTENS;
    run_ms(s, 4000);
    size_t before = store_count(store_at(s, 1), "mutex_acquire");
    world_freeze(&store_at(s, 0)->lane);
    run_ms(s, 1000);
    HOLDS(s, store_count(store_at(s, 1), "mutex_acquire") > before);
    world_thaw(&s->world, &store_at(s, 0)->lane);
}

/* The first one is away, and the second one is the arbiter at once. */
GIVEN(a_wait_begins_at_the_first_master_that_can_be_asked, quorum(s, 3))
{
    take_at(s, 1, 2, "another:1");
    crash(s, 0);
    run_ms(s, 5);
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 20, "a:WAITING");
    SAME(s, store_count(store_at(s, 1), "mutex_acquire"), 2); /* its question, and that it listens */
}

/* The two others are away. */
GIVEN(the_arbiters_vote_is_given_back_at_once_where_no_other_can_be_asked, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    asking(p, "a", "stock", NULL);
    run_ms(s, 10);
    crash(s, 1);
    crash(s, 2);
    store_free_name(store_at(s, 0), "stock");
    run_ms(s, 5);
    SAME(s, store_count(store_at(s, 0), "mutex_release"), 1);
    SAME(s, store_left_ms(store_at(s, 0), "stock"), -2);
}

/* And the others are another's. */
GIVEN(an_arbiter_that_refuses_a_round_for_good_is_left_at_once, quorum(s, 3))
{
    store_set_string(store_at(s, 0), "stock", "text");
    take_at(s, 1, 2, "another:1");
    asking(p, "a", "stock", NULL);
    run_ms(s, 15);
    HOLDS(s, store_count(store_at(s, 1), "mutex_acquire") >= 2);
}

/* The answers that make them whole come one after the other. */
GIVEN(votes_that_are_made_whole_are_one_grant, quorum(s, 3))
{
    PLAN(s, .on = "mutex_acquire", .times = 3, .fate.back_us = 50000);
    for (unsigned i = 0; i < 3; i++)
        PLAN(s, .on = "renew", .at = store_at(s, i), .fate.back_us = 5000 * (i + 1));
    acquiring(handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2950)), HILOCK_FOREVER);
    TELLS_IN(s, 200, "a:OK");
    SAME(s, asked_all(s, "renew"), 3);
}

/* Its round trip is 300 ms, of which nothing was known. */
HAVING(a_try_waits_longer_for_masters_that_have_become_slow, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    s->net.there_us = s->net.back_us = 150000;
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 3001, "a:OK");
}

/* Of five masters one has voted, one forgets its vote, one is another's, and two do not answer. The first one's vote keeps everybody waiting. */
GIVEN(a_vote_that_is_lost_does_not_prolong_the_round, quorum(s, 5))
{
    take_at(s, 3, 1, "another:1");
    for (unsigned i = 0; i < 5; i += 4)
        PLAN(s, .on = "mutex_acquire", .at = store_at(s, i), .fate.back_us = 2000000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 2);
    SAME(s, kept(s, "stock"), 4);
    restart_empty(s, 2);
    run_ms(s, 500);
    SAME(s, store_left_ms(store_at(s, 1), "stock"), -2);
}

/* None of them has told the user that the name is held: the first master voted each time, and each of the others is somebody else's. */
HAVING(after_a_wait_that_lost_its_races_the_next_one_begins_at_one_master, handle_new(quorum(s, 3), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE)))
{
    store_take_simple(store_at(s, 1), "stock", "one", 60000);
    store_take_simple(store_at(s, 2), "stock", "another", 60000);
    acquire(a, 300);
    TELLS_IN(s, 301, "a:TIMED_OUT");
    run_ms(s, 5);
    size_t before = store_count(store_at(s, 1), "SET");
    acquire(a, HILOCK_FOREVER);
    run_us(s, 150);
    SAME(s, store_count(store_at(s, 1), "SET"), before);
    run_ms(s, 5);
    HOLDS(s, store_count(store_at(s, 1), "SET") > before);
}

/* A place in its queue, and not a try at the next look: so the release there is heard at once. */
GIVEN(an_arbiter_with_a_fault_is_left_for_the_next_one, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    asking(p, "a", "stock", NULL);
    run_ms(s, 10);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 0), .times = PLAN_ALWAYS, .error = "OOM command not allowed");
    run_ms(s, 30000);
    store_free_name(store_at(s, 2), "stock");
    store_free_name(store_at(s, 1), "stock");
    TELLS_IN(s, 5, "a:WAITING a:OK");
}

/* The arbiter is free, and a client has the two others: whoever gets its vote waits there. */
GIVEN(behind_one_client_that_has_enough_it_waits_at_one_of_its_masters, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), 100);
    TELLS_IN(s, 200, "a:WAITING a:TIMED_OUT");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    store_free_name(store_at(s, 0), "stock");
    run_ms(s, 1000);
    size_t before = store_count(store_at(s, 0), "mutex_acquire");
    run_ms(s, 2000);
    SAME(s, store_count(store_at(s, 0), "mutex_acquire"), before);
    HOLDS(s, !is_at(store_at(s, 0), a));
}

/* All of them, since it waits. */
GIVEN(masters_that_have_become_slow_get_more_time_for_their_votes, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    asking(p, "a", "stock", NULL);
    run_ms(s, 10);
    s->net.there_us = s->net.back_us = 150000;
    for (unsigned i = 0; i < 3; i++)
        store_free_name(store_at(s, i), "stock");
    TELLS_IN(s, 4000, "a:WAITING a:OK");
}

/* The others answer later. */
GIVEN(a_round_goes_on_without_a_master_that_goes_away, quorum(s, 5))
{
    PLAN(s, .on = "mutex_acquire", .times = 5, .fate.back_us = 20000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 5);
    crash(s, 4);
    TELLS_IN(s, 20, "a:OK");
    SAME(s, asked_all(s, "mutex_release"), 0);
}

/* The third master is another's, and says so first. */
GIVEN(a_round_waits_for_the_arbiters_answer, quorum(s, 3))
{
    take_at(s, 2, 1, "another:1");
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 0), .fate.back_us = 20000);
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 15, "");
    TELLS_IN(s, 10, "a:OK");
    SAME(s, store_count(store_at(s, 1), "mutex_acquire"), 1);
}

static void cancel_it(struct handle *handle) { SAME(handle->fixture, cancel(handle), HILOCK_OK); }

GIVEN(cancelled_inside_its_WAITING_it_asks_no_more, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    struct handle *a = asking(p, "a", "stock", NULL);
    when(a, "WAITING", cancel_it);
    TELLS_IN(s, 10, "a:WAITING a:CANCELLED");
    size_t before = asked_all(s, "mutex_acquire");
    run_ms(s, 2000);
    SAME(s, asked_all(s, "mutex_acquire"), before);
}

/* ---- what is said when it ends ---- */

static const struct hilock_client_options all_three = {.size = sizeof all_three, .quorum_needed = 3};

/* It was the arbiter, was left for its silence, and was not asked again. */
GIVEN(a_needed_master_that_was_left_for_its_silence_counts_as_silent, quorum_with(s, 3, all_three))
{
    take_at(s, 2, 1, "another:1");
    world_freeze(&store_at(s, 0)->lane);
    acquiring(handle_new(p, "a", "stock", NULL), 2000);
    TELLS_IN(s, 2001, "a:UNREACHABLE");
    world_thaw(&s->world, &store_at(s, 0)->lane);
}

/* Its members' own waits end in the same moment. */
GIVEN(at_the_end_of_a_wait_the_holder_is_told, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.wait_report_ms = 495));
    for (int i = 0; i < 2; i++) { /* the second wait asks the arbiter alone */
        acquire(a, 1000);
        unheard_ms(s, 999);
        TELLS_IN(s, 2, "a:TIMED_OUT");
        TEXT(s, a->holder, "another:1");
    }
}

/* A second wait begins in the arbiter's queue, and asks nobody else. */
GIVEN(the_silence_of_a_single_request_is_told_in_the_singular, quorum(s, 3))
{
    take_at(s, 0, 3, "another:1");
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), 100);
    run_ms(s, 200);
    world_freeze(&store_at(s, 0)->lane);
    acquire(a, 50);
    TELLS_IN(s, 51, "a:WAITING a:TIMED_OUT a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "no answer from 2 of 3 masters within 50 ms and 1 attempt; "));
    world_thaw(&s->world, &store_at(s, 0)->lane);
}

/* Two of three are needed: one is held, one is away, and one would be willing. */
GIVEN(where_a_holder_is_all_that_is_in_the_way_it_is_TIMED_OUT, quorum(s, 3))
{
    take_at(s, 0, 1, "another:1");
    crash(s, 2);
    run_ms(s, 5);
    acquiring(handle_new(p, "a", "stock", NULL), 500);
    TELLS_IN(s, 501, "a:WAITING a:TIMED_OUT");
}

/* The second master has voted and is away. */
GIVEN(a_vote_that_is_had_counts_though_its_master_is_away, quorum(s, 3))
{
    take_at(s, 0, 1, "another:1");
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .error = "OOM command not allowed", .fate.back_us = 20000);
    acquiring(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
    run_ms(s, 5);
    crash(s, 1);
    TELLS_IN(s, 50, "a:TIMED_OUT");
}

GIVEN(without_memory_to_ask_it_is_NO_MEMORY, quorum(s, 3))
{
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 1, "a:OK");
    release(a);
    TELLS_IN(s, 5, "a:released"); /* the next answer has its memory from now on */
    acquiring(a, HILOCK_TRY);
    TELLS_IN(s, 1, "a:OK");
    release(a);
    TELLS_IN(s, 5, "a:released");
    take_at(s, 0, 3, "another:1");
    acquiring(a, HILOCK_TRY);
    TELLS_IN(s, 5, "a:TIMED_OUT");
    for (unsigned i = 0; i < 3; i++)
        store_delete(store_at(s, i), "stock");
    s->memory.is_out = s->memory.spares_links = 1;
    acquiring(a, 200);
    TELLS_IN(s, 201, "a:NO_MEMORY");
    s->memory.is_out = 0;
}

GIVEN(a_fault_of_most_masters_is_quoted, quorum(s, 3))
{
    for (unsigned i = 0; i < 2; i++)
        PLAN(s, .on = "mutex_acquire", .at = store_at(s, i), .times = PLAN_ALWAYS, .error = "OOM command not allowed");
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 10, "a:UNWRITABLE");
    HOLDS(s, strstr(a->detail, "OOM command not allowed"));
}

/* Too few masters are there to be asked. */
GIVEN(a_close_ends_the_wait_for_masters, quorum(s, 3))
{
    crash(s, 0);
    crash(s, 1);
    run_ms(s, 5);
    asking(p, "a", "stock", NULL);
    run_ms(s, 5);
    client_close(p, 1000);
    TELLS_IN(s, 5, "a:CLOSED closed");
}

/* ---- memory ---- */

