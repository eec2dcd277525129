/* SPDX-License-Identifier: BSD-3-Clause */
/* name - the name of a lock at one node, while a handle, a hold or its line refers to it; otherwise it takes no memory.
 * The same bytes at the masters of a quorum are several names. */
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
    uint32_t unanswered_releases; /* how many holds of this name are ending and have no answer to their release yet,
                                     without those that shared it */
    LIST_HEAD(, hl_hold) holds; /* the holds of this client that are HELD (hold/hold.h) */
    struct hl_line *line; /* the waiters of this name; NULL: there are none */
    struct hl_recheck *recheck; /* the recheck of a grant that may lapse (hold/recheck.h); NULL: none */
    uint16_t length : 11;
    uint16_t master : 5;  /* the index of the master that this name is at, if a quorum has several; otherwise 0 */
    char bytes[];         /* the name, a terminator, and the master: together they are the key of the table */
};

/* Returns NULL without memory. */
struct hl_name *hl_name_ref(struct hl_core *core, const char *bytes, size_t length, unsigned master);
/* The last reference is gone: frees the name. core NULL: the client is gone. */
void hl_name_end(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name);
static inline void hl_name_unref(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name)
{
    if (--name->refs == 0)
        hl_name_end(core, memory, name);
}
/* returns NULL if nothing refers to the name */
struct hl_name *hl_name_find(struct hl_core *core, const char *bytes, size_t length, unsigned master);

static inline struct hl_about hl_name_about(const struct hl_name *name) /* what routes need */
{
    return (struct hl_about){name->bytes, name->length, name->master};
}
/* 1: the name has these bytes. */
static inline int hl_name_is(const struct hl_name *name, const char *bytes, size_t length)
{
    return name->length == length && memcmp(name->bytes, bytes, length) == 0;
}
/* returns the node that serves the name now */
static inline struct hl_node *hl_name_node(const struct hl_core *core, const struct hl_name *name)
{
    const struct hl_about about = hl_name_about(name);
    return hl_route_node(core->route, &about);
}
static inline struct hl_quoted hl_name_quoted(const struct hl_name *name) /* the name as sentences show it */
{
    return hl_text_quote(name->bytes, name->length);
}

#endif
