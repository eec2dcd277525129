/* SPDX-License-Identifier: BSD-3-Clause */
/* branch.h - a shop as the driver sees it: a process with a name, a port, a client uuid, and a pipe that it speaks
 * into. */
#ifndef DEMO_BRANCH_H
#define DEMO_BRANCH_H

#include <stdbool.h>
#include <sys/types.h>

struct evbuffer;
struct event;
struct event_base;
struct plan;
struct story;

enum branch_state { BRANCH_CLOSED, BRANCH_OPENING, BRANCH_OPEN, BRANCH_SUSPENDED };

struct branch_plan { /* the same for all branches */
    struct event_base *base;
    const char *program, *prefix; /* the server's URL is in the environment, HILOCK_URL */
    const struct plan *figures;
    const char *story_path;       /* NULL: no story is told */
    struct story *story;
    bool has_locks;
};

struct branch {
    const struct branch_plan *plan;
    char name; /* 'A' ... */
    enum branch_state state;
    pid_t pid;      /* 0: none */
    unsigned port;  /* 0 until it is open */
    char uuid[64];  /* the uuid of its lock client; "-" without locks */
    struct event *voice; /* NULL: none, or all was read */
    struct evbuffer *words;
};

/* Starts the process; it is OPEN once its first line has been read on the loop. -1: reported by report_event. */
int branch_start(struct branch *branch);

/* Returns only when the process really stands still. False: it has ended instead. */
bool branch_suspend(struct branch *branch);
void branch_resume(struct branch *branch);

/* kill -9, and its ports and sockets are gone when this returns. */
void branch_kill(struct branch *branch);

/* It ended by itself: that is a fault. Never blocks. */
bool branch_has_died(struct branch *branch);

/* Closes it in the ordinary way. False: it had to be killed, or failed. A closed one answers true. Its last lines were
 * reported, and nothing of it is left. */
bool branch_stop(struct branch *branch);

#endif
