/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_shares - the scripts of those that share a name: a share ends alone, and is renewed alone. What an acquire and
 * a release do beside shares is in test_queue_builds, and downgrades are in test_queue_downgrades. */
#include "sharing.h"

enum { LAPSED = 1000000 };

/* The others stay, and the last one frees the name and tells so. */
TRIAL(test_a_share_ends_alone)
{
    (void)joins(trial, holder_of('a', 1), "3");
    (void)joins(trial, holder_of('b', 1), "3");
    assert_true(is_shared_by(trial, 2));
    assert_true(RUN(trial, "PTTL", N)->integer == 10000 && RUN(trial, "PTTL", S)->integer == 10000);
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
    assert_true(RUN(trial, "PTTL", N)->integer == 10000 && RUN(trial, "PTTL", S)->integer == 10000);
    trial_set_time(trial, start_us + 10 * SECOND_US);
    assert_true(token_of(joins(trial, holder_of('d', 1), "2")) > 0);
    assert_true(!holds(trial, holder_of('b', 1)) && is_shared_by(trial, 2));
}

/* Another program has deleted the name: the ends that it leaves are those of nobody, once somebody comes again. */
TRIAL(test_a_set_without_its_name_is_deleted)
{
    (void)joins(trial, holder_of('a', 1), "2");
    (void)joins(trial, holder_of('b', 1), "2");
    (void)RUN(trial, "DEL", N);
    assert_true(token_of(joins(trial, holder_of('c', 1), "2")) > 0 && is_shared_by(trial, 1));
}

/* The release of a share also ends a hold that has the name alone: its downgrade may not have run. */
TRIAL(test_a_hold_that_is_none_of_a_share_ends)
{
    int64_t a = token_of(try_as(trial, holder_of('a', 1)));
    trial_set_time(trial, start_us + 4 * SECOND_US);
    assert_int_equal(renews(trial, holder_of('a', 1), a)->integer, 6001); /* and so does its renewal */
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
    expect(ends(trial, holder_of('a', 1)), 1, 0);
    assert_int_equal(RUN(trial, "EXISTS", N, S)->integer, 0);
    (void)try_as(trial, holder_of('b', 1));
    struct waiter w = stands(trial, 'w', "1"); /* which has it next */
    expect(ends(trial, holder_of('b', 1)), -2, 0);
    assert_true(holds(trial, w.id));
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

/* The right to end a share is missing. Nothing was left to end, or else the server's words come back. */
TRIAL(test_a_share_that_may_not_be_ended)
{
    trial_deny(trial, "hdel", NULL);
    expect(ends(trial, holder_of('a', 1)), 0, 0);
    (void)joins(trial, holder_of('a', 1), "2");
    assert_int_equal(ends(trial, holder_of('a', 1))->type, SIM_REPLY_ERROR);
    trial_deny(trial, NULL, NULL);
    assert_true(holds(trial, holder_of('a', 1)));
}

/* Its record goes with its place; a free name that is left to others is handed to nobody because of that. */
TRIAL(test_who_leaves_takes_its_record_along)
{
    struct waiter w, r;
    (void)joins(trial, holder_of('a', 1), "1000000");
    w = stands(trial, 'w', "1");
    r = stands(trial, 'r', "1");
    w.due_s = 1700000200;
    (void)ask(trial, &w); /* a heartbeat */
    assert_int_equal(RUN(trial, "HEXISTS", R, w.id)->integer, 1);
    expect(leaves_shares(trial, &w), 0, 0);
    assert_true(!waits(trial, &w) && waits(trial, &r));
    assert_int_equal(RUN(trial, "HEXISTS", R, w.id)->integer, 0);
    (void)RUN(trial, "DEL", N);
    (void)RUN(trial, "ZADD", Q, "-1700000000128456", "*");
    w = stands(trial, 'v', "1");
    expect(leaves_shares(trial, &w), 0, 0);
    assert_true(waits(trial, &r) && !holds(trial, r.id));
}

/* Others listen: the last share leaves the name to them, and those before it let nobody in and leave it to nobody yet. */
TRIAL(test_only_the_last_share_leaves_the_name_to_others)
{
    struct waiter r;
    (void)joins(trial, holder_of('a', 1), "1000000");
    (void)joins(trial, holder_of('b', 1), "1000000");
    (void)listens(trial, C);
    r = stands(trial, 'r', "1000000");
    expect(SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, holder_of('a', 1), TO_OTHERS), -2, 0);
    assert_true(!heard(trial, "F1") && waits(trial, &r));
    assert_int_equal(RUN(trial, "HEXISTS", R, "*")->integer, 0);
    (void)SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, holder_of('b', 1), TO_OTHERS);
    assert_true(heard(trial, "g:r F1 ") && told(trial, C " 0\n") && waits(trial, &r));
    assert_int_equal(RUN(trial, "HEXISTS", R, "*")->integer, 1);
}

/* In a cluster it is said on the channel of the slot. */
TRIAL(test_the_last_share_of_a_cluster_ends)
{
    (void)joins(trial, holder_of('a', 1), "2");
    expect(SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, holder_of('a', 1), "S0 300000"), 1, 0);
    assert_true(told(trial, "!" C " 0\n"));
}

/* Several come in at once: the tokens follow each other, and none is kept for more. As many others may listen as are let pass. */
TRIAL(test_who_comes_after_the_last_share)
{
    char token[32];
    (void)joins(trial, holder_of('x', 1), "2");
    struct waiter r = stands(trial, 'r', "3"), q = stands(trial, 'q', "3");
    (void)listens(trial, C);
    assert_int_equal(code_of(SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, holder_of('x', 1), "1 300000")), -2);
    assert_true(holds(trial, r.id) && holds(trial, q.id));
    snprintf(token, sizeof token, "%.*s", 31, RUN(trial, "GET", T)->bytes);
    assert_true(sim_reply_is(RUN(trial, "HGET", N, q.id), token));
}

/* A share beside it has run out, and nobody hears of a grant: the name is free, and told to be. */
TRIAL(test_the_last_share_that_lives_frees_the_name)
{
    int64_t a = token_of(joins(trial, holder_of('a', 1), "2"));
    (void)joins(trial, holder_of('b', 1), "2");
    struct waiter w = waiter_of(trial, 'w', 1);
    (void)ask(trial, &w);
    trial_set_time(trial, start_us + 4 * SECOND_US);
    (void)renews(trial, holder_of('a', 1), a);
    trial_set_time(trial, start_us + 11 * SECOND_US);
    assert_int_equal(code_of(ends(trial, holder_of('a', 1))), 1);
    assert_true(told(trial, C " 0\n"));
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
}

/* Who stands first behind another program's hold is told when the one before leaves; behind one of ours there is no need. */
TRIAL(test_who_leaves_wakes_the_next_behind_another_program)
{
    for (int is_ours = 0; is_ours < 2; is_ours++)
        for (int is_first = 0; is_first < 2; is_first++) {
            struct waiter w, r;
            trial_begin(trial);
            (void)RUN(trial, "HSET", N, is_ours ? holder_of('a', 1) : "java:1", "1", "mode", is_ours ? "mutex" : "read");
            w = stands(trial, 'w', "1");
            r = stands(trial, 'r', "1000000");
            expect(leaves_shares(trial, is_first ? &w : &r), 0, 0);
            assert_int_equal(heard(trial, "g:r F1 ") || heard(trial, "g:w F1 "), is_first && !is_ours);
            assert_true(waits(trial, is_first ? &r : &w) && !holds(trial, r.id));
        }
}

/* A free name that is left to nobody goes to whoever stands next, and so does that of a grant that lapsed. */
TRIAL(test_who_leaves_a_free_name_lets_the_next_one_have_it)
{
    (void)try_as(trial, holder_of('a', 1));
    struct waiter w = stands(trial, 'w', "1"), r = stands(trial, 'r', "1");
    (void)RUN(trial, "DEL", N);
    (void)leaves_shares(trial, &w);
    assert_true(heard(trial, "g:r G1 ") && holds(trial, r.id));
}

/* As test_a_look_knows_a_share_that_nobody_used, by the release of a share that is none. */
TRIAL(test_who_ends_no_share_knows_whose_lapsed)
{
    struct waiter alone, c, first = b_gets_a_permit(trial, &alone, &c);
    char lapsed[128];
    snprintf(lapsed, sizeof lapsed, "424 %s %" PRIu64, first.id, start_us + 10);
    trial_set_time(trial, start_us + 410000);
    expect(SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, holder_of('c', 9), NEVER, "", lapsed), 0, LAPSED);
    assert_true(heard(trial, "g:b F1 ") && !waits(trial, &alone) && holds(trial, c.id) && !holds(trial, first.id));
}

/* What may not be written is undone: of a free name nothing is left, and beside others there are these others. */
TRIAL(test_a_share_that_may_not_be_written_is_none)
{
    static const struct { const char *command, *prefix; } denied[] = {{"zadd", NULL}, {"pexpire", NULL}, {NULL, S}};
    for (int i = 0; i < 6; i++) {
        trial_begin(trial);
        if (i / 3)
            (void)SCRIPT(trial, hl_script_mutex_acquire, "4", N, Q, T, S, holder_of('x', 1), "5000", ANY_TIME, "300000000", "2");
        trial_deny(trial, denied[i % 3].command, denied[i % 3].prefix);
        assert_int_equal(joins(trial, holder_of('a', 1), "2")->type, SIM_REPLY_ERROR);
        trial_deny(trial, NULL, NULL);
        if (i / 3)
            assert_true(is_shared_by(trial, 1) && holds(trial, holder_of('x', 1)));
        else
            assert_int_equal(RUN(trial, "EXISTS", N, S)->integer, 0);
    }
}

/* The client that made a grant looks again after the part of this that can be used: the window, and a fiftieth, and 20 ms more. */
TRIAL(test_when_a_granted_share_is_over)
{
    (void)joins(trial, holder_of('a', 1), "1");
    (void)stands(trial, 'r', "2");
    assert_true(sim_reply_starts(ends(trial, holder_of('a', 1)), "-2 430 "));
}

/* A grant of the whole name, that nobody used, is ended as soon as its client does not count on it any more. */
TRIAL(test_who_ends_no_share_ends_a_grant_that_lapsed)
{
    char lapsed[128];
    (void)joins(trial, holder_of('a', 1), "2");
    struct waiter w = stands(trial, 'w', "1"), v = stands(trial, 'v', "1");
    expect(ends(trial, holder_of('a', 1)), -2, 0);
    assert_true(holds(trial, w.id));
    trial_set_time(trial, start_us + 385000);
    snprintf(lapsed, sizeof lapsed, "400 %s %" PRIu64, w.id, start_us);
    expect(SCRIPT(trial, hl_script_share_release, "4", N, Q, T, S, holder_of('c', 9), NEVER, "", lapsed), 0, 0);
    assert_true(holds(trial, v.id) && !holds(trial, w.id));
}

TRIAL(test_a_share_that_ends_now_is_listed_no_more)
{
    const struct sim_reply *reply;
    (void)joins(trial, holder_of('a', 1), "2");
    trial_set_time(trial, start_us + 4 * SECOND_US);
    (void)joins(trial, holder_of('b', 1), "2");
    trial_set_time(trial, start_us + 10 * SECOND_US - 1);
    reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, "", "all");
    assert_true(reply->count == 7 + 2 * 3 && integer(reply, 5) == 2 && is_text(reply, 7, holder_of('b', 1)) && is_text(reply, 10, holder_of('a', 1)));
    assert_int_equal(integer(reply, 12), 1); /* a part of a millisecond is left */
    trial_set_time(trial, start_us + 10 * SECOND_US);
    reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, "", "all");
    assert_true(reply->count == 7 + 3 && integer(reply, 5) == 1 && is_text(reply, 7, holder_of('b', 1)));
}
