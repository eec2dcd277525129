/* SPDX-License-Identifier: BSD-3-Clause */
/* status - names and sentences of the public status codes, from one list. The compiler warns if one is missing. */
#include <hilock/hilock.h>

#define STATUSES(X)                                                                          \
    X(OK, "done")                                                                            \
    X(INVALID, "a bad argument: hilock_client_refusal() names it")                           \
    X(NO_MEMORY, "out of memory: nothing was done")                                          \
    X(CLOSED, "the client is closing or closed")                                             \
    X(IN_USE, "this handle already waits or holds: make one handle per would-be holder")     \
    X(TOO_MANY_WAITERS, "too many acquires already wait: shed load")                         \
    X(NOT_HELD, "this handle does not hold the lock")                                        \
    X(NOT_PENDING, "this handle does not wait for the lock")                                 \
    X(WRONG_THREAD, "called from another thread than the one that turns the client's loop")  \
    X(FORKED, "called in a forked child: the handles are the parent's")                      \
    X(UNSUPPORTED, "this build, kind of lock or deployment cannot do that")                  \
    X(BAD_NAME, "not a lock name")                                                           \
    X(TIMED_OUT, "held by another when the wait ended")                                      \
    X(CANCELLED, "cancelled")                                                                \
    X(LOST, "the hold had already ended: work done under it may have overlapped")            \
    X(UNREACHABLE, "no answer from the store in time")                                       \
    X(DENIED, "the store refused the user or one of its rights")                             \
    X(WRONG_KIND, "the key holds another type: another program's, or another kind of lock")  \
    X(UNWRITABLE, "the store cannot be written now")                                         \
    X(NOT_REPLICATED, "too few replicas confirmed the grant; it was undone")                 \
    X(SERVER, "the store answered with an error")                                            \
    X(PROTOCOL, "the store's answer was not what the command answers")                       \
    X(UNKNOWN, "sent, but not answered: it may have happened")

const char *hilock_status_name(hilock_status status)
{
    switch (status) {
#define NAME(code, text) case HILOCK_##code: return #code;
        STATUSES(NAME)
#undef NAME
    }
    return "?";
}

const char *hilock_status_text(hilock_status status)
{
    switch (status) {
#define TEXT(code, text) case HILOCK_##code: return text;
        STATUSES(TEXT)
#undef TEXT
    }
    return "not a status of this version";
}
