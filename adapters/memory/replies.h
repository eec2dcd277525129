/* SPDX-License-Identifier: BSD-3-Clause */
/* replies - answers built in an arena that is emptied between commands, so that answering allocates nothing. */
#ifndef SIM_STORE_REPLIES_H
#define SIM_STORE_REPLIES_H

#include "reply.h"

struct sim_block;
struct sim_replies {
    struct sim_block *first, *here; /* here: where the next piece is taken from */
    size_t used;                    /* of here */
};
struct sim_mark { struct sim_block *here; size_t used; };

void sim_replies_init(struct sim_replies *replies);
void sim_replies_done(struct sim_replies *replies);
struct sim_mark sim_replies_mark(const struct sim_replies *replies);
void sim_replies_rewind(struct sim_replies *replies, struct sim_mark mark); /* what was taken since is gone */
void sim_replies_reset(struct sim_replies *replies);
void *sim_replies_take(struct sim_replies *replies, size_t bytes);

/* bytes are copied */
struct sim_reply *sim_reply(struct sim_replies *replies, enum sim_reply_type type, const char *bytes, size_t length);
struct sim_reply *sim_reply_integer(struct sim_replies *replies, int64_t integer);
struct sim_reply *sim_reply_array(struct sim_replies *replies, size_t count); /* of nils */
void sim_reply_set(const struct sim_reply *array, size_t i, struct sim_reply item);
/* a string */
void sim_reply_put(struct sim_replies *replies, const struct sim_reply *array, size_t i, const char *bytes,
                   size_t length);
__attribute__((format(printf, 2, 3))) struct sim_reply *sim_reply_error(struct sim_replies *replies, const char *format,
                                                                        ...);

extern const struct sim_reply sim_nil, sim_ok, sim_zero, sim_one, sim_wrong_type, sim_syntax_error, sim_not_an_integer;

#endif
