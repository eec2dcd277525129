/* libev.h - hilock on libev. Link hilock-libev; the core library links no loop. */
#ifndef HILOCK_ADAPTERS_LIBEV_H
#define HILOCK_ADAPTERS_LIBEV_H

#include <hilock/hilock.h>

HILOCK_BEGIN

struct ev_loop;
struct hilock_loop;

/* Opens a client on this loop (EV_DEFAULT or another), as hilock_client_open does. The loop must be
 * there, and run, until on_closed; an open client keeps ev_run running.
 * hilock's only watcher has the priority EV_MAXPRI, so renewals and losses are not starved. After a
 * pause of the process on_lost runs before those of your own timers that came due in it and have a
 * lower priority.
 * libev has no resolver. A thread resolves a host name by getaddrinfo, with all signals blocked,
 * and ends with that; a numeric address needs no thread. Open one client for each loop and
 * deployment. hilock has its own clock and does not use libev's timers and ev_now(). A forked child
 * abandons the client after ev_loop_fork(). libev.so has functions with libevent's names
 * (event_add): if your program links both, name libevent first. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_client_open_libev(hilock_client **ret_client, struct ev_loop *loop,
                         const struct hilock_client_options *options,
                         struct hilock_error *ret_error);

/* Ends a client whose loop your program does not turn any more, as after it has joined the loop's
 * thread: makes it belong to this thread (hilock_client_adopt), closes it, and turns loop until it
 * is gone. Whatever else is on that loop runs meanwhile. Do not call it inside a callback of the
 * loop. If the loop cannot be turned, the client is abandoned.
 * Refusals: as for hilock_client_adopt and hilock_client_close. */
HILOCK_API hilock_status
hilock_client_close_libev(hilock_client *client, struct ev_loop *loop, uint32_t drain_ms);

/* Fills in a struct hilock_loop alone, for a program that calls hilock_client_open. On success pass
 * it on, or call its free_ctx.
 * Refusals: INVALID, NO_MEMORY. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_libev_loop(struct hilock_loop *ret_loop, struct ev_loop *loop);

HILOCK_END

#endif
