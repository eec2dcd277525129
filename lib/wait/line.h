/* SPDX-License-Identifier: BSD-3-Clause */
/* line - the client's local queue for one name: only its head asks the store; the others wait behind it in order of
 * arrival. A member of a group is as old as the group's acquire.
 *
 * It lives while there are waiters. It listens to the unlock channel, keeps the store's latest answer about the name,
 * and stops its head from asking while a release of this client has no answer, or while a sibling holds the name whose
 * release serves the line. Handles of several kinds may stand in one line; each asks with the scripts of its kind. A
 * waiter that polls needs no channel. A try (wait 0) asks beside the line, or gets its answer from what the line knows.
 * Handles that have a place each stand beside the line, too. They ask for their first place only while few releases of
 * this client are unanswered: else a moment in which answers take longer than waits would fill the queue at the store.
 * Invariants: a sleeping waiter has asked after the latest news, and after the unlock channel was on (R7); no code here
 * walks the line, so a waiter costs the same in a line of any length. (Waiters in the store's queue are visited when a
 * new link is up, and a group's member that comes again passes those that began later.) */
#ifndef HL_WAIT_LINE_H
#define HL_WAIT_LINE_H

#include "core/name.h"
#include "wait/waiter.h"

TAILQ_HEAD(hl_acquires, hl_acquire);

struct hl_line {
    struct hl_core *core;
    struct hl_name *name;
    struct hl_acquires arrivals;   /* waiters in order of arrival; the last ones, and sometimes the first, got no
                                      WAITING event yet */
    struct hl_acquires tries;      /* the last ones have not asked yet */
    struct hl_acquires queued;     /* each has a place of its own in the queue at the store: the next one first */
    struct hl_acquires held_back;  /* the same, but they have not asked yet: too many releases have no answer */
    struct hl_grant_channel *grants; /* NULL: no pushes are wanted, or there was no memory */
    LIST_ENTRY(hl_line) by_grants; /* in these */
    unsigned waiting;              /* of all but tries */
    int is_channel_refused;        /* the subscription was refused: poll */
    uint64_t others_until_us;      /* another program held the name lately */
    uint64_t stale_before_us;      /* latest message, push or begin of listening: older requests prove nothing */
    int is_held_by_other_program;  /* another program holds, as the latest answer said, and no news came since */
    hilock_status last_status;     /* see struct hl_view; OK: nothing yet */
    unsigned faults;               /* in a row */
    uint32_t waiters;              /* in the queue at the store, as last heard */
    uint64_t learned_us;           /* when the latest answer came */
    uint64_t left_until_us;        /* end of the holder's lease, as last heard; UINT64_MAX: it has none */
    char *words;                   /* TIMED_OUT: the holder; another status: the server's words. NULL: "" */
    struct hl_listener *channel;   /* NULL: not wanted yet */
    struct hl_listener *java_waiter; /* on which another program's release wakes one of its own queue; NULL: none */
};

void hl_line_advance(struct hl_line *line, int wakes); /* the waiter whose turn it is asks; wakes: even if it sleeps */

/* All that have a place at the store ask at once, with pauses only because they may be many; not those that asked last
 * at the node `but`. */
void hl_line_wake_places(struct hl_line *line, unsigned waiting, const struct hl_node *but);

struct hl_line *hl_line_of(struct hl_core *core, struct hl_name *name); /* a new one must be joined. NULL: no memory */
/* It may ask, or be answered, at once. From here until it is DECIDED or delivered it stands with the line. */
void hl_line_join(struct hl_line *line, struct hl_acquire *acquire);
void hl_line_leave(struct hl_acquire *acquire);
void hl_line_move(struct hl_acquire *acquire, int to_front); /* to an end of its line */
void hl_line_released(struct hl_name *name);   /* a hold of ours is over at the store, or gets no answer */
void hl_line_try_again(struct hl_acquire *acquire); /* in line, when its turn comes */
void hl_line_deny_tries(struct hl_name *name); /* a hold of ours has begun */
void hl_lines_close(struct hl_core *core);     /* every wait ends CLOSED */
void hl_line_forget(struct hl_acquire *acquire); /* takes it out of the line, with no other effect */
void hl_line_report_waiting(struct hl_core *core, struct hl_name *name); /* found held: reports it to all, once each */
struct hl_acquire *hl_line_next(const struct hl_name *name); /* the next one after the present holder; NULL: none */
void hl_line_mark_others(struct hl_name *name); /* another program holds the name */
int hl_line_has_others(const struct hl_name *name);
void hl_line_mark_stale(struct hl_line *line); /* what was asked before proves nothing any more */
/* Held, as the store said: listens, if a message could wake it. */
void hl_line_listen(const struct hl_acquire *acquire, const struct hl_response *said);
/* News came after its question left, so the answer may be older: it asks again before it sleeps (R7). */
int hl_line_is_outdated(const struct hl_acquire *acquire);
void hl_line_stop_listening(struct hl_line *line); /* no other program has held the name lately */
/* Waiters try again: at a node whose link is back. NULL: those whose name has moved to another node */
void hl_lines_retry(struct hl_core *core, const struct hl_node *up);
unsigned hl_line_waiting(const struct hl_name *name);

/* A waiter whose turn to ask has come, but there is no memory for its hold, keeps its place, and the lines are
 * advanced from time to time until there is some; if its end comes first it is answered NO_MEMORY. The timer for that
 * is made with the client. */
void hl_lines_on_shortage(void *core); /* of core->shortage_timer */
void hl_lines_retry_soon(struct hl_core *core); /* a second call changes nothing */

#endif
