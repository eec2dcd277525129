/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_builds - a later build beside this one: more words are no harm, another version is left alone. And names that several hold:
 * `most` is one word of a place, and nothing says so yet but these tests. */
#include <inttypes.h>

#include "script_trial.h"

enum { STEP = 64 };

static const struct sim_reply *a_releases(struct trial *trial) { return release(trial, holder_of('a', 1), NEVER); }

static struct waiter stands(struct trial *trial, char client, const char *rest)
{
    const char channel[] = {'g', ':', client, '\0'};
    struct waiter waiter = waiter_of(trial, client, 1);
    waiter_stands(&waiter, channel, 1700000003, rest);
    (void)listens(trial, channel);
    (void)ask(trial, &waiter);
    return waiter;
}

/* ---- more words ---- */

/* In a place, in a heartbeat, in terms, and behind what lapsed. */
TRIAL(test_later_words_are_ignored)
{
    struct waiter b, c;
    char asks[400];
    a_holds(trial);
    b = stands(trial, 'b', "400 0 1 more words; no, not here");
    assert_false(waits(trial, &b)); /* a semicolon ends a place */
    (void)RUN(trial, "DEL", Q, R);
    b = stands(trial, 'b', "400 3 1 more words");
    c = stands(trial, 'c', "400 0 1 9");
    snprintf(asks, sizeof asks, ANY_TIME " %" PRId64 " %s; 2 1700000009 g:c 500 more words", c.ticket, c.place);
    assert_int_equal(place_of(SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, c.id, "10000", asks, "300000000")), 2);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), "1000000 300000  more words")), -2);
    assert_true(heard(trial, "g:b G1 ") && heard(trial, " 1 0 400 "));
    trial_set_time(trial, start_us + 401000);
    snprintf(asks, sizeof asks, "%s %" PRIu64 " more words", b.id, start_us);
    assert_int_equal(code_of(look(trial, asks)), 0);
    assert_true(heard(trial, "g:c G1 ") && heard(trial, " 2 1700000000123456 500 "));
    assert_true(holds(trial, c.id));
    assert_int_equal(RUN(trial, "EXISTS", Q, R)->integer, 0);
}

/* A grant reserves the tokens that its place asks for: the next number is above them. */
TRIAL(test_a_grant_reserves_tokens)
{
    struct waiter b, c;
    int64_t token;
    a_holds(trial);
    b = stands(trial, 'b', "400 7 1");
    (void)a_releases(trial);
    token = token_of(ask(trial, &b));
    assert_true(token > b.ticket);
    c = stands(trial, 'c', "400 7 1");
    assert_int_equal(c.ticket, token + 8);
    (void)RUN(trial, "DEL", N);
    b = waiter_of(trial, 'd', 1); /* the same where a newcomer's question grants it */
    (void)ask(trial, &b);
    assert_int_equal(b.ticket, token_of(ask(trial, &c)) + 8);
}

/* ---- what cannot be read ---- */

/* It stays, is granted nothing, and is not told; who stands behind it is served. */
TRIAL(test_what_cannot_be_read_is_left_alone)
{
    static const char *const members[] = {"x 2 g:x 1700000003 400 0 1", "x 11 g:x 1700000003 400 0 1", "x", "x ", "x 1", "x 1 ", "x 1 g:x",
                                          "x 1 g:x 1700000003 400 0", "x 1 g:x 1700000003 400 0 one", "x 1 g:x soon 400 0 1", " 1 g:x 1 1 1 1",
                                          "x  1 g:x 1700000003 400 0 1", "", "1 g:x 1700000003 400 0 1", "x 1 g:x -1 400 0 1"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        for (int is_first = 0; is_first < 2; is_first++) {
            struct waiter b;
            trial_begin(trial);
            a_holds(trial);
            (void)listens(trial, "g:x");
            (void)RUN(trial, "ZADD", Q, "7", members[i]);
            (void)RUN(trial, "HSET", R, "x", "1 1700000000123456 2 1700000003 g:x 400");
            if (!is_first)
                (void)RUN(trial, "ZADD", Q, "6", "* *");
            b = stands(trial, 'b', "400 0 1");
            assert_int_equal(removed_of(ask(trial, &b)), 0);
            trial_set_time(trial, start_us + 5 * SECOND_US);
            if (code_of(a_releases(trial)) != -2 || heard(trial, "g:x"))
                fail_msg("\"%s\"", members[i]);
            assert_true(holds(trial, b.id));
            assert_int_equal(RUN(trial, "ZSCORE", Q, members[i])->type, SIM_REPLY_STRING);
        }
    }
}

TRIAL(test_a_damaged_record_is_left_alone)
{
    static const char *const records[] = {"", "2 1 2 1700000003 g:b 400", "1 x 2 1700000003 g:b 400", "1 1 2 1700000003 g:b", "1 1 2 1700000003 g:b soon"};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct waiter b, c;
        trial_begin(trial);
        a_holds(trial);
        b = stands(trial, 'b', "400 0 1");
        c = stands(trial, 'c', "400 0 1");
        (void)RUN(trial, "HSET", R, b.id, records[i]);
        trial_set_time(trial, start_us + 60000);
        assert_int_equal(code_of(a_releases(trial)), -2);
        assert_true(holds(trial, c.id) && waits(trial, &b));
    }
}

/* 64 that nobody reads: what is asked comes to an end. */
TRIAL(test_64_of_another_version)
{
    struct waiter b;
    a_holds(trial);
    for (int i = 0; i < STEP + 1; i++) {
        char score[8], member[64];
        snprintf(score, sizeof score, "%d", i + 1);
        snprintf(member, sizeof member, "x:%d 2 g:x 1700000003 400 0 1", i);
        (void)RUN(trial, "ZADD", Q, score, member);
    }
    b = stands(trial, 'b', "400 0 1");
    assert_int_equal(code_of(a_releases(trial)), 1);
    assert_true(token_of(ask(trial, &b)) > 0); /* its own question finds the name free */
}

/* ---- names that several hold ---- */

static const struct sim_reply *share_as(struct trial *trial, const char *id, const char *most)
{
    return SCRIPT(trial, hl_script_mutex_acquire, "4", N, Q, T, S, id, "10000", ANY_TIME, "300000000", most);
}

static int64_t holders(struct trial *trial)
{
    int64_t fields = RUN(trial, "HLEN", N)->integer;
    return fields ? fields - 1 : 0;
}

TRIAL(test_several_hold_a_name)
{
    const struct sim_reply *reply;
    char peeked[512];
    int64_t first = token_of(share_as(trial, holder_of('a', 1), "2"));
    assert_int_equal(first, (int64_t)start_us);
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "mode"), "shared"));
    assert_true(sim_reply_is(RUN(trial, "ZSCORE", S, holder_of('a', 1)), "1700000010123456"));
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
    assert_int_equal(RUN(trial, "PTTL", S)->integer, 10000);
    trial_set_time(trial, start_us + SECOND_US);
    assert_true(token_of(share_as(trial, holder_of('b', 1), "2")) > first);
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
    reply = share_as(trial, holder_of('c', 1), "2");
    assert_true(integer(reply, 0) == -1 - 9000 && is_text(reply, 1, holder_of('a', 1)) && integer(reply, 6) == 2); /* whose end lets it in */
    reply = try_as(trial, holder_of('d', 1));
    assert_true(integer(reply, 0) == -1 - 10000 && is_text(reply, 1, holder_of('b', 1)) && integer(reply, 2) == 1 && integer(reply, 6) == 2);
    reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, "");
    as_text(reply, peeked);
    assert_true(is_text(reply, 1, holder_of('b', 1)) && is_text(reply, 2, "shared") && integer(reply, 5) == 2);
    trial_set_time(trial, start_us + 3 * SECOND_US);
    assert_int_equal(token_of(share_as(trial, holder_of('a', 1), "2")), first); /* it has it, and goes on */
    assert_true(sim_reply_is(RUN(trial, "ZSCORE", S, holder_of('a', 1)), "1700000013123456"));
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
    assert_int_equal(RUN(trial, "PTTL", S)->integer, 10000);
}

/* A share without a token, or without an expiry, is none. */
TRIAL(test_a_share_that_is_refused)
{
    (void)RUN(trial, "SET", T, "theirs");
    assert_true(is_error(share_as(trial, holder_of('a', 1), "2"), "BADTOKEN "));
    (void)RUN(trial, "DEL", T);
    trial_deny(trial, "pexpire", NULL);
    assert_true(is_error(share_as(trial, holder_of('a', 1), "2"), "ERR The user"));
    assert_int_equal(RUN(trial, "EXISTS", N, S, Q)->integer, 0);
    trial_deny(trial, NULL, NULL);
    (void)share_as(trial, holder_of('a', 1), "2");
    assert_true(sim_reply_is(RUN(trial, "GET", T), "1700000000123457")); /* no more than one each */
    (void)RUN(trial, "PEXPIRE", N, "5000");
    trial_deny(trial, "pexpire", NULL);
    assert_true(is_error(share_as(trial, holder_of('b', 1), "2"), "ERR The user"));
    assert_int_equal(holders(trial), 1);
    assert_int_equal(RUN(trial, "ZCARD", S)->integer, 1);
}

/* Shares end one by one, and the last end frees the name. */
TRIAL(test_shares_end_one_by_one)
{
    const struct sim_reply *reply;
    (void)share_as(trial, holder_of('a', 1), "2");
    trial_set_time(trial, start_us + 4 * SECOND_US);
    (void)share_as(trial, holder_of('b', 1), "2");
    trial_set_time(trial, start_us + 11 * SECOND_US);
    reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, "");
    assert_true(integer(reply, 0) == 3000 && is_text(reply, 1, holder_of('b', 1)) && integer(reply, 5) == 1);
    assert_true(token_of(share_as(trial, holder_of('c', 1), "2")) > 0);
    assert_false(holds(trial, holder_of('a', 1)));
    assert_int_equal(holders(trial), 2);
    (void)RUN(trial, "PEXPIRE", N, "100000");
    (void)RUN(trial, "PEXPIRE", S, "100000");
    trial_set_time(trial, start_us + 30 * SECOND_US);
    reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, "");
    assert_true(integer(reply, 0) == -2 && is_text(reply, 1, "") && integer(reply, 5) == 0);
    assert_true(token_of(try_as(trial, holder_of('d', 1))) > 0);
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "mode"), "mutex"));
    assert_int_equal(holders(trial), 1);
}

/* A share that is over is not its holder's any more, and nothing is left of it; the last one leaves a free name. */
TRIAL(test_a_share_that_is_over)
{
    struct waiter dead = waiter_of(trial, 'd', 1);
    int64_t first = token_of(share_as(trial, holder_of('a', 1), "2"));
    trial_set_time(trial, start_us + 4 * SECOND_US);
    (void)share_as(trial, holder_of('b', 1), "2");
    trial_set_time(trial, start_us + 11 * SECOND_US);
    assert_int_equal(token_of(share_as(trial, holder_of('c', 1), "2")) > 0, 1);
    assert_int_equal(RUN(trial, "ZCARD", S)->integer, 2);
    (void)RUN(trial, "DEL", N, S);
    first = token_of(share_as(trial, holder_of('a', 1), "3"));
    trial_set_time(trial, start_us + 15 * SECOND_US);
    (void)share_as(trial, holder_of('b', 1), "3");
    trial_set_time(trial, start_us + 22 * SECOND_US);
    assert_true(token_of(share_as(trial, holder_of('a', 1), "3")) > first); /* a new one */
    (void)ask(trial, &dead);
    (void)RUN(trial, "PEXPIRE", N, "100000");
    (void)RUN(trial, "PEXPIRE", S, "100000");
    trial_set_time(trial, start_us + 60 * SECOND_US);
    assert_int_equal(code_of(look(trial, "400")), 0);
    assert_int_equal(RUN(trial, "EXISTS", N, S, Q)->integer, 0);
}

/* All that come one after the other and may share the name get it at once, up to the one that does not fit; tokens follow each other. */
TRIAL(test_a_batch_of_shares)
{
    struct waiter waiters[5];
    int64_t first;
    char text[160];
    a_holds(trial);
    for (int i = 0; i < 3; i++)
        waiters[i] = stands(trial, (char)('b' + i), i == 1 ? "500 0 3" : "400 0 3");
    waiters[3] = stands(trial, 'e', "400 0 1");
    waiters[4] = stands(trial, 'f', "400 0 3");
    /* the usable part of 532 ms is 502 ms: then the longest window is over, too */
    snprintf(text, sizeof text, "-2 532 %" PRIu64 " %s", start_us, waiters[0].id);
    assert_true(sim_reply_is(a_releases(trial), text));
    assert_true(heard(trial, "g:b G1 ") && heard(trial, "g:c G1 ") && heard(trial, "g:d G1 "));
    assert_false(heard(trial, "g:e") || heard(trial, "g:f"));
    assert_int_equal(holders(trial), 3);
    first = token_of(ask(trial, &waiters[0]));
    snprintf(text, sizeof text, "%" PRId64, first + 2);
    assert_true(sim_reply_is(RUN(trial, "GET", T), text)); /* no more than these are drawn */
    assert_true(token_of(ask(trial, &waiters[1])) == first + 1 && token_of(ask(trial, &waiters[2])) == first + 2);
    assert_true(waits(trial, &waiters[3]) && waits(trial, &waiters[4]));
    assert_true(place_of(ask(trial, &waiters[4])) == 2);
}

/* Its own heartbeat finds the name free, and gives it to all of the batch, itself among them. */
TRIAL(test_a_sharer_takes_a_free_name_with_its_batch)
{
    for (int by = 0; by < 2; by++) {
        struct waiter waiters[3];
        const struct sim_reply *reply;
        char asks[256];
        int64_t token;
        trial_begin(trial);
        a_holds(trial);
        for (int i = 0; i < 3; i++)
            waiters[i] = stands(trial, (char)('b' + i), i < 2 ? "400 0 2" : "400 0 1");
        (void)RUN(trial, "DEL", N);
        snprintf(asks, sizeof asks, ANY_TIME " %" PRId64 " %s; 2 1700000009 g:x 400", waiters[by].ticket, waiters[by].place);
        reply = SCRIPT(trial, hl_script_mutex_acquire, "4", N, Q, T, S, waiters[by].id, "10000", asks, "300000000", "2");
        token = token_of(reply);
        assert_true(token > waiters[2].ticket);
        assert_true(heard(trial, by ? "g:b G1 " : "g:c G1 ") && !heard(trial, by ? "g:c" : "g:b"));
        assert_true(holds(trial, waiters[0].id) && holds(trial, waiters[1].id) && holders(trial) == 2);
        assert_int_equal(queue_length(trial), 1);
        snprintf(asks, sizeof asks, "%" PRId64, token);
        assert_true(sim_reply_is(RUN(trial, "HGET", N, waiters[by].id), asks)); /* it is told its own */
        assert_true(sim_reply_is(RUN(trial, "ZSCORE", S, waiters[by].id), "1700000010123456")); /* its lease; the other has a window */
        assert_true(sim_reply_is(RUN(trial, "ZSCORE", S, waiters[!by].id), "1700000000523456"));
    }
}

/* A sharer passes the dead, and says how many; and says nothing if there were none. */
TRIAL(test_a_sharer_is_granted_past_the_dead)
{
    struct waiter dead = waiter_of(trial, 'd', 1);
    a_holds(trial);
    (void)ask(trial, &dead);
    (void)RUN(trial, "DEL", N);
    assert_int_equal(removed_of(share_as(trial, holder_of('b', 1), "2")), 1);
    assert_true(holds(trial, holder_of('b', 1)));
    assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
    assert_int_equal(share_as(trial, holder_of('c', 1), "2")->type, SIM_REPLY_INTEGER);
    assert_int_equal(holders(trial), 2);
}

/* A newcomer that wants it alone lets those in front of it in, and stands behind them. */
TRIAL(test_a_newcomer_lets_the_batch_in)
{
    struct waiter b, c, d;
    a_holds(trial);
    b = stands(trial, 'b', "400 0 2");
    c = stands(trial, 'c', "400 0 2");
    (void)RUN(trial, "DEL", N);
    d = waiter_of(trial, 'd', 1);
    assert_true(place_of(ask(trial, &d)) == 1);
    assert_true(heard(trial, "g:b G1 ") && heard(trial, "g:c G1 "));
    assert_true(holds(trial, b.id) && holds(trial, c.id) && waits(trial, &d));
    assert_int_equal(RUN(trial, "ZCARD", S)->integer, 2);
    assert_int_equal(token_of(ask(trial, &c)), token_of(ask(trial, &b)) + 1);
    assert_int_equal(d.ticket, token_of(ask(trial, &c)) + 1);
}

/* One that wants the name alone stops those behind it: a sharer waits, and its share comes when that one has left. */
TRIAL(test_who_leaves_lets_sharers_in)
{
    struct waiter b, c;
    (void)share_as(trial, holder_of('a', 1), "2");
    b = stands(trial, 'b', "400 0 1");
    c = stands(trial, 'c', "400 0 2");
    assert_int_equal(place_of(ask(trial, &c)), 2);
    assert_int_equal(code_of(leave(trial, &b)), 0);
    assert_true(heard(trial, "g:c G1 "));
    assert_true(holds(trial, c.id) && holds(trial, holder_of('a', 1)));
    assert_true(sim_reply_is(RUN(trial, "ZSCORE", S, c.id), "1700000000523456"));
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 10000);
}

/* But not while a program of another kind listens. */
TRIAL(test_who_leaves_lets_nobody_in_while_others_listen)
{
    struct waiter b, c;
    (void)share_as(trial, holder_of('a', 1), "2");
    b = stands(trial, 'b', "400 0 1");
    c = stands(trial, 'c', "400 0 2");
    (void)listens(trial, C);
    assert_int_equal(code_of(release(trial, holder_of('z', 1), TO_OTHERS)), 0);
    (void)SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, b.id, TO_OTHERS, " 1 g:b 1700000003 400 0 1");
    assert_true(!waits(trial, &b) && waits(trial, &c) && !holds(trial, c.id));
}

/* More than 64 that could have their shares: the next one is told to ask. */
TRIAL(test_a_batch_that_is_cut)
{
    for (int is_sharded = 0; is_sharded < 2; is_sharded++) {
        trial_begin(trial);
        a_holds(trial);
        (void)listens(trial, "g:b");
        (void)listens_by(trial, is_sharded ? "SSUBSCRIBE" : "SUBSCRIBE", "g:c");
        for (int i = 0; i < STEP + 2; i++) {
            struct waiter waiter = waiter_of(trial, i < STEP ? 'b' : 'c', i + 1);
            waiter_stands(&waiter, i < STEP ? "g:b" : is_sharded ? "!g:c" : "g:c", 1700000003, "400 0 1000");
            (void)ask_again(trial, &waiter);
        }
        assert_int_equal(code_of(a_releases(trial)), -2);
        assert_true(heard(trial, "g:c F1 ") && !heard(trial, "g:c G1 "));
        assert_int_equal(holders(trial), STEP);
        if (is_sharded)
            continue;
        (void)RUN(trial, "DEL", N);
        (void)RUN(trial, "ZADD", Q, "1", "x 2 g:x 1700000003 400 0 1"); /* the next is one that cannot be read */
        for (int i = 0; i < STEP; i++) {
            struct waiter waiter = waiter_of(trial, 'b', i + 1);
            waiter_stands(&waiter, "g:b", 1700000003, "400 0 1000");
            waiter.ticket = 100 + i;
            (void)RUN(trial, "ZREM", Q, "x 2 g:x 1700000003 400 0 1");
            (void)RUN(trial, "HSET", N, "java:1", "1");
            (void)ask(trial, &waiter);
        }
        (void)RUN(trial, "ZADD", Q, "1000", "x 2 g:x 1700000003 400 0 1");
        (void)RUN(trial, "DEL", N);
        assert_int_equal(code_of(look(trial, "")), 0);
        assert_int_equal(holders(trial), STEP);
    }
}

/* One share of several: the others keep theirs. */
TRIAL(test_one_share_is_ended)
{
    for (int is_forced = 0; is_forced < 2; is_forced++) {
        const struct sim_reply *reply;
        trial_begin(trial);
        (void)share_as(trial, holder_of('a', 1), "2");
        (void)share_as(trial, holder_of('b', 1), "2");
        for (int i = 0; i < 2; i++) {
            const char *id = holder_of(i ? 'b' : 'a', 1);
            reply = is_forced ? SCRIPT(trial, hl_script_mutex_force, "2", N, Q, id, C, "PUBLISH") : SCRIPT(trial, hl_script_free, "1", N, id, C, "PUBLISH");
            assert_int_equal(code_of(reply), i ? 1 : -2);
            assert_int_equal(holders(trial), !i);
            assert_true(!is_forced || RUN(trial, "ZSCORE", S, id)->type == SIM_REPLY_NIL);
        }
        assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    }
}

/* While a program of another kind listens nobody joins: it gets the name when nobody has it any more. */
TRIAL(test_nobody_joins_while_others_listen)
{
    static const struct { const char *hears, *most; int joins; } cases[] = {
        {"SUBSCRIBE", "2", 0}, {"SSUBSCRIBE", "2", 1}, {"SSUBSCRIBE", "S2", 0}, {"SUBSCRIBE", "S2", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trial_begin(trial);
        (void)share_as(trial, holder_of('a', 1), cases[i].most);
        (void)listens_by(trial, cases[i].hears, C);
        assert_int_equal(token_of(share_as(trial, holder_of('b', 1), cases[i].most)) > 0, cases[i].joins);
        assert_int_equal(holders(trial), 1 + cases[i].joins);
        assert_int_equal(token_of(share_as(trial, holder_of('c', 1), cases[i].most)), 0); /* two at most */
    }
}

/* An older version has deleted the set, or another program has: a field counts for as long as the name lives. */
TRIAL(test_a_share_that_the_set_does_not_know_counts)
{
    (void)share_as(trial, holder_of('a', 1), "2");
    (void)share_as(trial, holder_of('b', 1), "2");
    (void)RUN(trial, "DEL", S);
    assert_int_equal(token_of(share_as(trial, holder_of('c', 1), "2")), 0);
    assert_int_equal(holders(trial), 2);
    (void)RUN(trial, "DEL", N);
    (void)RUN(trial, "ZADD", S, "1", "long ago");
    assert_true(token_of(share_as(trial, holder_of('c', 1), "2")) > 0);
    assert_int_equal(RUN(trial, "ZCARD", S)->integer, 1);
}
