/* SPDX-License-Identifier: BSD-3-Clause */
/* reader - what a server may say.
 * hiredis makes the objects of a reply through a table of functions. Ours stands before it and refuses what would ask too much (R9): a
 * reply to nothing that was asked (hiredis' async contexts assert that it cannot be), other types than those of protocol version 2, and
 * more items, levels or bytes than any reply of ours has. A refusal looks to hiredis as if memory had run out: the context ends by itself
 * and in order. What passes becomes a struct hl_reply that points into hiredis' own, so a reply without items needs no memory.
 * Of a list inside a list only the first few items are kept, for more of it is never asked for: the slots of a fragmented cluster have their
 * servers 16 384 times over, each with replicas, ids and host names. The others cost no memory. */
#ifndef HL_LINK_READER_H
#define HL_LINK_READER_H

#include <hiredis/async.h>

#include "base/memory.h"
#include "base/reply.h"

enum {
    HL_READER_BYTES_MAX = 4 << 20, /* of the strings of one reply, and of what waits to become one */
    HL_READER_LINE_MAX = 64 << 10, /* of a status, an error or a number */
    HL_READER_NAMED_MAX = 1 << 20  /* items of one reply, with those that are passed over */
};

struct hl_reader {
    redisReader *parser;                     /* hiredis' own, inside the context */
    const redisReplyObjectFunctions *makers; /* hiredis' own, behind ours */
    const redisCallbackList *asked;          /* empty: nothing has been asked, so nothing may come; NULL: anything may, any time */
    const char *refusal;                     /* why a reply was refused; NULL: none was */
    size_t items, bytes, named;              /* of the reply being read; named: items, with those that are passed over */
    const struct hl_memory *memory;
    struct hl_reply *scratch;
    size_t scratch_items;
};

void hl_reader_init(struct hl_reader *reader, redisReader *parser, const struct hl_memory *memory);
void hl_reader_done(struct hl_reader *reader); /* the parser may be gone already; all zero is allowed */

/* The reply that the parser has made last, as a view into it; flat is used for the topmost. NULL: no memory. */
const struct hl_reply *hl_reader_view(struct hl_reader *reader, const redisReply *reply, struct hl_reply *flat);
int hl_reader_is_full(const struct hl_reader *reader); /* what has arrived and is not yet a reply is longer than any may be */

#endif
