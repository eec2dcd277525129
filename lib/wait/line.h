/* SPDX-License-Identifier: BSD-3-Clause */
/* line - the client's local queue for one name. Only the head of the line asks the store; the others wait behind it in
 * order of arrival. A member of a group is as old as the acquire of the group.
 *
 * A line exists while there are waiters. It listens to the unlock channel and keeps the store's latest answer about the
 * name. It keeps its head from asking while a release of this client has no answer, and while another handle of this
 * client holds the name, because the release of that handle serves the line. Handles of several kinds may stand in one
 * line; each asks with the scripts of its kind. A waiter that polls needs no channel. A try (wait 0) asks beside the
 * line, or is answered from what the line knows.
 * FAIR handles have a place each, and stand beside the line, too. They ask for their first place only while few
 * releases of this client are unanswered: otherwise a time in which answers take longer than waits would fill the queue
 * at the store.
 * Invariants: a sleeping waiter has asked after the latest news and after the subscription to the unlock channel (R7).
 * No code here walks the line, so a waiter costs the same in a line of any length. (The exceptions: waiters in the
 * store's queue are visited when a new link is up, and a member of a group that comes again passes those that began
 * later.) */
#ifndef HL_WAIT_LINE_H
#define HL_WAIT_LINE_H

#include "core/name.h"
#include "wait/waiter.h"

TAILQ_HEAD(hl_acquires, hl_acquire);

struct hl_line {
    struct hl_core *core;
    struct hl_name *name;
    struct hl_acquires arrivals;   /* The waiters in order of arrival. The tail (and sometimes the head) has not been
                                      sent its WAITING event yet. */
    struct hl_acquires tries;      /* the tries; those at the tail have not sent a request yet */
    struct hl_acquires queued;     /* waiters that have a place of their own in the queue at the store, the next one
                                      first */
    struct hl_acquires held_back;  /* the same kind of waiters, but they have not asked yet, because too many
                                      releases have no answer */
    struct hl_grant_channel *grants; /* where the grants of this name come; NULL: none are wanted, or there was no
                                        memory */
    LIST_ENTRY(hl_line) by_grants; /* links the line into grants->lines */
    unsigned waiting;              /* how many wait, without the tries */
    int is_channel_refused;        /* the subscription was refused, so the waiters poll */
    uint64_t others_until_us;      /* until then the client assumes that other programs use the name, because one
                                      held it lately */
    uint64_t stale_before_us;      /* when the latest message or push came, or listening began: requests sent before
                                      prove nothing */
    int is_held_by_other_program;  /* the latest answer was that another program holds the name, and no news came
                                      since */
    hilock_status last_status;     /* the status of the latest answer, for struct hl_view; OK: there was none yet */
    unsigned faults;               /* how many faults came in a row */
    uint32_t waiters;              /* how many are in the queue at the store, as last heard */
    uint64_t learned_us;           /* when the latest answer came */
    uint64_t left_until_us;        /* when the holder's lease ends, as last heard; UINT64_MAX: the lease has no end */
    char *words;                   /* last_status TIMED_OUT: the holder; otherwise the words of the server. NULL: "" */
    struct hl_listener *channel;   /* the unlock channel; NULL: it is not needed yet */
    struct hl_listener *java_waiter; /* the channel on which the release of another program wakes a waiter of its own
                                        queue; NULL: none */
};

/* Lets the waiter whose turn it is ask. wakes: even if that waiter sleeps. */
void hl_line_advance(struct hl_line *line, int wakes);

/* Makes every queued waiter send a heartbeat soon, spread out to avoid a burst; skips waiters whose last heartbeat went
 * to node `but`. waiting: how many may ask, which sets how far they are spread. */
void hl_line_wake_places(struct hl_line *line, unsigned waiting, const struct hl_node *but);

/* Returns the line of a name, perhaps a new one, which must be joined. NULL: there is no memory. */
struct hl_line *hl_line_of(struct hl_core *core, struct hl_name *name);
/* The acquire may ask, or be answered, at once. From now on it stands in the line, until it is DECIDED or its answer is
 * delivered. */
void hl_line_join(struct hl_line *line, struct hl_acquire *acquire);
void hl_line_leave(struct hl_acquire *acquire);
/* moves a waiter to the front or to the back of its list */
void hl_line_move(struct hl_acquire *acquire, int to_front);
void hl_line_released(struct hl_name *name);   /* the release of a hold of ours was answered, or will not be */
void hl_line_try_again(struct hl_acquire *acquire); /* the waiter asks again when its turn comes */
/* a hold of ours has begun, which answers the tries that have not asked */
void hl_line_deny_tries(struct hl_name *name);
void hl_lines_close(struct hl_core *core);     /* ends every wait with CLOSED */
void hl_line_forget(struct hl_acquire *acquire); /* takes the waiter out of the line, with no other effect */
/* the name was found held: reports WAITING to all waiters that have not been told */
void hl_line_report_waiting(struct hl_core *core, struct hl_name *name);
/* Returns the waiter that comes after the present holder; NULL: there is none. */
struct hl_acquire *hl_line_next(const struct hl_name *name);
void hl_line_mark_others(struct hl_name *name); /* another program holds the name, or did until now */
int hl_line_has_others(const struct hl_name *name);
void hl_line_mark_stale(struct hl_line *line); /* from now on, answers to earlier requests prove nothing */
/* The store answered that the name is held: subscribes to the channels on which a message could wake this waiter. */
void hl_line_listen(const struct hl_acquire *acquire, const struct hl_response *said);
/* Returns 1 if news came after the question of this waiter was sent. The answer may be older than the news, so the
 * waiter asks again before it sleeps (R7). */
int hl_line_is_outdated(const struct hl_acquire *acquire);
void hl_line_stop_listening(struct hl_line *line); /* call when no other program has held the name lately */
/* Makes the waiters try again whose node `up` has a link again. up NULL: the waiters whose names have moved to another
 * node. */
void hl_lines_retry(struct hl_core *core, const struct hl_node *up);
unsigned hl_line_waiting(const struct hl_name *name);

/* A waiter whose turn to ask has come keeps its place if there is no memory for its hold. The lines are then advanced
 * from time to time until there is memory. If the wait ends first, it is answered NO_MEMORY. The timer for this is made
 * with the client. */
void hl_lines_on_shortage(void *core); /* the callback of core->shortage_timer */
void hl_lines_retry_soon(struct hl_core *core); /* starts that timer, unless it runs already */

#endif
