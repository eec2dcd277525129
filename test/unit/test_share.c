/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that hold a name together (holders_max), in virtual time: read locks, write locks, semaphores. */
#include "core/core.h"
#include "play.h"

#define SHARES(...) HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .holders_max = __VA_ARGS__)

/* Acquires "stock" with that holders_max, and the clients are quiet. */
static struct handle *comes(struct client *p, const char *tag, uint32_t holders_max)
{
    struct handle *handle = acquiring(handle_new(p, tag, "stock", SHARES(holders_max)), HILOCK_FOREVER);
    run_ms(p->fixture, 2);
    return handle;
}

static struct handle *reads(struct client *p, const char *tag) { return comes(p, tag, HILOCK_ANY_NUMBER); }

static int holds(const struct handle *handle) { return hilock_lock_state(handle->lock) == HILOCK_STATE_HELD; }

A_PLAY(readers_of_several_clients_hold_together)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = reads(p, "a"), *b = reads(p, "b"), *c = reads(fixture_connect(s, NULL), "c");
    TELLS(s, "a:OK b:OK c:OK");
    HOLDS(s, a->result.fencing_token < b->result.fencing_token && b->result.fencing_token < c->result.fencing_token);
    release(a);
    release(c);
    TELLS_IN(s, 1, "a:released c:released");
    HOLDS(s, holds(b));
    release_quietly(b);
}

A_PLAY(a_writer_waits_for_all_readers_and_later_readers_for_it)
{
    struct handle *a = reads(fixture_connect(s, NULL), "a"), *b = reads(fixture_connect(s, NULL), "b");
    struct handle *w = comes(fixture_connect(s, NULL), "w", 0), *c = reads(fixture_connect(s, NULL), "c"), *d = reads(c->client, "d");
    TELLS(s, "a:OK b:OK w:WAITING c:WAITING d:WAITING");
    SAME(s, w->event.holders, 2);
    release_quietly(a);
    TELLS_IN(s, 5, "");
    release_quietly(b);
    TELLS_IN(s, 1, "w:OK");
    TELLS_IN(s, 100, "");
    release_quietly(w);
    TELLS_IN(s, 1, "c:OK d:OK");
    release_quietly(c);
    release_quietly(d);
}

A_PLAY(a_semaphore_has_as_many_permits_as_its_number)
{
    struct handle *a = comes(fixture_connect(s, NULL), "a", 2), *b = comes(a->client, "b", 2), *c = comes(a->client, "c", 2);
    struct handle *d = comes(fixture_connect(s, NULL), "d", 2);
    TELLS(s, "a:OK b:OK c:WAITING d:WAITING");
    SAME(s, c->event.holders, 2);
    release_quietly(b);
    TELLS_IN(s, 1, "c:OK");
    release_quietly(a);
    TELLS_IN(s, 1, "d:OK");
    release_quietly(c);
    release_quietly(d);
}

/* A share is renewed by itself: it outlives the lease of another one that is not. */
A_PLAY(each_share_has_its_own_lease)
{
    struct handle *a = reads(fixture_connect(s, NULL), "a");
    acquiring(handle_new(fixture_connect(s, NULL), "b", "stock", SHARES(2, .renew = HILOCK_RENEW_NEVER)), HILOCK_FOREVER);
    TELLS_IN(s, 2, "a:OK b:OK");
    TELLS_IN(s, 31000, "b:LOST EXPIRED");
    struct handle *c = comes(fixture_connect(s, NULL), "c", 2);
    TELLS(s, "c:OK");
    HOLDS(s, holds(a));
    release_quietly(a);
    release_quietly(c);
}
