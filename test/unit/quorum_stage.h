/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum_stage - a fixture with several masters, and what may happen to them. They are counted from 0. */
#ifndef TEST_UNIT_QUORUM_STAGE_H
#define TEST_UNIT_QUORUM_STAGE_H

#include "play.h"

const char *const *urls_of(unsigned count); /* of the first masters */
struct client *quorum_with(struct fixture *s, unsigned count, struct hilock_client_options options);
struct client *quorum(struct fixture *s, unsigned count); /* connected to all that can be reached */
unsigned kept(struct fixture *s, const char *name);      /* how many masters have it for some client of this fixture */
size_t asked_all(struct fixture *s, const char *word);   /* commands of that word that the masters executed, all together */
void crash(struct fixture *s, unsigned i);
void restart_empty(struct fixture *s, unsigned i);       /* also after a crash */
void take_at(struct fixture *s, unsigned first, unsigned count, const char *holder); /* "stock" is another's at these */

#endif
