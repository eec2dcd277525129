/* inquiry.h - for operators: who holds a name, and how to end a hold. Part of hilock.h, which
 * includes it. */
#if !defined(HILOCK_H)
#include <hilock/hilock.h>
#elif !defined(HILOCK_INQUIRY_H)
#define HILOCK_INQUIRY_H

HILOCK_BEGIN

/* Asks the store who holds this name, how long its lease still lasts and how many wait. It changes
 * nothing, works in any state of the handle, and several may be pending. The answer comes within
 * command_timeout_ms, also while the client closes (new ones are refused then). It may be out of
 * date when you get it.
 * Result: OK, with holder ("" if the name is free), holder_remaining_ms, waiters, position, and a
 * detail that says what was found, locks of Redisson included. WRONG_KIND: what is under this name
 * is no lock of this kind. Or an environment status. On a quorum: the holder that most masters name
 * (votes); UNREACHABLE: fewer than quorum_needed masters answered.
 * Refusals: UNSUPPORTED (multi), CLOSED, NO_MEMORY, INVALID, WRONG_THREAD, FORKED. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_peek(hilock_lock *lock, hilock_result_fn *on_result, void *user);

struct hilock_holder_info { /* one of the holders of a name; it lives until its callback returns */
    size_t size;
    const char *holder;       /* its id, as the result of a peek has it */
    const char *holder_label; /* the label of its client, as text; never NULL */
    uint64_t fencing_token;   /* of its grant. 0: SIMPLE, or another program's hold */
    uint32_t remaining_ms;    /* what is left of its lease at the server; HILOCK_FOREVER: no end */
};
typedef void hilock_holder_fn(const struct hilock_holder_info *info, void *user);

#define HILOCK_HOLDERS_LISTED 1000u /* at most so many holders of a name are listed */

/* Asks the store for all that hold this name, as hilock_peek asks for one. on_holder runs once for
 * each of them, those first whose leases last longest, and then on_result runs, in the same turn of
 * the loop. If more than HILOCK_HOLDERS_LISTED hold the name, the others are not listed; `holders`
 * of the result counts them all.
 * Result: as of hilock_peek. NO_MEMORY: there was none for the list. A SIMPLE lock has no list: its
 * holder is in the result.
 * Refusals: as for hilock_peek; also UNSUPPORTED (quorum), INVALID (no on_holder). */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_holders(hilock_lock *lock, hilock_holder_fn *on_holder, hilock_result_fn *on_result,
               void *user);

/* Ends the hold of another: of the holder with this id, as peek named it, or of any holder (NULL).
 * That holder learns of it at its next renewal, at most a third of its lease later (a Java program
 * at its unlock), and may write until then. Only a fence stops that. on_result may be NULL.
 * Result: OK. LOST: that holder no longer had the lock (with NULL: nobody had it). WRONG_KIND: the
 * lock is neither ours nor an RLock, and was not touched. UNKNOWN: it was sent, and no answer came.
 * Or an environment status.
 * Result on a quorum: OK: quorum_needed masters ended the hold. LOST: fewer than quorum_needed
 * masters still had that holder, so it did not hold the lock. UNKNOWN: some masters ended the hold,
 * or may have ended it, but too few answered to tell whether that was enough. So the hold may go
 * on, and the holder's client asks the masters that ended it for their votes again. UNREACHABLE: no
 * master ended the hold, and too few answered.
 * Refusals: as for hilock_peek; also INVALID: `holder` is empty, or longer than 1024 bytes, or
 * it is "mode", which is a field of the lock's key that names no holder. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_force_release(hilock_lock *lock, const char *holder, hilock_result_fn *on_result,
                     void *user);

HILOCK_END
#endif
