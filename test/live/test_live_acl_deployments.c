/* SPDX-License-Identifier: BSD-3-Clause */
/* The rights of operate.md's block "acl" where locks live at several servers: behind Sentinel with a user at the
 * sentinels, a Cluster with a slot that moves. All that can be done with a lock can be done with them, none of them
 * is too many. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/deeds.h"
#include "support/rights.h"
#include "support/sentinels.h"
#include "support/shards.h"

enum lines { QUEUED, SIMPLE };
static const char *const one_server[] = {"one server, or each master of a quorum: MUTEX and FAIR",
                                         "one server, or each master of a quorum: SIMPLE"};
static const char *const sentinel[] = {"Sentinel: MUTEX and FAIR", "Sentinel: SIMPLE"};
static const char *const cluster[] = {"Cluster: MUTEX and FAIR", "Cluster: SIMPLE"};

/* The servers of a deployment. */
struct watch { unsigned count; struct server *const *servers; };

static void watch_give(const struct watch *watch, const struct rights *rights, const char *but)
{
    for (unsigned i = 0; i < watch->count; i++) {
        rights_give(rights, redis_at(watch->servers[i]), but);
        rights_denied(redis_at(watch->servers[i]));
    }
}

static void nothing_was_denied(const struct watch *watch)
{
    for (unsigned i = 0; i < watch->count; i++)
        assert_string_equal(rights_denied(redis_at(watch->servers[i])), " ");
}

/* All of it, and nothing is refused. */
static void do_all(struct deeds *deeds, const struct hilock_client_options *options, const struct watch *others)
{
    client_open_with(&deeds->ours, options);
    client_open_with(&deeds->theirs, options);
    deeds->ours.watched = deeds->theirs.watched = "refused";
    for (unsigned i = 0; others && i < others->count; i++)
        deeds->others[i] = redis_at(others->servers[i]);
    deeds_do(deeds);
    assert_int_equal(deeds->ours.watched_count + deeds->theirs.watched_count, 0);
    deeds_close(deeds);
}

/* The line has all that one server needs (of which test_live_acl.c shows that it is needed), and the rest is used
 * here, also what is optional. DBSIZE is needed for nothing: that it is found shows that the check can. */
static void each_is_needed(struct record *record, const char *const *deployment, enum lines kind)
{
    struct rights line = rights_of_shop(deployment[kind]), common = rights_needed_of(one_server[kind]), own = {.count = 0};
    for (unsigned i = 0; i < common.count; i++)
        if (!rights_has(&line, common.words[i]))
            check_fail("\"%s\" lacks %s", deployment[kind], common.words[i]);
    for (unsigned i = 0; i < line.count; i++)
        if (!rights_has(&common, line.words[i]))
            rights_add(&own, line.words[i]);
    rights_add(&own, "+dbsize");
    assert_string_equal(record_end(record, &own), "+dbsize");
}

/* ---- behind Sentinel ---- */

struct behind { struct sentinels set; struct watch servers, sentinels; struct rights seeker; };

#define AS_SEEKER(behind)                                                                                         \
    HILOCK_CLIENT_OPTIONS(.url = (behind)->set.url, .username = "shop", .password = "secret", .keepalive_ms = 100, \
                          .sentinel_username = "seeker", .sentinel_password = "other")

static void all_can_be_done(struct behind *behind, enum lines line)
{
    struct deeds deeds = {.kind = line == SIMPLE ? HILOCK_SIMPLE : HILOCK_MUTEX, .name = "stock:42"};
    struct record *record = record_begin(behind->set.servers, SENTINEL_SERVERS);
    struct rights shop = rights_of_shop(sentinel[line]);
    watch_give(&behind->servers, &shop, NULL);
    watch_give(&behind->sentinels, &behind->seeker, NULL);
    do_all(&deeds, AS_SEEKER(behind), &behind->servers);
    nothing_was_denied(&behind->servers);
    nothing_was_denied(&behind->sentinels);
    each_is_needed(record, sentinel, line);
}

struct wanted { const struct watch *watch; char object[RIGHT_MAX]; unsigned count; };

static int is_denied(void *arg)
{
    struct wanted *wanted = arg;
    for (unsigned i = 0; i < wanted->watch->count; i++)
        wanted->count += strstr(rights_denied(redis_at(wanted->watch->servers[i])), wanted->object) != NULL;
    return wanted->count > 0;
}

/* A sentinel has no MONITOR: it is asked what it denied. */
static void each_right_at_the_sentinels_is_missed(struct behind *behind)
{
    for (unsigned i = 0; i < behind->seeker.count; i++) {
        const char *right = behind->seeker.words[i];
        struct wanted wanted = {.watch = &behind->sentinels};
        struct client client;
        struct handle stock;
        if (*right != '+' && *right != '&')
            continue;
        snprintf(wanted.object, sizeof wanted.object, " %.40s ", right + 1);
        watch_give(&behind->sentinels, &behind->seeker, right);
        client_open_with(&client, AS_SEEKER(behind));
        handle_open(&stock, &client, "stock:42", NULL);
        handle_ask(&stock, HILOCK_FOREVER);
        client_until(&client, is_denied, &wanted, right);
        client_end(&client);
    }
}

TEST(behind_Sentinel)
{
    static struct behind behind;
    sentinels_start(&behind.set, NULL);
    behind.servers = (struct watch){SENTINEL_SERVERS, behind.set.servers};
    behind.sentinels = (struct watch){SENTINELS, behind.set.sentinels};
    rights_read(&behind.seeker, "Sentinel: the user at the sentinels themselves", "seeker");
    all_can_be_done(&behind, SIMPLE);
    all_can_be_done(&behind, QUEUED);
    each_right_at_the_sentinels_is_missed(&behind);
    sentinels_end(&behind.set);
}

/* ---- a Cluster ---- */

/* A renewal is sent to where the slot is going. */
static void renew_while_the_slot_moves(struct shards *set, const struct hilock_client_options *options, hilock_kind kind)
{
    struct client client;
    struct handle stock;
    unsigned slot = shards_slot(set, "stock:9"), from = shards_owner(set, slot), to = (from + 1) % SHARDS_MASTERS;
    client_open_with(&client, options);
    handle_open(&stock, &client, "stock:9", HILOCK_LOCK_OPTIONS(.kind = kind, .lease_ms = 3000));
    assert_int_equal(handle_acquire(&stock, 60000), HILOCK_OK);
    shards_begin_move(set, slot, to);
    shards_move_key(set, "stock:9", from, to);
    if (kind != HILOCK_SIMPLE)
        shards_move_key(set, "hilock:token:{stock:9}", from, to);
    client_until(&client, client_has_renewed, &client, "a renewal");
    shards_end_move(set, slot, from, to);
    client_end(&client);
}

TEST(a_Cluster)
{
    static const struct { hilock_kind kind; enum lines line; } plays[] = {
        {HILOCK_FAIR, QUEUED}, {HILOCK_SIMPLE, SIMPLE}, {HILOCK_MUTEX, QUEUED}};
    static struct shards set;
    const struct hilock_client_options *options = HILOCK_CLIENT_OPTIONS(.url = set.url, .username = "shop",
                                                                        .password = "secret");
    const struct watch watch = {SHARDS_SERVERS, set.servers};
    shards_start(&set, NULL);
    for (int i = 0; i < 3; i++) {
        struct deeds deeds = {.kind = plays[i].kind, .name = "stock:{4}2"};
        struct rights all = rights_of_shop(cluster[plays[i].line]);
        int is_counted = plays[i].kind != HILOCK_FAIR;
        watch_give(&watch, &all, NULL);
        struct record *record = is_counted ? record_begin(set.servers, SHARDS_SERVERS) : NULL;
        do_all(&deeds, options, &watch);
        if (is_counted)
            renew_while_the_slot_moves(&set, options, plays[i].kind);
        nothing_was_denied(&watch);
        if (is_counted)
            each_is_needed(record, cluster, plays[i].line);
    }
    shards_check_clean(&set);
    shards_end(&set);
}
