/* SPDX-License-Identifier: BSD-3-Clause */
/* client - hilock as a program uses it, for tests: an event_base with a client on it, and handles that record all their callbacks.
 *
 * Callbacks only write down, and run a hook of the test's where there is one; the test asserts after the loop has returned. Each wait turns
 * the loop until the report that it waits for, and fails the test if it never comes. */
#ifndef LIVE_CLIENT_H
#define LIVE_CLIENT_H

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hilock/hilock.h>

#include "../../adapter/runner.h"

struct client {
    struct event_base *base; /* NULL: it is on another loop, or closed */
    struct event *tick;      /* lets a waiting loop look about for what no event tells */
    const struct loop_runner *loop; /* NULL: libevent */
    void *native;
    hilock_client *hilock;   /* NULL: closed, or abandoned */
    int has_own_base, is_closed;
    unsigned connected, disconnected, other_events; /* client events; anomalies of the clock are nobody's fault */
    const char *watched;     /* the test's: lines, of any level, that have this in them are counted; NULL: none */
    unsigned watched_count;
    unsigned warnings;       /* log lines of level WARN and ERROR */
    char log[512];           /* the last of them; LIVE_VERBOSE in the environment shows lines of all levels */
    struct handle *handles;  /* that are open on it */
    int has_told_secret;     /* some text from hilock had the password in it */
};

/* A copy of a callback's arguments. */
struct told {
    unsigned count;           /* how many of this kind so far; what follows is of the last one */
    uint64_t at_us, token;    /* at: CLOCK_BOOTTIME, as the callback ran */
    hilock_status status;     /* results */
    hilock_lost_reason reason; /* LOST */
    uint32_t remaining_ms, waited_ms, attempts, hold_count, votes;
    char holder[128], detail[512];
};

struct handle;
typedef void handle_hook(struct handle *handle);

struct handle {
    hilock_lock *lock; /* NULL: freed */
    struct client *client;
    struct handle *next;    /* of its client's */
    struct told acquired, released, extended, shared; /* results */
    struct told lost, waiting, renewal_failed;   /* events */
    uint64_t asked_us; /* before the latest call of handle_ask */
    handle_hook *on_acquired, *on_lost, *on_released; /* inside the callback, after it was written down; NULL: none */
    void *user;             /* the test's own */
};

/* url, or options (base options of the test: label "live" and a log that is written down, where they leave these out). */
void client_open(struct client *client, const char *url);
void client_open_with(struct client *client, const struct hilock_client_options *options);
void client_open_on(struct client *client, struct event_base *base, const struct hilock_client_options *options); /* the base is the caller's */

void client_open_in(struct client *client, const struct loop_runner *loop, const struct hilock_client_options *options);

/* The two steps of it, where an open may be refused: a base of its own without a client; and the client. */
void client_prepare(struct client *client);
hilock_status client_try(struct client *client, const struct hilock_client_options *options, struct hilock_error *ret_error);

void client_hears(struct client *client, const char *text); /* any text from hilock: searched for the password */
void client_connect(struct client *client);  /* until commands can flow */
void client_turn(struct client *client);     /* what is ready now, without waiting */
void client_until(struct client *client, int (*is_so)(void *arg), void *arg, const char *what);
void client_for_ms(struct client *client, uint32_t span_ms); /* turns for so long; for what must not happen, and spans inherent to a test */

/* Checks that the statistics add up, closes, turns until on_closed, and frees the base if it is the client's. Any state. */
void client_close(struct client *client);
void client_end(struct client *client); /* frees its handles, which gives back what they hold, and closes it */
struct hilock_stats client_stats(const struct client *client);
int client_has_renewed(void *client); /* for client_until */

/* Options: on_lost, on_event and user are the handle's; NULL: a lease that no stall of the machine ends. The handle must stay where it is. */
void handle_open(struct handle *handle, struct client *client, const char *name, const struct hilock_lock_options *options);
void handle_open_all(struct handle *handle, struct client *client, const char *const *names, const struct hilock_lock_options *options); /* a multi */
void handle_free(struct handle *handle);

/* The calls, which must be accepted; the answer comes by and by. */
void handle_ask(struct handle *handle, uint32_t wait_ms);
void handle_release(struct handle *handle);

/* The same where a refusal is no failure: it is what they return. Opened or not, the handle may be used as one that is freed. */
hilock_status handle_try_open(struct handle *handle, struct client *client, const char *name, const struct hilock_lock_options *options);
hilock_status handle_try_ask(struct handle *handle, uint32_t wait_ms);

/* Call, and turn until it is answered. */
hilock_status handle_acquire(struct handle *handle, uint32_t wait_ms);
hilock_status handle_give(struct handle *handle);
hilock_status handle_extend(struct handle *handle, uint32_t lease_ms);
hilock_status handle_downgrade(struct handle *handle);

/* Turn until this was reported `count` times in all, as in handle_until(&h, &h.lost, 1, "the loss"). */
void handle_until(struct handle *handle, const struct told *told, unsigned count, const char *what);

#endif
