/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_places - a place in the queue: how it is kept, that a ticket is for life, that an id has one place and never one
 * beside its hold. */
#include <inttypes.h>
#include <stdlib.h>

#include "script_trial.h"

static void nothing_is_left(struct trial *trial) { assert_int_equal(RUN(trial, "EXISTS", Q, R, N, S)->integer, 0); }

/* ---- layout ---- */

TRIAL(test_what_a_place_and_a_heartbeat_are)
{
    struct awaited scene = held_and_awaited(trial);
    const struct sim_reply *reply = RUN(trial, "ZRANGE", Q, "0", "-1");
    char text[512];
    snprintf(text, sizeof text, "%s 1 g:b 1700000003 400 0 1", scene.b.id);
    assert_true(reply->count == 2 && is_text(reply, 0, text));
    assert_int_equal(RUN(trial, "EXISTS", R)->integer, 0); /* nobody has asked twice */
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    trial_set_time(trial, start_us + 2 * SECOND_US);
    reply = ask(trial, &scene.b);
    assert_true(reply->count == 6 && integer(reply, 0) == -1 - (LEASE_MS - 2000) && is_text(reply, 1, holder_of('a', 1)));
    assert_true(integer(reply, 2) == 1 && place_of(reply) == 1 && integer(reply, 4) == (int64_t)start_us + 1 && integer(reply, 5) == 2);
    assert_true(sim_reply_is(RUN(trial, "HGET", R, scene.b.id), "1 1700000002123456 2 1700000012 g:b 400"));
    assert_int_equal(RUN(trial, "HLEN", R)->integer, 1);
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    assert_int_equal(RUN(trial, "PTTL", R)->integer, 90000);
}

/* The expiry is told again by the first number of each half minute, not by each place. */
TRIAL(test_how_long_a_queue_lives)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter d = waiter_of(trial, 'd', 1), e = waiter_of(trial, 'e', 1);
    (void)RUN(trial, "PEXPIRE", N, "100000");
    trial_set_time(trial, start_us + 1 * SECOND_US);
    (void)ask(trial, &d);
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 89000);
    trial_set_time(trial, start_us + 31 * SECOND_US);
    (void)ask(trial, &e);
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    trial_set_time(trial, start_us + 33 * SECOND_US);
    (void)ask(trial, &scene.c);
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
}

/* Numbers of one half minute do not: that would cost each hand-over. */
TRIAL(test_a_grant_of_the_same_half_minute)
{
    struct awaited scene = held_and_awaited(trial);
    trial_set_time(trial, start_us + SECOND_US);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 89000);
    (void)RUN(trial, "DEL", N);
    (void)ask(trial, &scene.b);
    (void)RUN(trial, "PEXPIRE", Q, "80000");
    assert_true(holds(trial, scene.b.id));
    (void)RUN(trial, "DEL", N);
    assert_int_equal(token_of(try_as(trial, holder_of('d', 1))), 0);
    assert_true(holds(trial, scene.c.id));
}

/* A grant draws a number as well: of a release, of a try that finds another one first, or of one that takes the name past the dead. */
TRIAL(test_a_grant_keeps_the_queue)
{
    for (int how = 0; how < 3; how++) {
        struct awaited scene;
        trial_begin(trial);
        scene = held_and_awaited(trial);
        scene.b.due_s = scene.c.due_s = 1700000100;
        (void)ask(trial, &scene.b);
        (void)ask(trial, &scene.c);
        trial_set_time(trial, start_us + 31 * SECOND_US);
        (void)RUN(trial, "DEL", N);
        if (how == 0)
            assert_int_equal(code_of(look(trial, "")), 0);
        else if (how == 1)
            assert_int_equal(token_of(try_as(trial, holder_of('d', 1))), 0);
        else { /* what cannot be read stays */
            (void)RUN(trial, "ZADD", Q, "7", "x 2 words");
            (void)leave(trial, &scene.b);
            (void)leave(trial, &scene.c);
            (void)RUN(trial, "DEL", N);
            (void)RUN(trial, "PEXPIRE", Q, "5000");
            (void)RUN(trial, "SET", T, "1700000000123456");
            assert_true(token_of(try_as(trial, holder_of('d', 1))) > 0);
        }
        assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    }
}

/* No place counts as one that has a score below 1, and such marks hide none. */
TRIAL(test_marks_beside_the_star_are_no_places)
{
    struct awaited scene = held_and_awaited(trial);
    const struct sim_reply *reply;
    char text[256];
    (void)RUN(trial, "ZADD", Q, "-5", "*", "-7", "+", "0", "?");
    reply = ask(trial, &scene.c);
    assert_true(place_of(reply) == 2 && integer(reply, 5) == 2);
    snprintf(text, sizeof text, "%s %s", scene.b.id, scene.b.place);
    reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, text);
    assert_true(integer(reply, 3) == 2 && integer(reply, 4) == 1);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(holds(trial, scene.b.id));
    reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, text);
    assert_true(integer(reply, 3) == 1 && integer(reply, 4) == 0);
    assert_int_equal(RUN(trial, "ZSCORE", Q, "*")->type, SIM_REPLY_NIL);
    assert_int_equal(RUN(trial, "ZCARD", Q)->integer, 3);
}

/* Nor do they count in the place that a release gives to the next handle. */
TRIAL(test_marks_do_not_count_before_next)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter next = waiter_of(trial, 'a', 2);
    const struct sim_reply *reply;
    (void)RUN(trial, "ZADD", Q, "0", "?");
    reply = release_for_next(trial, holder_of('a', 1), &next);
    assert_true(code_of(reply) == -2 && integer(reply, 4) == 2 && integer(reply, 6) == 2);
    assert_true(holds(trial, scene.b.id) && waits(trial, &next));
}

/* `*` is found wherever it stands among them: the name is kept from ours until its time is over. */
TRIAL(test_the_star_is_found_behind_other_marks)
{
    struct waiter b = waiter_of(trial, 'b', 1);
    const struct sim_reply *reply;
    (void)listens(trial, "g:b");
    (void)RUN(trial, "ZADD", Q, "-1700000000128456", "*", "-1800000000000000", "+");
    reply = ask(trial, &b);
    assert_true(integer(reply, 0) == 1 && integer(reply, 2) == 5 && place_of(reply) == 1 && integer(reply, 5) == 1);
    trial_set_time(trial, start_us + 5000);
    assert_true(token_of(ask(trial, &b)) > 0);
    assert_int_equal(RUN(trial, "ZSCORE", Q, "*")->type, SIM_REPLY_NIL);
    assert_false(waits(trial, &b));
}

/* Who asks while the queue is full gets no ticket; who has a place keeps it. */
TRIAL(test_a_full_queue_refuses_a_first_question)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter d = waiter_of(trial, 'd', 1);
    const struct sim_reply *reply;
    char asks[256];
    for (int others = 3; others > 0; others--) {
        snprintf(asks, sizeof asks, ANY_TIME " -%d %s", others, d.place);
        if (others < 3) {
            reply = SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, d.id, "10000", asks, "300000000");
            assert_true(place_of(reply) == 0 && integer(reply, 4) == 0 && integer(reply, 5) == 2);
            assert_false(waits(trial, &d));
        }
        snprintf(asks, sizeof asks, ANY_TIME " -%d %s", others, scene.c.place);
        reply = SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, scene.c.id, "10000", asks, "300000000");
        assert_true(place_of(reply) == 2 && integer(reply, 4) == scene.c.ticket);
    }
    snprintf(asks, sizeof asks, ANY_TIME " -3 %s", d.place);
    assert_int_equal(place_of(SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, d.id, "10000", asks, "300000000")), 3);
}

/* Those that this very question takes out are not waiters any more. */
TRIAL(test_a_queue_that_is_full_of_the_dead)
{
    struct waiter dead[3], b = waiter_of(trial, 'b', 1), d = waiter_of(trial, 'd', 1);
    const struct sim_reply *reply;
    char asks[256];
    held_by(trial, holder_of('a', 1));
    for (int i = 0; i < 3; i++) {
        dead[i] = waiter_of(trial, 'x', i + 1);
        (void)ask(trial, &dead[i]);
    }
    (void)listens(trial, "g:b");
    (void)ask(trial, &b);
    (void)RUN(trial, "DEL", N);
    snprintf(asks, sizeof asks, ANY_TIME " -2 %s", d.place);
    reply = SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, d.id, "10000", asks, "300000000");
    assert_true(place_of(reply) == 1 && integer(reply, 5) == 1 && removed_of(reply) == 3);
    d.ticket = integer(reply, 4);
    assert_true(waits(trial, &d) && holds(trial, b.id));
    assert_true(d.ticket == token_of(try_as(trial, b.id)) + 1); /* behind the token that the same question drew */
}

/* A try that names the place of an earlier question: it makes none, it keeps one that is there, and a grant removes it. */
TRIAL(test_a_try_names_the_place_of_before)
{
    struct waiter b = waiter_of(trial, 'b', 1);
    char asks[256];
    snprintf(asks, sizeof asks, ANY_TIME " -0 %s", b.place);
    held_by(trial, holder_of('a', 1));
    (void)SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, b.id, "10000", asks, "300000000");
    assert_false(waits(trial, &b));
    (void)ask(trial, &b);
    (void)SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, b.id, "10000", asks, "300000000");
    assert_true(waits(trial, &b));
    (void)RUN(trial, "DEL", N);
    assert_true(token_of(SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, b.id, "10000", asks, "300000000")) > 0);
    assert_true(holds(trial, b.id) && !waits(trial, &b));
}

/* Nor does next, and then the release says its own number alone. */
TRIAL(test_a_full_queue_refuses_next)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter next = waiter_of(trial, 'a', 2);
    const struct sim_reply *reply;
    char place[256];
    snprintf(place, sizeof place, "%s %s", next.id, next.place);
    reply = SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, holder_of('a', 1), NEVER TO_NEXT, place, "", "1");
    assert_true(reply->type == SIM_REPLY_STRING && code_of(reply) == -2 && holds(trial, scene.b.id));
    assert_false(waits(trial, &next)); /* c waits */
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    reply = SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, scene.b.id, NEVER TO_NEXT, place, "", "1");
    assert_true(reply->count == 9 && code_of(reply) == -2 && holds(trial, scene.c.id) && waits(trial, &next));
}

/* ---- tickets for life; one place for an id, and none beside its hold ---- */

/* A first question that is repeated finds its place, and a late copy takes no older ticket away. */
TRIAL(test_a_repeated_first_question_finds_its_place)
{
    struct awaited scene = held_and_awaited(trial);
    const struct sim_reply *reply;
    for (int i = 0; i < 3; i++) {
        trial_set_time(trial, start_us + (uint64_t)i * 5000);
        reply = ask_again(trial, &scene.b);
        assert_true(integer(reply, 4) == scene.b.ticket && place_of(reply) == 1 && integer(reply, 5) == 2);
        (void)ask(trial, &scene.b);
    }
    assert_int_equal(queue_length(trial), 2);
}

/* Its place was taken out, or lost: it brings its ticket along, and stands where it stood. */
TRIAL(test_a_ticket_is_for_life)
{
    struct awaited scene = held_and_awaited(trial);
    const struct sim_reply *reply;
    int64_t ticket = scene.b.ticket;
    for (int is_lost = 0; is_lost < 2; is_lost++) {
        if (is_lost)
            (void)RUN(trial, "DEL", Q);
        else
            (void)leave(trial, &scene.b);
        assert_false(waits(trial, &scene.b));
        reply = ask(trial, &scene.b);
        assert_true(place_of(reply) == 1 && integer(reply, 5) == 2 - is_lost); /* its own place is counted again */
        assert_int_equal(scene.b.ticket, ticket);
        assert_int_equal(place_of(ask(trial, &scene.c)), 2);
    }
    scene.b.ticket += 5000; /* a later one, which it never had: the older one wins */
    (void)ask(trial, &scene.b);
    assert_int_equal(scene.b.ticket, ticket + 5000);
    assert_int_equal(place_of(ask(trial, &scene.b)), 1);
}

TRIAL(test_an_id_that_holds_has_no_place)
{
    struct awaited scene = held_and_awaited(trial);
    (void)ask(trial, &scene.b);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(holds(trial, scene.b.id) && !waits(trial, &scene.b));
    assert_int_equal(RUN(trial, "EXISTS", R)->integer, 0); /* its record is gone as well */
    assert_true(token_of(ask(trial, &scene.b)) > 0);       /* a heartbeat that was on its way finds the hold */
    assert_true(token_of(ask_again(trial, &scene.b)) > 0);
    assert_int_equal(queue_length(trial), 1);
    assert_int_equal(code_of(release(trial, scene.b.id, NEVER)), -2);
    (void)ask(trial, &scene.c);
    assert_int_equal(code_of(release(trial, scene.c.id, NEVER)), 1);
    nothing_is_left(trial);
}

/* Its own heartbeat finds the name free: it becomes the holder, and place and record go. */
TRIAL(test_a_heartbeat_takes_a_free_name)
{
    struct awaited scene = held_and_awaited(trial);
    (void)ask(trial, &scene.b);
    (void)RUN(trial, "DEL", N);
    assert_int_equal(ask(trial, &scene.b)->type, SIM_REPLY_INTEGER); /* nobody was taken out, and nothing is said of that */
    assert_true(holds(trial, scene.b.id) && !waits(trial, &scene.b));
    assert_int_equal(RUN(trial, "HEXISTS", R, scene.b.id)->integer, 0);
}

TRIAL(test_who_leaves_leaves_nothing)
{
    struct awaited scene = held_and_awaited(trial);
    (void)ask(trial, &scene.b);
    assert_int_equal(code_of(leave(trial, &scene.b)), 0);
    assert_string_equal(trial->told, ""); /* our own release wakes the next one */
    assert_false(waits(trial, &scene.b));
    assert_int_equal(RUN(trial, "EXISTS", R)->integer, 0);
    assert_int_equal(code_of(leave(trial, &scene.b)), 0); /* said again */
    assert_int_equal(code_of(leave(trial, &scene.c)), 0);
    assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
}

/* Tickets and tokens are of one counter: each is above all that came before. */
TRIAL(test_tickets_and_tokens_rise_together)
{
    struct waiter waiters[4];
    int64_t last = 0, token;
    (void)listens(trial, "g:b");
    held_by(trial, holder_of('a', 1));
    for (int i = 0; i < 4; i++) {
        waiters[i] = waiter_of(trial, 'b', i + 1);
        (void)ask(trial, &waiters[i]);
        assert_true(waiters[i].ticket > last);
        last = waiters[i].ticket;
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(code_of(release(trial, i ? waiters[i - 1].id : holder_of('a', 1), NEVER)), -2);
        token = token_of(ask(trial, &waiters[i]));
        assert_true(token > last);
        last = token;
    }
}

/* Said again by the holder it makes the hold last, and never shortens it. */
TRIAL(test_an_acquire_that_is_repeated_renews)
{
    int64_t token = token_of(try_as(trial, holder_of('a', 1)));
    trial_set_time(trial, start_us + 5 * SECOND_US);
    assert_int_equal(token_of(try_as(trial, holder_of('a', 1))), token);
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
    (void)RUN(trial, "PEXPIRE", N, "20000");
    assert_int_equal(token_of(try_as(trial, holder_of('a', 1))), token);
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 20000);
}

/* ---- the release asks for its client's next handle ---- */

TRIAL(test_next_stands_behind_all_or_has_the_name)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter next = waiter_of(trial, 'a', 2);
    const struct sim_reply *reply;
    (void)listens(trial, "g:a");
    reply = release_for_next(trial, holder_of('a', 1), &next);
    assert_true(code_of(reply) == -2 && integer(reply, 1) == -1 - 400 && is_text(reply, 2, scene.b.id) && integer(reply, 3) == 5);
    assert_true(integer(reply, 4) == 2 && integer(reply, 6) == 2 && next.ticket > scene.c.ticket);
    assert_true(is_text(reply, 7, "") && is_text(reply, 8, "1700000000123456") && reply->count == 9);
    assert_true(waits(trial, &next));
    assert_int_equal(code_of(release(trial, scene.b.id, NEVER)), -2);
    assert_int_equal(code_of(release(trial, scene.c.id, NEVER)), -2);
    assert_true(holds(trial, next.id));
    scene.b = waiter_of(trial, 'a', 3);
    reply = release_for_next(trial, next.id, &scene.b);
    assert_true(reply->count == 2 && code_of(reply) == -2 && integer(reply, 1) > next.ticket && holds(trial, scene.b.id));
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
    assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
}

/* Late bytes must not make a holder that no client knows of. */
TRIAL(test_next_of_a_release_that_ended_nothing_is_not_asked_for)
{
    struct waiter next = waiter_of(trial, 'a', 2);
    assert_int_equal(code_of(release_for_next(trial, holder_of('a', 1), &next)), 0);
    nothing_is_left(trial);
}
