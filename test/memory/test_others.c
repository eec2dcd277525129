/* SPDX-License-Identifier: BSD-3-Clause */
/* test_others - other programs beside ours: when scripts leave a free name to them, for how long, and what becomes of that; Redisson's lock
 * and its fair queue; guests. */
#include "script_trial.h"
#include "wire/keys.h"
#include "wire/queued.h"

/* And nobody was taken out. */
static void answers(const struct sim_reply *reply, int64_t code) { expect(reply, code, 0); }

static const struct sim_reply *a_releases_to_others(struct trial *trial) { return release(trial, holder_of('a', 1), TO_OTHERS); }

/* Somebody listens who is none of ours: the name is freed and left to it for 5 ms, and who released looks again after that. */
TRIAL(test_a_name_is_left_to_others_while_somebody_waits)
{
    struct waiter b;
    const struct sim_reply *reply;
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)listens(trial, C);
    answers(a_releases_to_others(trial), -4);
    assert_true(heard(trial, "g:b F1 ") && heard(trial, " 5: stock\n") && heard(trial, C " 0\n"));
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    reply = ask(trial, &b);
    assert_true(integer(reply, 0) == 1 && integer(reply, 2) == 5 && place_of(reply) == 1 && integer(reply, 5) == 1);
    assert_int_equal(integer(try_as(trial, holder_of('c', 1)), 0), 1);
    answers(look(trial, ""), 0);
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    trial_set_time(trial, start_us + 5000);
    answers(look(trial, ""), 0);
    assert_true(holds(trial, b.id));
    assert_int_equal(RUN(trial, "ZSCORE", Q, "*")->type, SIM_REPLY_NIL);
}

static int64_t released_to_others(struct trial *trial, uint64_t at_us)
{
    struct waiter b = waiter_of(trial, 'b', 1);
    trial_set_time(trial, at_us);
    (void)RUN(trial, "DEL", N, Q);
    a_holds(trial);
    (void)ask(trial, &b);
    return code_of(a_releases_to_others(trial));
}

/* A look finds a free name while others listen: they had their time when it was left to them. */
TRIAL(test_a_look_leaves_nothing_to_others)
{
    struct waiter b;
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)listens(trial, C);
    (void)RUN(trial, "DEL", N);
    answers(SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, holder_of('z', 1), TO_OTHERS), 0);
    assert_true(heard(trial, "g:b G1 ") && holds(trial, b.id));
}

/* A poller that is first is not pushed to. */
TRIAL(test_a_name_is_left_to_others_while_a_poller_waits)
{
    struct waiter poller = waiter_of(trial, 'p', 1);
    a_holds(trial);
    waiter_stands(&poller, "-", 1700000003, "400 0 1");
    (void)ask(trial, &poller);
    strcpy(poller.channel, "~");
    (void)ask(trial, &poller);
    (void)listens(trial, C);
    answers(a_releases_to_others(trial), -4);
    assert_string_equal(trial->told, C " 0\n");
    assert_true(waits(trial, &poller));
}

/* What is asked for besides gets a place, and comes again when the time is over. */
TRIAL(test_next_waits_while_the_name_is_left_to_others)
{
    for (int has_heir = 0; has_heir < 2; has_heir++) {
        struct waiter next;
        const struct sim_reply *reply;
        char place[256];
        trial_begin(trial);
        next = waiter_of(trial, 'a', 2);
        a_holds(trial);
        (void)listens(trial, has_heir ? C ":java:1" : C);
        if (has_heir)
            (void)RUN(trial, "RPUSH", J, "java:1");
        snprintf(place, sizeof place, "%s %s", next.id, next.place);
        reply = SCRIPT(trial, hl_script_mutex_release, "3", N, Q, T, holder_of('a', 1), TO_OTHERS TO_NEXT, place);
        assert_true(code_of(reply) == (has_heir ? 1 : 2) && integer(reply, 1) == 1 && integer(reply, 3) == 5);
        assert_true(integer(reply, 4) == 1 && integer(reply, 5) > (int64_t)start_us && integer(reply, 6) == 1);
        assert_true(waits(trial, &next) && !holds(trial, next.id));
        assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    }
}

/* The first of Redisson's queue is woken though nobody of ours is ready. */
TRIAL(test_an_heir_is_woken_past_the_dead)
{
    for (unsigned seconds = 0; seconds <= 5; seconds += 5) { /* nobody listens; it is overdue */
        struct waiter dead = waiter_of(trial, 'd', 1);
        trial_begin(trial);
        a_holds(trial);
        (void)ask(trial, &dead);
        (void)RUN(trial, "RPUSH", J, "java:1");
        (void)listens(trial, C ":java:1");
        trial_set_time(trial, start_us + seconds * SECOND_US);
        assert_int_equal(code_of(a_releases_to_others(trial)), 1);
        assert_true(heard(trial, C ":java:1 0\n"));
        assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
    }
}

/* A group multilock of Redisson joined: it goes on, and nothing is asked for besides. */
TRIAL(test_next_is_not_asked_for_beside_a_group)
{
    struct waiter next = waiter_of(trial, 'a', 2), b;
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)RUN(trial, "HSET", N, "f", "u:1", "f:u:1:lock_count", "1");
    answers(release_for_next(trial, holder_of('a', 1), &next), 1);
    assert_true(!waits(trial, &next) && waits(trial, &b) && !holds(trial, b.id));
    assert_int_equal(RUN(trial, "HLEN", N)->integer, 2);
}

/* The more often nobody took it, the rarer: not again before 10 ms, then 20, and up to 2.6 s. Who sees another program hold ends that. */
TRIAL(test_courtesies_grow_rarer)
{
    uint64_t now_us = start_us, pause_us = 10000;
    struct waiter b;
    (void)listens(trial, C);
    (void)listens(trial, "g:b");
    assert_int_equal(released_to_others(trial, now_us), -4);
    for (int i = 0; i < 11; i++) {
        now_us += pause_us;
        assert_int_equal(released_to_others(trial, now_us - 1), -2);
        assert_int_equal(released_to_others(trial, now_us), -4);
        pause_us = pause_us < 2560000 ? pause_us * 2 : pause_us;
    }
    assert_int_equal(released_to_others(trial, now_us + 2559999), -2);
    (void)RUN(trial, "DEL", N);
    (void)RUN(trial, "HSET", N, "java:1", "1");
    b = waiter_of(trial, 'b', 2);
    (void)ask(trial, &b);
    assert_int_equal(RUN(trial, "HEXISTS", R, "*")->integer, 0);
    (void)RUN(trial, "DEL", N);
    assert_int_equal(released_to_others(trial, now_us + 2559999), -4);
}

/* The count of courtesies stands among records that live longer: it does not shorten their lives. */
TRIAL(test_a_courtesy_leaves_the_records_their_time)
{
    struct waiter b;
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)ask(trial, &b);
    (void)listens(trial, C);
    answers(a_releases_to_others(trial), -4);
    assert_int_equal(RUN(trial, "PTTL", R)->integer, 90000);
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
}

/* A grant ends the time in which the name is left to others. */
TRIAL(test_a_grant_takes_the_star_out)
{
    for (int is_alone = 0; is_alone < 2; is_alone++) {
        struct waiter b;
        trial_begin(trial);
        a_holds(trial);
        if (!is_alone)
            b = one_waits(trial, 'b');
        (void)RUN(trial, "ZADD", Q, "-1700000000128456", "*");
        answers(release(trial, holder_of('a', 1), NEVER), is_alone ? 1 : -2);
        assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
        if (!is_alone)
            assert_true(holds(trial, b.id));
    }
}

/* Also where nobody of ours waits: then nothing is left behind after a while. */
TRIAL(test_a_name_is_left_to_others_without_a_queue_as_well)
{
    struct waiter b = waiter_of(trial, 'b', 1);
    a_holds(trial);
    (void)listens(trial, C);
    answers(a_releases_to_others(trial), 2);
    assert_int_equal(integer(try_as(trial, holder_of('c', 1)), 0), 1);
    assert_int_equal(place_of(ask(trial, &b)), 1); /* the queue that a `*` began lives as long as any */
    assert_int_equal(RUN(trial, "PTTL", Q)->integer, 90000);
    (void)leave(trial, &b);
    assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
    trial_set_time(trial, start_us + 5000);
    assert_true(token_of(try_as(trial, holder_of('c', 1))) > 0);
    answers(release(trial, holder_of('c', 1), TO_OTHERS), 2); /* not again so soon */
    assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 0);
    assert_true(token_of(try_as(trial, holder_of('c', 1))) > 0);
    (void)RUN(trial, "DEL", R);
    answers(release(trial, holder_of('c', 1), TO_OTHERS), 2);
    trial_set_time(trial, start_us + 11 * SECOND_US);
    assert_int_equal(RUN(trial, "EXISTS", Q, R)->integer, 0);
}

/* But for ourselves, for nobody, and for a Java waiter that hears nothing. */
TRIAL(test_to_whom_a_name_is_left)
{
    static const struct { int listen; const char *terms, *heir; int is_left; } cases[] = {
        {0, "0 300000", NULL, 0},     {1, "1 300000", NULL, 0},     {1, "0 300000", NULL, 1},    {2, "1 300000", NULL, 1}, {9, NEVER, NULL, 0},
        {0, "0 300000", "java:1", 1}, {1, "1 300000", "java:1", 1}, {0, "0 300000", "dead:1", 0}, {0, NEVER, "java:1", 0}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        int is_left = cases[i / 2].is_left, has_waiter = i % 2 != 0;
        int64_t code;
        trial_begin(trial);
        a_holds(trial);
        if (has_waiter)
            (void)one_waits(trial, 'b');
        for (int j = 0; j < cases[i / 2].listen; j++)
            (void)listens(trial, C);
        if (cases[i / 2].heir) {
            (void)listens(trial, C ":java:1");
            (void)RUN(trial, "RPUSH", J, cases[i / 2].heir, "last");
        }
        code = code_of(release(trial, holder_of('a', 1), cases[i / 2].terms));
        assert_int_equal(code, !has_waiter ? 1 + cases[i / 2].listen : is_left ? -4 : -2);
        if (cases[i / 2].heir && (is_left || !has_waiter))
            assert_int_equal(heard(trial, C ":java:1 0\n"), strcmp(cases[i / 2].heir, "java:1") == 0);
        assert_int_equal(RUN(trial, "EXISTS", N)->integer, has_waiter && !is_left);
        assert_int_equal(RUN(trial, "ZSCORE", Q, "*")->type == SIM_REPLY_STRING, is_left);
        assert_int_equal(RUN(trial, "HEXISTS", R, "*")->integer, is_left); /* it is counted */
    }
}

/* Who listens, and to what, is asked by the kind of each channel: of a waiter as its place says, of other programs as the release says. */
TRIAL(test_listeners_are_counted_by_kind)
{
    static const struct { const char *channel, *terms, *hears, *others_hear; int64_t code; } cases[] = {
        {"g:b", "0 300000", "SUBSCRIBE", NULL, -2},        {"!g:b", "0 300000", "SSUBSCRIBE", NULL, -2},
        {"g:b", "S0 300000", "SUBSCRIBE", NULL, -2},       {"!g:b", "S0 300000", "SSUBSCRIBE", NULL, -2},
        {"g:b", "0 300000", "SSUBSCRIBE", NULL, 1},        {"!g:b", "S0 300000", "SUBSCRIBE", NULL, 1},
        {"g:b", "0 300000", "SUBSCRIBE", "SUBSCRIBE", -4}, {"!g:b", "0 300000", "SSUBSCRIBE", "SUBSCRIBE", -4},
        {"g:b", "0 300000", "SUBSCRIBE", "SSUBSCRIBE", -2}, {"!g:b", "S0 300000", "SSUBSCRIBE", "SSUBSCRIBE", -4},
        {"g:b", "S0 300000", "SUBSCRIBE", "SSUBSCRIBE", -4}, {"!g:b", "S0 300000", "SSUBSCRIBE", "SUBSCRIBE", -2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct waiter b;
        trial_begin(trial);
        b = waiter_of(trial, 'b', 1);
        waiter_stands(&b, cases[i].channel, 1700000003, "400 0 1");
        a_holds(trial);
        (void)listens_by(trial, cases[i].hears, "g:b");
        (void)ask(trial, &b);
        if (cases[i].others_hear)
            (void)listens_by(trial, cases[i].others_hear, C);
        if (code_of(release(trial, holder_of('a', 1), cases[i].terms)) != cases[i].code)
            fail_msg("case %zu", i);
        assert_int_equal(heard(trial, "g:b G1 "), cases[i].code == -2);
    }
}

/* Another program has come in: the name is not kept for it any longer, and ours are told who its heir is. */
TRIAL(test_redissons_lock_in_front)
{
    struct waiter b, c;
    const struct sim_reply *reply;
    a_holds(trial);
    b = one_waits(trial, 'b');
    c = one_waits(trial, 'c');
    (void)listens(trial, C);
    answers(a_releases_to_others(trial), -4);
    (void)RUN(trial, "HSET", N, "java:57", "1");
    reply = ask(trial, &b);
    assert_true(reply->count == 6 && is_text(reply, 1, "java:57") && integer(reply, 0) == 0 && integer(reply, 2) == 0 && place_of(reply) == 1);
    assert_int_equal(RUN(trial, "ZSCORE", Q, "*")->type, SIM_REPLY_NIL);
    assert_int_equal(RUN(trial, "HEXISTS", R, "*")->integer, 0);
    (void)RUN(trial, "RPUSH", J, "java:58");
    reply = ask(trial, &b);
    assert_true(reply->count == 7 && is_text(reply, 6, "java:58"));
    answers(release(trial, b.id, NEVER), 0); /* it holds nothing, and does not touch theirs */
    assert_true(holds(trial, "java:57"));
    answers(leave(trial, &c), 0); /* who is not the first wakes nobody */
    assert_int_equal(heard(trial, "F1"), 0);
    (void)ask(trial, &c);
    answers(leave(trial, &b), 0); /* the first place listens for that lock's release: who leaves it wakes the next */
    assert_true(heard(trial, "g:c F1 ") && heard(trial, " 0: stock\n"));
    (void)RUN(trial, "DEL", N);
    assert_true(token_of(ask(trial, &c)) > 0);
}

/* With marks in front of the places as well. */
TRIAL(test_who_leaves_the_first_place_wakes_the_next_behind_marks)
{
    struct waiter b, c;
    (void)RUN(trial, "HSET", N, "java:57", "1");
    b = one_waits(trial, 'b');
    c = one_waits(trial, 'c');
    (void)RUN(trial, "ZADD", Q, "-5", "*", "-7", "+");
    answers(leave(trial, &b), 0);
    assert_true(heard(trial, "g:c F1 ") && waits(trial, &c));
}

/* A time far ahead was written before the clock was set back. */
TRIAL(test_a_clock_that_was_set_back_keeps_nothing_free)
{
    struct waiter b;
    a_holds(trial);
    b = one_waits(trial, 'b');
    (void)listens(trial, C);
    answers(a_releases_to_others(trial), -4);
    trial_set_time(trial, start_us - 3600 * SECOND_US);
    assert_true(token_of(ask(trial, &b)) > 0);
    b = waiter_of(trial, 'b', 2);
    (void)ask(trial, &b);
    (void)RUN(trial, "HSET", R, "*", "9 1700000000123456");
    (void)release(trial, holder_of('b', 1), TO_OTHERS);
    assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0); /* left to others again, at once */
}

/* A guest stands in no queue, jumps none, and may have what is left to others. */
TRIAL(test_a_guest_has_what_is_left_to_others)
{
    for (int is_left = 0; is_left < 2; is_left++) {
        const struct sim_reply *reply;
        struct waiter b;
        trial_begin(trial);
        a_holds(trial);
        b = one_waits(trial, 'b');
        reply = SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, "u:1", "3000", ANY_TIME " *", "600000000");
        assert_true(reply->count == 6 && integer(reply, 0) == -600001 && is_text(reply, 1, holder_of('a', 1)) && integer(reply, 2) == 1);
        assert_true(integer(reply, 3) == 0 && integer(reply, 4) == 0);
        (void)listens(trial, C);
        (void)(is_left ? a_releases_to_others(trial) : RUN(trial, "DEL", N));
        (void)SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, "u:1", "3000", ANY_TIME " *", "600000000");
        assert_int_equal(holds(trial, "u:1"), is_left);
        assert_int_equal(holds(trial, b.id), !is_left);
        if (is_left)
            assert_int_equal(code_of(release(trial, "u:1", NEVER)), -2);
        assert_true(holds(trial, b.id));
    }
}

static const struct sim_reply *said(struct trial *trial, const struct hl_command *command)
{
    const char *words[WORDS_MAX] = {NULL};
    char texts[WORDS_MAX][200];
    for (int i = 0; i < command->argc; i++) {
        snprintf(texts[i], sizeof texts[i], "%.*s", (int)command->lengths[i], command->argv[i]);
        words[i] = texts[i];
    }
    return trial_run(trial, words);
}

/* The script makes these names of its queue's key. */
TRIAL(a_release_is_published_where_its_name_says)
{
    static const char *const names[] = {"stock", "a{tag}b"}, *const queues[] = {J, "redisson_lock_queue:a{tag}b"};
    static const char *const waiters[] = {"hilock:queue:{stock}", "hilock:queue=a{tag}b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct hl_target target = {names[i], strlen(names[i]), "0f5c9a3e-77d1-4b7e-9c51-5a0d1f3b2c44", 7, "test"};
        const struct hl_acquire_params acquire = {.lease_ms = 3000, .token_ttl_ms = 600000};
        const struct hl_release_params release = {.token_ttl_ms = 600000};
        struct hl_command command;
        char channel[128];
        for (int to_heir = 0; to_heir < 2; to_heir++) {
            size_t length = to_heir ? hl_key_java_waiter_write(channel, target.name, target.name_length, "java:1", 6)
                                    : hl_key_write(channel, hl_key_channel, target.name, target.name_length);
            channel[length] = '\0';
            trial_begin(trial);
            (void)listens(trial, channel);
            (void)RUN(trial, "RPUSH", queues[i], "java:1");
            hl_queued_acquire(&command, &target, &acquire);
            assert_true(said(trial, &command)->integer > 0);
            hl_queued_release(&command, &target, &release);
            assert_int_equal(said(trial, &command)->integer, to_heir ? 1 : 2);
            /* it was heard, and the name is left to others */
            assert_int_equal(RUN(trial, "ZCOUNT", waiters[i], "-inf", "0")->integer, 1);
        }
    }
}

/* In a cluster its slot may be moving, and the records be at another server: what is written of a name that is left to others is written
 * beside them alone. */
TRIAL(test_where_a_name_left_to_others_is_counted_in_a_cluster)
{
    for (int has_records = 0; has_records < 2; has_records++) {
        struct waiter b;
        trial_begin(trial);
        b = waiter_of(trial, 'b', 1);
        waiter_stands(&b, "g:b", 1700000003, "400 0 1");
        a_holds(trial);
        (void)listens(trial, "g:b");
        (void)ask(trial, &b);
        if (has_records)
            (void)ask(trial, &b); /* a heartbeat */
        assert_int_equal(RUN(trial, "EXISTS", R)->integer, has_records);
        (void)listens_by(trial, "SSUBSCRIBE", C);
        assert_int_equal(code_of(release(trial, holder_of('a', 1), "S0 300000")), -4);
        assert_int_equal(RUN(trial, "HEXISTS", R, "*")->integer, has_records);
    }
}

/* Also the first waiter of Redisson's fair lock is woken. */
TRIAL(test_a_forced_release_wakes_a_fair_waiter_of_java)
{
    a_holds(trial);
    (void)listens(trial, C ":java:1");
    (void)RUN(trial, "RPUSH", J, "java:1");
    assert_int_equal(SCRIPT(trial, hl_script_mutex_force, "2", N, Q, holder_of('a', 1), C, "PUBLISH")->integer, 1);
    assert_true(heard(trial, C ":java:1 0\n"));
}
