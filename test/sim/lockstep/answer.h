/* SPDX-License-Identifier: BSD-3-Clause */
/* answer - a reply as text, so that those of two servers can be compared and shown. */
#ifndef LOCKSTEP_ANSWER_H
#define LOCKSTEP_ANSWER_H

#include <hiredis/hiredis.h>

#include "memory/reply.h"

enum { ANSWER_ROOM = 16384 };
struct answer { size_t length; char text[ANSWER_ROOM]; };

void answer_start(struct answer *answer);
void answer_add_real(struct answer *answer, const redisReply *reply);
void answer_add_sim(struct answer *answer, const struct sim_reply *reply);
void answer_add_bytes(struct answer *answer, const char *bytes, size_t length); /* quoted */
int answer_is(const struct answer *one, const struct answer *other);

#endif
