/* SPDX-License-Identifier: BSD-3-Clause */
/* R10: a refused login ends the link. R12: a forked child owns nothing. What was asked for as TLS is TLS, and to the
 * server that was asked for. The restart guard: a store that forgot its grants makes no new ones before those are
 * over. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "safety.h"
#include "stage.h"

/* The server would let the user "default" do it all. */
SAFETY(R10_AUTH_FAILURE_IGNORED, nothing_is_said_after_a_refused_AUTH, "asked(s, NULL) == asked(s, 'AUTH')")
{
    struct client *p;
    sim_store_set_user(s->store.core, "shop", "right");
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.username = "shop", .password = FIXTURE_SECRET, .command_timeout_ms = 1000));
    acquiring(handle_new(p, "a", "stock", NULL), 3000);
    run_ms(s, 5000);
    HOLDS(s, asked(s, "AUTH") >= 2);
    SAME(s, asked(s, NULL), asked(s, "AUTH"));
    TELLS(s, "a:DENIED");
}

/* All who wait learn of it with the first attempt (the next comes after 25 ms), and so does who comes later. */
SAFETY(DENIAL_FORGOTTEN, a_refused_login_ends_every_wait_at_once, "h:DENIED h:DENIED h:DENIED")
{
    struct client *p;
    struct plan *refused = PLAN(s, .on = "AUTH", .error = "WRONGPASS", .times = PLAN_ALWAYS);
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET));
    for (int i = 0; i < 3; i++)
        acquiring(handle_new(p, "h", "stock", NULL), i ? HILOCK_FOREVER : 1000);
    TELLS_IN(s, 2, "h:DENIED h:DENIED h:DENIED");
    run_ms(s, 10000); /* the attempts are seconds apart */
    acquiring(handle_new(p, "a", "stock", NULL), 10);
    acquiring(handle_new(p, "f", "fair", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)), HILOCK_FOREVER);
    acquiring(handle_new(p, "t", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 1, "a:DENIED f:DENIED t:DENIED");
    plan_end(refused);
    run_ms(s, 3000);
    acquiring(handle_new(p, "b", "stock", NULL), 10);
    TELLS_IN(s, 10, "b:OK");
}

/* In the child: 1 when all is as the contract has it. */
static int child_is_refused(struct fixture *s, struct client *p, struct handle *a, struct handle *w, int is_freed_first)
{
    unsigned requests = s->net.requests, lines = p->lines;
    struct hilock_lock *made = NULL;
    int holds = acquire(w, 1) == HILOCK_FORKED && release(a) == HILOCK_FORKED && cancel(w) == HILOCK_FORKED && hilock_lock_remaining_ms(a->lock) == 0 &&
                hilock_lock_create(&made, p->client, "x", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) == HILOCK_FORKED && !made &&
                hilock_client_close(p->client, 0, NULL, NULL) == HILOCK_FORKED && !hilock_client_is_connected(p->client) &&
                strstr(hilock_client_refusal(p->client), "forked child") && p->lines == lines && counts_of(p).connects == 0;
    if (is_freed_first) {
        handle_free(w);
        handle_free(a);
    }
    hilock_client_abandon(p->client);
    p->client = NULL;
    handle_free(a);
    handle_free(w);
    return holds && s->net.requests == requests && p->loop.timers == 0 && s->memory.blocks == 0;
}

static void a_child_is_refused(struct fixture *s, int is_freed_first)
{
    int status = 1;
    store_take(&s->store, "two", "another", 60000);
    struct handle *a = held(the_client(s), "a", "one", NULL), *w = asking(the_client(s), "w", "two", NULL);
    run_ms(s, 5);
    pid_t child = fork();
    if (child == 0)
        _exit(child_is_refused(s, the_client(s), a, w, is_freed_first) ? 0 : 1);
    HOLDS(s, child > 0 && waitpid(child, &status, 0) == child);
    SAME(s, status, 0);
    TELLS_IN(s, 60000, "w:WAITING w:OK");
    HOLDS(s, is_ours(s, "one"));
}

SAFETY(R12_FORK_IGNORED, a_forked_child_may_only_abandon_and_free, "status == 0")
{
    a_child_is_refused(s, 0);
}

SAFETY(R12_FORK_IGNORED, a_forked_child_may_free_and_abandon, "status == 0")
{
    a_child_is_refused(s, 1);
}

/* Not one request, and one line, however long it turns. */
static int child_is_silent(struct fixture *s, struct client *p)
{
    unsigned requests = s->net.requests, lines = p->lines;
    run_ms(s, 120000);
    return s->net.requests == requests && p->lines == lines + 1 && client_lines(p, "forked child turns") == 1;
}

SAFETY(R12_TURN_IN_A_CHILD, a_childs_loop_sends_nothing, "status == 0")
{
    int status = 1;
    struct handle *a = held(the_client(s), "a", "one", NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(child_is_silent(s, the_client(s)) ? 0 : 1);
    HOLDS(s, child > 0 && waitpid(child, &status, 0) == child);
    SAME(s, status, 0);
    TELLS_IN(s, 60000, "");
    HOLDS(s, is_ours(s, "one"));
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 0);
}

/* ---- another thread ---- */

static void *adopt_meanwhile(void *client) { return (void *)(intptr_t)hilock_client_adopt(client); }

/* This thread is inside a turn. */
static void adopted_meanwhile(struct handle *a)
{
    void *status = NULL;
    pthread_t thread;
    HOLDS(a->client->fixture, pthread_create(&thread, NULL, adopt_meanwhile, a->client->client) == 0);
    pthread_join(thread, &status);
    SAME(a->client->fixture, (intptr_t)status, HILOCK_WRONG_THREAD);
    SAME(a->client->fixture, hilock_lock_state(a->lock), HILOCK_STATE_HELD);
}

SAFETY(ADOPTED_FROM_A_TURN, nobody_adopts_while_a_turn_lasts, "(intptr_t)status == HILOCK_WRONG_THREAD")
{
    struct handle *a = handle_new(the_client(s), "a", "stock", NULL);
    when(a, "OK", adopted_meanwhile);
    acquiring(a, 1000);
    TELLS_IN(s, 60000, "a:OK");
    HOLDS(s, is_ours(s, "stock"));
}

/* It is plain, and would say yes to anything. */
SAFETY(TLS_DOWNGRADED, a_server_without_TLS_is_told_nothing, "a:UNREACHABLE")
{
    struct handle *a = handle_new(fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "rediss://127.0.0.1", .password = FIXTURE_SECRET)), "a", "stock", NULL);
    acquire(a, 20000);
    TELLS_IN(s, 25000, "a:UNREACHABLE");
    HOLDS(s, s->place->tried > 5);
    SAME(s, asked(s, NULL), 0);
}

/* An attacker who forges a name server's answer has a certificate for his own address. */
SAFETY(TLS_NAME_OF_ADDRESS, a_name_is_what_is_asked_for_not_its_address, "locks.example")
{
    s->place->is_tls = 1;
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "rediss://locks.example"));
    p->loop.name = (struct world_name){.takes_us = 100, .addresses = {"127.0.0.1"}};
    run_ms(s, 100);
    TEXT(s, s->place->tls_host, "locks.example");
}

/* It comes to a server up for two seconds by its word, which may be one. Not a poll later: it asks in the very
 * moment. */
ALSO(GUARD_IGNORED, who_waits_is_served_as_the_guard_ends, "nothing is reported")
SAFETY(GUARD_A_SECOND_SHORT, who_waits_is_served_as_the_guard_ends, "sent_at_us(s, 'mutex_acquire', 0) >= ends_us")
{
    struct handle *a;
    store_restart(&s->store, 0);
    run_us(s, 2000000 - store_us(&s->store) % 1000000);
    SAME(s, store_us(&s->store) / 1000000 - sim_store_started_us(s->store.core) / 1000000, 2);
    a = asking(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 4000, .lease_ms = 2000)), "a", "stock", NULL);
    uint64_t ends_us = asked_at_us(s, "INFO", 0) + 100 - 1000000 + 4000000;
    TELLS_IN(s, 2000, "");
    SAME(s, asked(s, "mutex_acquire"), 0);
    run_to(s, ends_us + 500);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "mutex_acquire"), 1);
    HOLDS(s, sent_at_us(s, "mutex_acquire", 0) >= ends_us);
    SAME(s, a->result.attempts, 1);
}

/* Two have no guard left, and one of these had no memory when it was asked. */
SAFETY(GUARD_OF_THE_LAST, who_needs_no_guarded_master_does_not_wait_for_one, "a:OK")
{
    struct client *p = quorum_with(s, 3, *HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 60000));
    struct handle *a = handle_new(p, "a", "stock", NULL);
    run_ms(s, 10);
    restart_empty(s, 2);
    run_ms(s, 3000);
    PLAN(s, .on = "mutex_acquire", .at = store_at(s, 1), .error = "OOM command not allowed when used memory > 'maxmemory'.");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5000, "a:OK");
}
