/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_pollers - waiters that cannot listen: passed over while they are far, ready while they look in short steps. */
#include <string.h>

#include "script_trial.h"

enum { DEAD = 1, OVERDUE = 1000 };

static const struct sim_reply *a_releases(struct trial *trial) { return release(trial, holder_of('a', 1), NEVER); }

/* One that is far is passed over and stays; one that is first is ready for 150 ms after its question, and gets no push. */
TRIAL(test_pollers)
{
    struct waiter poller, b;
    for (int is_late = 0; is_late < 2; is_late++) {
        trial_begin(trial);
        poller = waiter_of(trial, 'p', 1);
        a_holds(trial);
        waiter_stands(&poller, "-", 1700000003, "400 0 1");
        (void)ask(trial, &poller);
        b = one_waits(trial, 'b');
        if (is_late) {
            expect(a_releases(trial), -2, 0);
            assert_true(holds(trial, b.id) && waits(trial, &poller)); /* it was far */
            (void)RUN(trial, "DEL", N);
            a_holds(trial);
        }
        strcpy(poller.channel, "~");
        (void)ask(trial, &poller);
        trial_set_time(trial, start_us + 150000 - !is_late);
        expect(a_releases(trial), is_late ? 1 : -2, 0);
        assert_int_equal(heard(trial, "G1"), 0);
        assert_int_equal(holds(trial, poller.id), !is_late);
        assert_int_equal(waits(trial, &poller), is_late);
    }
}

/* Its own question finds the free name, in front of all that listen. A promise that is broken takes it out as any other. */
TRIAL(test_a_poller_takes_its_turn_by_asking)
{
    struct waiter poller = waiter_of(trial, 'p', 1), b;
    a_holds(trial);
    waiter_stands(&poller, "-", 1700000003, "400 0 1");
    (void)ask(trial, &poller);
    b = one_waits(trial, 'b');
    (void)RUN(trial, "DEL", N);
    assert_true(token_of(ask(trial, &poller)) > 0);
    (void)release(trial, poller.id, NEVER);
    (void)ask(trial, &poller);
    b.due_s = 1700000100;
    (void)ask(trial, &b);
    trial_set_time(trial, start_us + 11 * SECOND_US);
    poller.ticket = 0; /* whoever it was */
    assert_int_equal(removed_of(release(trial, b.id, NEVER)) + removed_of(look(trial, "")), OVERDUE);
    assert_false(waits(trial, &poller));
}

/* A far poller's heartbeat does not walk while the name is held. */
TRIAL(test_far_pollers_leave_the_walk_to_others)
{
    struct waiter poller = waiter_of(trial, 'p', 1);
    const struct sim_reply *reply;
    a_holds(trial);
    many_wait(trial, 'd', 3);
    waiter_stands(&poller, "-", 1700000003, "400 0 1");
    (void)ask(trial, &poller);
    reply = ask(trial, &poller);
    assert_true(place_of(reply) == 4 && removed_of(reply) == 0);
    strcpy(poller.channel, "~");
    reply = ask(trial, &poller);
    assert_true(place_of(reply) == 1 && removed_of(reply) == 3 * DEAD);
}

/* Whoever does not know the server's clock promises no time. Its place stands for eleven seconds from its latest question, or from its ticket if
 * it asked once. */
TRIAL(test_a_promise_without_a_time_ends_all_the_same)
{
    for (unsigned asks = 1; asks < 3; asks++) {
        struct waiter poller, b;
        trial_begin(trial);
        a_holds(trial);
        poller = waiter_of(trial, 'p', 1);
        poller.due_s = 9999999999;
        waiter_stands(&poller, "-", poller.due_s, "400 0 1");
        (void)ask(trial, &poller);
        trial_set_time(trial, start_us + (asks - 1) * SECOND_US);
        if (asks > 1)
            (void)ask(trial, &poller);
        b = one_waits(trial, 'b');
        b.due_s = 1700000100;
        trial_set_time(trial, start_us + (asks + 9) * SECOND_US);
        assert_true(removed_of(ask(trial, &b)) == 0 && waits(trial, &poller));
        trial_set_time(trial, start_us + (asks + 11) * SECOND_US);
        assert_true(removed_of(ask(trial, &b)) == OVERDUE && !waits(trial, &poller));
    }
}
