/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_losses - what is left of a queue when one of its keys is lost, of another type, or out of reach; and when the server takes no
 * writes, or has no memory. */
#include <inttypes.h>

#include "script_trial.h"

/* ---- losses ---- */

/* A place counts as asked when its ticket was drawn, with number 1: its promise is that of its text, so it goes, and comes back. */
TRIAL(test_the_records_are_lost)
{
    struct awaited scene = held_and_awaited(trial);
    (void)ask(trial, &scene.b);
    (void)RUN(trial, "DEL", R);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(heard(trial, " 1 0 400 ")); /* number 1, asked 0: count from the ticket */
    assert_int_equal(RUN(trial, "DEL", N)->integer, 1);
    trial_set_time(trial, start_us + 4 * SECOND_US);
    assert_int_equal(code_of(look(trial, "")), 0);
    assert_true(heard(trial, "g:c F1") && !waits(trial, &scene.c));
    assert_true(token_of(ask(trial, &scene.c)) > 0);
}

/* The records of the lost queue stay until their key expires: each is overwritten by the next heartbeat of its place. */
TRIAL(test_the_queue_is_lost)
{
    struct awaited scene = held_and_awaited(trial);
    (void)ask(trial, &scene.b);
    (void)ask(trial, &scene.c);
    (void)RUN(trial, "DEL", Q);
    assert_int_equal(place_of(ask(trial, &scene.c)), 1);
    assert_int_equal(RUN(trial, "HLEN", R)->integer, 2);
    assert_int_equal(place_of(ask(trial, &scene.b)), 1); /* with its ticket, in front */
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    assert_int_equal(RUN(trial, "PTTL", R)->integer, 90000);
}

/* Tickets are times: old ones stay in front of all that come later. */
TRIAL(test_the_counter_is_lost)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter d = waiter_of(trial, 'd', 1);
    (void)RUN(trial, "DEL", T);
    trial_set_time(trial, start_us + 10);
    assert_int_equal(place_of(ask(trial, &d)), 3);
    (void)leave(trial, &scene.b);
    assert_int_equal(place_of(ask(trial, &scene.b)), 1);
}

TRIAL(test_the_hold_is_lost)
{
    struct awaited scene = held_and_awaited(trial);
    (void)RUN(trial, "DEL", N);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), 0); /* '0 ..': it was free, and is granted */
    assert_true(heard(trial, "g:b G1 "));
    assert_true(holds(trial, scene.b.id));
}

/* ---- wrong types ---- */

TRIAL(test_the_queue_is_of_another_type)
{
    struct waiter b = waiter_of(trial, 'b', 1);
    uint64_t before;
    held_by(trial, holder_of('a', 1));
    (void)RUN(trial, "SET", Q, "theirs");
    before = sim_store_digest(trial->store);
    assert_true(is_error(ask(trial, &b), "WRONGTYPE "));
    assert_true(is_error(ask_again(trial, &b), "WRONGTYPE "));
    assert_true(sim_store_digest(trial->store) == before);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), 1);
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    assert_true(is_error(ask_again(trial, &b), "WRONGTYPE "));
    assert_true(sim_reply_is(RUN(trial, "GET", Q), "theirs"));
}

TRIAL(test_the_records_are_of_another_type)
{
    struct awaited scene = held_and_awaited(trial);
    uint64_t before;
    (void)RUN(trial, "SET", R, "theirs");
    before = sim_store_digest(trial->store);
    assert_true(is_error(ask(trial, &scene.b), "WRONGTYPE "));
    assert_true(sim_store_digest(trial->store) == before);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(holds(trial, scene.b.id)); /* by its text, and it is not overdue */
    (void)RUN(trial, "PEXPIRE", N, "90000");
    trial_set_time(trial, start_us + 60 * SECOND_US);
    assert_int_equal(code_of(release(trial, scene.b.id, NEVER)), -2);
    assert_true(holds(trial, scene.c.id)); /* which record it has cannot be read, so it is not overdue either */
    assert_true(is_error(ask(trial, &scene.b), "WRONGTYPE "));
    assert_true(sim_reply_is(RUN(trial, "GET", R), "theirs")); /* a key that is not ours is never deleted */
}

TRIAL(test_the_counter_is_of_another_type)
{
    static const char *const kinds[] = {"a hash", "a word"};
    for (size_t i = 0; i < 2; i++) {
        struct awaited scene;
        struct waiter d;
        uint64_t before;
        trial_begin(trial);
        scene = held_and_awaited(trial);
        d = waiter_of(trial, 'd', 1);
        (void)RUN(trial, "DEL", T);
        (void)(i ? RUN(trial, "SET", T, kinds[i]) : RUN(trial, "HSET", T, "f", kinds[i]));
        before = sim_store_digest(trial->store);
        assert_true(is_error(ask(trial, &d), i ? "BADTOKEN " : "WRONGTYPE "));
        assert_true(sim_store_digest(trial->store) == before);
        assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), 1); /* nobody can get a token: it is freed */
        assert_true(waits(trial, &scene.b));
        assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    }
}

/* ---- rights ---- */

/* Of the records: it holds, releases and hands over; its heartbeats are refused, and leave nothing. */
TRIAL(test_no_right_to_the_records)
{
    struct awaited scene = held_and_awaited(trial);
    uint64_t before;
    (void)ask(trial, &scene.b);
    trial_deny(trial, NULL, "hilock:place");
    before = sim_store_digest(trial->store);
    assert_true(is_error(ask(trial, &scene.c), "ERR The user executing the script"));
    assert_true(sim_store_digest(trial->store) == before);
    trial_set_time(trial, start_us + 5 * SECOND_US); /* b is not overdue, for its record cannot be read */
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(holds(trial, scene.b.id));
    assert_int_equal(code_of(release(trial, scene.b.id, NEVER)), -2);
    assert_true(holds(trial, scene.c.id));
}

/* A record is not readable, nor is a batch of them: behind the first place as well. */
TRIAL(test_a_record_that_cannot_be_read_is_not_a_missing_one)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter d = waiter_of(trial, 'd', 1);
    (void)listens(trial, "g:d");
    (void)ask(trial, &d);
    (void)leave(trial, &scene.b);
    (void)leave(trial, &scene.c);
    scene.c.ticket = d.ticket + 1; /* behind d, and so in the batch */
    (void)ask(trial, &scene.c);
    (void)RUN(trial, "HDEL", R, scene.c.id);
    (void)RUN(trial, "DEL", N);
    trial_deny(trial, "hmget", NULL);
    trial_set_time(trial, start_us + 60 * SECOND_US);
    assert_int_equal(code_of(look(trial, "")), 0);
    assert_true(holds(trial, scene.c.id) && !waits(trial, &d));
}

/* Without the right to ask for listeners everybody is ready: an error is not a 0. */
TRIAL(test_no_right_to_ask_for_listeners)
{
    struct waiter b = waiter_of(trial, 'b', 1); /* who does not listen */
    held_by(trial, holder_of('a', 1));
    (void)ask(trial, &b);
    trial_deny(trial, "pubsub", NULL);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(holds(trial, b.id));
}

/* A user without the right to set an expiry makes no hold, gets no place, and a heartbeat leaves none. */
TRIAL(test_no_right_to_an_expiry)
{
    struct waiter b = waiter_of(trial, 'b', 1), c = waiter_of(trial, 'c', 1);
    uint64_t before;
    trial_deny(trial, "pexpire", NULL);
    assert_true(is_error(try_as(trial, b.id), "ERR The user"));
    assert_int_equal(RUN(trial, "EXISTS", N, Q, R)->integer, 0);
    trial_deny(trial, NULL, NULL);
    held_by(trial, holder_of('a', 1));
    trial_deny(trial, "pexpire", NULL);
    assert_true(is_error(ask(trial, &c), "ERR The user"));
    assert_int_equal(RUN(trial, "EXISTS", Q, R)->integer, 0);
    trial_deny(trial, NULL, NULL);
    (void)ask(trial, &b);
    (void)leave(trial, &b);
    trial_deny(trial, "pexpire", NULL);
    before = sim_store_digest(trial->store);
    assert_true(is_error(ask(trial, &b), "ERR The user"));
    assert_true(sim_store_digest(trial->store) == before);
    trial_deny(trial, NULL, NULL);
    (void)ask(trial, &b);
    trial_deny(trial, "pexpire", NULL);
    assert_true(is_error(ask(trial, &b), "ERR The user"));
    assert_true(waits(trial, &b)); /* one that was there stays */
}

/* Without the right to add to the queue nobody gets a place, and nothing is left of the question. */
TRIAL(test_no_right_to_a_place)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter next = waiter_of(trial, 'a', 2), d = waiter_of(trial, 'd', 1);
    const struct sim_reply *reply;
    (void)leave(trial, &scene.c);
    trial_deny(trial, "zadd", NULL);
    assert_true(is_error(ask(trial, &d), "ERR The user"));
    assert_true(is_error(ask(trial, &scene.c), "ERR The user"));
    assert_true(queue_length(trial) == 1);
    assert_int_equal(RUN(trial, "EXISTS", R)->integer, 0);
    reply = release_for_next(trial, holder_of('a', 1), &next);
    assert_true(reply->type == SIM_REPLY_STRING && code_of(reply) == -2); /* it did not ask for next */
    assert_true(holds(trial, scene.b.id));
    assert_int_equal(RUN(trial, "EXISTS", Q, R)->integer, 0);
}

/* And grants nothing: a release frees the name, and the waiter stands where it stood, unheard of; who asks for another gets the error. */
TRIAL(test_no_right_to_grant)
{
    struct awaited scene = held_and_awaited(trial);
    (void)ask(trial, &scene.c);
    trial_deny(trial, "pexpire", NULL);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), 1);
    assert_false(heard(trial, "G1"));
    assert_true(waits(trial, &scene.b) && waits(trial, &scene.c) && !holds(trial, scene.b.id));
    assert_true(is_error(try_as(trial, holder_of('d', 1)), "ERR The user"));
    assert_false(heard(trial, "G1"));
    assert_true(waits(trial, &scene.b));
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    trial_deny(trial, NULL, NULL);
    assert_true(token_of(ask(trial, &scene.b)) > 0);
}

/* Nor to write the name: nothing is made, nobody is told. */
TRIAL(test_no_right_to_the_name)
{
    struct awaited scene = held_and_awaited(trial);
    trial_deny(trial, "hset", NULL);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), 1);
    assert_false(heard(trial, "G1"));
    assert_true(waits(trial, &scene.b));
    (void)RUN(trial, "DEL", Q);
    assert_true(is_error(try_as(trial, holder_of('d', 1)), "ERR The user"));
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
}

/* Of Redisson's queue: it hands over, and frees, as if there were none. */
TRIAL(test_no_right_to_redissons_queue)
{
    struct awaited scene = held_and_awaited(trial);
    (void)RUN(trial, "RPUSH", J, "java:1");
    (void)listens(trial, C ":java:1");
    trial_deny(trial, NULL, "redisson");
    assert_int_equal(code_of(release(trial, holder_of('a', 1), TO_OTHERS)), -2);
    assert_true(holds(trial, scene.b.id));
    (void)RUN(trial, "DEL", Q);
    assert_int_equal(code_of(release(trial, scene.b.id, TO_OTHERS)), 1);
    assert_false(heard(trial, "java:1"));
    (void)RUN(trial, "HSET", N, "java:57", "1");
    assert_int_equal(ask(trial, &scene.c)->count, 6);
}

/* Without the right to an expiry no count of courtesies and no `*` stays for ever. */
TRIAL(test_courtesy_without_a_right_to_an_expiry)
{
    struct awaited scene = held_and_awaited(trial);
    (void)listens(trial, C);
    trial_deny(trial, "pexpire", NULL);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), TO_OTHERS)), -4);
    assert_int_equal(RUN(trial, "EXISTS", R)->integer, 0);
    trial_deny(trial, NULL, NULL);
    trial_set_time(trial, start_us + 6000);
    assert_true(token_of(ask(trial, &scene.b)) > 0);
    (void)RUN(trial, "DEL", Q);
    trial_deny(trial, "pexpire", NULL);
    assert_int_equal(code_of(release(trial, scene.b.id, TO_OTHERS)), 2);
    assert_int_equal(RUN(trial, "EXISTS", R, Q)->integer, 0);
}

/* ---- no memory, no writes ---- */

/* A hold is released, a place is left: no server refuses that for lack of memory. Nothing is granted by halves. */
TRIAL(test_no_memory)
{
    struct awaited scene = held_and_awaited(trial);
    struct waiter d = waiter_of(trial, 'd', 1);
    uint64_t before;
    (void)ask(trial, &scene.b);
    trial_no_memory(trial, 1);
    before = sim_store_digest(trial->store);
    assert_true(is_error(ask(trial, &d), "OOM "));
    assert_true(is_error(ask(trial, &scene.b), "OOM "));
    assert_true(sim_store_digest(trial->store) == before);
    assert_int_equal(code_of(leave(trial, &scene.b)), 0);
    assert_false(waits(trial, &scene.b));
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(holds(trial, scene.c.id));
    (void)RUN(trial, "DEL", N);
    assert_true(is_error(try_as(trial, d.id), "OOM "));
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    trial_no_memory(trial, 0);
    assert_true(token_of(try_as(trial, d.id)) > 0);
}

/* A server that takes no writes keeps hold and place: who leaves is to say so again. */
TRIAL(test_no_writes)
{
    struct awaited scene = held_and_awaited(trial);
    uint64_t before;
    (void)ask(trial, &scene.b);
    trial_no_writes(trial, 1);
    before = sim_store_digest(trial->store);
    assert_true(is_error(leave(trial, &scene.b), "NOREPLICAS "));
    assert_true(is_error(release(trial, holder_of('a', 1), NEVER), "NOREPLICAS "));
    assert_true(is_error(ask(trial, &scene.b), "NOREPLICAS "));
    assert_true(sim_store_digest(trial->store) == before);
    trial_no_writes(trial, 0);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_int_equal(code_of(leave(trial, &scene.c)), 0);
    (void)RUN(trial, "DEL", N);
    trial_no_writes(trial, 1);
    assert_int_equal(code_of(release(trial, scene.b.id, NEVER)), 0); /* nothing is left to end */
    trial_no_writes(trial, 0);
}
