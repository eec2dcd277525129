/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_walk - who gets a free name: the dead, the overdue and the lapsed leave the queue at once, and a step
 * looks at 64 places. */
#include <inttypes.h>
#include <stdlib.h>

#include "script_trial.h"

enum { DEAD = 1, OVERDUE = 1000, LAPSED = 1000000, STEP = 64 };

static const struct sim_reply *a_releases(struct trial *trial) { return release(trial, holder_of('a', 1), NEVER); }

/* ---- the dead ---- */

/* Nobody listens: who is dead gets nothing, is not told, and its record goes. */
TRIAL(test_the_dead_are_passed_and_taken_out)
{
    struct waiter dead = waiter_of(trial, 'd', 1), b;
    unsigned listener = listens(trial, "g:d");
    a_holds(trial);
    (void)ask(trial, &dead);
    (void)ask(trial, &dead);
    b = one_waits(trial, 'b');
    leaves(trial, listener);
    expect(a_releases(trial), -2, DEAD);
    assert_true(heard(trial, "g:b G1 ") && holds(trial, b.id) && !waits(trial, &dead));
    assert_int_equal(RUN(trial, "EXISTS", Q, R)->integer, 0);
}

TRIAL(test_a_try_is_granted_past_the_dead)
{
    for (int count = 1; count < STEP; count *= 4) {
        trial_begin(trial);
        a_holds(trial);
        many_wait(trial, 'd', count);
        (void)RUN(trial, "DEL", N);
        expect(try_as(trial, holder_of('b', 1)), (int64_t)start_us + count + 1, count * DEAD);
        assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
    }
}

/* But not past one that listens, and that one is granted it. */
TRIAL(test_a_try_is_refused_by_a_ready_waiter_in_front)
{
    struct waiter b;
    const struct sim_reply *reply;
    a_holds(trial);
    many_wait(trial, 'd', 3);
    b = one_waits(trial, 'b');
    (void)RUN(trial, "DEL", N);
    reply = try_as(trial, holder_of('c', 1));
    assert_true(integer(reply, 0) == -1 - 400 && is_text(reply, 1, b.id) && integer(reply, 2) == 5 && integer(reply, 5) == 0);
    assert_true(reply->count == 9 && is_text(reply, 6, "") && is_text(reply, 7, "1700000000123456") && integer(reply, 8) == 3 * DEAD);
    assert_true(heard(trial, "g:b G1 "));
}

/* It says so, and when to look again, also if nobody was taken out; a mark in front is not counted. */
TRIAL(test_a_try_that_grants_to_the_first_says_so)
{
    struct waiter b;
    const struct sim_reply *reply;
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)one_waits(trial, 'c');
    (void)RUN(trial, "DEL", N);
    (void)RUN(trial, "ZADD", Q, "-5", "*");
    reply = try_as(trial, holder_of('d', 1));
    assert_true(reply->count == 8 && integer(reply, 0) == -1 - 400 && is_text(reply, 1, b.id) && integer(reply, 2) == 5);
    assert_true(integer(reply, 5) == 1 && is_text(reply, 6, "") && is_text(reply, 7, "1700000000123456"));
    assert_int_equal(RUN(trial, "ZCARD", Q)->integer, 1);
}

/* A heartbeat walks while the name is held, too. */
TRIAL(test_a_heartbeat_takes_the_dead_out)
{
    const struct sim_reply *reply;
    struct waiter b;
    a_holds(trial);
    many_wait(trial, 'd', 5);
    b = one_waits(trial, 'b');
    reply = ask(trial, &b);
    assert_true(place_of(reply) == 1 && integer(reply, 5) == 1 && removed_of(reply) == 5 * DEAD);
    reply = ask(trial, &b);
    assert_true(reply->count == 6 && place_of(reply) == 1);
}

/* A release that asks for next removes them first, and next has the name at once. */
TRIAL(test_next_is_granted_past_the_dead)
{
    struct waiter next = waiter_of(trial, 'a', 2);
    a_holds(trial);
    many_wait(trial, 'd', 3);
    expect(release_for_next(trial, holder_of('a', 1), &next), -2, 3 * DEAD);
    assert_true(holds(trial, next.id));
    assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
}

TRIAL(test_who_cancels_takes_the_dead_behind_it_out_when_the_name_is_free)
{
    struct waiter b, dead = waiter_of(trial, 'd', 1);
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)ask(trial, &dead);
    (void)RUN(trial, "DEL", N);
    expect(leave(trial, &b), 0, DEAD);
    assert_int_equal(RUN(trial, "EXISTS", Q, N)->integer, 0);
}

/* ---- the overdue ---- */

/* The next heartbeat comes before the end of the promised second: in the next one it is overdue. It may listen, so it is told. */
TRIAL(test_the_overdue_go_and_are_told)
{
    for (int is_over = 0; is_over < 2; is_over++) {
        struct waiter b, c;
        trial_begin(trial);
        a_holds(trial);
        b = one_waits(trial, 'b');
        c = one_waits(trial, 'c');
        (void)ask(trial, &c);
        trial_set_time(trial, start_us - start_us % 1000000 + 4 * SECOND_US - !is_over);
        expect(a_releases(trial), -2, is_over * OVERDUE);
        assert_int_equal(heard(trial, "g:b F1 "), is_over);
        if (is_over)
            assert_true(heard(trial, " 0 1700000004 000000: stock") || heard(trial, " 0 1700000004 0: stock"));
        assert_true(holds(trial, is_over ? c.id : b.id));
        assert_false(waits(trial, &b));
    }
}

/* A try of a free name passes the overdue as it passes the dead, and says so. */
TRIAL(test_a_try_is_granted_past_the_overdue)
{
    struct waiter b;
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)ask(trial, &b);
    (void)RUN(trial, "DEL", N);
    trial_set_time(trial, start_us + 11 * SECOND_US);
    expect(try_as(trial, holder_of('c', 1)), (int64_t)start_us + 11 * SECOND_US, OVERDUE);
    assert_true(heard(trial, "g:b F1 ") && !waits(trial, &b));
    assert_int_equal(RUN(trial, "EXISTS", Q, R)->integer, 0);
}

/* The latest heartbeat counts, its channel as well. */
TRIAL(test_a_heartbeat_promises_anew)
{
    struct waiter b;
    a_holds(trial);
    b = one_waits(trial, 'b');
    strcpy(b.channel, "other");
    (void)listens(trial, "other");
    b.due_s = 1700000009;
    (void)ask(trial, &b);
    trial_set_time(trial, start_us + 9 * SECOND_US);
    expect(a_releases(trial), -2, 0);
    assert_true(heard(trial, "other G1 ") && heard(trial, " 2 1700000000123456 400 "));
    assert_true(holds(trial, b.id));
}

/* It was stopped: it comes back with its ticket, and stands where it stood. */
TRIAL(test_who_was_overdue_keeps_its_ticket)
{
    struct waiter b, c;
    int64_t ticket;
    a_holds(trial);
    b = one_waits(trial, 'b');
    ticket = b.ticket;
    c = one_waits(trial, 'c');
    (void)ask(trial, &c);
    trial_set_time(trial, start_us + 5 * SECOND_US);
    (void)ask(trial, &c);
    assert_true(heard(trial, "g:b F1 "));
    assert_false(waits(trial, &b));
    assert_int_equal(place_of(ask(trial, &b)), 1);
    assert_int_equal(b.ticket, ticket);
}

/* A channel is told once if it is the one before in the walk; at most eight in a step. */
TRIAL(test_each_client_is_told_once_and_eight_in_a_step)
{
    a_holds(trial);
    for (int i = 0; i < 12; i++)
        (void)listens(trial, (char[]){'g', ':', (char)('b' + i), '\0'});
    for (int i = 0; i < 12; i++)
        many_wait(trial, (char)('b' + i), 2);
    trial_set_time(trial, start_us + 5 * SECOND_US);
    expect(a_releases(trial), 1, 24 * OVERDUE);
    assert_int_equal(trial->heard_count, 8);
    assert_true(heard(trial, "g:i F1 ")); /* the eighth client */
}

/* Who may listen is told: not one that polls, nor one that nobody hears on a sharded channel, whose listeners are all at this server. A
 * channel that is not sharded may have its listener at another node. */
TRIAL(test_who_is_told)
{
    static const struct { const char *channel, *hears, *told; } cases[] = {
        {"g:b", NULL, "g:b F1 "},        {"g:b", "SUBSCRIBE", "g:b F1 "}, {"!g:b", NULL, NULL},
        {"!g:b", "SSUBSCRIBE", "!g:b F1 "}, {"-", NULL, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct waiter b;
        trial_begin(trial);
        b = waiter_of(trial, 'b', 1);
        waiter_stands(&b, cases[i].channel, 1700000003, "400 0 1");
        a_holds(trial);
        (void)ask(trial, &b);
        if (cases[i].hears) /* it is overdue */
            (void)listens_by(trial, cases[i].hears, "g:b");
        if (cases[i].hears || *cases[i].channel == '-')
            trial_set_time(trial, start_us + 5 * SECOND_US);
        expect(a_releases(trial), 1, cases[i].hears || *cases[i].channel == '-' ? OVERDUE : DEAD);
        if (told(trial, "F1") != (cases[i].told != NULL) || (cases[i].told && strncmp(trial->told, cases[i].told, strlen(cases[i].told)) != 0))
            fail_msg("case %zu: %s", i, trial->told);
    }
}

/* ---- the lapsed ---- */

/* The look names the client whose grant lapsed: all its places that have not asked since go, one window for the client. */
TRIAL(test_a_look_takes_the_lapsed_client_out)
{
    for (int is_later = 0; is_later < 2; is_later++) { /* it has asked a microsecond after the grant, or just then */
        struct waiter first, later, other;
        char lapsed[128];
        trial_begin(trial);
        a_holds(trial);
        (void)listens(trial, "g:b");
        first = waiter_of(trial, 'b', 1);
        later = waiter_of(trial, 'b', 2);
        (void)ask(trial, &first);
        (void)ask(trial, &later);
        other = one_waits(trial, 'c');
        expect(a_releases(trial), -2, 0);
        assert_true(holds(trial, first.id));
        snprintf(lapsed, sizeof lapsed, "400 %s %" PRId64, first.id, later.ticket - is_later);
        expect(look(trial, lapsed), 0, 0); /* it is held: nothing changes */
        assert_true(waits(trial, &later));
        trial_set_time(trial, start_us + 401000);
        expect(look(trial, lapsed), 0, is_later ? 0 : LAPSED);
        assert_int_equal(heard(trial, "g:b F1 "), !is_later);
        assert_true(heard(trial, is_later ? "g:b G1 " : "g:c G1 "));
        assert_true(holds(trial, is_later ? later.id : other.id) && !waits(trial, &later));
    }
}

/* A grant stands for a fiftieth and 20 ms longer than its client believes in it. In that time it is held for everybody, and the look ends it. */
TRIAL(test_a_look_ends_a_grant_that_nobody_took)
{
    struct waiter first, later, other;
    char lapsed[128];
    a_holds(trial);
    (void)listens(trial, "g:b");
    first = waiter_of(trial, 'b', 1);
    later = waiter_of(trial, 'b', 2);
    (void)ask(trial, &first);
    (void)ask(trial, &later);
    other = one_waits(trial, 'c');
    expect(a_releases(trial), -2, 0);
    snprintf(lapsed, sizeof lapsed, "400 %s %" PRIu64, first.id, start_us + 4);
    trial_set_time(trial, start_us + 372003);
    expect(look(trial, lapsed), 0, 0); /* its client may believe in it */
    assert_true(holds(trial, first.id));
    trial_set_time(trial, start_us + 372004);
    expect(look(trial, lapsed), 0, LAPSED);
    assert_true(holds(trial, other.id) && !waits(trial, &later));
    assert_int_equal(RUN(trial, "HLEN", N)->integer, 2); /* it alone, and the mode */
}

/* Taken in time: a renewal has moved its end, and it is a hold like any other. So is one of another client, and one that a group joined. */
TRIAL(test_a_look_leaves_what_was_taken)
{
    struct waiter first;
    char lapsed[128], stranger[128];
    a_holds(trial);
    first = one_waits(trial, 'b');
    expect(a_releases(trial), -2, 0);
    snprintf(lapsed, sizeof lapsed, "400 %s %" PRIu64, first.id, start_us + 4);
    snprintf(stranger, sizeof stranger, "400 %s %" PRIu64, holder_of('c', 1), start_us + 4);
    trial_set_time(trial, start_us + 380000);
    expect(look(trial, stranger), 0, 0);
    snprintf(stranger, sizeof stranger, "400 %.36s:7 %" PRIu64, first.id, start_us + 4); /* another hold of that client, that ends when this one does */
    expect(look(trial, stranger), 0, 0);
    (void)RUN(trial, "HSET", N, "joined", "1");
    expect(look(trial, lapsed), 0, 0);
    (void)RUN(trial, "HDEL", N, "joined");
    (void)RUN(trial, "PEXPIRE", N, "70"); /* a renewal of a lease of 450 ms, as soon as the grant was made */
    expect(look(trial, lapsed), 0, 0);
    assert_true(holds(trial, first.id));
}

/* It has asked since: it lives. */
TRIAL(test_who_has_asked_since_the_lapsed_grant_stays)
{
    struct waiter first, later;
    char lapsed[128];
    a_holds(trial);
    (void)listens(trial, "g:b");
    first = waiter_of(trial, 'b', 1);
    later = waiter_of(trial, 'b', 2);
    (void)ask(trial, &first);
    (void)ask(trial, &later);
    expect(a_releases(trial), -2, 0);
    trial_set_time(trial, start_us + 200000);
    (void)ask(trial, &later);
    snprintf(lapsed, sizeof lapsed, "400 %s %" PRIu64, first.id, start_us + 5);
    trial_set_time(trial, start_us + 401000);
    expect(look(trial, lapsed), 0, 0);
    assert_true(holds(trial, later.id));
}

/* An id that holds the name says what a look says: it releases. */
TRIAL(test_a_look_by_the_holder_is_a_release)
{
    a_holds(trial);
    expect(SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, holder_of('a', 1), NEVER, "", "x 1"), 1, 0);
    assert_int_equal(RUN(trial, "EXISTS", N, Q, R)->integer, 0);
}

/* Nobody waits: a look changes nothing. */
TRIAL(test_a_look_at_nothing)
{
    expect(look(trial, ""), 0, 0);
    a_holds(trial);
    expect(look(trial, ""), 0, 0);
    assert_true(holds(trial, holder_of('a', 1)));
    assert_int_equal(RUN(trial, "EXISTS", Q, R)->integer, 0);
}

/* The answer names window, time and holder, by which to look again; a try and a heartbeat say the same in their own form. */
TRIAL(test_a_grant_says_when_to_look_again)
{
    struct waiter b;
    char text[128], heard_as[256];
    a_holds(trial);
    b = one_waits(trial, 'b');
    trial_set_time(trial, start_us + 1000);
    snprintf(text, sizeof text, "-2 400 %" PRIu64 " %s", start_us + 1000, b.id);
    assert_true(sim_reply_is(a_releases(trial), text));
    snprintf(heard_as, sizeof heard_as, "g:b G1 %s 1 0 400 1700000000124456 1700000000 124456: stock\n", b.id);
    assert_string_equal(trial->heard, heard_as);
    assert_int_equal(RUN(trial, "PTTL", N)->integer, 400);
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "mode"), "mutex"));
}

/* A peek changes nothing, and counts those who are there: neither the dead nor the overdue. */
TRIAL(test_a_peek_counts_the_ready)
{
    static const struct { unsigned seconds; int ready; } times[] = {{0, 4}, {3, 4}, {5, 3}}; /* due in the third */
    struct waiter c, poller = waiter_of(trial, 'p', 1), sharded = waiter_of(trial, 's', 1);
    uint64_t before;
    a_holds(trial);
    many_wait(trial, 'd', 3);
    (void)one_waits(trial, 'b');
    waiter_stands(&poller, "-", 1700000020, "400 0 1");
    (void)ask(trial, &poller);
    waiter_stands(&sharded, "!g:s", 1700000020, "400 0 1");
    (void)listens_by(trial, "SSUBSCRIBE", "g:s");
    (void)ask(trial, &sharded);
    c = one_waits(trial, 'c');
    (void)RUN(trial, "ZADD", Q, "-5", "*", "9", "x 2 words");
    (void)RUN(trial, "HSET", R, c.id, "1 1700000000123456 2 1700000009 g:c 400");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        trial_set_time(trial, start_us + times[i].seconds * SECOND_US);
        before = sim_store_digest(trial->store);
        assert_int_equal(integer(SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, ""), 6), times[i].ready);
        assert_true(sim_store_digest(trial->store) == before);
    }
    trial_deny(trial, NULL, "hilock:place"); /* what cannot be asked is not held against a place; its listeners are */
    assert_int_equal(integer(SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, ""), 6), 4);
    assert_int_equal(integer(SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, ""), 5), 1); /* holds it */
}

/* It reads one, seven and 56 at a time. */
TRIAL(test_any_number_of_the_dead_is_passed)
{
    for (int count = 1; count <= 20; count++) {
        trial_begin(trial);
        a_holds(trial);
        many_wait(trial, 'd', count);
        expect(a_releases(trial), 1, count);
    }
}

/* ---- 64 and more ---- */

/* Each step takes 64 out and says that there are more; the same request, said again, goes on from there. */
TRIAL(test_a_release_goes_on_behind_64)
{
    struct waiter b;
    a_holds(trial);
    many_wait(trial, 'd', 2 * STEP + 3);
    b = one_waits(trial, 'b');
    expect(a_releases(trial), -3, STEP);
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    assert_int_equal(queue_length(trial), STEP + 4);
    expect(a_releases(trial), -3, STEP);
    expect(a_releases(trial), 0, 3);
    assert_true(heard(trial, "g:b G1 ") && holds(trial, b.id));
    assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
}

/* "Again" is no answer of another program: PTTL 0, no holder, hands over 2. A newcomer gets no ticket before nobody has been found. */
TRIAL(test_a_try_and_a_newcomer_go_on_behind_64)
{
    for (int is_new = 0; is_new < 2; is_new++) {
        struct waiter b = waiter_of(trial, 'b', 1);
        const struct sim_reply *reply;
        trial_begin(trial);
        a_holds(trial);
        many_wait(trial, 'd', STEP + 2);
        (void)RUN(trial, "DEL", N);
        reply = is_new ? ask(trial, &b) : try_as(trial, b.id);
        assert_true(integer(reply, 0) == -1 && is_text(reply, 1, "") && integer(reply, 2) == 2 && integer(reply, 3) == 0);
        assert_true(integer(reply, 4) == 0 && integer(reply, 5) == 2 && removed_of(reply) == STEP);
        assert_int_equal(removed_of(is_new ? ask(trial, &b) : try_as(trial, b.id)), 2);
        assert_true(holds(trial, b.id));
        assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
    }
}

TRIAL(test_next_comes_again_behind_64)
{
    struct waiter next = waiter_of(trial, 'a', 2);
    const struct sim_reply *reply;
    a_holds(trial);
    many_wait(trial, 'd', STEP + 2);
    reply = release_for_next(trial, holder_of('a', 1), &next);
    assert_true(code_of(reply) == -3 && integer(reply, 1) == -1 && integer(reply, 3) == 2 && integer(reply, 4) == 3);
    assert_int_equal(removed_of(reply), STEP);
    (void)listens(trial, "g:a");
    expect(a_releases(trial), 0, 2);
    assert_true(holds(trial, next.id));
}

/* 64 places of pollers: nobody is taken out, so the release is not said again for ever. */
TRIAL(test_64_that_stay_are_no_reason_to_ask_again)
{
    a_holds(trial);
    for (int i = 0; i < STEP + 2; i++) {
        struct waiter poller = waiter_of(trial, 'p', i + 1);
        waiter_stands(&poller, "-", 1700000003, "400 0 1");
        (void)ask(trial, &poller);
    }
    expect(a_releases(trial), 1, 0);
    assert_int_equal(queue_length(trial), STEP + 2);
}

/* While the name is held a heartbeat takes them out as well, and is told who holds it. */
TRIAL(test_a_heartbeat_goes_on_behind_64)
{
    struct waiter b;
    const struct sim_reply *reply;
    a_holds(trial);
    many_wait(trial, 'd', STEP + 2);
    b = one_waits(trial, 'b');
    reply = ask(trial, &b);
    assert_true(integer(reply, 0) == -600001 && is_text(reply, 1, holder_of('a', 1)) && integer(reply, 2) == 3);
    assert_true(place_of(reply) == 3 && integer(reply, 5) == 3 && removed_of(reply) == STEP);
    reply = ask(trial, &b);
    assert_true(integer(reply, 2) == 1 && place_of(reply) == 1 && removed_of(reply) == 2);
}
