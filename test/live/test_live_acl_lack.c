/* SPDX-License-Identifier: BSD-3-Clause */
/* A user of the server who lacks one right, each in turn. Where locks cannot do without it the sentence names it (inside a script Redis 7.0 does
 * not, so it names the list), and all is well once it is given; optional rights are reported once in the log, and locks work without them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rights.h"
#include "support/fixture.h"

enum when { AT_ACQUIRE, AT_WAIT, AT_RENEWAL, AT_RELEASE, IN_A_QUEUE, NEVER };

struct lack {
    const char *right; /* taken away */
    enum when when;    /* it is missed */
    const char *words; /* of the server's refusal */
};

static const struct lack lacks[] = {
    {"-evalsha", AT_ACQUIRE, "'evalsha'"},
    {"-script|load", AT_ACQUIRE, "'script|load'"},
    {"-time", AT_ACQUIRE, "script"},
    {"-exists", AT_ACQUIRE, "script"},
    {"-pttl", AT_WAIT, "script"},
    {"-hscan", AT_WAIT, "script"},
    {"-hset", AT_ACQUIRE, "script"},
    {"-set", AT_ACQUIRE, "script"},
    {"-pexpire", AT_ACQUIRE, "script"},
    {"resetkeys ~other:*", AT_ACQUIRE, "key"},
    {"resetkeys ~stock:*", AT_ACQUIRE, "key"},
    {"resetkeys ~hilock:token*", AT_ACQUIRE, "key"},
    {"resetkeys ~stock:* ~hilock:token*", AT_ACQUIRE, "key"},
    {"-hget", AT_RENEWAL, "script"},
    {"-hdel", AT_RELEASE, "script"},
    {"-client|setname", NEVER, "'client|setname'"},
    {"-subscribe", NEVER, "'subscribe'"},
    {"-unsubscribe", NEVER, "'unsubscribe'"},
    {"-info", NEVER, "'info'"},
    {"-publish", NEVER, "channel"},
    {"-zadd", IN_A_QUEUE, ""},
    {"-zrem", IN_A_QUEUE, ""},
    {"-zcount", IN_A_QUEUE, ""},
    {"-zrange", IN_A_QUEUE, ""},
    {"-zrangebyscore", IN_A_QUEUE, ""},
    {"-hlen", IN_A_QUEUE, ""},
    {"-lindex", IN_A_QUEUE, ""},
    {"resetkeys ~stock:* ~hilock:token* ~hilock:wait*", IN_A_QUEUE, ""},
    {"resetchannels &other", NEVER, "channel"},
};

/* As operate.md has them for a MUTEX, with those that are optional; then what is to be taken away. */
static void let_in(struct fixture *fixture, const char *but)
{
    struct rights rights = rights_of_shop("MUTEX and FAIR");
    char command[128];
    rights_give(&rights, fixture->redis, NULL);
    snprintf(command, sizeof command, "ACL SETUSER shop %s", but);
    if (*but)
        redis_do(fixture->redis, command);
}

struct trial {
    struct fixture *fixture;
    const struct lack *lack;
    struct client client;
    struct handle stock;
};

static void says(const struct trial *trial, const char *text, const char *words)
{
    if (!strstr(text, words))
        check_fail("without %s: \"%s\" does not say \"%s\"", trial->lack->right, text, words);
}

static void acquire_tells(struct trial *trial)
{
    if (trial->lack->when == AT_WAIT)
        redis_do(trial->fixture->redis, "HSET stock:42 another 1");
    assert_int_equal(handle_acquire(&trial->stock, HILOCK_TRY), HILOCK_DENIED);
    says(trial, trial->stock.acquired.detail, trial->lack->words);
    says(trial, trial->stock.acquired.detail, "the list: operate.md, \"Rights of the server's user\"");
    assert_int_equal(handle_acquire(&trial->stock, HILOCK_FOREVER), HILOCK_DENIED);
    let_in(trial->fixture, "");
    redis_do(trial->fixture->redis, "DEL stock:42");
    assert_int_equal(handle_acquire(&trial->stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&trial->stock), HILOCK_OK);
}

/* Errors end no hold. */
static void renewal_tells(struct trial *trial)
{
    assert_int_equal(handle_acquire(&trial->stock, HILOCK_FOREVER), HILOCK_OK);
    handle_until(&trial->stock, &trial->stock.renewal_failed, 1, "RENEWAL_FAILED");
    says(trial, trial->client.log, trial->lack->words);
    let_in(trial->fixture, "");
    handle_until(&trial->stock, &trial->stock.renewed, 1, "RENEWED");
    assert_int_equal(trial->stock.lost.count, 0);
    assert_int_equal(handle_give(&trial->stock), HILOCK_OK);
}

static int was_warned(void *arg) { return ((struct client *)arg)->warnings > 0; }

static void release_tells(struct trial *trial)
{
    assert_int_equal(handle_acquire(&trial->stock, HILOCK_FOREVER), HILOCK_OK);
    handle_release(&trial->stock);
    client_until(&trial->client, was_warned, &trial->client, "a warning");
    says(trial, trial->client.log, trial->lack->words);
    let_in(trial->fixture, "");
    handle_until(&trial->stock, &trial->stock.released, 1, "the release");
    assert_int_equal(trial->stock.released.status, HILOCK_OK);
}

/* A lock can be had and given back, and had again; who waits does without messages. */
static void nothing_is_missed(struct trial *trial)
{
    for (int i = 0; i < 3; i++) {
        redis_do(trial->fixture->redis, "HSET stock:42 another 1");
        redis_do(trial->fixture->redis, "PEXPIRE stock:42 200");
        assert_int_equal(handle_acquire(&trial->stock, HILOCK_FOREVER), HILOCK_OK);
        assert_int_equal(handle_give(&trial->stock), HILOCK_OK);
    }
    client_until(&trial->client, was_warned, &trial->client, "a warning");
    says(trial, trial->client.log, trial->lack->words);
    assert_int_equal(trial->client.disconnected, 0);
    assert_true(trial->client.warnings <= 2); /* once for all waits; of all channels: to listen, and to speak */
}

/* Missed where somebody stands in the queue, and here nobody does. */
static void nothing_is_said(struct trial *trial)
{
    assert_int_equal(handle_acquire(&trial->stock, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&trial->stock), HILOCK_OK);
    assert_int_equal(trial->client.warnings, 0);
}

static void try_without(struct fixture *fixture, const struct lack *lack)
{
    struct trial trial = {.fixture = fixture, .lack = lack};
    redis_do(fixture->redis, "SCRIPT FLUSH");
    let_in(fixture, lack->right);
    client_open_with(&trial.client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = "shop", .password = "secret"));
    handle_open(&trial.stock, &trial.client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    switch (lack->when) {
    case AT_ACQUIRE:
    case AT_WAIT: acquire_tells(&trial); break;
    case AT_RENEWAL: renewal_tells(&trial); break;
    case AT_RELEASE: release_tells(&trial); break;
    case NEVER: nothing_is_missed(&trial); break;
    case IN_A_QUEUE: nothing_is_said(&trial); break;
    }
    handle_free(&trial.stock);
    client_close(&trial.client);
    fixture_check_clean(fixture->redis);
}

static void each_right_in_turn(void **state)
{
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        try_without(*state, &lacks[i]);
}

/* No right of operate.md's line is left out above. */
static void every_right_is_tried(void **state)
{
    struct rights rights = {.count = 0};
    (void)state;
    rights_read(&rights, "MUTEX and FAIR", "shop");
    for (unsigned i = 0; i < rights.count; i++) {
        int is_tried = *rights.words[i] != '+';
        for (size_t j = 0; j < sizeof lacks / sizeof *lacks; j++)
            is_tried |= strcmp(lacks[j].right + 1, rights.words[i] + 1) == 0;
        assert_true(is_tried);
    }
}

/* A waiter died, and who may not set an expiry finds the name free: that one's grant would stand for ever. */
static void no_grant_is_left_without_an_expiry(void **state)
{
    struct fixture *fixture = *state;
    struct rights rights = {.count = 0};
    struct client dying, lacking;
    struct handle waits, tries;
    redis_do(fixture->redis, "HSET stock:42 another 1");
    client_open(&dying, fixture->server->url);
    handle_open(&waits, &dying, "stock:42", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    handle_ask(&waits, HILOCK_FOREVER);
    handle_until(&waits, &waits.waiting, 1, "the wait");
    hilock_client_abandon(dying.hilock);
    dying.hilock = NULL;
    redis_do(fixture->redis, "DEL stock:42");
    rights_read(&rights, "MUTEX and FAIR", "shop");
    rights_give(&rights, fixture->redis, "+pexpire");
    client_open_with(&lacking, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .username = "shop", .password = "secret"));
    handle_open(&tries, &lacking, "stock:42", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    assert_int_equal(handle_acquire(&tries, HILOCK_TRY), HILOCK_DENIED);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock:42"), 0);
    assert_int_equal(handle_acquire(&tries, HILOCK_FOREVER), HILOCK_DENIED);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock:42"), 0);
    assert_int_equal(redis_integer(fixture->redis, "ZCARD hilock:wait:{stock:42}"), 1); /* the dead one alone */
    redis_do(fixture->redis, "DEL hilock:wait:{stock:42}");
    handle_free(&tries);
    handle_free(&waits);
    client_close(&dying);
    client_close(&lacking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(each_right_in_turn),
        cmocka_unit_test(every_right_is_tried),
        FIXTURE_TEST(no_grant_is_left_without_an_expiry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
