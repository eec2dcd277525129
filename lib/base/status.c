/* SPDX-License-Identifier: BSD-3-Clause */
/* status - names and sentences of the public status codes. The compiler warns if one is missing. */
#include <hilock/hilock.h>

static const char *words(hilock_status status, int is_text)
{
    switch (status) {
#define CASE(code, text) case HILOCK_##code: return is_text ? text : #code
        CASE(OK, "done");
        CASE(INVALID, "a bad argument: hilock_client_refusal() names it");
        CASE(NO_MEMORY, "out of memory: nothing was done");
        CASE(CLOSED, "the client is closing or closed");
        CASE(IN_USE, "this handle already waits or holds: make one handle per would-be holder");
        CASE(TOO_MANY_WAITERS, "too many acquires already wait: shed load");
        CASE(NOT_HELD, "this handle does not hold the lock");
        CASE(NOT_PENDING, "this handle does not wait for the lock");
        CASE(WRONG_THREAD, "called from another thread than the one that turns the client's loop");
        CASE(FORKED, "called in a forked child: the handles are the parent's");
        CASE(UNSUPPORTED, "this build, kind of lock or deployment cannot do that");
        CASE(BAD_NAME, "not a lock name");
        CASE(TIMED_OUT, "held by another when the wait ended");
        CASE(CANCELLED, "cancelled");
        CASE(QUEUE_FULL, "too many others wait for this name at the store: shed load, or raise queue_max");
        CASE(LOST, "the hold had already ended: work done under it may have overlapped");
        CASE(UNREACHABLE, "no answer from the store in time");
        CASE(DENIED, "the store refused the user or one of its rights");
        CASE(WRONG_KIND, "the key holds another type: another program's, or another kind of lock");
        CASE(UNWRITABLE, "the store cannot be written now");
        CASE(NOT_REPLICATED, "too few replicas confirmed the grant; it was undone");
        CASE(SERVER, "the store answered with an error");
        CASE(PROTOCOL, "the store's answer was not what the command answers");
        CASE(UNKNOWN, "sent, but not answered: it may have happened");
    }
    return is_text ? "not a status of this version" : "?";
}

const char *hilock_status_name(hilock_status status) { return words(status, 0); }

const char *hilock_status_text(hilock_status status) { return words(status, 1); }
