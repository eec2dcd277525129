/* SPDX-License-Identifier: BSD-3-Clause */
/* name - a lock's name at one node, while handles, holds or its line use it. An unused name takes no memory. The same
 * bytes at several independent masters are several names. */
#ifndef HL_CORE_NAME_H
#define HL_CORE_NAME_H

#include "core/core.h"
#include "wire/kind.h"

struct hl_line;
struct hl_hold;
struct hl_recheck;

struct hl_name { /* a lock's name while it is in use: found by its bytes */
    struct hl_table_entry entry;
    uint32_t refs;
    uint32_t ending;      /* holds and places of this name whose release has no answer yet */
    struct hl_hold *hold; /* ours now, or NULL */
    struct hl_line *line; /* its waiters; NULL: none */
    struct hl_recheck *recheck; /* a grant of it that may lapse (hold/recheck.h); NULL: none */
    uint16_t length : 11;
    uint16_t master : 5;  /* which of several independent masters it is at */
    char bytes[];         /* a terminator, and the master: the key of the table */
};

/* NULL: no memory */
struct hl_name *hl_name_ref(struct hl_core *core, const char *bytes, size_t length, unsigned master);
/* core NULL: the client is gone */
void hl_name_unref(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name);
struct hl_name *hl_name_find(struct hl_core *core, const char *bytes, size_t length, unsigned master); /* NULL: none */
struct hl_node *hl_name_node(const struct hl_core *core, const struct hl_name *name); /* the node that serves it now */
/* The channel on which the store says that this client got the name, as a place in the queue has it. */
void hl_name_channel(const struct hl_core *core, const struct hl_name *name, int is_sharded,
                     char to[HL_GRANT_CHANNEL_MAX]);

static inline struct hl_about hl_name_about(const struct hl_name *name) /* for a route */
{
    return (struct hl_about){name->bytes, name->length, name->master};
}
static inline struct hl_quoted hl_name_quoted(const struct hl_name *name) /* for a sentence */
{
    return hl_text_quote(name->bytes, name->length);
}

#endif
