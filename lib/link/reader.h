/* SPDX-License-Identifier: BSD-3-Clause */
/* reader - what a server may say.
 * hiredis parses, and makes the objects of a reply through a table of functions. Ours make them as struct hl_reply, in
 * the client's memory, and refuse excess (R9): an unasked reply, other types than those of protocol version 2, and more
 * items, levels or bytes than any reply that we ask for. To hiredis a refusal looks like a lack of memory: it reads no
 * further. A reply without bytes and items needs no memory. Of a list inside a list only the first few items are kept;
 * the others cost no memory and are not needed: the slots of a fragmented cluster name their servers 16 384 times, each
 * with replicas, ids and host names.
 * Invariant: there is at most one reply at a time; each is freed before the next is read. */
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
    struct hl_reply reply;   /* first: hiredis hands it back. The one being read, or read last */
    struct hl_reply skipped; /* stands for each item that is not kept */
    const struct hl_memory *memory;
    size_t asked;            /* replies to come; without any, one that is no error is refused, */
    int is_stream;           /* unless they may come at any time */
    const char *refusal;     /* why a reply was refused; NULL: none was */
    uint64_t items, bytes, named; /* of the reply being read; named: items, skipped ones included */
};

void hl_reader_init(struct hl_reader *reader, redisReader *parser, const struct hl_memory *memory);
void hl_reader_free(void *reply); /* what the parser has made, a struct hl_reply */
int hl_reader_is_full(const redisReader *parser); /* an unfinished reply is longer than any may be */

#endif
