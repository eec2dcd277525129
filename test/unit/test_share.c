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

/* Somebody may have to give the user of the server a right, so it is told; once, though it is refused again and again. */
A_PLAY(a_refused_release_of_a_share_is_told_once)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = reads(p, "a");
    PLAN(s, .on = "share_release", .error = "READONLY You can't", .times = 4);
    release(a);
    TELLS_IN(s, 20000, "a:OK a:released");
    SAME(s, client_lines(p, "was refused; it is repeated until its lease has run out: READONLY"), 1);
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

/* The writer stands in the queue although its own client reads. */
A_PLAY(a_writer_beside_a_reader_of_its_client_is_not_passed)
{
    struct handle *a = reads(fixture_connect(s, NULL), "a"), *w = comes(a->client, "w", 0), *b = reads(fixture_connect(s, NULL), "b");
    TELLS(s, "a:OK w:WAITING b:WAITING");
    release_quietly(a);
    TELLS_IN(s, 2, "w:OK");
    release_quietly(w);
    TELLS_IN(s, 2, "b:OK");
    release_quietly(b);
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

/* A refusal names one of the handles that share the name, and says how many others there are. */
A_PLAY(who_is_refused_is_told_how_many_share)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = reads(p, "a"), *b = handle_new(p, "b", "stock", SHARES(2)), *c = handle_new(fixture_connect(s, NULL), "c", "stock", SHARES(2));
    acquire(b, HILOCK_TRY);
    TELLS_IN(s, 1, "a:OK b:OK");
    acquire(c, HILOCK_TRY);
    TELLS_IN(s, 1, "c:TIMED_OUT");
    SAME(s, c->result.holders, 2);
    HOLDS(s, strstr(c->detail, " and 1 other that share it"));
    release_quietly(a);
    release_quietly(b);
}

/* The store decides about a try that shares, also beside a share of its own client. */
A_PLAY(a_try_that_shares_is_not_denied_by_a_share_of_its_client)
{
    struct handle *a = reads(fixture_connect(s, NULL), "a"), *b = handle_new(a->client, "b", "stock", SHARES(2)), *c = handle_new(a->client, "c", "stock", SHARES(2));
    acquire(b, HILOCK_TRY);
    TELLS_IN(s, 1, "a:OK b:OK");
    acquire(c, HILOCK_TRY);
    TELLS_IN(s, 1, "c:TIMED_OUT");
    release_quietly(a);
    release_quietly(b);
}

/* Nobody would renew that share or end it. */
A_PLAY(a_share_that_nobody_waits_for_is_given_back)
{
    struct handle *a = reads(fixture_connect(s, NULL), "a");
    release_quietly(a);
    run_ms(s, 1);
    SAME(s, asked(s, "share_release"), 1);
    (void)push_grant(a->client, "stock", 1, 1, 1, 1000);
    TELLS_IN(s, 2, "a:OK");
    SAME(s, asked(s, "share_release"), 2);
}

/* ---- a fleet whose number is changed, one program after the other ---- */

enum { FEW = 5, MANY = 10 };

/* That many handles of a new program ask, and all of them hold. */
static void hold_with(struct fixture *s, struct handle **handles, int count, uint32_t holders_max)
{
    struct client *p = fixture_connect(s, NULL);
    for (int i = 0; i < count; i++) {
        handles[i] = comes(p, "h", holders_max);
        HOLDS(s, holds(handles[i]));
    }
}

/* The number counts at each grant. Beyond the old number only programs with the new one get the name, and a waiter of
 * an old one in front of them is not passed. */
A_PLAY(a_number_that_is_raised_counts_for_those_that_have_it)
{
    struct handle *old[FEW], *new[MANY - FEW];
    hold_with(s, old, FEW, FEW);
    struct handle *late = comes(fixture_connect(s, NULL), "late", FEW), *first = comes(fixture_connect(s, NULL), "first", MANY);
    HOLDS(s, !holds(late) && !holds(first));
    release_quietly(old[0]);
    run_ms(s, 2);
    HOLDS(s, holds(late) && holds(first)); /* five hold, and the sixth may */
    release_quietly(first);
    hold_with(s, new, MANY - FEW, MANY);
    struct handle *beyond = comes(fixture_connect(s, NULL), "beyond", MANY);
    SAME(s, beyond->event.holders, MANY);
    HOLDS(s, !holds(beyond));
    release_quietly(new[0]);
    run_ms(s, 2);
    HOLDS(s, holds(beyond));
    release_quietly(beyond);
    release_quietly(late);
    for (int i = 1; i < FEW; i++) {
        release_quietly(old[i]);
        release_quietly(new[i]);
    }
}

/* The first waiter with the lower number lets the holders run out until fewer than that are left. A program with the
 * higher one may still come behind it. Without such a program there are never more again. */
A_PLAY(a_number_that_is_lowered_counts_when_the_last_old_program_is_gone)
{
    struct handle *old[MANY];
    hold_with(s, old, MANY, MANY);
    struct handle *new = comes(fixture_connect(s, NULL), "new", FEW), *late = comes(fixture_connect(s, NULL), "late", MANY);
    for (int i = 0; i < MANY - FEW; i++)
        release_quietly(old[i]);
    run_ms(s, 2);
    HOLDS(s, !holds(new) && !holds(late)); /* five hold */
    release_quietly(old[FEW]);
    run_ms(s, 2);
    HOLDS(s, holds(new) && holds(late)); /* five with `new`, and `late` is the sixth */
    struct handle *next = comes(new->client, "next", FEW);
    release_quietly(late);
    run_ms(s, 2);
    SAME(s, next->event.holders, FEW + 1);
    HOLDS(s, !holds(next)); /* five hold */
    release_quietly(new);
    run_ms(s, 2);
    HOLDS(s, holds(next));
    release_quietly(next);
    for (int i = FEW + 1; i < MANY; i++)
        release_quietly(old[i]);
}
