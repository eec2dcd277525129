/* blocking.h - calls that block, for scripts, tests and threads. Link hilock-blocking.
 *
 * It costs a thread, and two switches between threads for each call. Do not use it in a program
 * with an event loop, which a call would stop (use the loop's adapter), nor for thousands of locks
 * or waits at a time.
 *
 * A hilock_blocking is a client on a loop of its own in a thread of its own, the private thread.
 * That thread renews and notices losses while the program computes. A call sends it a message, and
 * sleeps until the answer is there. wait_ms and command_timeout_ms limit a call; a grant that comes
 * later is undone. on_lost, on_event and on_log run on the private thread. They must not block,
 * because all locks of the client stand still meanwhile.
 *
 * What may be called where (the names without "hilock_blocking_"):
 *
 *                  any thread   on_lost, on_event   forked child   closed
 *   open           yes          yes                 yes
 *   acquire        yes          WRONG_THREAD        FORKED         CLOSED
 *   extend         yes          WRONG_THREAD        FORKED         LOST
 *   release        yes, once    WRONG_THREAD        FORKED         LOST
 *   remaining_ms   yes          yes                 0              0
 *   token          yes          yes                 yes            yes
 *   lost_fd        yes          yes                 -1             yes
 *   close          yes          WRONG_THREAD        FORKED         OK
 *   free           yes, last    does nothing        does nothing   yes
 *
 * on_log may call none of them. Two rules are yours to keep: use no lock after you have called
 * hilock_blocking_release for it, and no client after hilock_blocking_free. (Locks may be released
 * after their client was freed.) Everything else may happen at the same time.
 * In a forked child nothing can be freed: what it inherited stays until it ends or calls exec,
 * which closes the descriptors. The private thread blocks all signals, so that the program's
 * threads get them. A call goes on after a signal handler has run. */
#ifndef HILOCK_BLOCKING_H
#define HILOCK_BLOCKING_H

#include <hilock/hilock.h>

HILOCK_BEGIN

typedef struct hilock_blocking hilock_blocking;           /* a client with a thread of its own */
typedef struct hilock_blocking_lock hilock_blocking_lock; /* one hold, from acquire to release */

/* The answer to a call, in the caller's memory. Set `size` to sizeof(struct hilock_blocking_result)
 * first, or the call is refused (INVALID). The members are those of hilock_result; texts are cut to
 * fit. */
struct hilock_blocking_result {
    size_t size;
    hilock_status status;  /* what the call returned */
    uint32_t remaining_ms; /* as the private thread had the answer */
    uint64_t fencing_token;
    uint32_t waited_ms, attempts, votes;
    uint32_t holder_remaining_ms;
    uint32_t holders;      /* how many hold the name; holder is one of them */
    uint32_t waiters, waiters_ready, position;
    char holder[128];
    char detail[384];      /* for people; of a refusal: what was wrong and what to do */
};

/* Opens a client on a loop of its own, in a thread of its own. Options and refusals are those of
 * hilock_client_open; NO_MEMORY also means that no thread could be started. It connects in the
 * background, and acquires wait for that, each within its own limit. on_log and on_event run on the
 * private thread; events have no client (NULL). An allocator must be thread-safe. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_blocking_open(hilock_blocking **ret_client, const struct hilock_client_options *options,
                     struct hilock_error *ret_error);

/* Asks for the lock, and returns when it is held or when the wait has failed: within wait_ms
 * (HILOCK_TRY: one request; HILOCK_FOREVER: no limit). If it returns OK, *ret_lock is the hold: end
 * it by hilock_blocking_release, even after a loss. Otherwise it is NULL, and there is nothing to
 * end.
 * With holders_max in options each hold is a share of its own, also those of several threads of one
 * client: at most so many of them hold the name at once (hilock.h, SHARING). With share_local_ms
 * threads that read may get one share together.
 * options may be NULL, which means a MUTEX that you watch by hilock_blocking_remaining_ms or
 * hilock_blocking_lost_fd. on_lost may be NULL, too. on_lost and on_event run on the private
 * thread, and their events have neither client nor lock (NULL). on_lost may run before this call
 * returns; neither runs after hilock_blocking_release has returned. ret_result may be NULL.
 * Result: as for hilock_acquire; CLOSED also if another thread closes the client.
 * Refusals: as for hilock_lock_create and hilock_acquire; also INVALID: reentrant, because each
 * acquire is a new holder. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_blocking_acquire(hilock_blocking *client, const char *name,
                        const struct hilock_lock_options *options, uint32_t wait_ms,
                        hilock_blocking_lock **ret_lock, struct hilock_blocking_result *ret_result);

/* Asks the store now whether the lock is still held, and makes the lease last at least lease_ms
 * from now (0: the lock's own lease_ms), as hilock_extend does. ret_result may be NULL.
 * Result: as for hilock_extend; LOST also where hilock_extend is refused as NOT_HELD or CLOSED.
 * Refusals: INVALID, NO_MEMORY, WRONG_THREAD, FORKED. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_blocking_extend(hilock_blocking_lock *lock, uint32_t lease_ms,
                       struct hilock_blocking_result *ret_result);

/* The lock, which is held alone, goes on as one that shares its name, as hilock_downgrade does.
 * ret_result may be NULL.
 * Result: as for hilock_downgrade; LOST also where that is refused as NOT_HELD or CLOSED.
 * Refusals: INVALID, UNSUPPORTED, NO_MEMORY, WRONG_THREAD, FORKED. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_blocking_downgrade(hilock_blocking_lock *lock, struct hilock_blocking_result *ret_result);

/* Ends the hold, frees the lock and closes its descriptor. It returns when the store has answered,
 * after command_timeout_ms at the latest. If another thread is extending the lock just then, that
 * call is answered first. For NULL it returns INVALID. ret_result may be NULL.
 * Result: OK. LOST: the hold had ended before, perhaps by hilock_blocking_close, and what ran under
 * it may have overlapped; detail says why. UNKNOWN: no answer in time; the client goes on releasing
 * until the lease is over.
 * Refusals: INVALID (ret_result without size), WRONG_THREAD, FORKED; the lock is still there
 * then. */
HILOCK_API hilock_status hilock_blocking_release(hilock_blocking_lock *lock,
                                                 struct hilock_blocking_result *ret_result);

/* How long the hold is still good, in milliseconds: in that time no other can hold the lock. 0:
 * stop now. Any thread; the private thread is not asked. on_lost and the descriptor report a loss
 * as soon as the private thread runs. */
HILOCK_API uint32_t hilock_blocking_remaining_ms(const hilock_blocking_lock *lock);
/* The fencing token of this hold, which stays the same after a loss. 0: the kind has none. See
 * hilock_lock_token. */
HILOCK_API uint64_t hilock_blocking_token(const hilock_blocking_lock *lock);
/* A descriptor that becomes readable when this hold is lost, and stays so. Only poll it: do not
 * read or close it. It belongs to the lock: the first call makes it, and hilock_blocking_release
 * closes it. -1: none could be made (errno). */
HILOCK_API int hilock_blocking_lost_fd(hilock_blocking_lock *lock);

/* Refuses new acquires, and ends those in which other threads wait (CLOSED). What is held stays
 * held until it is released, for drain_ms at most (HILOCK_FOREVER: no limit); what is left then is
 * lost (HILOCK_REASON_CLOSING) and released. It returns when that is done, after drain_ms +
 * command_timeout_ms at the latest. The client still answers after that (CLOSED). A second call,
 * also by another thread, can only shorten the drain.
 * Result: OK.
 * Refusals: INVALID, WRONG_THREAD, FORKED. */
HILOCK_API hilock_status hilock_blocking_close(hilock_blocking *client, uint32_t drain_ms);

/* Closes the client without a drain if it was not closed, waits until the private thread has ended,
 * and frees the client. Locks that are left are lost, and each must still be released. NULL is
 * allowed. */
HILOCK_API void hilock_blocking_free(hilock_blocking *client);

HILOCK_END

#endif
