/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connect shows of its server: that it restarted, that it may evict; and the restart guard, to the microsecond. */
#include "play.h"

#define GUARDED(...) HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 4000, .lease_ms = 2000, __VA_ARGS__)

static void restart(struct fixture *s)
{
    s->is_tampered = 1;
    store_restart(&s->store, 0);
    net_reset(&s->net, NULL, NET_ALL);
}

/* A client that comes to a server up for two seconds by its word: it may be one. */
static struct client *guarded(struct fixture *s)
{
    restart(s);
    run_us(s, 2000000 - store_us(&s->store) % 1000000);
    SAME(s, store_us(&s->store) / 1000000 - sim_store_started_us(s->store.core) / 1000000, 2);
    return fixture_connect(s, GUARDED(.connect_timeout_ms = 5000));
}

WITH_CLIENT(a_restart_is_told_at_the_next_connect)
{
    run_ms(s, 1000);
    p->tells = 1;
    net_reset(&s->net, NULL, NET_ALL);
    TELLS_IN(s, 500, "down up");
    restart(s);
    TELLS_IN(s, 500, "down RESTARTED up");
    HOLDS(s, strstr(p->log, "restarted 1 s ago or less: locks that it did not keep are free there"));
}

A_PLAY(a_policy_that_evicts_is_told_once)
{
    sim_store_set_policy(s->store.core, "volatile-ttl");
    struct client *p = fixture_open(s, NULL);
    p->tells = 1;
    TELLS_IN(s, 5, "EVICTION up");
    HOLDS(s, strstr(p->log, "maxmemory-policy is volatile-ttl: the store may evict locks; set noeviction"));
    net_reset(&s->net, NULL, NET_ALL);
    TELLS_IN(s, 500, "down up");
}

A_PLAY(INFO_may_be_refused)
{
    PLAN(s, .on = "INFO", .error = "NOPERM this user has no permissions to run the 'info' command", .times = PLAN_ALWAYS);
    struct client *p = fixture_open(s, NULL);
    held(p, "a", "stock", NULL);
    HOLDS(s, strstr(p->log, "INFO refused: NOPERM"));
    HOLDS(s, !strstr(p->log, "restart_guard_ms"));
    p->log[0] = '\0';
    p->log_used = 0;
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 500);
    HOLDS(s, hilock_client_is_connected(p->client) && !strstr(p->log, "INFO refused"));
}

GIVEN(a_lost_answer_to_INFO_ends_the_link_in_time, fixture_open(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    PLAN(s, .on = "INFO", .fate.answer_is_lost = 1);
    run_ms(s, 400);
    HOLDS(s, !hilock_client_is_connected(p->client));
    run_ms(s, 400);
    HOLDS(s, hilock_client_is_connected(p->client));
}

/* A try at once. */
GIVEN(a_wait_that_ends_under_the_guard_is_UNWRITABLE, guarded(s))
{
    struct handle *a = handle_new(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", NULL);
    struct handle *c = asking(p, "c", "other", NULL), *t = handle_new(p, "t", "stock", NULL);
    acquire(a, 1000);
    acquire(b, 1001);
    run_ms(s, 500);
    cancel(c);
    acquire(t, HILOCK_TRY);
    HOLDS(s, t->calls == 0);
    TELLS_IN(s, 1, "c:CANCELLED t:UNWRITABLE");
    HOLDS(s, strstr(t->detail, " started 1 s ago: it grants nothing for another 3 s (restart_guard_ms)"));
    SAME(s, t->result.attempts, 0);
    TELLS_IN(s, 700, "a:UNWRITABLE b:UNWRITABLE");
    HOLDS(s, strstr(a->detail, "(restart_guard_ms)"));
    SAME(s, asked(s, "mutex_acquire"), 0);
    SAME(s, asked(s, "mutex_release"), 0);
}

/* Asked before it died, asked again after: under the guard that grants as little as anything else. */
GIVEN(an_acquire_that_went_unanswered_waits_for_the_guard, fixture_connect(s, GUARDED(.connect_timeout_ms = 5000)))
{
    asking(p, "a", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .fate.resets_before = 1);
    run_us(s, 200);
    restart(s);
    TELLS_IN(s, 3500, "");
    TELLS_IN(s, 1000, "a:OK");
    HOLDS(s, sent_at_us(s, "mutex_acquire", -1) >= sim_store_started_us(s->store.core) - (store_us(&s->store) - fixture_us(s)) + 4000000);
}

/* The server kept what it had. */
GIVEN(a_release_under_the_guard_asks_for_nobody_else, fixture_connect(s, GUARDED(.turns_max = 1)))
{
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    store_restart(&s->store, 1);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 1000);
    HOLDS(s, is_held(a));
    release_quietly(a);
    TELLS_IN(s, 1000, "b:WAITING");
    TELLS_IN(s, 3000, "b:OK");
}

/* Every way out of a barred acquire, in the turn before its answer. */
GIVEN(an_acquire_may_go_while_its_refusal_is_on_the_way, guarded(s))
{
    struct handle *a = handle_new(p, "a", "one", NULL), *b = handle_new(p, "b", "two", NULL), *c = handle_new(p, "c", "three", NULL);
    acquire(a, HILOCK_TRY);
    acquire(b, HILOCK_TRY);
    acquire(c, HILOCK_TRY);
    handle_drop(a);
    cancel(b);
    net_reset(&s->net, NULL, NET_ALL);
    TELLS_IN(s, 1, "b:CANCELLED c:UNWRITABLE");
    acquire(a, HILOCK_FOREVER);
    client_abandon(p);
}

A_PLAY(unreadable_INFO_means_just_started)
{
    PLAN(s, .on = "INFO", .after = 1, .fate.refusal = say_string("# Server\r\n"));
    struct client *p = fixture_connect(s, GUARDED(.connect_timeout_ms = 5000));
    HOLDS(s, strstr(p->log, "restart_guard_ms counts from each connection"));
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 3900, "");
    TELLS_IN(s, 200, "a:OK");
}

A_PLAY(a_lease_above_the_guard_is_refused)
{
    struct client *p = fixture_connect(s, GUARDED(.connect_timeout_ms = 5000)), *q = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = HILOCK_GUARD_OFF));
    hilock_lock *lock = NULL;
    SAME(s, hilock_lock_create(&lock, p->client, "x", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 4001)), HILOCK_INVALID);
    SAME(s, extend(held(p, "b", "other", HILOCK_LOCK_OPTIONS(.lease_ms = 4000)), 4001), HILOCK_INVALID);
    TEXT(s, hilock_client_refusal(p->client),
         "lease_ms 4001 is longer than restart_guard_ms 4000: a restarted store could grant the lock to others too early; raise the guard or lower the lease");
    restart(s);
    run_ms(s, 300);
    held(q, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 60000)); /* HILOCK_GUARD_OFF */
}
