/* SPDX-License-Identifier: BSD-3-Clause */
/* The rights of operate.md's block "acl", of each kind: all that can be done with a lock can be done with them, none
 * of them is too many, what is optional is said once, and what is missing is said in the server's words, until it is
 * given. So is a login that is refused. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "support/deeds.h"
#include "support/fixture.h"
#include "support/rights.h"

/* lines of the block */
static const char queued[] = "one server, or each master of a quorum: MUTEX and FAIR";
static const char simple[] = "one server, or each master of a quorum: SIMPLE";

#define AS_SHOP(address) HILOCK_CLIENT_OPTIONS(.url = (address), .username = "shop", .password = "secret")

static void begin(struct deeds *deeds, struct fixture *fixture, hilock_kind kind)
{
    *deeds = (struct deeds){.kind = kind, .name = "stock:42", .others = {fixture->redis}};
    client_open_with(&deeds->ours, AS_SHOP(fixture->server->tcp_url));
    client_open_with(&deeds->theirs, AS_SHOP(fixture->server->tcp_url));
}

/* ---- enough, and none too many ---- */

static void do_all(struct fixture *fixture, hilock_kind kind, unsigned refusals)
{
    struct deeds deeds;
    begin(&deeds, fixture, kind);
    deeds.ours.watched = deeds.theirs.watched = "refused";
    deeds_do(&deeds);
    assert_true(deeds.ours.watched_count + deeds.theirs.watched_count <= refusals);
    deeds_close(&deeds);
}

static void only_optional_was_denied(struct fixture *fixture, const struct rights *needed, const struct rights *all)
{
    char text[4096];
    snprintf(text, sizeof text, "%s", rights_denied(fixture->redis));
    for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char right[64];
        snprintf(right, sizeof right, "+%s", word);
        if (!rights_has(all, right) || rights_has(needed, right))
            check_fail("%s is refused, and is not optional", word);
    }
}

/* With the line nothing is refused, and each of its rights is used; one that nothing needs is among them: that it is
 * found shows that the check can. Without those that the page calls optional all can be done, too. */
static void are_just_enough(struct fixture *fixture, const char *line, const hilock_kind *kinds, unsigned count)
{
    struct rights needed = rights_needed_of(line), all = rights_of_shop(line), listed = all;
    struct record *record = record_begin(&fixture->server, 1);
    assert_true(needed.count < all.count);
    rights_give(&all, fixture->redis, NULL);
    rights_denied(fixture->redis);
    for (unsigned i = 0; i < count; i++)
        do_all(fixture, kinds[i], 0);
    assert_string_equal(rights_denied(fixture->redis), " ");
    rights_add(&listed, "+dbsize");
    assert_string_equal(record_end(record, &listed), "+dbsize");
    rights_give(&needed, fixture->redis, NULL);
    do_all(fixture, kinds[count - 1], UINT_MAX);
    only_optional_was_denied(fixture, &needed, &all);
}

LIVE_WITH_PORT(of_MUTEX_and_FAIR)
{
    static const hilock_kind kinds[] = {HILOCK_MUTEX, HILOCK_FAIR};
    are_just_enough(fixture, queued, kinds, 2);
}

LIVE_WITH_PORT(of_SIMPLE)
{
    static const hilock_kind kind = HILOCK_SIMPLE;
    are_just_enough(fixture, simple, &kind, 1);
}

static struct handle *share(struct handle *handle, struct client *client, const struct hilock_lock_options *options)
{
    handle_open(handle, client, "stock:42", options);
    handle_ask(handle, HILOCK_FOREVER);
    return handle;
}

static void is_granted(struct handle *handle)
{
    handle_until(handle, &handle->acquired, 1, "the grant");
    assert_int_equal(handle->acquired.status, HILOCK_OK);
}

static void on_holder(const struct hilock_holder_info *info, void *user)
{
    *(unsigned *)user += info->fencing_token != 0 && info->remaining_ms > 0;
}

static void on_listed(const struct hilock_result *result, void *user)
{
    if (result->status != HILOCK_OK || result->holders != *(unsigned *)user)
        *(unsigned *)user = 1000; /* refused, or not all */
    else
        *(unsigned *)user += 10;
}

static int are_two_listed(void *count) { return *(unsigned *)count >= 10; }

/* Two share the name, and one of these never renews; a writer waits for both, and a reader for it. So the share that
 * is over is removed by the writer's script, and the reader gets its share from the writer's release, and then once more
 * from its downgrade. */
static void share_all(const struct fixture *fixture)
{
    struct client ours, theirs;
    struct handle reader, dead, writer, later;
    unsigned listed = 0;
    client_open_with(&ours, AS_SHOP(fixture->server->tcp_url));
    client_open_with(&theirs, AS_SHOP(fixture->server->tcp_url));
    ours.watched = theirs.watched = "refused";
    is_granted(share(&dead, &ours, HILOCK_LOCK_OPTIONS(.holders_max = 2, .lease_ms = 2000, .renew = HILOCK_RENEW_NEVER)));
    is_granted(share(&reader, &ours, HILOCK_LOCK_OPTIONS(.holders_max = 2, .lease_ms = 3000)));
    assert_int_equal(hilock_holders(reader.lock, on_holder, on_listed, &listed), HILOCK_OK);
    client_until(&ours, are_two_listed, &listed, "the list");
    assert_int_equal(listed, 12);
    client_until(&ours, client_has_renewed, &ours, "a renewal");
    share(&writer, &theirs, NULL);
    handle_until(&writer, &writer.waiting, 1, "WAITING");
    share(&later, &ours, HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER));
    handle_until(&later, &later.waiting, 1, "WAITING");
    handle_until(&dead, &dead.lost, 1, "the end of a share");
    assert_int_equal(handle_give(&reader), HILOCK_OK);
    is_granted(&writer);
    assert_int_equal(handle_give(&writer), HILOCK_OK);
    is_granted(&later);
    assert_int_equal(handle_give(&later), HILOCK_OK);
    handle_ask(&writer, HILOCK_FOREVER);
    handle_until(&writer, &writer.acquired, 2, "the second grant");
    handle_ask(&later, HILOCK_FOREVER);
    assert_int_equal(handle_downgrade(&writer), HILOCK_OK);
    handle_until(&later, &later.acquired, 2, "the grant of a downgrade");
    assert_int_equal(handle_give(&writer), HILOCK_OK);
    assert_int_equal(handle_give(&later), HILOCK_OK);
    assert_true(ours.watched_count + theirs.watched_count == 0);
    client_end(&ours);
    client_end(&theirs);
}

/* With the line for shared names nothing of that is refused. Each right of it is used. */
LIVE_WITH_PORT(to_share_a_name)
{
    struct rights rights = rights_of_shop(queued), own = {.count = 0}, listed;
    struct record *record = record_begin(&fixture->server, 1);
    rights_read(&own, "add this, in every deployment, for names that handles share (holders_max)", "shop");
    for (unsigned i = 0; i < own.count; i++)
        rights_add(&rights, own.words[i]);
    listed = own;
    rights_add(&listed, "+dbsize"); /* that it is found shows that the check can */
    rights_give(&rights, fixture->redis, NULL);
    rights_denied(fixture->redis);
    share_all(fixture);
    assert_string_equal(rights_denied(fixture->redis), " ");
    assert_string_equal(record_end(record, &listed), "+dbsize");
}

/* No replica is there; without the right that is not known. */
LIVE(beside_that)
{
    static const struct { const char *right, *words; unsigned database, replicas; hilock_status with_it; } rows[] = {
        {"+select", "'select'", 4, 0, HILOCK_OK},
        {"+wait", "'wait'", 0, 1, HILOCK_NOT_REPLICATED},
    };
    struct rights rights = rights_of_shop(queued);
    rights_read(&rights, "add this for a database other than 0 (+select), and for locks with the option replicas (+wait)", "shop");
    for (size_t i = 0; i < 4; i++) {
        int has_it = i % 2 != 0;
        struct client client;
        struct handle stock;
        char url[192];
        snprintf(url, sizeof url, "%s?db=%u", fixture->server->url, rows[i / 2].database);
        rights_give(&rights, fixture->redis, has_it ? NULL : rows[i / 2].right);
        client_open_with(&client, AS_SHOP(url));
        handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.replicas = rows[i / 2].replicas));
        assert_int_equal(handle_acquire(&stock, HILOCK_TRY), has_it ? rows[i / 2].with_it : HILOCK_DENIED);
        assert_true(has_it || strstr(stock.acquired.detail, rows[i / 2].words));
        client_end(&client);
    }
}

/* ---- what is optional ---- */

struct option { const char *right, *words; hilock_kind kind; };

static const struct option options[] = {
    {"+info", "INFO refused", HILOCK_MUTEX},
    {"+client|setname", "CLIENT SETNAME refused", HILOCK_MUTEX},
    {"+pubsub|numsub", "PUBSUB NUMSUB refused", HILOCK_FAIR},
};

static int was_told(void *client) { return ((struct client *)client)->watched_count > 0; }

static int is_up_again(void *arg)
{
    struct client *client = arg;
    return client->disconnected > 0 && hilock_client_is_connected(client->hilock);
}

/* A second connection tells nothing new. */
static void told_once(struct fixture *fixture, const struct option *option)
{
    struct rights rights = rights_of_shop(option->kind == HILOCK_SIMPLE ? simple : queued);
    struct deeds deeds;
    if (!rights_has(&rights, option->right)) {
        print_message("%s: this server has no such command\n", option->right);
        return;
    }
    rights_give(&rights, fixture->redis, option->right);
    begin(&deeds, fixture, option->kind);
    deeds.ours.watched = deeds.theirs.watched = option->words;
    deeds_do_few(&deeds);
    client_until(&deeds.ours, was_told, &deeds.ours, option->right);
    client_until(&deeds.theirs, was_told, &deeds.theirs, option->right);
    redis_do(fixture->redis, "CLIENT KILL USER shop");
    client_until(&deeds.ours, is_up_again, &deeds.ours, "a new connection");
    client_until(&deeds.theirs, is_up_again, &deeds.theirs, "a new connection");
    deeds_do_few(&deeds);
    assert_true(deeds.ours.watched_count == 1 && deeds.theirs.watched_count == 1);
    deeds_close(&deeds);
}

LIVE_WITH_PORT(what_is_optional_is_told_once)
{
    struct rights listed = {.count = 0};
    rights_add_optional(&listed);
    assert_int_equal(listed.count, sizeof options / sizeof *options);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_true(rights_has(&listed, options[i].right));
        told_once(fixture, &options[i]);
    }
}

/* ---- what is missing. Inside a script Redis 7.0 does not name it, so the sentence names the list ---- */

struct trial { struct fixture *fixture; struct rights rights; struct client client; struct handle stock; };

static void begin_without(struct trial *trial, struct fixture *fixture, const char *right)
{
    char command[128];
    trial->fixture = fixture;
    trial->rights = rights_of_shop(queued);
    redis_do(fixture->redis, "SCRIPT FLUSH");
    rights_give(&trial->rights, fixture->redis, NULL);
    snprintf(command, sizeof command, "ACL SETUSER shop %s", right);
    redis_do(fixture->redis, command);
    client_open_with(&trial->client, AS_SHOP(fixture->server->url));
    handle_open(&trial->stock, &trial->client, "stock:42", NULL);
}

LIVE(what_is_missing_is_named)
{
    static const struct { const char *right, *words; } lacks[] = { /* taken away; what the server says */
        {"-evalsha", "'evalsha'"},
        {"-script|load", "'script|load'"},
        {"-pexpire", "script"},
        {"resetkeys ~stock:* ~hilock:token*", "key"},
    };
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        struct trial trial;
        struct handle *stock = &trial.stock;
        begin_without(&trial, fixture, lacks[i].right);
        assert_int_equal(handle_acquire(stock, HILOCK_FOREVER), HILOCK_DENIED);
        assert_non_null(strstr(stock->acquired.detail, lacks[i].words));
        assert_non_null(strstr(stock->acquired.detail, "the rights it needs: operate.md, \"Rights of the server's user\""));
        rights_give(&trial.rights, trial.fixture->redis, NULL);
        assert_int_equal(handle_acquire(stock, HILOCK_FOREVER), HILOCK_OK);
        client_end(&trial.client);
    }
}

static int was_warned(void *client) { return ((struct client *)client)->warnings > 0; }

/* A lock can be had and given back, and had again; waiters do without messages, and it is said once for all waits. */
LIVE(without_messages)
{
    static const char *const without[] = {"-subscribe", "-publish"};
    for (size_t i = 0; i < 2; i++) {
        struct trial trial;
        begin_without(&trial, fixture, without[i]);
        for (int j = 0; j < 3; j++) {
            redis_do(trial.fixture->redis, "HSET stock:42 another:1 1");
            redis_do(trial.fixture->redis, "PEXPIRE stock:42 200");
            assert_int_equal(handle_acquire(&trial.stock, HILOCK_FOREVER), HILOCK_OK);
            assert_int_equal(handle_give(&trial.stock), HILOCK_OK);
        }
        client_until(&trial.client, was_warned, &trial.client, "a warning");
        assert_non_null(strstr(trial.client.log, i == 0 ? "'subscribe'" : "channel"));
        assert_true(trial.client.warnings == 1 && trial.client.disconnected == 0);
        client_end(&trial.client);
    }
}

/* A client that may not set an expiry finds the name free, and the first waiter dead. A grant to that waiter would stand
 * for ever, so none is made. */
LIVE(no_grant_is_left_without_an_expiry)
{
    struct rights rights;
    struct client dying, lacking;
    struct handle waits, tries;
    redis_do(fixture->redis, "HSET stock:42 another:1 1");
    client_open(&dying, fixture->server->url);
    handle_open(&waits, &dying, "stock:42", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    handle_ask(&waits, HILOCK_FOREVER);
    handle_until(&waits, &waits.waiting, 1, "the wait");
    hilock_client_abandon(dying.hilock);
    dying.hilock = NULL;
    redis_do(fixture->redis, "DEL stock:42");
    rights = rights_needed_of(queued); /* so the dead one counts as a waiter */
    rights_give(&rights, fixture->redis, "+pexpire");
    client_open_with(&lacking, AS_SHOP(fixture->server->url));
    handle_open(&tries, &lacking, "stock:42", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    assert_int_equal(handle_acquire(&tries, HILOCK_TRY), HILOCK_DENIED);
    assert_int_equal(handle_acquire(&tries, HILOCK_FOREVER), HILOCK_DENIED);
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock:42"), 0);
    assert_int_equal(redis_integer(fixture->redis, "ZCARD hilock:queue:{stock:42}"), 1); /* the dead one alone */
    redis_do(fixture->redis, "DEL hilock:queue:{stock:42} hilock:place:{stock:42}");
    client_end(&dying);
    client_end(&lacking);
}

/* ---- logging in ---- */

static int was_repeated(void *redis) { return redis_calls(redis, "auth") >= 4; }

/* A refused login runs nothing, though the default user may do everything here, and is repeated until it is good;
 * then all runs as that user, in the database that was asked for. */
LIVE_WITH_PORT(a_login_is_repeated_until_it_is_good)
{
    static const char give[] = "ACL SETUSER locks reset on >%s ~* &* +@all";
    struct client client;
    struct handle stock;
    char url[160];
    snprintf(url, sizeof url, "redis://locks:p%%40%%3Asecret%%3F%%25@localhost:%d/5", fixture->server->port);
    redis_do(fixture->redis, give, "right");
    redis_do(fixture->redis, "CONFIG RESETSTAT");
    client_open(&client, url);
    client.watched = "secret";
    handle_open(&stock, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_DENIED);
    assert_non_null(strstr(stock.acquired.detail, "WRONGPASS"));
    client_until(&client, was_repeated, fixture->redis, "more logins");
    assert_int_equal(redis_calls(fixture->redis, "evalsha") + redis_calls(fixture->redis, "subscribe"), 0);
    assert_int_equal(redis_calls(fixture->redis, "script|load"), 0);
    redis_do(fixture->redis, give, "p@:secret?%");
    client_connect(&client);
    assert_int_equal(handle_acquire(&stock, HILOCK_FOREVER), HILOCK_OK);
    redisReply *list = redis_reply(fixture->redis, "CLIENT LIST");
    assert_non_null(strstr(list->str, "user=locks"));
    freeReplyObject(list);
    redis_do(fixture->redis, "SELECT 5");
    assert_int_equal(redis_integer(fixture->redis, "EXISTS stock"), 1);
    assert_int_equal(client.watched_count, 0);
    client_end(&client);
}
