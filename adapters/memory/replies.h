/* SPDX-License-Identifier: BSD-3-Clause */
/* replies - builds answers in an arena that is emptied between commands, so that an answer usually allocates
 * nothing. */
#ifndef SIM_STORE_REPLIES_H
#define SIM_STORE_REPLIES_H

#include "reply.h"

struct sim_block;
struct sim_replies {
    struct sim_block *first, *here; /* here: the block from which the next piece is taken */
    size_t used;                    /* how many bytes of that block are in use */
};
struct sim_mark { struct sim_block *here; size_t used; };

void sim_replies_init(struct sim_replies *replies);
void sim_replies_done(struct sim_replies *replies);
struct sim_mark sim_replies_mark(const struct sim_replies *replies);
void sim_replies_rewind(struct sim_replies *replies, struct sim_mark mark); /* frees everything taken since the mark */
void sim_replies_reset(struct sim_replies *replies);
void *sim_replies_take(struct sim_replies *replies, size_t bytes);

/* bytes are copied */
struct sim_reply *sim_reply(struct sim_replies *replies, enum sim_reply_type type, const char *bytes, size_t length);
struct sim_reply *sim_reply_integer(struct sim_replies *replies, int64_t integer);
struct sim_reply *sim_reply_array(struct sim_replies *replies, size_t count); /* all its items are nil at first */
void sim_reply_set(const struct sim_reply *array, size_t i, struct sim_reply item);
/* a string */
void sim_reply_put(struct sim_replies *replies, const struct sim_reply *array, size_t i, const char *bytes,
                   size_t length);
__attribute__((format(printf, 2, 3))) struct sim_reply *sim_reply_error(struct sim_replies *replies, const char *format,
                                                                        ...);

extern const struct sim_reply sim_nil, sim_ok, sim_zero, sim_one, sim_wrong_type, sim_syntax_error, sim_not_an_integer;

#endif
