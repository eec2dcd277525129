/* SPDX-License-Identifier: BSD-3-Clause */
/* vote - one answer as a group counts it: of a member to its acquire, of a master to an operator's question, or of the
 * whole group. */
#ifndef HL_GROUP_VOTE_H
#define HL_GROUP_VOTE_H

#include "core/lock.h"

struct hl_result_words;

/* The ids of one attempt differ in these lowest bits alone. They are so few that ids stay below 2^53 for as long as any
 * machine lives. */
enum { HL_VOTE_ID_BITS = 8 };

enum hl_vote_state {
    VOTE_OPEN,   /* no answer yet */
    VOTE_YES,
    VOTE_HELD,   /* others hold the name */
    VOTE_SILENT, /* no answer came in time */
    VOTE_FAULT,  /* refused for now: asking again may help */
    VOTE_REFUSED /* refused for good: asking again would be refused again */
};

struct hl_vote {
    enum hl_vote_state state;
    hilock_status status;          /* the answer, unless OPEN */
    struct hl_result_words *words; /* NULL: the answer has no words */
};

enum hl_vote_state hl_vote_state_of(hilock_status status); /* what an answer with this status is as a vote */
int hl_vote_is_of_same_holder(const char *holder, const char *other); /* equal, or holds of one attempt of a client */
/* Finds, among the votes with this status, the one whose holder most of them name. NULL: no vote has this status.
 * ret_agreed: how many votes name that holder */
struct hl_vote *hl_vote_most_agreed(struct hl_vote *votes, unsigned count, hilock_status status, unsigned *ret_agreed);

#endif
