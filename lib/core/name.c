/* SPDX-License-Identifier: BSD-3-Clause */
/* name - see name.h. */
#include "core/name.h"

#include "base/contract.h"

enum { KEY_MORE = 2 }; /* behind the bytes */

struct hl_name *hl_name_ref(struct hl_core *core, const char *bytes, size_t length, unsigned master)
{
    char key[HILOCK_NAME_MAX + KEY_MORE];
    struct hl_name *name;
    memcpy(key, bytes, length);
    key[length] = '\0';
    key[length + 1] = (char)master;
    name = (struct hl_name *)(void *)hl_table_find(&core->names, key, length + KEY_MORE);
    if (name) {
        name->refs++;
        return name;
    }
    name = hl_memory_new(&core->host.memory, sizeof *name + length + KEY_MORE);
    if (!name)
        return NULL;
    name->refs = 1;
    name->length = length & 0x7ff;
    name->master = master & 0x1f;
    memcpy(name->bytes, key, length + KEY_MORE);
    if (hl_table_add(&core->names, &name->entry, name->bytes, length + KEY_MORE) == 0)
        return name;
    hl_memory_free(&core->host.memory, name);
    return NULL;
}

void hl_name_unref(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name)
{
    if (--name->refs)
        return;
    HL_REQUIRE(!name->hold && !name->gate); /* both have a reference */
    if (core)
        hl_table_remove(&core->names, &name->entry);
    hl_memory_free(memory, name);
}

struct hl_node *hl_name_node(const struct hl_core *core, const struct hl_name *name)
{
    return hl_route_node(core->route, &(struct hl_about){name->bytes, name->length, name->master});
}
