/* SPDX-License-Identifier: BSD-3-Clause */
/* The rights of operate.md's block "acl" where locks live at several servers: a quorum, behind Sentinel with a user at the sentinels, a Cluster with
 * a slot that moves. All that can be done with a lock can be done with them, none of them is too many. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/deeds.h"
#include "support/masters.h"
#include "support/rights.h"
#include "support/sentinels.h"
#include "support/shards.h"

/* DBSIZE is needed for nothing: that it is found shows that the check can. */
static struct rights with_optional(const char *kind, const char *besides)
{
    struct rights rights = rights_of_shop(kind);
    if (besides)
        rights_read(&rights, besides, "shop");
    rights_add(&rights, "+dbsize");
    return rights;
}

/* The servers of a deployment, each with a look at it and a record of what is sent there. */
struct watch {
    unsigned count;
    struct server *servers[SHARDS_SERVERS];
    struct redis *looks[SHARDS_SERVERS];
    struct record *records[SHARDS_SERVERS];
};

static void watch_begin(struct watch *watch, struct server *const *servers, unsigned count, const struct rights *rights, const char *but)
{
    memset(watch, 0, sizeof *watch);
    watch->count = count;
    for (unsigned i = 0; i < count; i++) {
        watch->servers[i] = servers[i];
        watch->looks[i] = redis_open(servers[i]);
        rights_give(rights, watch->looks[i], but);
        rights_denied(watch->looks[i]);
    }
}

static void watch_record(struct watch *watch)
{
    for (unsigned i = 0; i < watch->count; i++)
        watch->records[i] = record_begin(watch->servers[i]);
}

static void watch_recorded(struct watch *watch)
{
    for (unsigned i = 0; i < watch->count; i++)
        record_end(watch->records[i]);
}

static void watch_end(struct watch *watch)
{
    for (unsigned i = 0; i < watch->count; i++) {
        if (watch->records[i])
            record_free(watch->records[i]);
        redis_close(watch->looks[i]);
    }
}

static void nothing_was_denied(const struct watch *watch)
{
    for (unsigned i = 0; i < watch->count; i++)
        assert_string_equal(rights_denied(watch->looks[i]), " ");
}

/* Of these words each is needed at one of the servers at least. */
static void each_is_needed(const struct watch *watch, const struct rights *all, const struct rights *words)
{
    char text[4096];
    snprintf(text, sizeof text, "%s", rights_unneeded(all, watch->looks, watch->records, watch->count));
    assert_non_null(strstr(text, "+dbsize"));
    for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (rights_has(words, word))
            check_fail("nothing that was sent needs %s", word);
}

static void stand_others(struct deeds *deeds, const struct watch *watch)
{
    for (unsigned i = 0; i < watch->count && i < sizeof deeds->others / sizeof deeds->others[0] - 1; i++)
        deeds->others[i] = watch->looks[i];
}

static void open_both(struct deeds *deeds, const struct hilock_client_options *options)
{
    client_open_with(&deeds->ours, options);
    client_open_with(&deeds->theirs, options);
    deeds->ours.watched = deeds->theirs.watched = "refused";
}

/* ---- a quorum: the kind's own line, at each of the masters ---- */

static void a_quorum(void **state)
{
    static const struct { hilock_kind kind; const char *word; } kinds[] = {{HILOCK_MUTEX, "MUTEX and FAIR"}, {HILOCK_SIMPLE, "SIMPLE"}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct deeds deeds = {.kind = kinds[i].kind, .name = "stock:42", .has_no_multi = 1};
        struct masters masters;
        struct rights all;
        struct watch watch;
        masters_start(&masters, 3);
        all = with_optional(kinds[i].word, NULL);
        watch_begin(&watch, masters.servers, masters.count, &all, NULL);
        open_both(&deeds, HILOCK_CLIENT_OPTIONS(.quorum_urls = masters.urls, .username = "shop", .password = "secret", .restart_guard_ms = HILOCK_GUARD_OFF));
        masters_await(&deeds.ours, 3);
        masters_await(&deeds.theirs, 3);
        deeds_do(&deeds);
        assert_int_equal(deeds.ours.watched_count + deeds.theirs.watched_count, 0);
        deeds_close(&deeds);
        nothing_was_denied(&watch);
        watch_end(&watch);
        masters_end(&masters);
    }
}

/* ---- behind Sentinel ---- */

static const char sentinel[] = "beside that, behind Sentinel", cluster[] = "beside that, in a Cluster";

static const struct hilock_client_options *as_seeker(struct sentinels *set)
{
    static struct hilock_client_options options;
    options = hilock_client_options_default();
    options.url = set->url;
    options.username = "shop";
    options.password = "secret";
    options.sentinel_username = "seeker";
    options.sentinel_password = "other";
    options.keepalive_ms = 100;
    return &options;
}

static void servers_behind_Sentinel(struct sentinels *set)
{
    struct deeds deeds = {.kind = HILOCK_MUTEX, .name = "stock:42"};
    struct rights all = with_optional("MUTEX and FAIR", sentinel), words = {.count = 0}, seeker = {.count = 0};
    struct watch servers, sentinels;
    rights_read(&words, sentinel, "shop");
    rights_read(&seeker, sentinel, "seeker");
    rights_add(&seeker, "+client|setname");
    watch_begin(&servers, set->servers, SENTINEL_SERVERS, &all, NULL);
    watch_begin(&sentinels, set->sentinels, SENTINELS, &seeker, NULL);
    watch_record(&servers);
    open_both(&deeds, as_seeker(set));
    stand_others(&deeds, &servers);
    deeds_do(&deeds);
    watch_recorded(&servers);
    assert_int_equal(deeds.ours.watched_count + deeds.theirs.watched_count, 0);
    deeds_close(&deeds);
    nothing_was_denied(&servers);
    nothing_was_denied(&sentinels);
    each_is_needed(&servers, &all, &words);
    watch_end(&servers);
    watch_end(&sentinels);
}

struct wanted { const struct watch *watch; char object[RIGHT_MAX]; unsigned count; };

static int is_denied(void *arg)
{
    struct wanted *wanted = arg;
    for (unsigned i = 0; i < wanted->watch->count; i++)
        wanted->count += strstr(rights_denied(wanted->watch->looks[i]), wanted->object) != NULL;
    return wanted->count > 0;
}

/* A sentinel has no MONITOR: it is asked what it denied. */
static void each_right_at_the_sentinels_is_missed(struct sentinels *set)
{
    struct rights all = with_optional("MUTEX and FAIR", sentinel), seeker = {.count = 0};
    struct watch servers, sentinels;
    rights_read(&seeker, sentinel, "seeker");
    watch_begin(&servers, set->servers, SENTINEL_SERVERS, &all, NULL);
    for (unsigned i = 0; i < seeker.count; i++) {
        struct wanted wanted = {.watch = &sentinels};
        struct client client;
        struct handle stock;
        if (*seeker.words[i] != '+' && *seeker.words[i] != '&')
            continue;
        snprintf(wanted.object, sizeof wanted.object, " %.40s ", seeker.words[i] + 1);
        watch_begin(&sentinels, set->sentinels, SENTINELS, &seeker, seeker.words[i]);
        client_open_with(&client, as_seeker(set));
        handle_open(&stock, &client, "stock:42", NULL);
        handle_ask(&stock, HILOCK_FOREVER);
        client_until(&client, is_denied, &wanted, seeker.words[i]);
        handle_free(&stock);
        client_close(&client);
        watch_end(&sentinels);
    }
    watch_end(&servers);
}

/* Each server says it once, however often it is asked. */
static void told_once(struct sentinels *set, const char *right, const char *user, const char *words, unsigned times)
{
    struct rights all = with_optional("MUTEX and FAIR", sentinel), seeker = {.count = 0};
    int is_seeker = strcmp(user, "seeker") == 0;
    struct watch servers, sentinels;
    struct client client;
    struct handle stock;
    rights_read(&seeker, sentinel, "seeker");
    rights_add(&seeker, "+client|setname");
    watch_begin(&servers, set->servers, SENTINEL_SERVERS, &all, is_seeker ? NULL : right);
    watch_begin(&sentinels, set->sentinels, SENTINELS, &seeker, is_seeker ? right : NULL);
    client_open_with(&client, as_seeker(set));
    client.watched = words;
    handle_open(&stock, &client, "stock:42", NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(handle_acquire(&stock, 60000), HILOCK_OK);
        client_for_ms(&client, 500); /* until each was asked */
        assert_int_equal(handle_give(&stock), HILOCK_OK);
        for (unsigned j = 0; j < SENTINELS && is_seeker; j++)
            redis_do(sentinels.looks[j], "CLIENT KILL USER seeker");
        for (unsigned j = 0; j < SENTINEL_SERVERS && !is_seeker; j++)
            redis_do(servers.looks[j], "CLIENT KILL USER shop");
    }
    assert_int_equal(client.watched_count, times);
    handle_free(&stock);
    client_close(&client);
    watch_end(&servers);
    watch_end(&sentinels);
}

static void behind_Sentinel(void **state)
{
    static struct sentinels set;
    (void)state;
    sentinels_start(&set, NULL);
    servers_behind_Sentinel(&set);
    each_right_at_the_sentinels_is_missed(&set);
    told_once(&set, "+role", "shop", "ROLE refused", 1);
    told_once(&set, "+sentinel|master", "seeker", "SENTINEL MASTER refused", SENTINELS);
    told_once(&set, "+client|setname", "seeker", "CLIENT SETNAME refused", SENTINELS);
    sentinels_end(&set);
}

/* ---- a Cluster ---- */

static int is_renewed(void *arg) { return client_stats(arg).renewals > 0; }

/* A renewal is sent to where the slot is going. */
static void renew_while_the_slot_moves(struct shards *set, const struct hilock_client_options *options)
{
    struct client client;
    struct handle stock;
    unsigned slot = shards_slot(set, "stock:9"), from = shards_owner(set, slot), to = (from + 1) % SHARDS_MASTERS;
    client_open_with(&client, options);
    client.watched = "refused";
    handle_open(&stock, &client, "stock:9", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    assert_int_equal(handle_acquire(&stock, 60000), HILOCK_OK);
    shards_begin_move(set, slot, to);
    shards_move_key(set, "stock:9", from, to);
    shards_move_key(set, "hilock:token:{stock:9}", from, to);
    client_until(&client, is_renewed, &client, "a renewal");
    shards_end_move(set, slot, from, to);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    assert_int_equal(client.watched_count, 0);
    handle_free(&stock);
    client_close(&client);
}

static void of_a_kind(struct shards *set, hilock_kind kind, const char *word)
{
    struct deeds deeds = {.kind = kind, .name = "stock:{4}2"};
    struct rights all = with_optional(word, cluster), words = {.count = 0};
    const struct hilock_client_options *options = HILOCK_CLIENT_OPTIONS(.url = set->url, .username = "shop", .password = "secret");
    struct watch watch;
    rights_read(&words, cluster, "shop");
    watch_begin(&watch, set->servers, SHARDS_SERVERS, &all, NULL);
    watch_record(&watch);
    open_both(&deeds, options);
    stand_others(&deeds, &watch);
    deeds_do(&deeds);
    assert_int_equal(deeds.ours.watched_count + deeds.theirs.watched_count, 0);
    deeds_close(&deeds);
    if (kind == HILOCK_MUTEX)
        renew_while_the_slot_moves(set, options);
    watch_recorded(&watch);
    nothing_was_denied(&watch);
    if (kind == HILOCK_MUTEX)
        each_is_needed(&watch, &all, &words);
    watch_end(&watch);
}

/* Told at most once by each master. */
static void without(struct shards *set, const char *right, const char *words)
{
    struct deeds deeds = {.kind = HILOCK_MUTEX, .name = "stock:{4}2"};
    struct rights all = with_optional("MUTEX and FAIR", cluster);
    struct watch watch;
    watch_begin(&watch, set->servers, SHARDS_SERVERS, &all, right);
    open_both(&deeds, HILOCK_CLIENT_OPTIONS(.url = set->url, .username = "shop", .password = "secret"));
    deeds.ours.watched = deeds.theirs.watched = words;
    deeds_do_few(&deeds);
    assert_true(deeds.ours.watched_count > 0 && deeds.ours.watched_count <= SHARDS_MASTERS);
    deeds_close(&deeds);
    watch_end(&watch);
}

static void a_Cluster(void **state)
{
    static struct shards set;
    (void)state;
    shards_start(&set, NULL);
    of_a_kind(&set, HILOCK_MUTEX, "MUTEX and FAIR");
    of_a_kind(&set, HILOCK_SIMPLE, "SIMPLE");
    of_a_kind(&set, HILOCK_FAIR, "MUTEX and FAIR");
    without(&set, "+pubsub|shardnumsub", "PUBSUB SHARDNUMSUB refused");
    without(&set, "+cluster|nodes", "CLUSTER NODES refused");
    shards_check_clean(&set);
    shards_end(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quorum),
        cmocka_unit_test(behind_Sentinel),
        cmocka_unit_test(a_Cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
