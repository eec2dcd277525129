/* SPDX-License-Identifier: BSD-3-Clause */
/* name - the name of a lock at one node, while handles, holds or its line use it. A name that is not used takes no
 * memory. The same bytes at several independent masters are several names. */
#ifndef HL_CORE_NAME_H
#define HL_CORE_NAME_H

#include "core/core.h"
#include "wire/kind.h"

struct hl_line;
struct hl_hold;
struct hl_recheck;

struct hl_name { /* found in core->names by its bytes and its master */
    struct hl_table_entry entry;
    uint32_t refs;
    uint32_t unanswered_releases; /* how many holds of this name end and have no answer to their release yet */
    struct hl_hold *hold; /* the hold that is ours now, or NULL */
    struct hl_line *line; /* the waiters of this name; NULL: there are none */
    struct hl_recheck *recheck; /* the grant of this name that may lapse (hold/recheck.h); NULL: none */
    uint16_t length : 11;
    uint16_t master : 5;  /* the index of the independent master that this name is at */
    char bytes[];         /* the name, a terminator, and the master: together they are the key of the table */
};

/* Returns NULL without memory. */
struct hl_name *hl_name_ref(struct hl_core *core, const char *bytes, size_t length, unsigned master);
/* core NULL: the client is gone. */
void hl_name_unref(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name);
/* returns NULL if the name is not used */
struct hl_name *hl_name_find(struct hl_core *core, const char *bytes, size_t length, unsigned master);
/* returns the node that serves the name now */
struct hl_node *hl_name_node(const struct hl_core *core, const struct hl_name *name);
/* Writes the channel on which the store publishes that this client got the name, as a place in the queue names it. */
void hl_name_channel(const struct hl_core *core, const struct hl_name *name, int is_sharded,
                     char to[HL_GRANT_CHANNEL_MAX]);

static inline struct hl_about hl_name_about(const struct hl_name *name) /* what a route must know about the name */
{
    return (struct hl_about){name->bytes, name->length, name->master};
}
static inline struct hl_quoted hl_name_quoted(const struct hl_name *name) /* the name as sentences show it */
{
    return hl_text_quote(name->bytes, name->length);
}

#endif
