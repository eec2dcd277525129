/* SPDX-License-Identifier: BSD-3-Clause */
/* line - the client's own queue for one name. The order is that of arrival. A member of a group counts as arrived when
 * the acquire of the group began. Only the head of the line sends requests; the other waiters stand behind it in the
 * client.
 *
 * A line exists while there are waiters. It listens to the unlock channel and keeps the store's latest answer about the
 * name. The head sends no request while a release of this client has no answer, and none while another handle of this
 * client holds the name: when that handle releases, either the hold is handed on to the head, or the release carries
 * the head's acquire. Handles of several kinds may stand in one line; each sends the scripts of its kind. A waiter that
 * polls needs no channel. A try (wait 0) does not wait for its turn: it sends its request at once, or is answered from
 * what the line knows.
 * Handles of kind FAIR, and all that share the name, do not stand behind the head: each has a place of its own at the
 * store, and sends its own requests. Such a handle requests its first place only while few releases of this client are
 * unanswered. Without this limit, waits could end faster than a slow store answers their releases, and each new wait
 * would leave one more abandoned place in the queue at the store.
 * Invariant: before a waiter sleeps, it has sent a request after the latest news, and after the confirmation of its
 * subscription to the unlock channel (R7).
 * No code here walks the line, so a waiter costs the same in a line of any length. There are two exceptions: when a new
 * link is up, the waiters with a place at the store are visited; and a member whose group makes it acquire a second
 * time passes the waiters whose acquires began after that of the group. */
#ifndef HL_LOCK_LINE_H
#define HL_LOCK_LINE_H

#include "core/name.h"
#include "lock/acquire.h"

TAILQ_HEAD(hl_acquires, hl_acquire);

enum hl_line_answer {     /* what the latest answer of the store was, and what came since */
    LINE_NOT_ASKED,            /* there was no answer yet */
    LINE_HELD,                 /* the name was held */
    LINE_HELD_BY_US,           /* the name was held; since then a hold of this client was released */
    LINE_UNANSWERED,           /* the latest request got no answer */
    LINE_FAULT                 /* the latest request was refused: fault_status says why */
};

struct hl_line {
    struct hl_core *core;
    struct hl_name *name;
    /* Whether a waiter has a place of its own at the store is up to its terms (hl_has_own_place): FAIR handles and all
     * that share the name have one. */
    struct hl_acquires lists[STANDS_LISTS]; /* by enum hl_standing:
        IN_LINE      the waiters without a place of their own, in order of arrival. Waiters that have had no WAITING
                     event, if there are any, are the last ones; the head may lack it, too.
        HELD_BACK    the waiters that need a place of their own, and may not request it yet, because too many releases
                     of the name have no answer.
        IN_QUEUE     those that have a place of their own, or may request it. One that was found at position 1 stands
                     first.
        AS_TRY       the tries that have sent no request, because it is not their turn.
        AS_SENT_TRY  the tries that have sent theirs; and those of a kind whose waiters have places of their own, which
                     send it at once. */
    struct hl_grant_channel *grant_channel; /* the channel of the grants of this name; NULL: no place needs it, or
                                               there was no memory for it */
    LIST_ENTRY(hl_line) by_grant_channel; /* links the line into grant_channel->lines */
    unsigned waiting_here;         /* how many handles of this client wait, without the tries */
    uint8_t is_channel_refused;    /* the subscription to the unlock channel was refused, so the waiters poll */
    uint64_t other_program_until_us; /* until then the client assumes that another program uses the name, because
                                        one held it lately */
    uint64_t stale_before_us;      /* when the latest message or push came, or the client began to listen: answers
                                      to requests that were sent before prove nothing */
    uint8_t is_held_by_other_program; /* the latest answer was that another program holds the name, and no news came
                                         since */
    uint8_t answer;                /* enum hl_line_answer */
    int8_t fault_status;           /* LINE_FAULT: a hilock_status */
    unsigned faults;               /* how many faults came in a row */
    uint32_t queued_at_store;      /* how many waiters of all clients are in the queue at the store, as last heard */
    uint32_t holders;              /* LINE_HELD: how many hold the name */
    uint64_t answered_at_us;       /* when the latest answer came */
    uint64_t lease_ends_at_us;     /* when the holder's lease ends, as last heard; UINT64_MAX: the lease has no end */
    char *holder_or_error;         /* LINE_HELD: the holder; LINE_FAULT: the words of the server. NULL stands for
                                      the empty text */
    struct hl_listener *unlock_listener; /* listens to the unlock channel; NULL: that is not needed yet */
    struct hl_listener *java_listener; /* listens to the private channel of the first waiter of a Redisson fair lock;
                                          NULL: that is not needed */
};

/* Returns the first waiter without a place of its own; NULL: there is none. */
static inline struct hl_acquire *hl_line_head(const struct hl_line *line)
{
    return TAILQ_FIRST(&line->lists[STANDS_IN_LINE]);
}

/* Makes the head of the line send its request, if it may send one now, and all tries that have sent none. wakes: the
 * head does so even if it sleeps. */
void hl_line_advance(struct hl_line *line, int wakes);

/* Makes every waiter with a place send a heartbeat soon, at random moments so that they make no burst. Skips the
 * waiters whose last request went to the node `except`. waiting: how many waiters may send one; the more there are, the
 * longer is the time over which they are spread. */
void hl_line_wake_places(struct hl_line *line, unsigned waiting, const struct hl_node *except);

/* Returns the line of a name. If there is none, makes one, which must be joined. NULL: there is no memory. */
struct hl_line *hl_line_get_or_new(struct hl_core *core, struct hl_name *name);
/* Puts the acquire into the line. The acquire may send its request, or be answered, inside this call. It stands in the
 * line until it is DECIDED; if it is granted, until its answer is delivered. */
void hl_line_join(struct hl_line *line, struct hl_acquire *acquire);
/* takes the waiter out of the line, and then lets the line advance */
void hl_line_leave(struct hl_acquire *acquire);
/* takes the waiter out of the line, with no other effect */
void hl_line_remove_quietly(struct hl_acquire *acquire);
/* Keeps the answer to this acquire as what is known of the name; said NULL: there was none. */
void hl_line_learn(const struct hl_acquire *acquire, const struct hl_response *said);
/* 1: the name is held, by this client or as last heard */
int hl_line_is_name_held(const struct hl_name *name);
/* moves a waiter to the front or to the back of its list */
void hl_line_move(struct hl_acquire *acquire, int to_front);
/* our release of a hold of this name was answered, or no answer can come any more */
void hl_line_released(struct hl_name *name);
void hl_line_try_again(struct hl_acquire *acquire); /* the waiter sends a request again when its turn comes */
/* a hold of this client has begun: it answers the tries that have sent no request */
void hl_line_deny_tries(struct hl_name *name);
void hl_lines_close(struct hl_core *core);     /* ends every wait with CLOSED */
/* the name was found held: reports WAITING to all waiters that have had no such report */
void hl_line_report_waiting(struct hl_core *core, struct hl_name *name);
/* Returns the waiter that comes after the present holder; NULL: there is none, or it has a request under way or may
 * have a grant. */
struct hl_acquire *hl_line_next(const struct hl_name *name);
/* another program holds the name, or did until now */
void hl_line_note_other_program(struct hl_name *name);
static inline int hl_line_had_other_program_lately(const struct hl_name *name)
{
    return name->line && name->line->other_program_until_us > hl_now_us(&name->line->core->host);
}
/* From now on, answers to earlier requests prove nothing. */
static inline void hl_line_mark_stale(struct hl_line *line)
{
    line->stale_before_us = hl_now_us(&line->core->host);
    line->is_held_by_other_program = 0;
}
/* The store answered that the name is held: subscribes to the channels on which a message could wake this waiter. */
void hl_line_listen(const struct hl_acquire *acquire, const struct hl_response *said);
/* Returns 1 if news came after the latest request of this waiter was sent. The answer may be older than the news, so
 * the waiter sends a request again before it sleeps (R7). */
static inline int hl_line_is_outdated(const struct hl_acquire *acquire)
{
    return acquire->lock->name->line->stale_before_us > acquire->hold->request.sent_us;
}
void hl_line_stop_listening(struct hl_line *line); /* call when no other program has held the name lately */
/* up: a node whose link is back; the waiters for names at that node try again. NULL: names have moved; those
 * waiters try again whose last request went to a node that no longer serves their name. */
void hl_lines_retry(struct hl_core *core, const struct hl_node *up);
/* Returns how many handles of this client wait, without the tries. */
static inline unsigned hl_line_waiting(const struct hl_name *name) { return name->line ? name->line->waiting_here : 0; }

/* If there is no memory for the hold of a waiter whose turn has come, the waiter keeps its position. A timer then
 * advances all lines from time to time until there is memory. If the wait ends first, it is answered NO_MEMORY. The
 * timer is made with the client. */
void hl_lines_after_shortage(void *core); /* the callback of core->locks->shortage_timer */
void hl_lines_retry_soon(struct hl_core *core); /* starts that timer, unless it runs already */

#endif
