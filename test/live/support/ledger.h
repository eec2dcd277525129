/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger - the judge of exclusion: shared memory in which every process writes down when it began and ceased to hold which lock under which
 * token. All processes of a host have one CLOCK_BOOTTIME, so the judgement over intervals is exact. Besides, each lock has a slot that is
 * swapped at begin and end: an overlap is also seen in the very moment. Make it before the forks. */
#ifndef LIVE_LEDGER_H
#define LIVE_LEDGER_H

#include <stddef.h>
#include <stdint.h>

struct ledger;

struct ledger *ledger_new(unsigned locks, size_t grants_max);
void ledger_free(struct ledger *ledger);

/* In the grant's callback; the answer goes to ledger_end, called just before the release, or as the loss is reported. */
size_t ledger_begin(struct ledger *ledger, unsigned lock, uint64_t token);
void ledger_end(struct ledger *ledger, size_t grant);

/* Sets of locks: a bit for each of the first 64. */
#define LEDGER_ONE(lock) ((uint64_t)1 << (lock))

/* When the first grant of one of them after that began; 0: there was none. */
uint64_t ledger_first_after(const struct ledger *ledger, uint64_t locks, uint64_t at_us);

struct verdict {
    size_t grants, open;      /* all; never ended (their process died): not judged against later ones */
    size_t overlaps, met;     /* by intervals; by the slot. Both must be 0 */
    size_t backward;          /* tokens that did not rise in the order of the grants of one lock. Must be 0 */
    size_t changes;           /* of process between one grant and the next of the same lock: contention there was */
    uint64_t overlap_us;      /* the longest of the overlaps */
};
struct verdict ledger_judge(struct ledger *ledger);
struct verdict ledger_judge_some(struct ledger *ledger, uint64_t locks, uint64_t from_us, uint64_t to_us); /* judged before: grants that began then */

/* Any number of words for a test's own use, zero at first, atomic between processes. */
enum { LEDGER_WORDS = 16 };
_Atomic uint64_t *ledger_word(struct ledger *ledger, unsigned index);

#endif
