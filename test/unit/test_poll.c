/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind SIMPLE and wake POLL in virtual time: what is asked when, without a subscription; native commands and scripts; handles of several
 * kinds on one name. */
#include <stdio.h>
#include <string.h>

#include "play.h"

#define SIMPLE(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, __VA_ARGS__)

static struct handle *simple(struct client *p, const char *tag) { return handle_new(p, tag, "stock", SIMPLE(.lease_ms = 3000)); }

static struct handle *waits(struct client *p, const char *tag)
{
    struct handle *handle = simple(p, tag);
    acquire(handle, HILOCK_FOREVER);
    return handle;
}

/* ---- acquire ---- */

static void a_free_name_costs_one_native_command_and_no_second_link(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct hilock_lock_info info = {.size = sizeof info};
    struct handle *a = waits(p, "a");
    char text[128];
    run_ms(s, 1);
    TELLS(s, "a:OK");
    snprintf(text, sizeof text, "SET stock %s:1 NX PX 3000", p->uuid);
    TEXT(s, store_line(&s->store, "SET", 0)->text, text);
    BELIEVES(s, a, sent_at_us(s, "SET", 0) + 3000000 - 30000 - 7000);
    SAME(s, a->result.fencing_token, 0);
    SAME(s, hilock_lock_token(a->lock), 0);
    hilock_lock_describe(a->lock, &info);
    SAME(s, info.kind, HILOCK_SIMPLE);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released");
    SAME(s, asked(s, "SET"), 1);
    SAME(s, asked(s, "simple_acquire"), 0);
    SAME(s, asked(s, "simple_release"), 1);
    SAME(s, sim_store_keys(store_now(&s->store)), 0); /* not even a token */
    SAME(s, s->store.peers_ever, 1);
}

static void a_try_of_a_held_name_is_one_attempt_of_two_commands(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = simple(p, "a");
    store_take_simple(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_TRY);
    run_ms(s, 10);
    TELLS(s, "a:TIMED_OUT");
    SAME(s, asked(s, "SET"), 1);
    SAME(s, asked(s, "simple_acquire"), 1);
    SAME(s, a->result.attempts, 1);
    TEXT(s, a->holder, "another");
    TEXT(s, a->detail, "\"stock\" is held by another; its lease ends in 60000 ms");
}

static void freed_between_the_two_commands_it_is_taken_by_the_second(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = simple(p, "a");
    store_take_simple(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_TRY);
    run_us(s, 250);
    SAME(s, asked(s, "SET"), 1);
    store_delete(&s->store, "stock");
    run_ms(s, 1);
    TELLS(s, "a:OK");
    BELIEVES(s, a, sent_at_us(s, "simple_acquire", 0) + 3000000 - 37000);
    SAME(s, a->result.attempts, 1);
}

static void a_lost_answer_is_adopted_by_the_same_id(struct fixture *s)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500));
    struct handle *a;
    PLAN(s, .on = "SET", .act = PLAN_LOSE_ANSWER);
    a = waits(p, "a");
    run_ms(s, 1000);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "SET"), 2);
    SAME(s, asked(s, "simple_acquire"), 1);
    SAME(s, a->result.attempts, 2);
    BELIEVES(s, a, sent_at_us(s, "simple_acquire", 0) + 3000000 - 37000); /* which made the lease whole again */
    HOLDS(s, store_left_ms(&s->store, "stock") > 2000);
}

static void what_the_second_command_took_unheard_is_adopted_too(struct fixture *s)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500));
    struct handle *a;
    store_take_simple(&s->store, "stock", "another", 60000);
    PLAN(s, .on = "simple_acquire", .act = PLAN_LOSE_ANSWER);
    a = waits(p, "a");
    run_us(s, 250);
    store_delete(&s->store, "stock");
    run_ms(s, 1000);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "simple_acquire"), 2);
    SAME(s, a->result.attempts, 2);
}

static void what_came_after_the_end_of_the_wait_is_undone(struct fixture *s)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500));
    struct handle *a = simple(p, "a");
    PLAN(s, .on = "SET", .act = PLAN_LOSE_ANSWER);
    acquire(a, 100);
    run_ms(s, 150);
    TELLS(s, "a:UNREACHABLE");
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 2000);
    HOLDS(s, !is_ours(s, "stock"));
    SAME(s, asked(s, "simple_release"), 1);
}

/* It has no time after which it is refused: its bytes make a hold that nobody knows of, until the second release of its id. */
static void a_ghost_goes_with_the_second_release(struct fixture *s)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000));
    struct handle *a = handle_new(p, "a", "stock", SIMPLE(.lease_ms = 60000));
    PLAN(s, .on = "SET", .act = PLAN_STRAY, .us = 300000);
    acquire(a, 50);
    run_ms(s, 100);
    TELLS(s, "a:UNREACHABLE");
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 300);
    HOLDS(s, is_ours(s, "stock"));
    run_ms(s, 1000);
    SAME(s, asked(s, "simple_release"), 2);
    HOLDS(s, !is_ours(s, "stock"));
}

static void another_type_at_the_key_is_WRONG_KIND(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = simple(p, "a");
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 5);
    TELLS(s, "a:WRONG_KIND");
    TEXT(s, a->detail, "\"stock\" is not a lock string: another program's key, or a MUTEX or FAIR lock of the same name");
    SAME(s, asked(s, "simple_release"), 0);
}

static void a_server_that_answers_nil_for_ever_is_asked_no_third_time(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    PLAN(s, .on = "SET", .act = PLAN_INSTEAD, .reply = say_nil(), .times = PLAN_ALWAYS);
    PLAN(s, .on = "simple_acquire", .act = PLAN_INSTEAD, .reply = say_nil(), .times = PLAN_ALWAYS);
    waits(p, "a");
    run_ms(s, 5);
    TELLS(s, "a:PROTOCOL");
}

static void errors_are_sat_out_or_end_the_wait(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    PLAN(s, .on = "SET", .act = PLAN_REFUSE, .error = "READONLY You can't write", .times = 2);
    waits(p, "a");
    run_ms(s, 2000);
    TELLS(s, "a:OK");
    PLAN(s, .on = "SET", .act = PLAN_REFUSE, .error = "NOPERM this user has no permissions", .times = PLAN_ALWAYS);
    acquire(handle_new(p, "b", "other", SIMPLE(0)), HILOCK_FOREVER);
    run_ms(s, 5);
    TELLS(s, "b:DENIED");
}

/* ---- polling ---- */

static void polls_come_after_min_and_a_random_part_of_jitter(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a;
    uint64_t shortest_us = UINT64_MAX, longest_us = 0;
    store_take_simple(&s->store, "stock", "another", 600000);
    a = handle_new(p, "a", "stock", SIMPLE(.poll_min_ms = 20, .poll_jitter_ms = 10));
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 2000);
    TELLS(s, "a:WAITING");
    HOLDS(s, asked(s, "SET") >= 2000 / 31 && asked(s, "SET") <= 2000 / 20);
    for (int i = 1; i < (int)asked(s, "SET"); i++) {
        uint64_t pause_us = sent_at_us(s, "SET", i) - sent_at_us(s, "simple_acquire", i - 1) - 200; /* from its answer */
        shortest_us = pause_us < shortest_us ? pause_us : shortest_us;
        longest_us = pause_us > longest_us ? pause_us : longest_us;
    }
    HOLDS(s, shortest_us >= 20000 && longest_us <= 30000 && longest_us - shortest_us > 3000);
}

static void the_usual_poll_is_50_to_100_ms(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    store_take_simple(&s->store, "stock", "another", 600000);
    waits(p, "a");
    run_ms(s, 10000);
    HOLDS(s, asked(s, "SET") > 100 && asked(s, "SET") <= 200);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
}

static void only_the_head_of_the_line_polls(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a, *b;
    store_take_simple(&s->store, "stock", "another", 600000);
    a = waits(p, "a");
    b = waits(p, "b");
    waits(p, "c");
    run_ms(s, 10000);
    TELLS(s, "a:WAITING b:WAITING c:WAITING");
    HOLDS(s, asked(s, "SET") <= 200);
    store_delete(&s->store, "stock");
    run_ms(s, 101);
    TELLS(s, "a:OK");
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released b:OK"); /* at once: a sibling need not poll */
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
}

static void a_key_without_an_expiry_is_polled_for(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    store_take_simple(&s->store, "stock", "another", 0);
    waits(p, "a");
    run_ms(s, 1000);
    TELLS(s, "a:WAITING");
    store_delete(&s->store, "stock");
    run_ms(s, 101);
    TELLS(s, "a:OK");
}

static void a_MUTEX_that_polls_needs_no_subscription(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.wake = HILOCK_WAKE_POLL));
    store_take(&s->store, "stock", "another", 600000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1000);
    HOLDS(s, asked(s, "mutex_acquire") > 10 && asked(s, "mutex_acquire") <= 21);
    store_delete(&s->store, "stock"); /* said nowhere */
    run_ms(s, 101);
    TELLS(s, "a:WAITING a:OK");
    HOLDS(s, hilock_lock_token(a->lock) > 0);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
    SAME(s, s->store.peers_ever, 1);
}

static void where_a_subscription_is_refused_its_waiter_polls(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.poll_min_ms = 200, .poll_jitter_ms = 1));
    PLAN(s, .on = "SUBSCRIBE", .act = PLAN_REFUSE, .error = "NOPERM this user has no permissions to access one of the channels", .times = PLAN_ALWAYS);
    store_take(&s->store, "stock", "another", 600000);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 12000);
    store_delete(&s->store, "stock");
    run_ms(s, 250);
    TELLS(s, "a:WAITING a:OK");
}

/* ---- renewal and release ---- */

static void a_renewal_moves_the_deadline_by_its_own_send(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = waits(p, "a");
    run_ms(s, 1500);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "simple_renew"), 1);
    BELIEVES(s, a, sent_at_us(s, "simple_renew", 0) + 3000000 - 37000);
}

static void a_lease_found_shortened_takes_belief_along(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = waits(p, "a");
    p->tells = 1;
    run_ms(s, 900);
    s->is_tampered = 1;
    store_expire_ms(&s->store, "stock", 500);
    run_ms(s, 300);
    TELLS(s, "a:OK ANOMALY");
    BELIEVES(s, a, sent_at_us(s, "simple_renew", 0) + 3000000 - 37000);
}

static void a_server_that_has_them_is_told_by_native_commands(struct fixture *s)
{
    static const struct { const char *learns, *release; } servers[] = {{"delifeq", "DELIFEQ"}, {"delex", "DELEX"}};
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        struct client *p;
        struct handle *a;
        sim_store_learn(s->store.core, servers[i].learns);
        store_forget(&s->store);
        p = fixture_connect(s, NULL);
        a = waits(p, "a");
        run_ms(s, 1500);
        TELLS(s, "a:OK");
        BELIEVES(s, a, sent_at_us(s, "SET", 1) + 3000000 - 37000);
        HOLDS(s, strstr(store_line(&s->store, "SET", 1)->text, " IFEQ "));
        release(a);
        run_ms(s, 1);
        TELLS(s, "a:released");
        SAME(s, asked(s, servers[i].release), 1);
        SAME(s, asked(s, "simple_renew") + asked(s, "simple_release"), 0);
        HOLDS(s, !is_ours(s, "stock"));
    }
}

static void a_native_no_is_a_loss(struct fixture *s)
{
    struct client *p;
    sim_store_learn(s->store.core, "delifeq");
    p = fixture_connect(s, NULL);
    waits(p, "a");
    run_ms(s, 500);
    s->is_tampered = 1;
    store_take_simple(&s->store, "stock", "another", 60000);
    run_ms(s, 1000);
    TELLS(s, "a:OK a:LOST TAKEN");
    TEXT(s, store_holder(&s->store, "stock"), "another");
}

/* The server has it, and the user has no right to it: scripts do the same, at once and from then on. */
static void a_native_command_that_is_refused_is_not_needed(struct fixture *s)
{
    struct client *p;
    struct handle *a, *b;
    sim_store_learn(s->store.core, "delifeq");
    p = fixture_connect(s, NULL);
    a = waits(p, "a");
    b = handle_new(p, "b", "other", SIMPLE(.lease_ms = 60000));
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 500);
    PLAN(s, .on = "DELIFEQ", .act = PLAN_REFUSE, .error = "NOPERM User has no permissions to run the 'delifeq' command", .times = PLAN_ALWAYS);
    release(b);
    run_ms(s, 1);
    TELLS(s, "a:OK b:OK b:released");
    SAME(s, asked(s, "simple_release"), 1);
    run_ms(s, 1000);
    SAME(s, asked(s, "simple_renew"), 1);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released");
}

static void a_native_renewal_that_is_refused_is_said_by_the_script_in_time(struct fixture *s)
{
    struct client *p;
    struct handle *a;
    sim_store_learn(s->store.core, "delex");
    p = fixture_connect(s, NULL);
    a = waits(p, "a");
    run_ms(s, 500);
    PLAN(s, .on = "SET", .act = PLAN_REFUSE, .error = "ERR syntax error", .times = PLAN_ALWAYS);
    run_ms(s, 600);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "simple_renew"), 1);
    BELIEVES(s, a, sent_at_us(s, "simple_renew", 0) + 3000000 - 37000);
}

static void a_native_command_refused_for_now_is_asked_again(struct fixture *s)
{
    struct client *p;
    struct handle *a;
    sim_store_learn(s->store.core, "delifeq");
    p = fixture_connect(s, NULL);
    a = waits(p, "a");
    run_ms(s, 1);
    PLAN(s, .on = "DELIFEQ", .act = PLAN_REFUSE, .error = "READONLY You can't write");
    release(a);
    run_ms(s, 500);
    TELLS(s, "a:OK a:released");
    SAME(s, asked(s, "DELIFEQ"), 1);
    SAME(s, asked(s, "simple_release"), 0);
}

static void a_refused_question_means_that_it_has_none(struct fixture *s)
{
    struct client *p;
    struct handle *a;
    sim_store_learn(s->store.core, "delifeq");
    PLAN(s, .on = "COMMAND", .act = PLAN_REFUSE, .error = "NOPERM this user has no permissions to run the 'command|info' command");
    p = fixture_connect(s, NULL);
    HOLDS(s, !strstr(p->log, "NOPERM"));
    a = waits(p, "a");
    run_ms(s, 1);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:OK a:released");
    SAME(s, asked(s, "simple_release"), 1);
}

static void operators_see_and_end_a_SIMPLE_hold(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", SIMPLE(.lease_ms = 3000)), *b = simple(q, "b");
    char holder[80];
    snprintf(holder, sizeof holder, "%s:1", p->uuid);
    peek(b);
    run_ms(s, 1);
    TELLS(s, "b:peek OK");
    TEXT(s, b->holder, holder);
    HOLDS(s, b->result.holder_remaining_ms > 2900);
    force(b, "another:1");
    run_ms(s, 1);
    TELLS(s, "b:force LOST");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 0);
    s->is_tampered = 1;
    force(b, holder);
    run_ms(s, 1);
    TELLS(s, "b:force OK");
    TEXT(s, store_holder(&s->store, "stock"), "");
    peek(b);
    run_ms(s, 1500);
    TELLS(s, "b:peek OK a:LOST TAKEN");
    TEXT(s, b->result.holder, "");
}

/* ---- several kinds on one name ---- */

static void siblings_of_two_kinds_stand_in_one_line(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", NULL), *b, *c = simple(p, "c");
    b = waits(p, "b");
    acquire(c, HILOCK_TRY);
    run_ms(s, 500);
    TELLS(s, "b:WAITING c:TIMED_OUT");
    TEXT(s, c->detail, "\"stock\" is held by another handle of this client, 51000001..:1, for 29692 ms at least");
    SAME(s, asked(s, "SET"), 0);
    release(a);
    run_ms(s, 2);
    TELLS(s, "a:released b:OK");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 500);
    TELLS(s, "a:WAITING");
    release(b);
    run_ms(s, 2);
    TELLS(s, "b:released a:OK");
}

static void the_wrong_kind_for_one_is_not_told_another(struct fixture *s)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = simple(p, "a"), *b = handle_new(p, "b", "stock", NULL);
    store_take(&s->store, "stock", "another", 60000);
    PLAN(s, .on = "mutex_acquire", .act = PLAN_HOLD);
    acquire(a, HILOCK_FOREVER);
    acquire(b, 100);
    run_ms(s, 90);
    TELLS(s, "a:WRONG_KIND");
    run_ms(s, 20);
    TELLS(s, "b:UNREACHABLE");
}

static const struct play plays[] = {
    PLAY(a_free_name_costs_one_native_command_and_no_second_link),
    PLAY(a_try_of_a_held_name_is_one_attempt_of_two_commands),
    PLAY(freed_between_the_two_commands_it_is_taken_by_the_second),
    PLAY(a_lost_answer_is_adopted_by_the_same_id),
    PLAY(what_the_second_command_took_unheard_is_adopted_too),
    PLAY(what_came_after_the_end_of_the_wait_is_undone),
    PLAY(a_ghost_goes_with_the_second_release),
    PLAY(another_type_at_the_key_is_WRONG_KIND),
    PLAY(a_server_that_answers_nil_for_ever_is_asked_no_third_time),
    PLAY(errors_are_sat_out_or_end_the_wait),
    PLAY(polls_come_after_min_and_a_random_part_of_jitter),
    PLAY(the_usual_poll_is_50_to_100_ms),
    PLAY(only_the_head_of_the_line_polls),
    PLAY(a_key_without_an_expiry_is_polled_for),
    PLAY(a_MUTEX_that_polls_needs_no_subscription),
    PLAY(where_a_subscription_is_refused_its_waiter_polls),
    PLAY(a_renewal_moves_the_deadline_by_its_own_send),
    PLAY(a_lease_found_shortened_takes_belief_along),
    PLAY(a_server_that_has_them_is_told_by_native_commands),
    PLAY(a_native_no_is_a_loss),
    PLAY(a_native_command_that_is_refused_is_not_needed),
    PLAY(a_native_renewal_that_is_refused_is_said_by_the_script_in_time),
    PLAY(a_native_command_refused_for_now_is_asked_again),
    PLAY(a_refused_question_means_that_it_has_none),
    PLAY(operators_see_and_end_a_SIMPLE_hold),
    PLAY(siblings_of_two_kinds_stand_in_one_line),
    PLAY(the_wrong_kind_for_one_is_not_told_another),
};

int main(void) { return PLAYS_RUN(plays); }
