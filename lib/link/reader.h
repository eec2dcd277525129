/* SPDX-License-Identifier: BSD-3-Clause */
/* reader - makes replies, within bounds, from what the server sends.
 * hiredis parses, and makes the objects of a reply through a table of functions. Our functions make them as struct
 * hl_reply, in the client's memory, and refuse (R9): a reply that no command asked for, types that protocol version 2
 * does not have, and more items, levels or bytes than any reply that we ask for. hiredis takes a refusal for a lack of
 * memory and stops reading. A reply without bytes and items needs no memory. Of a list inside a list only the first few
 * items are kept. The rest is not needed and takes no memory: the slots of a fragmented cluster name their servers
 * 16 384 times, each with replicas, ids and host names.
 * Invariant: there is at most one reply at a time; it is freed before the next one is read. */
#ifndef HL_LINK_READER_H
#define HL_LINK_READER_H

#include <hiredis/async.h>

#include "base/memory.h"
#include "base/reply.h"

enum {
    HL_READER_BYTES_MAX = 4 << 20, /* at most so many in the strings of one reply, and in an unfinished reply */
    HL_READER_LINE_MAX = 64 << 10, /* at most so many in a line: a status, an error or a number */
    HL_READER_NAMED_MAX = 1 << 20  /* items of one reply, including those that are not kept */
};

struct hl_reader {
    struct hl_reply reply;   /* the reply that is being read, or the last one */
    struct hl_reply skipped; /* stands for each item that is not kept */
    const struct hl_memory *memory;
    size_t asked;            /* how many replies are to come; at 0 only an error is let in */
    int is_stream;           /* replies may come at any time, and `asked` does not count */
    const char *refusal;     /* why a reply was refused; NULL: no reply was */
    uint64_t items, bytes, named; /* counts of the reply that is being read; `named` includes skipped items */
};

void hl_reader_init(struct hl_reader *reader, redisReader *parser, const struct hl_memory *memory);
void hl_reader_free(void *reply); /* frees a struct hl_reply that the parser returned */
int hl_reader_is_full(const redisReader *parser); /* the unfinished reply is longer than allowed */

#endif
