/* SPDX-License-Identifier: BSD-3-Clause */
/* stranger - a server that is not what the url promises at its address, recognized by how it answers. The table has a
 * row for each kind: a sentence that says what the server seems to be and what to do, and the status of acquires that
 * asked there. Other code passes a stranger on as its sentence, either as the reason why a connection ended or as an
 * error reply with this text; hl_stranger_named finds the row again. */
#ifndef HL_BASE_STRANGER_H
#define HL_BASE_STRANGER_H

#include "base/reply.h"

#include <hilock/hilock.h>

struct hl_stranger {
    hilock_status status;
    const char *words;
};

extern const struct hl_stranger hl_stranger_scriptless;   /* a server that does not know SCRIPT or EVALSHA */
extern const struct hl_stranger hl_stranger_sentinel;     /* a sentinel where the url promises a server */
extern const struct hl_stranger hl_stranger_no_sentinel;  /* something else where the url promises a sentinel */
extern const struct hl_stranger hl_stranger_cluster_node; /* a cluster node where the url promises a single server */
extern const struct hl_stranger hl_stranger_no_cluster;   /* a single server where the url promises a cluster node */

/* Recognizes a server by the first bytes that it sent without TLS. NULL: they begin a Redis reply. */
const struct hl_stranger *hl_stranger_of_bytes(const char *bytes, size_t length);
/* Recognizes a server by its refusal to load a script ("": it loaded them) and by its reply to INFO. NULL: it can keep
 * locks. */
const struct hl_stranger *hl_stranger_of_server(const char *load_refusal, const struct hl_reply *info);
int hl_stranger_lacks_command(const char *bytes, size_t length); /* this error refuses a command as unknown */
struct hl_reply hl_stranger_reply(const char *words); /* an error reply with this text, which must outlive the reply */
/* Returns the stranger that has this sentence, or NULL. */
const struct hl_stranger *hl_stranger_named(const char *words, size_t length);

#endif
