/* SPDX-License-Identifier: BSD-3-Clause */
/* stranger - what seems to stand at an address where the url promised something else, recognized by how it answers. One
 * table has each of them: its sentence, which says what it seems to be and what to do, and the status with which locks
 * end that ask there. A stranger is passed on as its sentence: links and nodes report the end of a connection in words,
 * and requests are answered with an error reply of these words; hl_stranger_named finds the row again. */
#ifndef HL_BASE_STRANGER_H
#define HL_BASE_STRANGER_H

#include "base/reply.h"

#include <hilock/hilock.h>

struct hl_stranger {
    hilock_status status;
    const char *words;
};

extern const struct hl_stranger hl_stranger_scriptless;   /* it does not know SCRIPT or EVALSHA */
extern const struct hl_stranger hl_stranger_sentinel;     /* where a server was to be */
extern const struct hl_stranger hl_stranger_no_sentinel;  /* where a sentinel was to be */
extern const struct hl_stranger hl_stranger_cluster_node; /* at a url of one server */
extern const struct hl_stranger hl_stranger_no_cluster;   /* where a node of a cluster was to be */

/* Of the first bytes that came without TLS. NULL: they begin a reply of Redis. */
const struct hl_stranger *hl_stranger_of_bytes(const char *bytes, size_t length);
/* Of a server that answered: how it refused to load a script ("": it did not), and what it said to INFO. NULL: it can
 * keep locks. */
const struct hl_stranger *hl_stranger_of_server(const char *load_refusal, const struct hl_reply *info);
int hl_stranger_lacks_command(const char *bytes, size_t length); /* these words refuse a command as unknown */
struct hl_reply hl_stranger_reply(const char *words); /* an error reply of these words, which must outlive it */
/* NULL: no stranger's sentence. */
const struct hl_stranger *hl_stranger_named(const char *words, size_t length);

#endif
