/* SPDX-License-Identifier: BSD-3-Clause */
/* words - the sentences about locks that users read: the details of results and events, and the reasons in log lines.
 * They are those of core, hold and lock. Each sentence names what happened, to which name or server, and what
 * comes next or what to do.
 * The functions get values, not the structs of the folders above. A name comes quoted (hl_name_quoted), a holder
 * without its whole uuid (hl_text_holder), the words of a server without passwords (hl_words_of_server). A time in ms
 * is rounded down. */
#ifndef HL_CORE_WORDS_H
#define HL_CORE_WORDS_H

#include "base/text.h"
#include "core/lock.h"

/* ---- servers ---- */

const char *hl_words_silence(const struct hl_node *node); /* why this server gave no answer */
/* Returns what a server answered to a command that it refused. If that text shows which right is missing, the right
 * comes first. */
struct hl_text hl_words_of_server(const struct hl_core *core, const char *quote, size_t length);
/* Writes why a call on this handle ends with that status. note: the answer of the server, by hl_words_of_server; "":
 * none. */
void hl_words_refusal(const struct hilock_lock *lock, hilock_status status, const char *note, struct hl_text *text);

/* ---- a grant that replicas must confirm ---- */

void hl_words_too_few_replicas(struct hl_text *text, long long confirmed, unsigned wanted, unsigned timeout_ms);
void hl_words_wait_refused(struct hl_text *text, const char *server_words);

/* ---- renewals, extends, and the loss of a hold ---- */

extern const char hl_words_acquire_late[];        /* an acquire that was refused because it arrived too late */
extern const char hl_words_renewal_unanswered[];  /* reasons of a failed renewal */
extern const char hl_words_renewal_overdue[];
extern const char hl_words_renewal_unsent[];

void hl_words_lease_shorter(struct hl_text *text, const char *name, uint32_t found_ms); /* than we counted on */
void hl_words_lease_longer(struct hl_text *text, const char *name, uint32_t found_ms);  /* than we asked for */
void hl_words_extend_unknown(struct hl_text *text, const char *name, const char *node, uint32_t waited_ms);
void hl_words_downgrade_unknown(struct hl_text *text, const char *name, const char *node, uint32_t waited_ms);
/* why: hl_node_why of that server; "": it is silent */
void hl_words_extend_unreachable(struct hl_text *text, const char *name, const char *node, uint32_t waited_ms,
                                 const char *why);

/* TAKEN; and then, if another server took over less than a lease before the loss, when it did. is_spread: names move
 * between servers in a cluster */
void hl_words_taken(struct hl_text *text, const char *name);
void hl_words_add_takeover(struct hl_text *text, const char *node, uint32_t before_ms, int is_spread);
/* EXPIRED. node: the server that the hold was renewed at */
void hl_words_expired(struct hl_text *text, const char *name, uint32_t lease_ms, int is_renewed, const char *node,
                      int is_connected);
void hl_words_suspended(struct hl_text *text, const char *name, uint32_t late_ms); /* after the deadline */
void hl_words_held_too_long(struct hl_text *text, const char *name, uint32_t hold_max_ms);
void hl_words_drained(struct hl_text *text, const char *name);

/* ---- releases ---- */

extern const char hl_words_publish_refused[];
void hl_words_release_refused(struct hl_text *text, const char *name, const char *server_words);
void hl_words_release_repeated(struct hl_text *text, const char *name); /* a failover lost it */
/* These follow a release that was answered UNKNOWN. */
void hl_words_release_confirmed(struct hl_text *text, const char *name, uint32_t waited_ms);
void hl_words_release_lapsed(struct hl_text *text, const char *name);

/* ---- an acquire that ends without the lock ---- */

/* the name is free, but earlier waiters come first */
void hl_words_reserved(struct hl_text *text, const char *name);
/* the same until a moment ago; the store was not asked since */
void hl_words_held_by_us_before(struct hl_text *text, const char *name);
void hl_words_held_by_us(struct hl_text *text, const char *name);      /* another handle of this client holds it */
/* Returns the holder as sentences show it, and how many others share the name with it. */
struct hl_text hl_words_holders(const char *holder, uint32_t holders);
void hl_words_held(struct hl_text *text, const char *name, const char *holder); /* a try found it held */
void hl_words_held_on(struct hl_text *text, const char *name, const char *holder, uint32_t waited_ms,
                      unsigned attempts);                              /* a wait ended while the name was held */
void hl_words_add_lease_end(struct hl_text *text, uint32_t remaining_ms); /* when the lease of the holder ends */
/* position 0: the acquire has no place, as a try */
void hl_words_add_position(struct hl_text *text, unsigned position, unsigned waiters);
/* A request was sent and has no answer; no request could be sent. why: hl_words_silence of that server. */
void hl_words_no_answer(struct hl_text *text, const char *node, uint32_t waited_ms, const char *why, unsigned attempts);
void hl_words_not_asked(struct hl_text *text, const char *node, uint32_t waited_ms, const char *why);
void hl_words_queue_full(struct hl_text *text, const char *name, unsigned waiters, unsigned queue_max);
void hl_words_starved(struct hl_text *text, const char *name);
void hl_words_unconfirmed(struct hl_text *text, unsigned wanted, uint32_t waited_ms); /* the wait ended before WAIT */
void hl_words_not_replicated(struct hl_text *text, const char *why); /* why: hl_words_too_few_replicas, for example */

/* ---- events and answers of a handle ---- */

extern const char hl_words_granted[], hl_words_waiting[], hl_words_passed_over[], hl_words_reentry_lost[];
void hl_words_renewed(struct hl_text *text, const char *name); /* after renewals that failed */
void hl_words_renewals_failed(struct hl_text *text, const char *name, unsigned failures, uint32_t valid_ms,
                              uint32_t next_ms);
void hl_words_handed_on(struct hl_text *text, const char *name);
void hl_words_share_left(struct hl_text *text, const char *name);
void hl_words_release_lost(struct hl_text *text, const char *name);
void hl_words_release_unknown(struct hl_text *text, const char *name);

/* ---- inquiries ---- */

/* why: hl_words_silence of that server. may_have_ended: a forced release was sent */
void hl_words_inquiry_unanswered(struct hl_text *text, const char *node, uint32_t waited_ms, const char *why,
                                 int may_have_ended);
void hl_words_holder_too_long(struct hl_text *text, const char *name, size_t length, unsigned most);
void hl_words_nobody_holds(struct hl_text *text, const char *name);
void hl_words_holder(struct hl_text *text, const char *name, const char *holder, enum hl_find found,
                     uint32_t remaining_ms);
void hl_words_forced(struct hl_text *text, const char *name, const char *holder);
void hl_words_not_forced(struct hl_text *text, const char *name, const char *holder); /* not the holder */

#endif
