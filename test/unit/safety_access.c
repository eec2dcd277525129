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

static int is_dead_here(struct handle *a)
{
    return release_quietly(a) == HILOCK_FORKED && hilock_lock_remaining_ms(a->lock) == 0 && hilock_lock_token(a->lock) == 0;
}

SAFETY(R12_FORK_IGNORED, a_forked_child_can_neither_release_nor_believe, "status == 0")
{
    struct handle *a = held(the_client(s), "a", "stock", NULL);
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(is_dead_here(a) ? 0 : 1);
    HOLDS(s, child > 0 && waitpid(child, &status, 0) == child);
    SAME(s, status, 0);
}
