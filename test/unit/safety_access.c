/* SPDX-License-Identifier: BSD-3-Clause */
/* R10: a refused login ends the link. R12: a forked child owns nothing. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "safety.h"

/* The server would let the user "default" do it all. */
SAFETY(R10_AUTH_FAILURE_IGNORED, nothing_is_said_after_a_refused_AUTH, "asked(s, NULL) == asked(s, 'AUTH')")
{
    struct client *p;
    struct handle *a;
    sim_store_set_user(s->store.core, "shop", "right");
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.username = "shop", .password = FIXTURE_SECRET, .command_timeout_ms = 1000));
    a = handle_new(p, "a", "stock", NULL);
    acquire(a, 3000);
    run_ms(s, 5000);
    HOLDS(s, asked(s, "AUTH") >= 2);
    SAME(s, asked(s, NULL), asked(s, "AUTH"));
    TELLS(s, "a:DENIED");
}

/* In the child: 1 when all is as the contract has it. */
static int child_is_refused(struct fixture *s, struct client *p, struct handle *a, struct handle *w, int is_freed_first)
{
    unsigned requests = s->net.requests, lines = p->lines;
    struct hilock_lock *made = NULL;
    int holds = acquire(w, 1) == HILOCK_FORKED && release(a) == HILOCK_FORKED && cancel(w) == HILOCK_FORKED && hilock_lock_remaining_ms(a->lock) == 0 &&
                hilock_lock_create(&made, p->client, "x", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) == HILOCK_FORKED && !made &&
                hilock_client_close(p->client, 0, NULL, NULL) == HILOCK_FORKED && !hilock_client_is_connected(p->client) &&
                strstr(hilock_client_refusal(p->client), "forked child") && p->lines == lines;
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
    struct handle *a = held(the_client(s), "a", "one", NULL), *w = handle_new(the_client(s), "w", "two", NULL);
    int status = 1;
    pid_t child;
    store_take(&s->store, "two", "another", 60000);
    acquire(w, HILOCK_FOREVER);
    run_ms(s, 5);
    child = fork();
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
