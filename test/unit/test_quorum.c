/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks decided by the votes of independent masters: from the question to the grant, or the way back. */
#include "play.h"
#include "stage.h"

/* ---- granted ---- */

HAVING(all_are_asked_at_once_and_the_third_answer_decides, handle_new(quorum(s, 5), "a", "stock", NULL))
{
    uint64_t begun_us = fixture_us(s);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .fate.back_us = 40000);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 4), .fate.back_us = 40000);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 1, "a:OK");
    SAME(s, a->at_us - begun_us, s->net.there_us + s->net.back_us);
    SAME(s, a->result.votes, 3);
    SAME(s, a->result.attempts, 5);
    SAME(s, a->result.fencing_token, 0);
    HOLDS(s, strstr(a->detail, "3 of 5 masters said yes; not: 127.0.0.1:6380 (no answer yet), 127.0.0.1:6383 (no answer yet); valid for 29"));
    BELIEVES(s, a, begun_us + 30000000 - 300000 - 7000);
    run_ms(s, 100);
    extend(a, 0);
    TELLS_IN(s, 1, "a:extended");
    SAME(s, a->result.votes, 5); /* late votes join */
    SAME(s, asked_all(s, "mutex_acquire"), 5);
}

A_PLAY(two_that_are_dead_cost_their_votes_alone)
{
    fixture_masters(s, 5);
    s->net.places[0].mood = s->net.places[3].mood = NET_REFUSES;
    struct client *p = quorum(s, 5);
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
    run_us(s, 250);
    TELLS(s, "a:OK");
    SAME(s, a->result.votes, 3);
    SAME(s, a->result.attempts, 3);
    HOLDS(s, strstr(a->detail, "127.0.0.1:6379 (away), 127.0.0.1:6382 (away)"));
    release(a);
    run_us(s, 250);
    TELLS(s, "a:released");
    SAME(s, kept(s, "stock"), 0);
}

A_PLAY(quorum_needed_may_be_all_of_them)
{
    struct client *p = quorum_with(s, 3, (struct hilock_client_options){.size = sizeof(struct hilock_client_options), .quorum_needed = 3});
    struct handle *a = asking(p, "a", "stock", NULL);
    TELLS_IN(s, 1, "a:OK");
    SAME(s, a->result.votes, 3);
    release(a);
    run_ms(s, 1);
    crash(s, 2);
    run_ms(s, 1);
    acquire(a, 500);
    TELLS_IN(s, 600, "a:released a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "no answer from 3 of 3 masters") && strstr(a->detail, "away: 127.0.0.1:6381"));
    SAME(s, kept(s, "stock"), 0);
}

/* It is known by its run, where the user may ask for that, and told once for each pair. */
A_PLAY(two_addresses_of_one_server_are_told)
{
    fixture_masters(s, 3);
    sim_store_set_started(store_at(s, 2)->core, sim_store_started_us(store_at(s, 1)->core));
    struct client *p = quorum(s, 3);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 1000);
    HOLDS(s, strstr(p->log, "127.0.0.1:6381: is the same server as 127.0.0.1:6380") ||
                 strstr(p->log, "127.0.0.1:6380: is the same server as 127.0.0.1:6381"));
    HOLDS(s, strstr(strstr(p->log, "is the same server") + 1, "is the same server") == NULL);
    sim_store_set_started(store_at(s, 2)->core, sim_store_started_us(store_at(s, 1)->core) + 1);
    p = quorum(s, 3);
    HOLDS(s, !strstr(p->log, "is the same server"));
}

A_PLAY(before_the_first_connection_it_waits_for_enough)
{
    struct hilock_client_options options = hilock_client_options_default();
    fixture_masters(s, 3);
    options.quorum_urls = urls_of(3);
    asking(fixture_open(s, &options), "a", "stock", NULL);
    TELLS_IN(s, 5, "a:OK");
}

GIVEN(held_by_a_majority_it_waits_at_the_first_master, quorum(s, 3))
{
    struct client *q = quorum(s, 3);
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(q, "b", "stock", NULL);
    TELLS_IN(s, 100, "b:WAITING");
    HOLDS(s, strncmp(b->holder, p->uuid, 36) == 0);
    size_t before = asked_all(s, "mutex_acquire") - store_count(store_at(s, 0), "mutex_acquire");
    run_ms(s, 4000);
    SAME(s, asked_all(s, "mutex_acquire") - store_count(store_at(s, 0), "mutex_acquire"), before); /* it stands in the first one's queue alone */
    release(a);
    TELLS_IN(s, 20, "a:released b:OK");
    SAME(s, kept(s, "stock"), 3);
}

/* In the time of some round trips, and not at the next look. */
GIVEN(where_the_first_master_ends_it_waits_at_the_second_at_once, quorum(s, 3))
{
    held(p, "a", "stock", NULL);
    asking(quorum(s, 3), "b", "stock", NULL);
    run_ms(s, 2000);
    size_t before = store_count(store_at(s, 1), "mutex_acquire");
    crash(s, 0);
    run_ms(s, 20);
    HOLDS(s, store_count(store_at(s, 1), "mutex_acquire") > before);
}

/* A master is connected during the race, and its first answer took 2.9 s, as with a loop that stood still: for so long a
 * round trip counts. A quarter of the lease is 250 ms. */
A_PLAY(after_a_lost_race_it_asks_again_soon_whatever_a_round_trip_took)
{
    fixture_masters(s, 3);
    PLAN(s, .on = "TIME", .at = store_at(s, 2), .on_stream = -1, .fate.back_us = 2900000);
    struct client *p = quorum(s, 3);
    take_at(s, 1, 1, "another:1");
    run_ms(s, 2800);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 1000));
    TELLS_IN(s, 1000, "a:WAITING a:OK");
}

/* Its link is there, and it answers nothing. */
GIVEN(a_first_master_that_falls_silent_is_left_by_those_who_wait, quorum(s, 3))
{
    held(p, "a", "stock", NULL);
    asking(quorum(s, 3), "b", "stock", NULL);
    run_ms(s, 2000);
    size_t before = store_count(store_at(s, 1), "mutex_acquire");
    world_freeze(&store_at(s, 0)->lane);
    run_ms(s, 600);
    HOLDS(s, store_count(store_at(s, 1), "mutex_acquire") > before);
    world_thaw(&s->world, &store_at(s, 0)->lane);
}

/* It asks the third one while that is another's, and has enough before it hears so. */
GIVEN(who_is_granted_leaves_a_queue_where_it_learns_to_wait, quorum(s, 3))
{
    struct handle *a = held(p, "a", "stock", NULL);
    asking(quorum(s, 3), "b", "stock", NULL);
    run_ms(s, 10);
    release_quietly(a);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .fate.back_us = 5000);
    store_take(store_at(s, 2), "stock", "another", 60000);
    TELLS_IN(s, 3, "b:WAITING b:OK");
    run_ms(s, 20);
    SAME(s, store_count(store_at(s, 2), "mutex_release"), 2); /* that of a, and b's */
}

/* ---- refused ---- */

HAVING(without_a_majority_it_is_UNREACHABLE_and_nothing_stays, handle_new(quorum(s, 5), "a", "stock", NULL))
{
    world_freeze(&store_at(s, 0)->lane);
    world_freeze(&store_at(s, 1)->lane);
    world_freeze(&store_at(s, 2)->lane);
    acquire(a, 1000);
    TELLS_IN(s, 1001, "a:UNREACHABLE");
    SAME(s, store_left_ms(store_at(s, 3), "stock"), -2);
    SAME(s, store_left_ms(store_at(s, 4), "stock"), -2);
    for (unsigned i = 0; i < 3; i++)
        world_thaw(&s->world, &store_at(s, i)->lane);
    run_ms(s, 8000);
    SAME(s, kept(s, "stock"), 0);
}

HAVING(refused_for_good_by_a_majority, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    store_set_string(store_at(s, 0), "stock", "text");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5, "a:OK"); /* one of three is no matter */
    release(a);
    run_ms(s, 5);
    store_set_string(store_at(s, 1), "stock", "text");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5, "a:released a:WRONG_KIND");
    SAME(s, kept(s, "stock"), 0);
}

/* Both masters that refused it are away when its wait ends: whether the name is held there cannot be known. */
HAVING(masters_that_refused_and_are_away_count_as_silent, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    take_at(s, 0, 2, "another");
    acquire(a, 1000);
    run_ms(s, 900);
    crash(s, 0);
    crash(s, 1);
    TELLS_IN(s, 200, "a:WAITING a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "away: 127.0.0.1:6379"));
}

/* They take longer than the patience that masters nearby get. */
A_PLAY(it_waits_for_masters_that_are_far_away)
{
    s->net.there_us = s->net.back_us = 150000;
    fixture_masters(s, 3);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.quorum_urls = urls_of(3)));
    run_ms(s, 5000);
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), HILOCK_FOREVER);
    TELLS_IN(s, 301, "a:OK");
    SAME(s, a->result.attempts, 3);
}

/* Two do not answer, and nobody is kept waiting for the vote of the third. */
HAVING(a_try_that_is_not_answered_gives_its_votes_back, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    world_freeze(&store_at(s, 0)->lane);
    world_freeze(&store_at(s, 1)->lane);
    acquire(a, HILOCK_TRY);
    run_ms(s, 400);
    HOLDS(s, store_count(store_at(s, 2), "mutex_release") >= 1);
    TELLS_IN(s, 3000, "a:UNREACHABLE");
    world_thaw(&s->world, &store_at(s, 0)->lane);
    world_thaw(&s->world, &store_at(s, 1)->lane);
}

/* And not only when the round has taken too long. The first master, in whose queue it stands, answers last. */
HAVING(who_learns_that_two_masters_are_taken_gives_back_the_third_at_once, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    take_at(s, 0, 2, "another:1");
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 0), .fate.back_us = 5000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, store_count(store_at(s, 2), "mutex_acquire"), 1);
    SAME(s, store_left_ms(store_at(s, 2), "stock"), -2);
}

/* As soon as that master answers: each client would look for itself after 0.1 to 0.3 s. */
A_PLAY(a_first_master_that_refuses_for_good_is_left_at_once)
{
    fixture_masters(s, 3);
    take_at(s, 0, 3, "another:1");
    for (int i = 0; i < 4; i++) {
        struct handle *a = asking(quorum(s, 3), "a", "stock", NULL);
        run_ms(s, 1000);
        struct plan *refused = PLAN(s, .on = "mutex_acquire", .at = store_at(s, 0), .error = "WRONGTYPE Operation against a key");
        for (int j = 0; j < 20000 && !refused->met; j++)
            run_ms(s, 1);
        size_t before = store_count(store_at(s, 1), "mutex_acquire");
        run_ms(s, 4);
        HOLDS(s, store_count(store_at(s, 1), "mutex_acquire") > before);
        handle_drop(a);
        run_ms(s, 100);
    }
}

/* redis-plus-plus forgets a master whose answer did not come: its key stays for the whole lease. */
HAVING(redis_plus_plus_leaks_the_key_of_an_unanswered_vote_and_we_do_not, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    take_at(s, 0, 2, "another");
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 2), .fate.resets_after = 1);
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 1, "a:TIMED_OUT");
    SAME(s, kept(s, "stock"), 1);
    run_ms(s, 4000);
    SAME(s, kept(s, "stock"), 0);
}

GIVEN(cancelled_at_any_moment_it_leaves_nothing, quorum(s, 3))
{
    for (unsigned at_us = 0; at_us < 1500; at_us += 50) {
        take_at(s, 0, 2, "another");
        struct handle *a = asking(p, "a", "stock", NULL);
        run_us(s, at_us);
        fixture_hush(s);
        SAME(s, cancel(a), HILOCK_OK);
        TELLS_IN(s, 10, "a:CANCELLED");
        SAME(s, kept(s, "stock"), 0);
        store_delete(store_at(s, 0), "stock");
        store_delete(store_at(s, 1), "stock");
    }
}

GIVEN(siblings_stand_in_line, quorum(s, 3))
{
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    acquiring(handle_new(p, "t", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 5, "b:WAITING t:TIMED_OUT");
    SAME(s, asked_all(s, "mutex_acquire"), 3);
    release(a);
    TELLS_IN(s, 5, "a:released b:OK");
    SAME(s, asked_all(s, "mutex_acquire"), 5); /* the first vote is handed on, the others are new */
}

/* ---- the rest ---- */

A_PLAY(what_a_quorum_has_not_is_UNSUPPORTED)
{
    static const char *const names[] = {"a", "b", NULL};
    struct client *p = quorum(s, 3);
    HOLDS(s, !multi_new(p, "m", names, NULL)->lock);
    TEXT(s, hilock_client_refusal(p->client), "a multi is not supported with quorum_urls: each of its names would need votes of its own; use one name for all of them");
    HOLDS(s, !handle_new(p, "f", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR))->lock);
    HOLDS(s, strstr(hilock_client_refusal(p->client), "FAIR is not supported with quorum_urls"));
    HOLDS(s, !handle_new(p, "n", "stock", HILOCK_LOCK_OPTIONS(.holders_max = 2))->lock);
    TEXT(s, hilock_client_refusal(p->client), "holders_max is not supported with quorum_urls: masters that vote alone cannot count the holders; leave it 0");
    HOLDS(s, !handle_new(p, "r", "stock", HILOCK_LOCK_OPTIONS(.replicas = 1))->lock);
    TEXT(s, hilock_client_refusal(p->client), "replicas is not supported with quorum_urls: the masters vote instead of replicas; leave it 0");
}

HAVING(peek_tells_whom_most_masters_name, handle_new(quorum(s, 5), "a", "stock", NULL))
{
    take_at(s, 0, 2, "one:1");
    take_at(s, 2, 3, "another:1");
    SAME(s, peek(a), HILOCK_OK);
    TELLS_IN(s, 1, "a:peek OK");
    TEXT(s, a->holder, "another:1");
    SAME(s, a->result.votes, 3);
    SAME(s, a->result.attempts, 5);
    crash(s, 4);
    run_ms(s, 1);
    peek(a);
    TELLS_IN(s, 1, "a:peek OK");
    SAME(s, a->result.attempts, 4);
    crash(s, 3);
    crash(s, 2);
    run_ms(s, 1);
    peek(a);
    TELLS_IN(s, 3100, "a:peek UNREACHABLE");
    HOLDS(s, strstr(a->detail, "no answer from 3 of 5 masters within "));
}

/* Whatever of it is refused: nothing is left behind, and the next one is answered. */
HAVING(an_inquiry_without_memory_is_none, handle_new(quorum(s, 3), "a", "stock", NULL))
{
    unsigned refused = 0;
    for (uint64_t fail = 1; fail <= 6; fail++) {
        for (int is_named = 0; is_named < 2; is_named++) {
            size_t before = s->memory.blocks;
            s->memory.fail_at = s->memory.asked + fail;
            s->memory.fails = 6;
            refused += (is_named ? force(a, "somebody:1") : peek(a)) == HILOCK_NO_MEMORY;
            s->memory.fail_at = 0;
            unheard_ms(s, 3100);
            SAME(s, s->memory.blocks, before);
        }
    }
    HOLDS(s, refused >= 3);
    SAME(s, peek(a), HILOCK_OK);
    TELLS_IN(s, 5, "a:peek OK");
}

/* Each vote has an id of its own, and the label stands behind it: they are of one holder. */
A_PLAY(force_release_needs_a_majority)
{
    struct client *p = quorum_with(s, 3, (struct hilock_client_options){.size = sizeof(struct hilock_client_options),
                                                                        .label = "till@shop-7"});
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    struct handle *b = handle_new(quorum(s, 3), "b", "stock", NULL);
    s->is_tampered = 1;
    const char *holder = formatted("%s", store_holder(store_at(s, 0), "stock"));
    SAME(s, force(b, "somebody:1"), HILOCK_OK);
    TELLS_IN(s, 1, "b:force LOST");
    HOLDS(s, !strstr(b->detail, "no answer"));
    SAME(s, force(b, holder), HILOCK_OK);
    TELLS_IN(s, 1, "b:force OK");
    SAME(s, b->result.votes, 3);
    TELLS_IN(s, 1100, "a:LOST TAKEN");
    run_ms(s, 10);
    SAME(s, kept(s, "stock"), 0);
    SAME(s, force(b, NULL), HILOCK_OK);
    handle_free(b);
    run_ms(s, 10);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
}

GIVEN(connected_means_that_enough_are, quorum(s, 3))
{
    crash(s, 0);
    run_ms(s, 1);
    HOLDS(s, hilock_client_is_connected(p->client));
    crash(s, 1);
    run_ms(s, 1);
    HOLDS(s, !hilock_client_is_connected(p->client));
    SAME(s, counts_of(p).nodes, 3);
    SAME(s, counts_of(p).nodes_up, 1);
}

/* It asks again when it polls. */
A_PLAY(a_poller_gives_back_at_once_the_votes_that_are_too_few)
{
    const struct hilock_client_options options = {.size = sizeof options, .quorum_needed = 3};
    struct handle *a = handle_new(quorum_with(s, 3, options), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    store_set_string(store_at(s, 1), "stock", "another");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 5);
    SAME(s, store_left_ms(store_at(s, 0), "stock"), -2);
    SAME(s, store_left_ms(store_at(s, 2), "stock"), -2);
    run_ms(s, 500);
    HOLDS(s, store_count(store_at(s, 1), "SET") < 12);
    store_delete(store_at(s, 1), "stock");
    TELLS_IN(s, 200, "a:OK");
}

enum { CLIENTS = 6, EACH = 6 };

/* All masters must agree, and a message takes longer than a hold: who has a vote and lacks another keeps the others from having any. */
A_PLAY(many_share_a_queue_when_all_masters_must_agree)
{
    const struct hilock_client_options options = {.size = sizeof options, .quorum_needed = 3, .turns_max = 1};
    struct handle *handles[CLIENTS * EACH];
    unsigned grants = 0, is_served[CLIENTS * EACH] = {0}, served = 0;
    s->is_untold = 1;
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct client *client = quorum_with(s, 3, options);
        for (unsigned j = 0; j < EACH; j++)
            handles[i * EACH + j] = handle_new(client, "h", "stock", NULL);
    }
    s->net.there_us = s->net.back_us = 10000;
    for (unsigned ms = 0; ms < 5000; ms++) {
        for (unsigned i = 0; i < CLIENTS * EACH; i++) { /* each holds for a millisecond whenever it can */
            unsigned had_it = (unsigned)is_held(handles[i]);
            if (had_it)
                release_quietly(handles[i]);
            if (hilock_lock_state(handles[i]->lock) == HILOCK_STATE_IDLE)
                acquire(handles[i], HILOCK_FOREVER);
            grants += had_it;
            served += had_it && !is_served[i];
            is_served[i] |= had_it;
        }
        run_ms(s, 1);
    }
    HOLDS(s, grants >= 60);
    SAME(s, served, CLIENTS * EACH);
}

/* The first master is another's, and says so before the others grant. */
A_PLAY(with_votes_enough_it_leaves_the_queue_of_a_master_that_another_holds)
{
    struct client *p = quorum(s, 3);
    take_at(s, 0, 1, "another");
    for (unsigned i = 1; i < 3; i++)
        PLAN(s, .on = "mutex_acquire", .at = store_at(s, i), .fate.back_us = 5000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 20);
    SAME(s, kept(s, "stock"), 2);
    SAME(s, store_count(store_at(s, 0), "mutex_release"), 1);
}

/* Another program listens; to leave it one of the votes would help nobody. */
A_PLAY(no_vote_is_left_to_others)
{
    struct client *p = quorum(s, 3), *q = quorum(s, 3);
    struct handle *a = held(p, "a", "stock", NULL);
    asking(q, "b", "stock", NULL);
    run_ms(s, 10);
    release_quietly(a);
    run_ms(s, 1);
    for (unsigned i = 0; i < 3; i++)
        HOLDS(s, strstr(store_line(store_at(s, i), "mutex_release", -1)->text, " 1000000 600000"));
}

/* One master grants, one is another's, and one does not answer: nobody else is kept waiting for that. */
A_PLAY(a_round_that_nobody_decides_gives_its_votes_back)
{
    struct client *p = quorum(s, 3);
    take_at(s, 2, 1, "another");
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .holds = 1, .times = PLAN_ALWAYS);
    asking(p, "a", "stock", NULL);
    run_ms(s, 1000);
    HOLDS(s, store_count(store_at(s, 0), "mutex_release") >= 1);
}
