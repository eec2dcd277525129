/* SPDX-License-Identifier: BSD-3-Clause */
/* test_scripts - what the library's scripts leave behind when one of their keys is of another type: an error leaves all as it was. Each state
 * of a name meets each script with each of its keys made another program's. Then what they make of odd values, of odd times, and of hashes that
 * are no lock. The queue has its own tests (test_queue_*, test_others). */
#include "script_trial.h"

enum { TOKEN = 2, KEYS = 4 };
static const char *const keys[KEYS] = {N, Q, T, R};

/* ---- what is asked: of a:1, which may hold the name, and of b:1, which may wait ---- */

static struct waiter b, c;

static const struct sim_reply *a_first_question(struct trial *trial) { return ask_again(trial, &b); }
static const struct sim_reply *a_heartbeat(struct trial *trial)
{
    b.ticket = (int64_t)start_us + 1;
    return ask(trial, &b);
}
static const struct sim_reply *one_more_waits(struct trial *trial) { return ask_again(trial, &c); }
static const struct sim_reply *a_try(struct trial *trial) { return try_as(trial, c.id); }
static const struct sim_reply *a_release(struct trial *trial) { return release(trial, holder_of('a', 1), NEVER); }
static const struct sim_reply *a_release_that_yields(struct trial *trial) { return release(trial, holder_of('a', 1), TO_OTHERS); }
static const struct sim_reply *a_release_for_next(struct trial *trial) { return release_for_next(trial, holder_of('a', 1), &c); }
static const struct sim_reply *a_cancel(struct trial *trial) { return leave(trial, &b); }
static const struct sim_reply *a_look(struct trial *trial) { return look(trial, "x 1"); }
static const struct sim_reply *of_a_mutex(struct trial *trial)
{
    return SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, "u:1", "3000", ANY_TIME " *", "600000000");
}
static const struct sim_reply *end_of_a_mutex(struct trial *trial) { return release(trial, "u:1", "1000000 600000"); }
static const struct sim_reply *renewal(struct trial *trial) { return SCRIPT(trial, hl_script_renew, "1", N, "3000", "u:1", "1"); }
static const struct sim_reply *of_a_simple(struct trial *trial) { return SCRIPT(trial, hl_script_simple_acquire, "1", N, "u:1", "3000"); }

static const struct sim_reply *force(struct trial *trial, int has_queue, const char *holder)
{
    if (has_queue)
        return SCRIPT(trial, hl_script_mutex_force, "2", N, Q, holder, C, "PUBLISH");
    return SCRIPT(trial, hl_script_mutex_force, "1", N, holder, C, "PUBLISH");
}

static const struct sim_reply *a_force(struct trial *trial) { return force(trial, 1, holder_of('a', 1)); }

static const struct sim_reply *(*const asks[])(struct trial *trial) = {
    a_first_question, a_heartbeat, one_more_waits, a_try, a_release, a_release_that_yields, a_release_for_next, a_cancel, a_look,
    of_a_mutex, end_of_a_mutex, renewal, of_a_simple, a_force};

static void free_name(struct trial *trial) { (void)trial; }
static void held(struct trial *trial) { held_by(trial, holder_of('a', 1)); }
static void held_and_queued(struct trial *trial)
{
    (void)listens(trial, "g:b");
    held(trial);
    (void)ask(trial, &b);
}
static void free_and_awaited(struct trial *trial)
{
    held_and_queued(trial);
    (void)RUN(trial, "DEL", N);
}

static void (*const states[])(struct trial *trial) = {free_name, held, held_and_queued, free_and_awaited};

static void begin(struct trial *trial)
{
    trial_begin(trial);
    b = waiter_of(trial, 'b', 1);
    c = waiter_of(trial, 'c', 1);
}

/* 1: it was an error. */
static unsigned try_one(struct trial *trial, size_t state, size_t ask, unsigned key)
{
    const struct sim_reply *reply;
    uint64_t before;
    int is_wrong;
    begin(trial);
    states[state](trial);
    (void)RUN(trial, "DEL", keys[key]);
    if (key == TOKEN) /* a token is a string */
        (void)RUN(trial, "HSET", keys[key], "theirs", "1");
    else
        (void)RUN(trial, "SET", keys[key], "theirs");
    before = sim_store_digest(trial->store);
    reply = asks[ask](trial);
    if (reply->type != SIM_REPLY_ERROR)
        return 0;
    is_wrong = sim_reply_starts(reply, "WRONGTYPE ");
    if (key == TOKEN && asks[ask] == a_heartbeat) /* it was heard, and keeps its place: its record says so, and nothing else */
        (void)RUN(trial, "HDEL", R, b.id);
    if (!is_wrong || sim_store_digest(trial->store) != before)
        fail_msg("state %zu, script %zu, key %s", state, ask, keys[key]);
    return 1;
}

TRIAL(an_error_leaves_all_as_it_was)
{
    unsigned errors = 0;
    for (size_t before = 0; before < sizeof states / sizeof *states; before++)
        for (size_t ask = 0; ask < sizeof asks / sizeof *asks; ask++)
            for (unsigned key = 0; key < KEYS; key++)
                errors += try_one(trial, before, ask, key);
    assert_true(errors > 50);
}

/* ---- what the scripts make of what they find ---- */

/* Neither its value nor its expiry: it may be another program's. */
TRIAL(a_token_key_without_a_decimal_number_stays_as_it_is)
{
    static const char *const values[] = {"", "theirs", "0x10", "1e3", " 7", "7 ", "-7", "1.5", "nan", "9000000000000000", "99999999999999999999999999"};
    for (size_t i = 0; i < 2 * (sizeof values / sizeof *values); i++) {
        const struct sim_reply *reply;
        uint64_t before;
        begin(trial);
        (void)RUN(trial, "SET", T, values[i / 2], "PX", "777");
        before = sim_store_digest(trial->store);
        reply = i % 2 ? of_a_mutex(trial) : a_first_question(trial);
        if (!is_error(reply, "BADTOKEN ") || sim_store_digest(trial->store) != before)
            fail_msg("\"%s\": %.*s", values[i / 2], (int)reply->length, reply->bytes);
    }
}

TRIAL(tokens_of_both_kinds_live_for_one_to_two_periods)
{
    for (uint64_t i = 0; i < 40; i++) {
        const struct sim_reply *reply;
        int64_t left_ms;
        trial_set_time(trial, start_us + i * 47000000);
        reply = i % 2 ? of_a_mutex(trial) : SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, "a:1", "10000", ANY_TIME, "600000000");
        assert_true(reply->integer > 0);
        left_ms = RUN(trial, "PTTL", T)->integer;
        assert_true(left_ms >= 600000 && left_ms <= 1200000);
        (void)RUN(trial, "DEL", N);
    }
}

/* ---- what renewals and releases are held against ---- */

static int64_t left_ms(struct trial *trial) { return RUN(trial, "PTTL", N)->integer; }

TRIAL(a_renewal_is_of_one_hold_and_shortens_it_in_time_alone)
{
    char token[32], not_after[32];
    held_by(trial, "a:1");
    snprintf(token, sizeof token, "%s", RUN(trial, "HGET", N, "a:1")->bytes);
    (void)RUN(trial, "PEXPIRE", N, "60000");
    assert_int_equal(SCRIPT(trial, hl_script_renew, "1", N, "90000", "a:1", "1")->integer, 0);
    assert_int_equal(left_ms(trial), 60000);
    assert_int_equal(SCRIPT(trial, hl_script_renew, "1", N, "3000", "a:1", token)->integer, 60001);
    assert_int_equal(left_ms(trial), 60000);
    snprintf(not_after, sizeof not_after, "%llu", (unsigned long long)start_us / 1000 - 1);
    (void)SCRIPT(trial, hl_script_renew, "1", N, "3000", "a:1", token, "4000", not_after);
    assert_int_equal(left_ms(trial), 60000);
    snprintf(not_after, sizeof not_after, "%llu", (unsigned long long)start_us / 1000 + 1);
    (void)SCRIPT(trial, hl_script_renew, "1", N, "3000", "a:1", token, "4000", not_after);
    assert_int_equal(left_ms(trial), 4000);
    trial_set_time(trial, start_us + 544); /* a whole millisecond, which is the last in which it may */
    (void)RUN(trial, "PEXPIRE", N, "60000");
    (void)SCRIPT(trial, hl_script_renew, "1", N, "3000", "a:1", token, "4000", not_after);
    assert_int_equal(left_ms(trial), 4000);
    (void)RUN(trial, "PERSIST", N); /* another program did: the hold is there all the same, and ends again */
    assert_int_equal(SCRIPT(trial, hl_script_renew, "1", N, "3000", "a:1", token)->integer, 1);
    assert_int_equal(left_ms(trial), 3000);
}

/* A scan shows some fields of it. */
TRIAL(our_own_is_found_among_many_fields)
{
    char field[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(field, sizeof field, "field:%d", i);
        (void)RUN(trial, "HSET", N, field, "1");
    }
    (void)RUN(trial, "HSET", N, "a:1", "5", "mode", "mutex");
    (void)RUN(trial, "PEXPIRE", N, "60000");
    assert_int_equal(token_of(try_as(trial, "a:1")), 5);
    assert_int_equal(integer(try_as(trial, "a:2"), 2), 1); /* its release hands over */
}

/* As Redisson has it, but that it counts re-entries where the token is. */
TRIAL(a_lock_is_a_hash_of_its_holder_and_a_mode)
{
    char token[24];
    snprintf(token, sizeof token, "%llu", (unsigned long long)start_us);
    held_by(trial, "a:1");
    assert_int_equal(RUN(trial, "HLEN", N)->integer, 2);
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "mode"), "mutex"));
    assert_true(sim_reply_is(RUN(trial, "HGET", N, "a:1"), token));
}

TRIAL(a_simple_lock_is_its_holders)
{
    assert_int_equal(of_a_simple(trial)->integer, 1);
    (void)RUN(trial, "PEXPIRE", N, "1000");
    assert_int_equal(of_a_simple(trial)->integer, 1);
    assert_int_equal(left_ms(trial), 3000);
    (void)RUN(trial, "PEXPIRE", N, "60000");
    assert_int_equal(SCRIPT(trial, hl_script_simple_renew, "1", N, "u:2", "3000")->integer, 0);
    assert_int_equal(SCRIPT(trial, hl_script_simple_renew, "1", N, "u:1", "3000")->integer, 60001);
    assert_int_equal(left_ms(trial), 60000);
    (void)RUN(trial, "PERSIST", N); /* by another program */
    assert_int_equal(SCRIPT(trial, hl_script_simple_renew, "1", N, "u:1", "60000")->integer, 1);
    assert_int_equal(left_ms(trial), 60000);
    assert_int_equal(SCRIPT(trial, hl_script_simple_release, "1", N, "u:2")->integer, 0);
    assert_int_equal(left_ms(trial), 60000);
    assert_int_equal(SCRIPT(trial, hl_script_simple_release, "1", N, "u:1")->integer, 1);
}

/* What is reserved belongs to the period that it reaches into: the key outlives the turns that are still to come. */
TRIAL(a_reserve_that_crosses_a_period_keeps_its_key_for_one_more)
{
    const uint64_t period_us = 300 * SECOND_US, begins_us = (start_us / period_us + 1) * period_us;
    trial_set_time(trial, begins_us - 100 * SECOND_US);
    held_by(trial, "a:1");
    (void)release(trial, "a:1", NEVER);
    trial_set_time(trial, begins_us - 5);
    (void)SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, "a:2", "10000", ANY_TIME, "300000015");
    (void)release(trial, "a:2", NEVER);
    trial_set_time(trial, begins_us + 290 * SECOND_US);
    assert_true(RUN(trial, "PTTL", T)->integer >= 300000);
}

/* To the microsecond. */
TRIAL(a_reserve_may_end_with_a_second)
{
    char token[32];
    const uint64_t ends_us = (start_us / SECOND_US + 1) * SECOND_US;
    trial_set_time(trial, ends_us - 7);
    (void)SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, "a:1", "10000", ANY_TIME, "600000007");
    snprintf(token, sizeof token, "%llu", (unsigned long long)ends_us);
    assert_true(sim_reply_is(RUN(trial, "GET", T), token));
}

/* Tokens of one microsecond, or of a clock that was set back, are counted on, and the key keeps its time. */
TRIAL(tokens_rise_where_time_does_not)
{
    int64_t last = 0;
    for (int i = 0; i < 10; i++) {
        const struct sim_reply *reply;
        if (i == 5)
            trial_set_time(trial, start_us - 3600 * SECOND_US);
        reply = SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, holder_of('a', i), "10000", ANY_TIME, "600000007");
        assert_true(i ? reply->integer == last + 8 : reply->integer == (int64_t)start_us);
        last = reply->integer;
        assert_true(RUN(trial, "PTTL", T)->integer >= 600000);
        (void)RUN(trial, "DEL", N);
    }
}

/* Also where the server's microseconds are few digits, and where its clock stands in 1970; and whoever asks for a place. */
TRIAL(an_acquire_is_late_to_the_microsecond)
{
    static const uint64_t times_us[] = {1700000000123456, 1700000000000005, 1700000000000000, 1700000000999999, 5000123, 17};
    for (size_t i = 0; i < 6 * (sizeof times_us / sizeof *times_us); i++) {
        uint64_t now_us = times_us[i / 6], not_after_us = now_us + 1 - i % 3;
        const char *rest = i / 3 % 2 ? " -100000 1 g:a 1700000003 400 0 1" : "";
        const struct sim_reply *reply;
        char text[100];
        begin(trial);
        trial_set_time(trial, now_us);
        snprintf(text, sizeof text, "%016llu%s", (unsigned long long)not_after_us, rest);
        reply = SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, "a:1", "10000", text, "600000015");
        if (not_after_us < now_us) {
            snprintf(text, sizeof text, "LATE %llu %llu", (unsigned long long)now_us / 1000000, (unsigned long long)now_us % 1000000);
            assert_true(is_error(reply, text));
            assert_int_equal(RUN(trial, "EXISTS", N, Q, T)->integer, 0);
            continue;
        }
        assert_true((uint64_t)reply->integer == now_us);
        snprintf(text, sizeof text, "%llu", (unsigned long long)now_us);
        assert_true(sim_reply_is(RUN(trial, "HGET", N, "a:1"), text));
        snprintf(text, sizeof text, "%llu", (unsigned long long)(now_us + 15));
        assert_true(sim_reply_is(RUN(trial, "GET", T), text));
    }
}

/* Who holds the name, or asks as late bytes of a heartbeat, is not late: it holds it already. */
TRIAL(who_holds_the_name_is_never_late)
{
    held(trial);
    assert_true(token_of(SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, holder_of('a', 1), "10000", "0000000000000001", "300000000")) > 0);
    begin(trial);
    held_and_queued(trial);
    assert_true(is_error(SCRIPT(trial, hl_script_mutex_acquire, "3", N, Q, T, c.id, "10000", "0000000000000001 -5 1 g:c 1700000003 400 0 1",
                                "300000000"), "LATE "));
    assert_int_equal(queue_length(trial), 1);
}

/* ---- by force ---- */

static void readers(struct trial *trial) { (void)RUN(trial, "HSET", N, "mode", "read", "u:1", "1", "v:2", "1"); }
static void a_writer(struct trial *trial) { (void)RUN(trial, "HSET", N, "mode", "write", "u:1:write", "1"); }
static void a_map(struct trial *trial) { (void)RUN(trial, "HSET", N, "u:1", "ann", "v:2", "bob"); }
static void a_map_of_one(struct trial *trial) { (void)RUN(trial, "HSET", N, "u:1", "ann"); }
static void a_counter(struct trial *trial) { (void)RUN(trial, "HSET", N, "u", "1"); }
static void a_group(struct trial *trial) { (void)RUN(trial, "HSET", N, "f", "u:1", "f:u:1:expire_time", "5", "f:u:1:lock_count", "1"); }

static void two_counts(struct trial *trial) { (void)RUN(trial, "HSET", N, "u:1", "1", "v:2", "1"); }

TRIAL(what_is_no_lock_is_not_ended_by_force)
{
    static void (*const theirs[])(struct trial *trial) = {readers, a_writer, a_map, a_group, a_map_of_one, a_counter, two_counts};
    static const char *const whats[] = {"read", "write", "other", "other", "other", "other", "other"};
    static const char *const holders[] = {"u:1", "u:1:write", "", "", "", "", ""};
    for (size_t i = 0; i < 4 * (sizeof theirs / sizeof *theirs); i++) {
        const struct sim_reply *reply;
        uint64_t before;
        begin(trial);
        held_and_queued(trial);
        (void)RUN(trial, "DEL", N);
        theirs[i / 4](trial);
        before = sim_store_digest(trial->store);
        reply = force(trial, i & 1, i & 2 ? "f" : i / 4 == 1 ? "u:1:write" : "u:1");
        assert_true(reply->type == SIM_REPLY_ERROR && sim_reply_starts(reply, "WRONGTYPE "));
        reply = SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, "");
        assert_true(sim_reply_is(&reply->items[2], whats[i / 4]) && sim_reply_is(&reply->items[1], holders[i / 4]));
        assert_true(sim_store_digest(trial->store) == before);
    }
}

/* One field and no mode. It is free then, and waiters ask again. */
TRIAL(a_hold_of_RLock_is_ended_by_force)
{
    for (int has_queue = 0; has_queue < 2; has_queue++) {
        begin(trial);
        held_and_queued(trial);
        (void)RUN(trial, "DEL", N);
        (void)RUN(trial, "HSET", N, "java:57", "1");
        assert_int_equal(force(trial, has_queue, "java:5")->integer, 0);
        assert_true(sim_reply_is(&SCRIPT(trial, hl_script_mutex_peek, "2", N, Q, "")->items[2], "rlock"));
        assert_int_equal(force(trial, has_queue, "java:57")->integer, 1);
        assert_int_equal(RUN(trial, "EXISTS", N)->integer, 0);
        assert_int_equal(RUN(trial, "EXISTS", Q)->integer, 1);
    }
}

/* It joins a hold of ours, and goes on when that one ends. */
TRIAL(a_group_multilock_that_joined_is_not_passed_on)
{
    for (int is_forced = 0; is_forced < 2; is_forced++) {
        begin(trial);
        held_and_queued(trial);
        (void)RUN(trial, "HSET", N, "f", "u:1", "f:u:1:lock_count", "1");
        assert_int_equal((is_forced ? force(trial, 1, holder_of('a', 1)) : a_release(trial))->integer, 1);
        assert_int_equal(RUN(trial, "HLEN", N)->integer, 2);
        assert_int_equal(RUN(trial, "HEXISTS", N, "f")->integer, 1);
    }
}

/* The first place hears of it on its own channel, whatever marks stand in front of it, and asks. */
TRIAL(who_ends_a_hold_by_force_wakes_the_first_place)
{
    begin(trial);
    held_and_queued(trial);
    (void)RUN(trial, "ZADD", Q, "-5", "*", "-7", "+");
    assert_int_equal(a_force(trial)->integer, 1);
    assert_true(heard(trial, "g:b F1 ") && heard(trial, " 0: stock\n"));
    assert_true(waits(trial, &b));
    begin(trial);
    (void)listens_by(trial, "SSUBSCRIBE", "g:s");
    held(trial);
    waiter_stands(&b, "!g:s", (int64_t)start_us / SECOND_US + 3, "400 0 1");
    (void)ask(trial, &b);
    (void)SCRIPT(trial, hl_script_mutex_force, "2", N, Q, holder_of('a', 1), C, "SPUBLISH");
    assert_true(heard(trial, "g:s F1 ") && heard(trial, " 0: stock\n"));
}
