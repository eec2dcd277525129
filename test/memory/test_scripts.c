/* SPDX-License-Identifier: BSD-3-Clause */
/* test_scripts - what the library's scripts leave behind when one of their keys is of another type: an error leaves all as it was. Each state
 * of a name meets each script with each of its keys made another program's. Then what they make of odd values, of odd times, and of hashes that
 * are no lock. The rest of what scripts do is tested by whole clients. */
#include "script_trial.h"

enum { KEYS = 3 };
static const char *const keys[KEYS] = {"N", "Q", "T"};

static const struct sim_reply *a_heartbeat(struct trial *trial) { return ask(trial, "b:1", "? 1"); }
static const struct sim_reply *one_more_waits(struct trial *trial) { return ask(trial, "c:1", "0 1"); }
static const struct sim_reply *a_release(struct trial *trial) { return release(trial, "a:1", NEVER); }
static const struct sim_reply *a_release_that_yields(struct trial *trial) { return release(trial, "a:1", TO_OTHERS); }
static const struct sim_reply *a_cancel(struct trial *trial) { return release(trial, "b:1", NEVER); }
static const struct sim_reply *renewal(struct trial *trial) { return RUN(trial, "EVALSHA", hl_script_renew.sha1, "1", "N", "3000", "u:1", "1"); }
static const struct sim_reply *of_a_simple(struct trial *trial) { return RUN(trial, "EVALSHA", hl_script_simple_acquire.sha1, "1", "N", "u:1", "3000"); }

static const struct sim_reply *force(struct trial *trial, int has_queue, const char *holder)
{
    if (has_queue)
        return RUN(trial, "EVALSHA", hl_script_mutex_force.sha1, "2", "N", "Q", holder, C, "PUBLISH");
    return RUN(trial, "EVALSHA", hl_script_mutex_force.sha1, "1", "N", holder, C, "PUBLISH");
}

static const struct sim_reply *a_force(struct trial *trial) { return force(trial, 1, "a:1"); }

static const struct sim_reply *(*const asks[])(struct trial *trial) = {a_heartbeat, one_more_waits, a_try, a_release, a_release_that_yields, a_cancel,
                                                                     of_a_mutex, end_of_a_mutex, renewal, of_a_simple, a_force};

static void free_name(struct trial *trial) { (void)trial; }
static void free_and_awaited(struct trial *trial)
{
    held_and_awaited(trial);
    (void)RUN(trial, "DEL", "N");
}

static void (*const states[])(struct trial *trial) = {free_name, held, held_and_awaited, free_and_awaited};

/* 1: it was an error. */
static unsigned try_one(struct trial *trial, size_t state, size_t ask, unsigned key)
{
    const struct sim_reply *reply;
    uint64_t before;
    begin(trial);
    states[state](trial);
    (void)RUN(trial, "DEL", keys[key]);
    if (key == KEYS - 1) /* a token is a string */
        (void)RUN(trial, "HSET", keys[key], "theirs", "1");
    else
        (void)RUN(trial, "SET", keys[key], "theirs");
    before = sim_store_digest(trial->store);
    reply = asks[ask](trial);
    if (reply->type != SIM_REPLY_ERROR)
        return 0;
    if (!sim_reply_starts(reply, "WRONGTYPE ") || sim_store_digest(trial->store) != before)
        fail_msg("state %zu, script %zu, key %s: %.*s", state, ask, keys[key], (int)reply->length, reply->bytes);
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
        (void)RUN(trial, "SET", "T", values[i / 2], "PX", "777");
        before = sim_store_digest(trial->store);
        reply = i % 2 ? of_a_mutex(trial) : a_heartbeat(trial);
        if (reply->type != SIM_REPLY_ERROR || !sim_reply_starts(reply, "BADTOKEN ") || sim_store_digest(trial->store) != before)
            fail_msg("\"%s\": %.*s", values[i / 2], (int)reply->length, reply->bytes);
    }
}

TRIAL(tokens_of_both_kinds_live_for_one_to_two_periods)
{
    for (uint64_t i = 0; i < 40; i++) {
        const struct sim_reply *reply;
        int64_t left_ms;
        sim_store_set_time(trial->store, start_us + i * 47000000);
        reply = i % 2 ? of_a_mutex(trial) : FAIR(trial, hl_script_mutex_acquire, "a:1", "10000", ANY_TIME, "600000000");
        assert_true(reply->integer > 0);
        left_ms = RUN(trial, "PTTL", "T")->integer;
        assert_true(left_ms >= 600000 && left_ms <= 1200000);
        (void)RUN(trial, "DEL", "N");
    }
}

/* Also where the server's microseconds are few digits, and where its clock stands in 1970. */
TRIAL(an_acquire_is_late_to_the_microsecond)
{
    static const uint64_t times_us[] = {1700000000123456, 1700000000000005, 1700000000000000, 1700000000999999,
                                        5000123, 17};
    for (size_t i = 0; i < 3 * (sizeof times_us / sizeof *times_us); i++) {
        uint64_t now_us = times_us[i / 3], not_after_us = now_us + 1 - i % 3;
        const struct sim_reply *reply;
        char text[32];
        begin(trial);
        sim_store_set_time(trial->store, now_us);
        snprintf(text, sizeof text, "%016llu", (unsigned long long)not_after_us);
        reply = FAIR(trial, hl_script_mutex_acquire, "a:1", "10000", text, "600000015");
        if (not_after_us < now_us) {
            assert_true(reply->type == SIM_REPLY_ERROR && sim_reply_starts(reply, "LATE "));
            assert_int_equal(RUN(trial, "EXISTS", "N", "T")->integer, 0);
            continue;
        }
        assert_true((uint64_t)reply->integer == now_us);
        snprintf(text, sizeof text, "%llu", (unsigned long long)now_us);
        assert_true(sim_reply_is(RUN(trial, "HGET", "N", "a:1"), text));
        snprintf(text, sizeof text, "%llu", (unsigned long long)(now_us + 15));
        assert_true(sim_reply_is(RUN(trial, "GET", "T"), text));
    }
}

/* ---- the queue ---- */

/* Of those of whom something is heard. */
TRIAL(a_queue_lives_for_so_long)
{
    held_and_awaited(trial);
    assert_int_equal(RUN(trial, "PTTL", "Q")->integer, HL_FAIR_QUEUE_MS);
    (void)RUN(trial, "PEXPIRE", "N", "100000");
    sim_store_set_time(trial->store, start_us + 60000000);
    (void)a_heartbeat(trial);
    assert_int_equal(RUN(trial, "PTTL", "Q")->integer, HL_FAIR_QUEUE_MS);
}

TRIAL(who_is_not_heard_of_for_so_long_is_dead)
{
    for (unsigned is_dead = 0; is_dead < 2; is_dead++) {
        begin(trial);
        held_and_awaited(trial);
        sim_store_set_time(trial->store, start_us + 1000 * HL_FAIR_ALIVE_MS + is_dead);
        (void)RUN(trial, "DEL", "N");
        (void)RUN(trial, "HSET", "N", "a:1", "1", "mode", "mutex");
        assert_int_equal(a_release(trial)->integer, is_dead ? 1 : -2);
        assert_int_equal(RUN(trial, "HEXISTS", "N", "b:1")->integer, !is_dead);
        assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, 0);
    }
}

/* A heartbeat whose answer was lost is asked again: there is one place, and it is the old one. */
TRIAL(who_does_not_know_its_ticket_finds_its_place)
{
    int64_t ticket;
    held(trial);
    ticket = integer(ask(trial, "b:1", "0 1"), 4);
    assert_true(ticket > (int64_t)start_us);
    (void)ask(trial, "c:1", "0 1");
    sim_store_set_time(trial->store, start_us + 5000);
    assert_int_equal(integer(ask(trial, "b:1", "? 2"), 4), ticket);
    assert_int_equal(integer(ask(trial, "b:1", "? 3"), 3), 1);
    assert_int_equal(integer(ask(trial, "b:1", "? 4"), 5), 2);
}

/* By its ticket, by none, or by one that it has no more: a failover brought back an older queue. */
TRIAL(who_leaves_is_not_in_the_queue_any_more)
{
    static const char *const terms[] = {NEVER, "1000000 17 300000", NULL};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        char text[64];
        begin(trial);
        held(trial);
        (void)ask(trial, "c:1", "0 1");
        snprintf(text, sizeof text, "1000000 %lld 300000", (long long)integer(ask(trial, "b:1", "0 1"), 4));
        assert_int_equal(release(trial, "b:1", terms[i] ? terms[i] : text)->integer, 0);
        assert_int_equal(RUN(trial, "ZCOUNT", "Q", "-inf", "+inf")->integer, 1);
        assert_int_equal(integer(ask(trial, "c:1", "? 2"), 3), 1);
    }
}

/* They are of one counter. A new waiter whose request grants the name to an older one gets the number behind its token. */
TRIAL(tickets_and_tokens_rise_together)
{
    char text[24];
    int64_t last = ask(trial, "a:1", "")->integer;
    for (int i = 0; i < 3; i++) {
        char id[24];
        int64_t ticket;
        snprintf(id, sizeof id, "w:%d", i);
        ticket = integer(ask(trial, id, "0 1"), 4);
        assert_true(ticket > last);
        last = ticket;
    }
    assert_int_equal(a_release(trial)->integer, -2);
    assert_true(ask(trial, "w:0", "? 2")->integer > last);
    (void)RUN(trial, "DEL", "N");
    snprintf(text, sizeof text, "%lld", (long long)integer(ask(trial, "x:1", "0 1"), 4) - 1);
    assert_true(sim_reply_is(RUN(trial, "HGET", "N", "w:1"), text));
}

/* A server that takes no writes keeps the place: who leaves is to say so again. */
TRIAL(a_refused_release_has_not_left_the_queue)
{
    held_and_awaited(trial);
    (void)RUN(trial, "DEL", "N");
    sim_store_refuse(trial->store, SIM_REFUSE_WRITES, "NOREPLICAS Not enough good replicas to write.");
    assert_int_equal(release(trial, "b:1", NEVER)->type, SIM_REPLY_ERROR);
    sim_store_refuse(trial->store, SIM_REFUSE_NOTHING, NULL);
    assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, 1);
    assert_int_equal(release(trial, "b:1", NEVER)->integer, 0);
    assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, 0);
}

/* ---- by force ---- */

static void readers(struct trial *trial) { (void)RUN(trial, "HSET", "N", "mode", "read", "u:1", "1", "v:2", "1"); }
static void a_writer(struct trial *trial) { (void)RUN(trial, "HSET", "N", "mode", "write", "u:1:write", "1"); }
static void a_map(struct trial *trial) { (void)RUN(trial, "HSET", "N", "u:1", "ann", "v:2", "bob"); }
static void a_map_of_one(struct trial *trial) { (void)RUN(trial, "HSET", "N", "u:1", "ann"); }
static void a_counter(struct trial *trial) { (void)RUN(trial, "HSET", "N", "u", "1"); }
static void a_group(struct trial *trial) { (void)RUN(trial, "HSET", "N", "f", "u:1", "f:u:1:expire_time", "5", "f:u:1:lock_count", "1"); }

TRIAL(what_is_no_lock_is_not_ended_by_force)
{
    static void (*const theirs[])(struct trial *trial) = {readers, a_writer, a_map, a_group, a_map_of_one, a_counter};
    static const char *const whats[] = {"read", "write", "other", "other", "other", "other"}, *const holders[] = {"u:1", "u:1:write", "", "", "", ""};
    for (size_t i = 0; i < 4 * (sizeof theirs / sizeof *theirs); i++) {
        const struct sim_reply *reply;
        uint64_t before;
        begin(trial);
        held_and_awaited(trial);
        (void)RUN(trial, "DEL", "N");
        theirs[i / 4](trial);
        before = sim_store_digest(trial->store);
        reply = force(trial, i & 1, i & 2 ? "f" : i / 4 == 1 ? "u:1:write" : "u:1");
        assert_true(reply->type == SIM_REPLY_ERROR && sim_reply_starts(reply, "WRONGTYPE "));
        reply = RUN(trial, "EVALSHA", hl_script_mutex_peek.sha1, "2", "N", "Q", "0");
        assert_true(sim_reply_is(&reply->items[2], whats[i / 4]) && sim_reply_is(&reply->items[1], holders[i / 4]));
        assert_true(sim_store_digest(trial->store) == before);
    }
}

/* One field and no mode. It is free then, and waiters ask again. */
TRIAL(a_hold_of_RLock_is_ended_by_force)
{
    for (int has_queue = 0; has_queue < 2; has_queue++) {
        begin(trial);
        held_and_awaited(trial);
        (void)RUN(trial, "DEL", "N");
        (void)RUN(trial, "HSET", "N", "java:57", "1");
        assert_int_equal(force(trial, has_queue, "java:5")->integer, 0);
        assert_true(sim_reply_is(&RUN(trial, "EVALSHA", hl_script_mutex_peek.sha1, "2", "N", "Q", "0")->items[2], "rlock"));
        assert_int_equal(force(trial, has_queue, "java:57")->integer, 1);
        assert_int_equal(RUN(trial, "EXISTS", "N")->integer, 0);
        assert_int_equal(RUN(trial, "EXISTS", "Q")->integer, 1);
    }
}

/* It joins a hold of ours, and goes on when that one ends. */
TRIAL(a_group_multilock_that_joined_is_not_passed_on)
{
    for (int is_forced = 0; is_forced < 2; is_forced++) {
        begin(trial);
        held_and_awaited(trial);
        (void)RUN(trial, "HSET", "N", "f", "u:1", "f:u:1:lock_count", "1");
        assert_int_equal((is_forced ? force(trial, 1, "a:1") : a_release(trial))->integer, 1);
        assert_int_equal(RUN(trial, "HLEN", "N")->integer, 2);
        assert_int_equal(RUN(trial, "HEXISTS", "N", "f")->integer, 1);
    }
}
