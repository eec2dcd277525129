/* SPDX-License-Identifier: BSD-3-Clause */
/* reader - what a server may say.
 * hiredis makes the objects of a reply through a table of functions. Ours comes first and refuses excess (R9): an
 * unasked reply, other types than those of protocol version 2, and more items, levels or bytes than any reply that we
 * ask for. To hiredis a refusal looks like a lack of memory: it reads no further. A good reply becomes a struct
 * hl_reply that points into hiredis' own, so a reply without items needs no memory. Of a list inside a list only the
 * first few items are kept; the others cost no memory and are not needed: the slots of a fragmented cluster name their
 * servers 16 384 times, each with replicas, ids and host names. */
#ifndef HL_LINK_READER_H
#define HL_LINK_READER_H

#include <hiredis/async.h>

#include "base/memory.h"
#include "base/reply.h"

enum {
    HL_READER_BYTES_MAX = 4 << 20, /* of the strings of one reply, and of bytes of an unfinished one */
    HL_READER_LINE_MAX = 64 << 10, /* of a status, an error or a number */
    HL_READER_NAMED_MAX = 1 << 20  /* items of one reply, skipped ones included */
};

struct hl_reader {
    redisReader *parser;                     /* hiredis' own, inside the context */
    const redisReplyObjectFunctions *makers; /* hiredis' own, which ours call */
    size_t asked;                            /* replies to come; without any, one that is no error is refused, */
    int is_stream;                           /* unless they may come at any time */
    const char *refusal;                     /* why a reply was refused; NULL: none was */
    size_t items, bytes, named;              /* of the reply being read; named: items, skipped ones included */
    const struct hl_memory *memory;
    struct hl_reply *scratch;
    size_t scratch_items;
    redisReply integer;                      /* the latest reply that was a number: most are, and it needs no memory */
};

void hl_reader_init(struct hl_reader *reader, redisReader *parser, const struct hl_memory *memory);
void hl_reader_done(struct hl_reader *reader); /* the parser may be gone already; all zero is allowed */

/* The reply that the parser has made last, as a view into it; flat is used for the topmost. NULL: no memory. */
const struct hl_reply *hl_reader_view(struct hl_reader *reader, const redisReply *reply, struct hl_reply *flat);
void hl_reader_free(void *reply); /* what the parser has made */
int hl_reader_is_full(const struct hl_reader *reader); /* the bytes of an unfinished reply are more than any reply
                                                          may have */

#endif
