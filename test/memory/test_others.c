/* SPDX-License-Identifier: BSD-3-Clause */
/* test_others - when scripts leave a free name to other programs, for how long, and what becomes of that. */
#include "script_trial.h"
#include "wire/keys.h"

static int64_t holds(struct trial *trial, const char *id) { return RUN(trial, "HEXISTS", "N", id)->integer; }

/* A waiter of ours stands in the queue, and the name is kept from it. */
static void left_to_others(struct trial *trial)
{
    held_and_awaited(trial);
    (void)listens(trial, C);
    assert_int_equal(release(trial, "a:1", TO_OTHERS)->integer, 2);
}

/* But for ourselves, and for an heir that hears nothing. */
TRIAL(the_name_is_left_to_others_who_listen)
{
    static const struct { int listen, wait; const char *terms; int is_left; const char *heir; } cases[] = {
        {0, 1, "0 ? 300000", 0, NULL},     {1, 1, "1 ? 300000", 0, NULL},     {1, 5, "0 ? 300000", 1, NULL},
        {2, 2, "1 ? 300000", 1, NULL},     {9, 1, NEVER, 0, NULL},            {0, 1, "0 ? 300000", 1, "java:1"},
        {1, 1, "1 ? 300000", 1, "java:1"}, {0, 1, "0 ? 300000", 0, "dead:1"}, {0, 1, NEVER, 0, "java:1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(trial);
        held(trial);
        for (int j = 0; j < cases[i].wait; j++) {
            char id[24];
            snprintf(id, sizeof id, "w:%d", j);
            (void)ask(trial, id, "0 1");
        }
        for (int j = 0; j < cases[i].listen; j++)
            (void)listens(trial, C);
        if (cases[i].heir) {
            (void)listens(trial, C ":java:1");
            (void)RUN(trial, "RPUSH", J, cases[i].heir, "last");
        }
        assert_int_equal(release(trial, "a:1", cases[i].terms)->integer > 0, cases[i].is_left);
        assert_int_equal(RUN(trial, "EXISTS", "N")->integer, !cases[i].is_left);
        assert_int_equal(RUN(trial, "ZCOUNT", "Q", "-inf", "0")->integer, cases[i].is_left);
        if (cases[i].is_left) { /* for five milliseconds, and a try keeps off as well */
            const struct sim_reply *reply = ask(trial, "w:0", "? 2");
            assert_true(integer(reply, 0) == 1 && integer(reply, 2) == 5 && integer(reply, 3) == 1 && integer(reply, 5) == cases[i].wait);
            assert_int_equal(integer(a_try(trial), 0), 1);
            sim_store_set_time(trial->store, start_us + 5000);
            assert_true(ask(trial, "w:0", "? 3")->integer > 0);
            assert_int_equal(RUN(trial, "ZCOUNT", "Q", "-inf", "0")->integer, 0);
        }
    }
}

/* No client of ours waits: one that comes at once keeps off, and nothing stays. */
TRIAL(a_free_name_is_left_to_others_without_a_queue_as_well)
{
    held(trial);
    (void)listens(trial, C);
    assert_int_equal(release(trial, "a:1", TO_OTHERS)->integer, 2);
    assert_int_equal(integer(a_try(trial), 0), 1);
    sim_store_set_time(trial->store, start_us + 5000);
    assert_true(a_try(trial)->integer > 0);
    assert_int_equal(release(trial, "c:1", TO_OTHERS)->integer, 2);
    sim_store_set_time(trial->store, start_us + 106000);
    assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, 0);
}

/* It had its turn: when it frees the name at once, the name is not left to others again. It wakes its own queue. */
TRIAL(who_sees_another_program_come_in_ends_what_was_left_to_it)
{
    const struct sim_reply *reply;
    left_to_others(trial);
    (void)RUN(trial, "HSET", "N", "java:1", "1");
    assert_int_equal(ask(trial, "b:1", "? 2")->count, 6);
    (void)RUN(trial, "RPUSH", J, "java:2", "java:3");
    reply = ask(trial, "b:1", "? 3");
    assert_true(reply->count == 7 && sim_reply_is(&reply->items[6], "java:2"));
    (void)RUN(trial, "DEL", "N");
    assert_true(ask(trial, "b:1", "? 4")->integer > 0);
}

/* It stands in no queue, and may have what is left to others; its release hands over. */
TRIAL(a_guest_jumps_no_queue_and_has_what_is_left_to_others)
{
    for (int is_left = 0; is_left < 2; is_left++) {
        begin(trial);
        held_and_awaited(trial);
        assert_true(integer(of_a_mutex(trial), 0) == -10001 && integer(of_a_mutex(trial), 2) == 1);
        (void)listens(trial, C);
        if (is_left)
            (void)release(trial, "a:1", TO_OTHERS);
        else
            (void)RUN(trial, "DEL", "N");
        assert_int_equal(of_a_mutex(trial)->type == SIM_REPLY_INTEGER, is_left);
        assert_int_equal(holds(trial, "u:1"), is_left);
        assert_int_equal(holds(trial, "b:1"), !is_left);
        assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, is_left);
        if (is_left)
            assert_int_equal(end_of_a_mutex(trial)->integer, -2);
        assert_int_equal(holds(trial, "b:1"), 1);
    }
}

/* What is written there was so a moment before the server's clock went back by an hour. */
TRIAL(a_name_is_not_kept_free_by_a_clock_that_was_set_back)
{
    for (int is_left = 0; is_left < 2; is_left++) {
        begin(trial);
        left_to_others(trial);
        assert_int_equal(integer(ask(trial, "b:1", "? 1"), 0), 1); /* for five milliseconds it is */
        (void)ask(trial, "c:1", "0 1");
        sim_store_set_time(trial->store, start_us - 3600000000);
        (void)(is_left ? release(trial, "b:1", NEVER) : ask(trial, "b:1", "? 2"));
        assert_int_equal(holds(trial, is_left ? "c:1" : "b:1"), 1);
    }
}

/* A name is left to others, and then nobody is left who was kept from it: the key would stay for a minute and a half. */
TRIAL(the_last_who_leaves_leaves_no_queue)
{
    left_to_others(trial);
    assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, 1);
    assert_int_equal(release(trial, "b:1", NEVER)->integer, 0);
    assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, 0);
}

static const struct sim_reply *said(struct trial *trial, const struct hl_command *command)
{
    return sim_store_execute(trial->store, trial->connection, command->argc, command->argv, command->lengths);
}

/* The script makes these names of its queue's key. */
TRIAL(a_release_is_published_where_its_name_says)
{
    static const char *const names[] = {"stock", "a{tag}b"}, *const queues[] = {J "{stock}", J "a{tag}b"};
    static const char *const waiters[] = {"hilock:wait:{stock}", "hilock:wait=a{tag}b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct hl_target target = {names[i], strlen(names[i]), "0f5c9a3e-77d1-4b7e-9c51-5a0d1f3b2c44", 7, "test"};
        const struct hl_params params = {.lease_ms = 3000, .token_ttl_ms = 600000};
        struct hl_command command;
        char channel[128];
        for (int to_heir = 0; to_heir < 2; to_heir++) {
            size_t length = to_heir ? hl_key_heir_write(channel, target.name, target.name_length, "java:1", 6)
                                    : hl_key_write(channel, hl_key_channel, target.name, target.name_length);
            channel[length] = '\0';
            begin(trial);
            (void)listens(trial, channel);
            (void)RUN(trial, "RPUSH", queues[i], "java:1");
            hl_queued_acquire(&command, &target, &params);
            assert_true(said(trial, &command)->integer > 0);
            hl_queued_release(&command, &target, &params);
            assert_int_equal(said(trial, &command)->integer, to_heir ? 1 : 2);
            /* it was heard, and the name is left to others */
            assert_int_equal(RUN(trial, "ZCOUNT", waiters[i], "-inf", "0")->integer, 1);
        }
    }
}
