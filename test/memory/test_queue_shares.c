/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_shares - the scripts of those that share a name: a share ends alone, is renewed alone, and a hold that has the name alone becomes
 * one. What an acquire and a release do beside shares is in test_queue_builds. */
#include <inttypes.h>

#include "script_trial.h"

enum { LAPSED = 1000000 };

static const struct sim_reply *joins(struct trial *trial, const char *id, const char *most)
{
    return SCRIPT(trial, hl_script_mutex_acquire, "4", N, Q, T, S, id, "10000", ANY_TIME, "300000000", most);
}

static const struct sim_reply *ends(struct trial *trial, const char *id) { return SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, id, NEVER); }

static const struct sim_reply *renews(struct trial *trial, const char *id, int64_t token)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, token);
    return SCRIPT(trial, hl_script_share_renew, "2", N, S, "10000", id, text);
}

static const struct sim_reply *lets_in(struct trial *trial, const char *id, int64_t token)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, token);
    return SCRIPT(trial, hl_script_share_downgrade, "4", N, Q, T, S, id, NEVER, "10000", text);
}

static int is_shared_by(struct trial *trial, int64_t count)
{
    return sim_reply_is(RUN(trial, "HGET", N, "mode"), "shared") && RUN(trial, "HLEN", N)->integer == count + 1 && RUN(trial, "ZCARD", S)->integer == count;
}

static struct waiter another_stands(struct trial *trial, char client, int number, const char *most)
{
    const char channel[] = {'g', ':', client, '\0'};
    char rest[32];
    struct waiter waiter = waiter_of(trial, client, number);
    snprintf(rest, sizeof rest, "400 0 %s", most);
    waiter_stands(&waiter, channel, 1700000100, rest);
    waiter.due_s = 1700000100;
    (void)listens(trial, channel);
    (void)ask(trial, &waiter);
    return waiter;
}

static struct waiter stands(struct trial *trial, char client, const char *most) { return another_stands(trial, client, 1, most); }

/* The others stay, and the last one frees the name and tells so. */
TRIAL(test_a_share_ends_alone)
{
    (void)joins(trial, holder_of('a', 1), "3");
    (void)joins(trial, holder_of('b', 1), "3");
    assert_true(is_shared_by(trial, 2));
    expect(ends(trial, holder_of('a', 1)), -2, 0);
    assert_true(is_shared_by(trial, 1) && holds(trial, holder_of('b', 1)));
    expect(ends(trial, holder_of('a', 1)), 0, 0); /* repeated */
    expect(ends(trial, holder_of('b', 1)), 1, 0);
    assert_true(told(trial, C " 0\n"));
    assert_int_equal(RUN(trial, "EXISTS", N, S)->integer, 0);
}

/* Who wants the name alone waits for all of them; who shares it behind that one waits, too. */
TRIAL(test_the_last_share_lets_in_the_first_waiter)
{
    struct waiter w, r;
    (void)joins(trial, holder_of('a', 1), "1000000");
    (void)joins(trial, holder_of('b', 1), "1000000");
    w = stands(trial, 'w', "1");
    r = stands(trial, 'r', "1000000");
    expect(ends(trial, holder_of('a', 1)), -2, 0);
    assert_true(!heard(trial, "G1") && waits(trial, &w) && waits(trial, &r));
    expect(ends(trial, holder_of('b', 1)), -2, 0);
    assert_true(heard(trial, "g:w G1 ") && holds(trial, w.id) && !waits(trial, &w) && waits(trial, &r));
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "mode"), "mutex"));
    assert_int_equal(RUN(trial, "EXISTS", S)->integer, 0);
}

/* A permit that is given back goes to the first waiter, beside those that still hold. */
TRIAL(test_a_permit_goes_to_the_first_waiter)
{
    struct waiter c, d;
    (void)joins(trial, holder_of('a', 1), "2");
    (void)joins(trial, holder_of('b', 1), "2");
    c = stands(trial, 'c', "2");
    d = stands(trial, 'd', "2");
    expect(ends(trial, holder_of('a', 1)), -2, 0);
    assert_true(heard(trial, "g:c G1 ") && holds(trial, c.id) && waits(trial, &d) && is_shared_by(trial, 2));
    trial_set_time(trial, start_us + 400000 + 1000); /* c does not use it */
    expect(look(trial, ""), 0, 0);
    assert_true(holds(trial, d.id) && !holds(trial, c.id) && is_shared_by(trial, 2));
}

/* In front of c stand two waiters of b. The first gets a permit beside x, and the second wants the name alone. */
static struct waiter b_gets_a_permit(struct trial *trial, struct waiter *alone, struct waiter *c)
{
    struct waiter first;
    (void)joins(trial, holder_of('x', 1), "3");
    (void)joins(trial, holder_of('a', 1), "2");
    first = stands(trial, 'b', "2");
    *alone = another_stands(trial, 'b', 2, "1");
    *c = stands(trial, 'c', "2");
    expect(ends(trial, holder_of('a', 1)), -2, 0);
    assert_true(holds(trial, first.id) && waits(trial, alone) && waits(trial, c));
    return first;
}

/* A share that was released before its window was over was used: its client lives, and what waits of it keeps its turn. */
TRIAL(test_a_look_takes_no_used_share_for_lapsed)
{
    struct waiter alone, c, first = b_gets_a_permit(trial, &alone, &c);
    char lapsed[128];
    snprintf(lapsed, sizeof lapsed, "424 %s %" PRIu64, first.id, start_us + 10); /* tickets run ahead of a time that stands still */
    expect(ends(trial, first.id), -2, 0);
    trial_set_time(trial, start_us + 410000);
    expect(look(trial, lapsed), 0, 0);
    assert_true(waits(trial, &alone) && waits(trial, &c));
}

/* One that is still there when its window is over was not. */
TRIAL(test_a_look_knows_a_share_that_nobody_used)
{
    struct waiter alone, c, first = b_gets_a_permit(trial, &alone, &c);
    char lapsed[128];
    snprintf(lapsed, sizeof lapsed, "424 %s %" PRIu64, first.id, start_us + 10);
    trial_set_time(trial, start_us + 200000);
    (void)ask(trial, &alone); /* it lives, and that grant was before */
    trial_set_time(trial, start_us + 410000);
    expect(look(trial, lapsed), 0, 0);
    assert_true(waits(trial, &alone) && waits(trial, &c));
    trial_begin(trial);
    first = b_gets_a_permit(trial, &alone, &c);
    trial_set_time(trial, start_us + 410000);
    expect(look(trial, lapsed), 0, LAPSED);
    assert_true(heard(trial, "g:b F1 ") && !waits(trial, &alone) && holds(trial, c.id) && !holds(trial, first.id));
}

/* So does whoever comes by first, whoever made the grant; but the client that asks lives. */
TRIAL(test_who_lets_a_share_run_out_has_lapsed)
{
    for (int asks_itself = 0; asks_itself < 2; asks_itself++) {
        struct waiter alone, c, first;
        trial_begin(trial);
        first = b_gets_a_permit(trial, &alone, &c);
        trial_set_time(trial, start_us + 410000);
        if (asks_itself)
            (void)joins(trial, holder_of('b', 3), "2");
        else
            expect(ends(trial, holder_of('y', 1)), 0, LAPSED);
        assert_true(!holds(trial, first.id) && waits(trial, &alone) == asks_itself && holds(trial, c.id) == !asks_itself);
    }
}

/* Whoever leaves the queue may have been what others waited for. */
TRIAL(test_who_leaves_lets_others_in)
{
    struct waiter w, r;
    (void)joins(trial, holder_of('a', 1), "1000000");
    w = stands(trial, 'w', "1");
    r = stands(trial, 'r', "1000000");
    (void)leave(trial, &w);
    assert_true(heard(trial, "g:r G1 ") && holds(trial, r.id) && is_shared_by(trial, 2));
}

/* Each share lasts as long as it was granted or renewed, whatever the others do. */
TRIAL(test_each_share_is_renewed_alone)
{
    int64_t a = token_of(joins(trial, holder_of('a', 1), "2")), b = token_of(joins(trial, holder_of('b', 1), "2"));
    trial_set_time(trial, start_us + 4 * SECOND_US);
    assert_int_equal(renews(trial, holder_of('a', 1), a)->integer, 6001);
    assert_int_equal(renews(trial, holder_of('a', 1), a + 1)->integer, 0); /* another token */
    trial_set_time(trial, start_us + 10 * SECOND_US);
    assert_int_equal(renews(trial, holder_of('b', 1), b)->integer, 0); /* it is over, though its field is there */
    assert_int_equal(RUN(trial, "HLEN", N)->integer, 3);
    (void)joins(trial, holder_of('c', 1), "2");
    assert_true(holds(trial, holder_of('a', 1)) && !holds(trial, holder_of('b', 1)) && is_shared_by(trial, 2));
    assert_int_equal(renews(trial, holder_of('a', 1), a)->integer, 4001);
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
}

/* The first holder that misses itself in the set puts all of them back, for as long as the name lives. */
TRIAL(test_a_set_that_is_lost_is_made_again)
{
    int64_t a = token_of(joins(trial, holder_of('a', 1), "2"));
    (void)joins(trial, holder_of('b', 1), "2");
    trial_set_time(trial, start_us + 4 * SECOND_US);
    (void)RUN(trial, "DEL", S);
    assert_true(token_of(joins(trial, holder_of('c', 1), "2")) == 0 && RUN(trial, "HLEN", N)->integer == 3); /* nobody comes in too early */
    assert_int_equal(renews(trial, holder_of('a', 1), a)->integer, 6001);
    assert_true(is_shared_by(trial, 2));
    trial_set_time(trial, start_us + 10 * SECOND_US);
    assert_true(token_of(joins(trial, holder_of('d', 1), "2")) > 0);
    assert_true(!holds(trial, holder_of('b', 1)) && is_shared_by(trial, 2));
}

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

/* Another program has deleted the name: the ends that it leaves are those of nobody, once somebody comes again. */
TRIAL(test_a_set_without_its_name_is_deleted)
{
    (void)joins(trial, holder_of('a', 1), "2");
    (void)joins(trial, holder_of('b', 1), "2");
    (void)RUN(trial, "DEL", N);
    assert_true(token_of(joins(trial, holder_of('c', 1), "2")) > 0 && is_shared_by(trial, 1));
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
        assert_int_equal(lets_in(trial, holder_of('a', 1), token + 1)->integer, 0); /* another token */
        expect(lets_in(trial, holder_of('a', 1), token), 1, 0);
        if (times > 1)
            expect(lets_in(trial, holder_of('a', 1), token), 1, 0); /* repeated */
        assert_true(holds(trial, r.id) && waits(trial, &w) && is_shared_by(trial, 2));
        assert_int_equal(renews(trial, holder_of('a', 1), token)->integer, 10001);
        expect(ends(trial, r.id), -2, 0);
        expect(ends(trial, holder_of('a', 1)), -2, 0);
        assert_true(holds(trial, w.id));
    }
}

/* The release of a share also ends a hold that has the name alone: its downgrade may not have run. */
TRIAL(test_a_hold_that_is_none_of_a_share_ends)
{
    (void)try_as(trial, holder_of('a', 1));
    expect(ends(trial, holder_of('a', 1)), 1, 0);
    assert_int_equal(RUN(trial, "EXISTS", N, S)->integer, 0);
}

/* 64 come in at once; the next one is told to ask, and lets in the rest. */
TRIAL(test_more_than_64_come_in)
{
    static struct waiter waiters[70];
    char asks[400];
    a_holds(trial);
    for (int i = 0; i < 70; i++) {
        waiters[i] = waiter_of(trial, 'r', i + 1);
        waiter_stands(&waiters[i], "g:r", 1700000100, "400 0 1000000");
        waiters[i].due_s = 1700000100;
        if (i == 0)
            (void)listens(trial, "g:r");
        (void)ask(trial, &waiters[i]);
    }
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), -2);
    assert_true(heard(trial, "g:r F1 ") && is_shared_by(trial, 64));
    snprintf(asks, sizeof asks, ANY_TIME " %" PRId64 " %s; 2 1700000100 g:r 400", waiters[64].ticket, waiters[64].place);
    assert_true(token_of(SCRIPT(trial, hl_script_mutex_acquire, "4", N, Q, T, S, waiters[64].id, "10000", asks, "300000000", "1000000")) > 0);
    assert_true(is_shared_by(trial, 70));
}
