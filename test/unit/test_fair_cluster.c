/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR in a cluster: the queue is at the server of the lock's slot, and goes where that goes; grants are pushed on a channel of that server. */
#include <stdio.h>
#include <string.h>

#include "base/slot.h"
#include "cluster_stage.h"
#include "play.h"

/* Has it, or stands in the queue, and the clients are quiet. */
static struct handle *waits(struct client *p, const char *tag, const char *name)
{
    struct handle *handle = handle_new(p, tag, name, HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 30000));
    run_ms(p->fixture, 2);
    acquire(handle, HILOCK_FOREVER);
    run_ms(p->fixture, 5);
    return handle;
}

static const char *channel_of(const struct handle *handle)
{
    static char channel[80];
    char tag[HL_SLOT_TAG + 1];
    hl_slot_tag(cluster_slot(hilock_lock_name(handle->lock)), tag);
    snprintf(channel, sizeof channel, "hilock:grant:%s:{%s}", handle->client->uuid, tag);
    return channel;
}

static size_t listeners(const struct cluster_stage *stage, unsigned at, const struct handle *handle)
{
    return store_shard_listeners(stage->stores[at], channel_of(handle));
}

static size_t asked_at(const struct cluster_stage *stage, unsigned at, const char *word) { return store_count(stage->stores[at], word); }

static size_t asked_of_all(const struct cluster_stage *stage, const char *word)
{
    return asked_at(stage, 0, word) + asked_at(stage, 1, word) + asked_at(stage, 2, word);
}

/* a has it, b and c wait for it, each a client of its own; at server 1. */
struct three { struct client *p, *q, *r; struct handle *a, *b, *c; };

static struct three three_at(struct cluster_stage *stage, const char *name)
{
    struct three three = {cluster_connect(stage), cluster_connect(stage), cluster_connect(stage), NULL, NULL, NULL};
    three.a = waits(three.p, "a", name);
    three.b = waits(three.q, "b", name);
    three.c = waits(three.r, "c", name);
    TELLS(stage->fixture, "a:OK b:WAITING c:WAITING");
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        store_forget(stage->stores[i]);
    return three;
}

/* ---- the plain way ---- */

A_PLAY(a_slot_is_listened_to_once_for_all_its_locks)
{
    static const char *const names[] = {"one", "{one}:a", "{one}:b", "two", "{two}:a"};
    struct cluster_stage stage;
    struct client *p = cluster_begin(&stage, s);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        waits(p, "h", names[i]);
    SAME(s, asked_of_all(&stage, "SSUBSCRIBE"), 2);
    SAME(s, asked_of_all(&stage, "SUBSCRIBE"), 0);
}

/* Names that were of use once leave nothing for long. */
A_PLAY(a_channel_that_nobody_uses_is_given_up)
{
    struct cluster_stage stage;
    struct client *p;
    struct handle *h;
    cluster_set(&stage, s);
    p = cluster_connect(&stage);
    waits(cluster_connect(&stage), "x", "kept");
    waits(p, "y", "kept");
    for (unsigned i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "used:%u", i);
        h = waits(p, "h", name);
        release_quietly(h);
        run_ms(s, 1000);
        handle_free(h);
    }
    HOLDS(s, asked_of_all(&stage, "SSUBSCRIBE") > 200);
    HOLDS(s, asked_of_all(&stage, "SUNSUBSCRIBE") > 130);
    SAME(s, listeners(&stage, 0, waits(p, "y", "kept")) + listeners(&stage, 1, waits(p, "y", "kept")) + listeners(&stage, 2, waits(p, "y", "kept")), 1);
    fixture_hush(s);
}

/* PUBLISH reaches every server, and NUMSUB counts at one: who waits listens at the server of its slot. */
A_PLAY(an_older_server_has_plain_channels)
{
    struct cluster_stage stage;
    struct three three;
    cluster_set(&stage, s);
    cluster_of_old_servers(&stage);
    three = three_at(&stage, cluster_name(1, 0));
    SAME(s, store_listeners(stage.stores[1], channel_of(three.b)), 1);
    release(three.a);
    run_ms(s, 1);
    HOLDS(s, strstr(store_line(stage.stores[1], "mutex_release", 0)->text, " P0 "));
    TELLS_IN(s, 10, "b:OK a:released");
}

/* ---- slots that move ---- */
