/* libuv.h - hilock on libuv. Link hilock-libuv; the core library links no loop. */
#ifndef HILOCK_ADAPTERS_LIBUV_H
#define HILOCK_ADAPTERS_LIBUV_H

#include <hilock/hilock.h>

HILOCK_BEGIN

struct uv_loop_s;
struct hilock_loop;

/* hilock_client_open on this loop (a uv_loop_t). The loop must live, and run, until on_closed, and
 * then until uv_run has returned 0 once: libuv takes a closed handle back on the next turn only,
 * and a host name that is still being resolved when its connect was given up keeps the loop alive
 * until getaddrinfo ends. An open client keeps uv_run running.
 * Host names are resolved by uv_getaddrinfo in libuv's thread pool; its order of addresses is kept.
 * libuv has no priorities: after a pause of the process the program's own timers may run before
 * on_lost, so ask hilock_lock_remaining_ms before any work that needs the lock. One
 * client per loop and deployment. A client that is abandoned, in a forked child (after
 * uv_loop_fork) or because its loop will not run again, leaves some hundred bytes that only a turn
 * of the loop frees. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_client_open_libuv(hilock_client **ret_client, struct uv_loop_s *loop,
                         const struct hilock_client_options *options,
                         struct hilock_error *ret_error);

/* Ends a client whose loop the program has stopped turning, as after the join of its thread: adopts
 * it for this thread (hilock_client_adopt), closes it, and turns loop until it is gone; what else
 * is on that loop runs meanwhile. Not inside a callback of the loop. If it cannot be turned the
 * client is abandoned. Refusals: as for hilock_client_adopt and hilock_client_close. */
HILOCK_API hilock_status
hilock_client_close_libuv(hilock_client *client, struct uv_loop_s *loop, uint32_t drain_ms);

/* The plain loop table, for a program that opens by hilock_client_open. On success the caller
 * passes it on or calls its free_ctx. Refusals: INVALID, NO_MEMORY. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_libuv_loop(struct hilock_loop *ret_loop, struct uv_loop_s *loop);

HILOCK_END

#endif
