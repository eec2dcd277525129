/* SPDX-License-Identifier: BSD-3-Clause */
/* name - see name.h. */
#include "lock/name.h"

#include "base/contract.h"

struct hl_name *hl_name_ref(struct hl_core *core, const char *bytes, size_t length)
{
    struct hl_table_entry *entry = hl_table_find(&core->names, bytes, length);
    struct hl_name *name = (struct hl_name *)(void *)entry;
    if (name) {
        name->refs++;
        return name;
    }
    name = hl_memory_new(&core->host.memory, sizeof *name + length + 1);
    if (!name)
        return NULL;
    name->refs = 1;
    name->length = length & 0x7ff;
    memcpy(name->bytes, bytes, length);
    if (hl_table_add(&core->names, &name->entry, name->bytes, length) == 0)
        return name;
    hl_memory_free(&core->host.memory, name);
    return NULL;
}

void hl_name_unref(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name)
{
    if (--name->refs)
        return;
    HL_REQUIRE(!name->hold && !name->is_awaited);
    if (core)
        hl_table_remove(&core->names, &name->entry);
    hl_memory_free(memory, name);
}

void hl_names_detach(struct hl_core *core)
{
    struct hl_table_entry *entry;
    while ((entry = hl_table_next(&core->names, NULL)) != NULL)
        hl_table_remove(&core->names, entry);
}
