/* blocking.h - calls that block, for scripts, tests and threads. Link hilock-blocking. It costs a
 * thread, and two switches between threads for each call: not for a program with an event loop (a
 * call stops its loop; use the loop's adapter), nor for thousands of locks or waits at a time.
 *
 * A hilock_blocking is a client on a loop of its own in a thread of its own, the private thread,
 * which renews and notices losses while the program computes. A call is a message to that thread;
 * the caller sleeps until it has the answer. wait_ms and command_timeout_ms bound a call; what
 * arrives later is undone. on_lost, on_event and on_log run on the private thread and must not
 * block: all locks of the client stand still meanwhile. What may be called where:
 *
 *                                    any thread   in on_lost, on_event   forked child   after close
 *   hilock_blocking_open             yes          yes                    yes
 *   hilock_blocking_acquire          yes          WRONG_THREAD           FORKED         CLOSED
 *   hilock_blocking_extend           yes          WRONG_THREAD           FORKED         LOST
 *   hilock_blocking_release          yes, once    WRONG_THREAD           FORKED         LOST
 *   hilock_blocking_remaining_ms     yes          yes                    0              0
 *   hilock_blocking_token            yes          yes                    yes            yes
 *   hilock_blocking_lost_fd          yes          yes                    -1             yes
 *   hilock_blocking_close            yes          WRONG_THREAD           FORKED         OK
 *   hilock_blocking_free             yes, last    does nothing           does nothing   yes
 *
 * on_log may call none of them. Two rules are yours to keep: do not use a lock after
 * hilock_blocking_release was called, nor a client after hilock_blocking_free was; locks may be
 * released after that. Everything else may happen at the same time.
 * A forked child gets nothing back: what it inherited stays until it ends or calls exec, which
 * closes the descriptors. The private thread blocks all signals, so that the program's threads get
 * them; a call goes on after a signal handler has run. */
#ifndef HILOCK_BLOCKING_H
#define HILOCK_BLOCKING_H

#include <hilock/hilock.h>

HILOCK_BEGIN

typedef struct hilock_blocking hilock_blocking;           /* a client with a thread of its own */
typedef struct hilock_blocking_lock hilock_blocking_lock; /* one hold, from acquire to release */

/* The answer to a call, in the caller's memory. Set `size` to sizeof(struct hilock_blocking_result)
 * first, or the call is refused (INVALID). Members as in hilock_result; texts are cut to fit. */
struct hilock_blocking_result {
    size_t size;
    hilock_status status;  /* what the call returned */
    uint32_t remaining_ms; /* when the private thread had the answer */
    uint64_t fencing_token;
    uint32_t waited_ms, attempts, votes;
    uint32_t holder_remaining_ms;
    uint32_t waiters, waiters_ready, position;
    char holder[128];
    char detail[384];      /* for humans; of a refusal: what was wrong and what to do */
};

/* hilock_client_open on a loop and in a thread of its own: the same options and refusals. Connects
 * in the background; acquires wait for that within their own limits. on_log and on_event run on the
 * private thread, and the events have no client (NULL). An allocator must be thread-safe. NO_MEMORY
 * also when no thread can be started. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_blocking_open(hilock_blocking **ret_client, const struct hilock_client_options *options,
                     struct hilock_error *ret_error);

/* Asks for the lock and returns when it is held, or when the wait failed or timed out: within
 * wait_ms (HILOCK_TRY: one request; HILOCK_FOREVER). With OK, *ret_lock is the hold: end it by
 * hilock_blocking_release, even after a loss. Else it is NULL, and nothing is left behind.
 * options may be NULL: a MUTEX, watched by hilock_blocking_remaining_ms or hilock_blocking_lost_fd.
 * on_lost may be NULL, too. It and on_event run on the private thread, with an event that has
 * neither client nor lock (NULL): on_lost perhaps before this call returns, neither after
 * hilock_blocking_release has returned. ret_result may be NULL.
 * Result: as for hilock_acquire; CLOSED also when another thread closes the client.
 * Refusals: as for hilock_lock_create and hilock_acquire; reentrant, as each acquire is a new
 * holder. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_blocking_acquire(hilock_blocking *client, const char *name,
                        const struct hilock_lock_options *options, uint32_t wait_ms,
                        hilock_blocking_lock **ret_lock, struct hilock_blocking_result *ret_result);

/* Asks the store now whether it is held, and makes the lease last at least lease_ms from now (0:
 * the lock's own), as hilock_extend does. ret_result may be NULL.
 * Result: as for hilock_extend; LOST also where that is refused as NOT_HELD or CLOSED.
 * Refusals: INVALID, NO_MEMORY, WRONG_THREAD, FORKED. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_blocking_extend(hilock_blocking_lock *lock, uint32_t lease_ms,
                       struct hilock_blocking_result *ret_result);

/* Ends the hold, frees the lock and closes its descriptor. Returns when the store has answered,
 * after command_timeout_ms at the latest. If another thread extends it just then, that is answered
 * first. lock may be NULL: INVALID. ret_result may be NULL.
 * Result: OK. LOST: it had ended before, perhaps by hilock_blocking_close, and what ran under it
 * may have overlapped; detail says why. UNKNOWN: no answer in time; the client goes on releasing
 * until the lease has run out.
 * Refusals: INVALID (ret_result without size), WRONG_THREAD, FORKED; the lock is still there
 * then. */
HILOCK_API hilock_status hilock_blocking_release(hilock_blocking_lock *lock,
                                                 struct hilock_blocking_result *ret_result);

/* Milliseconds during which no other can hold the lock; 0: stop now. Any thread, without asking the
 * private one; on_lost and the descriptor report the same as soon as the private thread runs. */
HILOCK_API uint32_t hilock_blocking_remaining_ms(const hilock_blocking_lock *lock);
/* Fencing token of this hold, the same after a loss. 0: the kind has none. See
 * hilock_lock_token. */
HILOCK_API uint64_t hilock_blocking_token(const hilock_blocking_lock *lock);
/* A descriptor that becomes readable when this hold is lost, and stays so. Only poll it, never read
 * or close it: it belongs to the lock, is made by the first call, and closed by
 * hilock_blocking_release. -1: none could be made (errno). */
HILOCK_API int hilock_blocking_lost_fd(hilock_blocking_lock *lock);

/* Refuses new acquires and ends those that other threads wait in (CLOSED). Holds live on until they
 * are released, for drain_ms at most (HILOCK_FOREVER: no limit); then they are lost
 * (HILOCK_REASON_CLOSING) and released. Returns when that is done, after drain_ms +
 * command_timeout_ms at the latest. The client still answers then (CLOSED). Called again, by
 * another thread too, it can only shorten the drain. Result: OK. Refusals: INVALID, WRONG_THREAD,
 * FORKED. */
HILOCK_API hilock_status hilock_blocking_close(hilock_blocking *client, uint32_t drain_ms);

/* Closes with no drain if that was not done, waits for the private thread to end, and frees the
 * client. Locks that are left are lost; each is still to be released. NULL is allowed. */
HILOCK_API void hilock_blocking_free(hilock_blocking *client);

HILOCK_END

#endif
