/* SPDX-License-Identifier: BSD-3-Clause */
/* vote - see vote.h. */
#include "group/vote.h"

#include "lock/view.h"
#include "wire/holder.h"

enum hl_vote_state hl_vote_state_of(hilock_status status)
{
    if (status == HILOCK_OK)
        return VOTE_YES;
    if (status == HILOCK_TIMED_OUT)
        return VOTE_HELD;
    if (status == HILOCK_UNREACHABLE)
        return VOTE_SILENT;
    return status == HILOCK_UNWRITABLE || status == HILOCK_NOT_REPLICATED || status == HILOCK_NO_MEMORY ? VOTE_FAULT
                                                                                                      : VOTE_REFUSED;
}

/* The holds of one attempt of a client have ids of one block, so ids of one block name the same holder. */
int hl_vote_is_of_same_holder(const char *holder, const char *other)
{
    uint64_t block = hl_holder_number(holder) >> HL_VOTE_ID_BITS;
    int is_block = block && hl_holder_number(other) >> HL_VOTE_ID_BITS == block;
    return strcmp(holder, other) == 0 || (is_block && memcmp(holder, other, HL_UUID_LENGTH) == 0);
}

static const char *holder_of(const struct hl_vote *vote) { return vote->words ? vote->words->holder : ""; }

struct hl_vote *hl_vote_most_agreed(struct hl_vote *votes, unsigned count, hilock_status status, unsigned *ret_agreed)
{
    struct hl_vote *found = NULL;
    *ret_agreed = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned agreed = 0;
        for (unsigned j = 0; votes[i].status == status && j < count; j++)
            agreed += votes[j].status == status &&
                      hl_vote_is_of_same_holder(holder_of(&votes[j]), holder_of(&votes[i]));
        if (agreed > *ret_agreed) {
            found = &votes[i];
            *ret_agreed = agreed;
        }
    }
    return found;
}
