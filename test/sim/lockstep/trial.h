/* SPDX-License-Identifier: BSD-3-Clause */
/* trial - what is said in one run: a stream of commands and of clock readings that a seed decides, and the answers of the store (where they
 * agree with the server's, as they must: the tokens that renewals name come from them). */
#ifndef LOCKSTEP_TRIAL_H
#define LOCKSTEP_TRIAL_H

#include "base/command.h"
#include "base/random.h"
#include "base/reply.h"
#include "wire/holder.h"
#include "wire/kind.h"

enum { NAMES = 6, HOLDERS = 5, KINDS = 5, KEYS = NAMES * KINDS, SPEAKERS = 3, BATCH_MAX = 8, KEY_ROOM = 96 };

enum trial_happening { GRANTED, HELD, LATE, RENEWED, RELEASED, SIMPLE_TAKEN, SIMPLE_RENEWED, SIMPLE_RELEASED, FAIR_QUEUED, FAIR_HANDED, HAPPENINGS };
extern const char *const trial_happenings[HAPPENINGS]; /* how much of what matters has happened */

#define TRIAL_BEGINS_US UINT64_C(1700000000000000)

struct bytes { size_t length; char at[KEY_ROOM]; };

struct line {
    unsigned speaker;      /* 0 speaks; the others listen, and speak seldom */
    int name, holder;      /* of a script of the library; else -1 */
    char forced[HL_HOLDER_MAX]; /* the holder that a forced release names: the command points to it */
    struct hl_command command;
};

struct trial {
    struct hl_random random;
    uint64_t now_us;
    struct bytes keys[KEYS]; /* of each name: lock, token, queue, Redisson's queue, places */
    struct bytes channels[NAMES];
    uint64_t tokens[NAMES][HOLDERS], tickets[NAMES][HOLDERS], beats;
    struct hl_queue_entry entries[NAMES][HOLDERS];
    struct hl_lapsed lapsed; /* the latest grant to another */
    unsigned to_load; /* scripts that are still to be loaded */
    int latest_name, latest_holder; /* of a grant */
    uint64_t simple_key, simple_holder; /* of the latest SIMPLE acquire */
    uint64_t happened[HAPPENINGS]; /* answers */
};

void trial_init(struct trial *trial, uint64_t seed);
void trial_move_clock(struct trial *trial, int64_t left_us); /* left_us: of some key, to step to its edge; or negative */
void trial_line(struct trial *trial, struct line *line);
void trial_answers(struct trial *trial, const struct line *line, const struct hl_reply *reply);
uint64_t trial_below(struct trial *trial, uint64_t bound);
uint64_t trial_some_ms(struct trial *trial);

/* ---- place.c ---- */

void trial_stand(struct trial *trial, const struct line *line, struct hl_acquire_params *params); /* it has or takes a place */
void trial_released(struct trial *trial, const struct hl_reply *reply);                  /* and what it handed over */

#endif
