/* SPDX-License-Identifier: BSD-3-Clause */
/* name - a lock's name as long as anybody has it: handles, holds, and its gate. Names that nobody wants leave nothing behind. */
#ifndef HL_LOCK_NAME_H
#define HL_LOCK_NAME_H

#include "lock/core.h"

struct hl_name *hl_name_ref(struct hl_core *core, const char *bytes, size_t length); /* NULL: no memory */
void hl_name_unref(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name); /* core NULL: the client is gone */
void hl_names_detach(struct hl_core *core); /* it goes: its handles keep their names */

struct hl_names { /* in the order given, each referenced */
    unsigned count;
    const uint8_t *order; /* their indices, sorted by bytes; behind them */
    struct hl_name *of[];
};

/* The references become its own. NULL: no memory, and nothing has changed. */
struct hl_names *hl_names_new(const struct hl_memory *memory, struct hl_name *const *names, unsigned count);
void hl_names_free(struct hl_core *core, const struct hl_memory *memory, struct hl_names *names); /* core NULL: the client is gone */

#endif
