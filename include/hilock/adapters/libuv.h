/* libuv.h - hilock on libuv. Link hilock-libuv; the core library links no loop. */
#ifndef HILOCK_ADAPTERS_LIBUV_H
#define HILOCK_ADAPTERS_LIBUV_H

#include <hilock/hilock.h>

HILOCK_BEGIN

struct uv_loop_s;
struct hilock_loop;

/* Opens a client on this loop (a uv_loop_t), as hilock_client_open does. The loop must be there,
 * and run, until on_closed, and then until uv_run has returned 0 once: libuv frees a closed handle
 * only on the next turn, and a host name that is still being resolved when its connect was given up
 * keeps the loop alive until getaddrinfo ends. An open client keeps uv_run running.
 * Host names are resolved by uv_getaddrinfo in libuv's thread pool; its order of addresses is kept.
 * libuv has no priorities: after a pause of the process your own timers may run before on_lost. So
 * check hilock_lock_remaining_ms before any work that needs the lock.
 * Open one client for each loop and deployment. A client that is abandoned, because this is a
 * forked child (after uv_loop_fork) or because its loop will not run again, leaves some hundred
 * bytes that only a turn of the loop frees. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_client_open_libuv(hilock_client **ret_client, struct uv_loop_s *loop,
                         const struct hilock_client_options *options,
                         struct hilock_error *ret_error);

/* Ends a client whose loop your program does not turn any more, as after it has joined the loop's
 * thread: makes it belong to this thread (hilock_client_adopt), closes it, and turns loop until it
 * is gone. Whatever else is on that loop runs meanwhile. Do not call it inside a callback of the
 * loop. If the loop cannot be turned, the client is abandoned.
 * Refusals: as for hilock_client_adopt and hilock_client_close. */
HILOCK_API hilock_status
hilock_client_close_libuv(hilock_client *client, struct uv_loop_s *loop, uint32_t drain_ms);

/* Fills in a struct hilock_loop alone, for a program that calls hilock_client_open. On success pass
 * it on, or call its free_ctx.
 * Refusals: INVALID, NO_MEMORY. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_libuv_loop(struct hilock_loop *ret_loop, struct uv_loop_s *loop);

HILOCK_END

#endif
