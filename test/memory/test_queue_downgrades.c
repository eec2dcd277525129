/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_downgrades - the script of a downgrade: a hold that has the name alone goes on as a share, and lets in those that stand first and
 * may share the name. */
#include "sharing.h"

/* A waiter of Redisson's fair lock listens to a channel of its own. While it does, nobody joins, and a downgrade lets nobody in. */
TRIAL(test_nobody_joins_while_a_fair_waiter_of_java_listens)
{
    static const char java_queue[] = "redisson_lock_queue:{stock}";
    int64_t a = token_of(try_as(trial, holder_of('a', 1)));
    struct waiter r = stands(trial, 'r', "1000000");
    unsigned java = listens(trial, "redisson_lock__channel:{stock}:java:1");
    (void)RUN(trial, "RPUSH", java_queue, "java:1");
    char token[32];
    snprintf(token, sizeof token, "%" PRId64, a);
    (void)SCRIPT(trial, hl_script_share_downgrade, "4", N, Q, T, S, holder_of('a', 1), "0 300000", "10000", token);
    assert_true(is_shared_by(trial, 1) && waits(trial, &r));
    assert_true(token_of(joins(trial, holder_of('b', 1), "5")) == 0 && is_shared_by(trial, 1));
    leaves(trial, java); /* its client is gone; the list stays */
    assert_true(token_of(joins(trial, holder_of('b', 1), "5")) > 0 && holds(trial, r.id) && is_shared_by(trial, 3));
}

/* It goes on with the same token, and those that share and stand first come in. */
TRIAL(test_a_hold_becomes_a_share)
{
    for (int times = 1; times < 3; times++) {
        struct waiter r, w;
        int64_t token;
        trial_begin(trial);
        token = token_of(try_as(trial, holder_of('a', 1)));
        r = stands(trial, 'r', "1000000");
        w = stands(trial, 'w', "1");
        expect(lets_in(trial, holder_of('a', 1), token + 1), 0, 0); /* another token */
        assert_true(sim_reply_starts(lets_in(trial, holder_of('a', 1), token), "1 ")); /* and whom it let in */
        if (times > 1)
            expect(lets_in(trial, holder_of('a', 1), token), 1, 0); /* repeated */
        assert_true(holds(trial, r.id) && waits(trial, &w) && is_shared_by(trial, 2));
        assert_int_equal(renews(trial, holder_of('a', 1), token)->integer, 10001);
        expect(ends(trial, r.id), -2, 0);
        expect(ends(trial, holder_of('a', 1)), -2, 0);
        assert_true(holds(trial, w.id));
    }
}

/* Its lease, and that of the name, begin anew; and again when it is repeated. A share that is over is none. */
TRIAL(test_a_downgrade_renews)
{
    int64_t a = token_of(try_as(trial, holder_of('a', 1)));
    trial_set_time(trial, start_us + 4 * SECOND_US);
    expect(lets_in(trial, holder_of('a', 1), a), 1, 0);
    assert_true(RUN(trial, "PTTL", N)->integer == 10000 && RUN(trial, "PTTL", S)->integer == 10000);
    trial_set_time(trial, start_us + 8 * SECOND_US);
    expect(lets_in(trial, holder_of('a', 1), a), 1, 0);
    assert_true(RUN(trial, "PTTL", N)->integer == 10000 && RUN(trial, "PTTL", S)->integer == 10000);
    assert_int_equal(renews(trial, holder_of('a', 1), a)->integer, 10001);
    trial_set_time(trial, start_us + 13 * SECOND_US);
    assert_true(token_of(joins(trial, holder_of('b', 1), "2")) > 0);
    trial_set_time(trial, start_us + 18 * SECOND_US); /* to the microsecond */
    expect(lets_in(trial, holder_of('a', 1), a), 0, 0);
}

/* With its token in a hash of another mode it is no hold of ours. */
TRIAL(test_what_another_program_made_of_a_hold_becomes_no_share)
{
    int64_t a = token_of(try_as(trial, holder_of('a', 1)));
    (void)RUN(trial, "HSET", N, "mode", "read");
    expect(lets_in(trial, holder_of('a', 1), a), 0, 0);
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "mode"), "read"));
}

/* As many others listen as are let pass; and each that comes in has the token behind the one before, with none between. */
TRIAL(test_a_downgrade_counts_those_who_listen)
{
    for (int listening = 0; listening < 3; listening++) {
        struct waiter r, q;
        char token[32];
        trial_begin(trial);
        int64_t a = token_of(try_as(trial, holder_of('a', 1)));
        r = stands(trial, 'r', "1000000");
        q = stands(trial, 'q', "1000000");
        for (int i = 0; i < listening; i++)
            (void)listens(trial, C);
        snprintf(token, sizeof token, "%" PRId64, a);
        expect(SCRIPT(trial, hl_script_share_downgrade, "4", N, Q, T, S, holder_of('a', 1), "1 300000", "10000", token), 1, 0);
        assert_true(holds(trial, r.id) == (listening < 2) && holds(trial, q.id) == (listening < 2));
        if (listening < 2) {
            snprintf(token, sizeof token, "%.*s", 31, RUN(trial, "GET", T)->bytes);
            assert_true(sim_reply_is(RUN(trial, "HGET", N, q.id), token));
        }
    }
}

/* Another program left records in the set of shares. The downgrade deletes them; the new holder begins a set of its own. A
 * user without the right to count the holders is refused, and nothing changes. */
TRIAL(test_a_downgrade_begins_a_set)
{
    struct waiter r;
    int64_t a = token_of(try_as(trial, holder_of('a', 1)));
    (void)RUN(trial, "ZADD", S, "9000000000000000", "x:1");
    trial_deny(trial, "hlen", NULL);
    assert_int_equal(lets_in(trial, holder_of('a', 1), a)->type, SIM_REPLY_ERROR);
    trial_deny(trial, NULL, NULL);
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "mode"), "mutex"));
    trial_begin(trial);
    a = token_of(try_as(trial, holder_of('a', 1)));
    (void)RUN(trial, "ZADD", S, "9000000000000000", "x:1");
    r = stands(trial, 'r', "1000000");
    r.due_s = 1700000200;
    (void)ask(trial, &r); /* a heartbeat */
    assert_int_equal(RUN(trial, "HEXISTS", R, r.id)->integer, 1);
    (void)lets_in(trial, holder_of('a', 1), a);
    assert_true(holds(trial, r.id) && is_shared_by(trial, 2));
    assert_int_equal(RUN(trial, "HEXISTS", R, r.id)->integer, 0);
}

/* Those who listen by the other kind of channel than the waiters are asked for by themselves. */
TRIAL(test_a_downgrade_counts_listeners_of_each_kind)
{
    for (int listening = 0; listening < 2; listening++) {
        struct waiter r;
        char token[32];
        trial_begin(trial);
        snprintf(token, sizeof token, "%" PRId64, token_of(try_as(trial, holder_of('a', 1))));
        r = waiter_of(trial, 'r', 1);
        waiter_stands(&r, "!g:r", 1700000100, "400 0 1000000");
        r.due_s = 1700000100;
        (void)listens_by(trial, "SSUBSCRIBE", "g:r");
        (void)ask(trial, &r);
        if (listening)
            (void)listens(trial, C);
        expect(SCRIPT(trial, hl_script_share_downgrade, "4", N, Q, T, S, holder_of('a', 1), TO_OTHERS, "10000", token), 1, 0);
        assert_int_equal(holds(trial, r.id), !listening);
    }
}
