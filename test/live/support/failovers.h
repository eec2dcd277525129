/* SPDX-License-Identifier: BSD-3-Clause */
/* failovers - a row of failovers under load, by kill, stop and force in turn, and what came of them: printed, and returned. */
#ifndef LIVE_FAILOVERS_H
#define LIVE_FAILOVERS_H

#include "load.h"
#include "server.h"

struct failovers_of { /* a deployment */
    void *set;
    void (*settle)(void *set);
    /* at the server of this lock; when another took over */
    uint64_t (*strike)(void *set, unsigned lock, enum server_fault fault);
    const char *url, *since;                                                  /* since: what time to the next grant counts from */
    unsigned (*switches)(void *set);                                          /* how many there were so far, ours or not; NULL: not known */
    int is_spread;                                                            /* other servers go on meanwhile: grants of that lock count */
    unsigned serve_ms, rest_ms;                                               /* before each, when all is well; after each */
};

struct sentinels;
struct shards;
struct failovers_of failovers_of_sentinels(struct sentinels *set);
struct failovers_of failovers_of_shards(struct shards *set);

unsigned failovers_wanted(void); /* FAILOVERS of the environment, or 3 */

/* With so many replicas asked for (0: none). The test fails unless every wait is served, and nothing overlaps where replicas confirm. Without them
 * a kill may bring one overlap, of all names: what the old master had granted and not replicated. After another fault a name may overlap once: its
 * holder's turn may last until the new master says that it is not the holder's. So it is with tokens that do not rise; after a kill all rise. */
void failovers_play(const struct failovers_of *of, unsigned count, unsigned replicas);

#endif
