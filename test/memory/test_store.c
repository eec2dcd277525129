/* SPDX-License-Identifier: BSD-3-Clause */
/* test_store - what befalls a store does to it what its header says: refusals, restarts, sweeps, copies. What real servers can
 * be asked is compared with them in ../sim/lockstep instead. */
#include "base/slot.h"
#include "memory/slot.h"
#include "script_trial.h"

static const struct sim_reply *of_a_mutex(struct trial *trial)
{
    return SCRIPT(trial, hl_script_mutex_acquire, "3", "N", "Q", "T", "u:1", "3000", ANY_TIME " *", "600000000");
}
static const struct sim_reply *end_of_a_mutex(struct trial *trial)
{
    return SCRIPT(trial, hl_script_mutex_release, "3", "N", "Q", "T", "u:1", "1000000 600000");
}

enum { SLOTS_TRIED = 20000, MEMBERS = 40, CHANGES = 6000, MANY = 30000 };

static unsigned next(unsigned *seed) { return (*seed = *seed * 1103515245 + 12345) >> 16; }

/* A script runs up to its first write: a release that finds nothing to release is answered even by a read-only server. */
TRIAL(test_writes_are_refused)
{
    sim_store_refuse(trial->store, SIM_REFUSE_WRITES, "READONLY You can't write against a read only replica.");
    assert_int_equal(end_of_a_mutex(trial)->integer, 0);
    assert_true(sim_reply_starts(of_a_mutex(trial), "READONLY You can't write against a read only replica."));
    assert_true(sim_reply_starts(RUN(trial, "SET", "a", "b"), "READONLY "));
    assert_int_equal(RUN(trial, "PUBLISH", "a", "b")->type, SIM_REPLY_INTEGER);
    assert_int_equal(sim_store_keys(trial->store), 0);
    sim_store_refuse(trial->store, SIM_REFUSE_NOTHING, NULL);
    assert_int_equal(of_a_mutex(trial)->integer, (int64_t)start_us);
}

TRIAL(test_all_is_refused)
{
    sim_store_refuse(trial->store, SIM_REFUSE_ALL, "LOADING Redis is loading the dataset in memory");
    assert_true(sim_reply_starts(end_of_a_mutex(trial), "LOADING "));
    assert_true(sim_reply_starts(RUN(trial, "PING"), "LOADING "));
    assert_int_equal(RUN(trial, "TIME")->type, SIM_REPLY_ARRAY);
}

TRIAL(test_restart)
{
    (void)of_a_mutex(trial);
    sim_store_restart(trial->store, 1);
    assert_null(RUN(trial, "PING"));
    assert_int_equal(sim_store_connections(trial->store), 0);
    trial->connection = sim_store_connect(trial->store);
    assert_true(sim_reply_starts(end_of_a_mutex(trial), "NOSCRIPT "));
    trial_load(trial);
    assert_int_equal(end_of_a_mutex(trial)->integer, 1);
    sim_store_restart(trial->store, 0);
    assert_int_equal(sim_store_keys(trial->store), 0);
}

/* Left is counted to the end of the millisecond in which the key expires. */
TRIAL(test_expiry_and_sweep)
{
    (void)of_a_mutex(trial);
    assert_int_equal(sim_store_left_us(trial->store, "N", 1), 3000 * 1000 + 1000 - (int64_t)start_us % 1000);
    sim_store_set_time(trial->store, start_us - start_us % 1000 + 3000 * 1000 + 999);
    assert_int_equal(sim_store_left_us(trial->store, "N", 1), 1);
    assert_int_equal(RUN(trial, "PTTL", "N")->integer, 0);
    sim_store_set_time(trial->store, start_us - start_us % 1000 + 3001 * 1000);
    assert_int_equal(sim_store_left_us(trial->store, "N", 1), -2);
    assert_int_equal(RUN(trial, "DBSIZE")->integer, 2);
    sim_store_sweep(trial->store);
    assert_int_equal(RUN(trial, "DBSIZE")->integer, 1);
}

TRIAL(test_copies)
{
    struct sim_store_data *before;
    struct sim_store_field field;
    uint64_t digest, writes;
    (void)of_a_mutex(trial);
    digest = sim_store_digest(trial->store);
    before = sim_store_save(trial->store);
    writes = sim_store_writes(trial->store);
    (void)RUN(trial, "HGETALL", "N");
    assert_int_equal(sim_store_writes(trial->store), writes);
    (void)end_of_a_mutex(trial);
    assert_true(sim_store_writes(trial->store) > writes);
    assert_int_not_equal(sim_store_digest(trial->store), digest);
    assert_false(sim_store_hash_field(trial->store, "N", 1, 0, &field));
    sim_store_load(trial->store, before);
    sim_store_data_free(before);
    assert_int_equal(sim_store_digest(trial->store), digest);
    assert_true(sim_store_hash_field(trial->store, "N", 1, 0, &field));
    assert_memory_equal(field.name, "u:1", field.name_length);
    assert_int_equal(end_of_a_mutex(trial)->integer, 1);
}

/* ---- a sorted set, against a row that is sorted by hand ---- */

struct row { int scores[MEMBERS], is_there[MEMBERS]; };

static int is_before(const struct row *row, int one, int other)
{
    if (!row->is_there[one] || row->scores[one] != row->scores[other])
        return row->is_there[one] && row->scores[one] < row->scores[other];
    return one < other;
}

static void compare(struct trial *trial, const struct row *row, int member, const char *name)
{
    int place = 0, last = -1, count = 0, low = 0;
    char text[16];
    for (int i = 0; i < MEMBERS; i++) {
        place += is_before(row, i, member);
        count += row->is_there[i];
        low += row->is_there[i] && row->scores[i] < 3;
        if (row->is_there[i] && (last < 0 || is_before(row, last, i)))
            last = i;
    }
    assert_int_equal(RUN(trial, "ZCARD", "set")->integer, count);
    assert_int_equal(RUN(trial, "ZCOUNT", "set", "-inf", "(3")->integer, low);
    if (last >= 0) {
        snprintf(text, sizeof text, "m%02d", last);
        assert_true(sim_reply_is(&RUN(trial, "ZRANGE", "set", "-1", "-1")->items[0], text));
    }
    if (!row->is_there[member]) {
        assert_int_equal(RUN(trial, "ZRANK", "set", name)->type, SIM_REPLY_NIL);
        return;
    }
    assert_int_equal(RUN(trial, "ZRANK", "set", name)->integer, place);
    snprintf(text, sizeof text, "%d", place);
    assert_true(sim_reply_is(&RUN(trial, "ZRANGE", "set", text, text)->items[0], name));
    snprintf(text, sizeof text, "%d", row->scores[member]);
    assert_true(sim_reply_is(RUN(trial, "ZSCORE", "set", name), text));
}

TRIAL(test_a_sorted_set_is_sorted)
{
    unsigned seed = 1;
    struct row row = {.is_there = {0}};
    for (int i = 0; i < CHANGES; i++) {
        int member = (int)(next(&seed) % MEMBERS), score = (int)(next(&seed) % 7), is_older;
        char name[8], text[8];
        snprintf(name, sizeof name, "m%02d", member);
        snprintf(text, sizeof text, "%d", score);
        switch (next(&seed) % 3) {
        case 0: (void)RUN(trial, "ZADD", "set", text, name); break;
        case 1:
            is_older = row.is_there[member] && row.scores[member] <= score;
            (void)RUN(trial, "ZADD", "set", "LT", text, name);
            score = is_older ? row.scores[member] : score;
            break;
        default:
            assert_int_equal(RUN(trial, "ZREM", "set", name)->integer, row.is_there[member]);
            score = -1;
        }
        row.is_there[member] = score >= 0;
        row.scores[member] = score;
        compare(trial, &row, member, name);
    }
}

/* What it does in a set of many must not walk them. A set that walked would take minutes. */
TRIAL(test_a_large_set_is_quick)
{
    char name[16];
    unsigned seed = 1;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%u", next(&seed) * 65536 + (unsigned)i % 65536);
        (void)RUN(trial, "ZADD", "set", name, name);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d", i % 97 + 500);
        snprintf(name, sizeof name, "%s", RUN(trial, "ZRANGE", "set", name, name)->items[0].bytes);
        assert_int_equal(RUN(trial, "ZRANK", "set", name)->integer, i % 97 + 500);
        assert_int_equal(RUN(trial, "ZREM", "set", name)->integer, 1);
        (void)RUN(trial, "ZADD", "set", name, name);
    }
}

/* A server shows a hash of more than 128 fields in pieces. */
TRIAL(test_a_large_hash_is_scanned_in_pieces)
{
    char name[16], cursor[16] = "0";
    size_t seen = 0, steps = 0;
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "f%d", i);
        (void)RUN(trial, "HSET", "hash", name, "v");
    }
    do {
        const struct sim_reply *reply = RUN(trial, "HSCAN", "hash", cursor, "COUNT", "16");
        assert_true(reply->items[1].count <= 32);
        seen += reply->items[1].count / 2;
        steps++;
        snprintf(cursor, sizeof cursor, "%.*s", (int)reply->items[0].length, reply->items[0].bytes);
    } while (strcmp(cursor, "0") != 0);
    assert_int_equal(seen, 200);
    assert_int_equal(steps, 13);
}

static uint64_t touched(struct trial *trial, const char *const *words)
{
    uint64_t before = sim_store_touched(trial->store);
    (void)trial_run(trial, words);
    return sim_store_touched(trial->store) - before;
}
#define TOUCHED(trial, ...) touched((trial), (const char *const[]){__VA_ARGS__, NULL})

TRIAL(test_what_a_command_touches)
{
    (void)RUN(trial, "ZADD", "set", "1", "a", "2", "b", "3", "c", "4", "d", "5", "e");
    (void)RUN(trial, "HSET", "hash", "a", "1", "b", "2", "c", "3");
    (void)listens(trial, "channel");
    assert_int_equal(TOUCHED(trial, "ZRANGE", "set", "1", "-1"), 1 + 4);
    assert_int_equal(TOUCHED(trial, "ZRANGEBYSCORE", "set", "2", "+inf", "LIMIT", "2", "1"), 1 + 2 + 1);
    assert_int_equal(TOUCHED(trial, "ZADD", "set", "LT", "6", "f", "7", "g"), 1 + 2);
    assert_int_equal(TOUCHED(trial, "ZREM", "set", "f", "g", "nobody"), 1 + 3);
    assert_int_equal(TOUCHED(trial, "ZRANK", "set", "e"), 1);
    assert_int_equal(TOUCHED(trial, "ZCOUNT", "set", "-inf", "+inf"), 1);
    assert_int_equal(TOUCHED(trial, "HMGET", "hash", "a", "b"), 1 + 2);
    assert_int_equal(TOUCHED(trial, "HGETALL", "hash"), 1 + 3);
    assert_int_equal(TOUCHED(trial, "HSCAN", "hash", "0"), 1 + 3);
    assert_int_equal(TOUCHED(trial, "EXISTS", "hash", "set"), 2);
    assert_int_equal(TOUCHED(trial, "PUBSUB", "NUMSUB", "x", "y"), 2);
    assert_int_equal(TOUCHED(trial, "PUBLISH", "channel", "text"), 1);
    assert_int_equal(TOUCHED(trial, "EVAL", "redis.call('HMGET', 'hash', 'a', 'b') redis.call('ZRANGE', 'set', '0', '1')", "0"), 3 + 3);
    assert_int_equal(TOUCHED(trial, "UNLINK", "hash"), 1);
    assert_int_equal(TOUCHED(trial, "DEL", "set"), 1 + 5);
}

/* In the words of Redis 7.0, as a script sees them. */
TRIAL(test_rights_that_scripts_lack)
{
    static const char asks[] = "return {redis.acl_check_cmd('ZADD', 'places', '1', 'm') and 1 or 0, redis.acl_check_cmd('HGET', 'places', 'f') and 1 or 0, "
                               "redis.acl_check_cmd('EXISTS', 'other', 'places') and 1 or 0, redis.acl_check_cmd('TIME') and 1 or 0}";
    static const struct { const char *command, *prefix, *may; } cases[] = {
        {"zadd", NULL, "0111"}, {NULL, "plac", "0001"}, {"hget", "plac", "1011"}, {"hget", "other", "1111"}, {NULL, NULL, "1111"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sim_reply *reply;
        sim_store_deny(trial->store, cases[i].command, cases[i].prefix);
        reply = RUN(trial, "EVAL", asks, "0");
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(integer(reply, j), cases[i].may[j] - '0');
        reply = RUN(trial, "EVAL", "return redis.pcall('ZADD', 'places', '1', 'm')", "0");
        assert_int_equal(reply->type == SIM_REPLY_ERROR, cases[i].may[0] == '0');
        if (reply->type == SIM_REPLY_ERROR)
            assert_true(sim_reply_starts(reply, i ? "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments"
                                                  : "ERR The user executing the script can't run this command or subcommand"));
    }
}

/* ---- what it has of its own, to owe nothing to the library that is tested by it, agrees with the library's ---- */

TEST(test_slots)
{
    char key[16];
    unsigned seed = 1;
    for (int i = 0; i < SLOTS_TRIED; i++) {
        size_t length = next(&seed) % sizeof key;
        for (size_t j = 0; j < length; j++)
            key[j] = "{}abc\xff"[next(&seed) % 6];
        assert_int_equal(sim_slot_of(key, length), hl_slot_of(key, length));
    }
}
