/* SPDX-License-Identifier: BSD-3-Clause */
/* name - see name.h. */
#include "core/name.h"

#include "base/container.h"
#include "base/contract.h"

enum { KEY_MORE = 2 }; /* how much longer the key is than the name */

static size_t write_key(char to[HILOCK_NAME_MAX + KEY_MORE], const char *bytes, size_t length, unsigned master)
{
    memcpy(to, bytes, length);
    to[length] = '\0';
    to[length + 1] = (char)master;
    return length + KEY_MORE;
}

struct hl_name *hl_name_find(struct hl_core *core, const char *bytes, size_t length, unsigned master)
{
    char key[HILOCK_NAME_MAX + KEY_MORE];
    size_t used = write_key(key, bytes, length, master);
    struct hl_table_entry *entry = hl_table_find(&core->names, key, used);
    return entry ? HL_CONTAINER(entry, struct hl_name, entry) : NULL;
}

struct hl_name *hl_name_ref(struct hl_core *core, const char *bytes, size_t length, unsigned master)
{
    char key[HILOCK_NAME_MAX + KEY_MORE];
    struct hl_name *name = hl_name_find(core, bytes, length, master);
    (void)write_key(key, bytes, length, master);
    if (name) {
        name->refs++;
        return name;
    }
    name = hl_memory_new(&core->host.memory, offsetof(struct hl_name, bytes) + length + KEY_MORE);
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

void hl_name_end(struct hl_core *core, const struct hl_memory *memory, struct hl_name *name)
{
    HL_REQUIRE(LIST_EMPTY(&name->holds) && !name->line); /* a hold and a line have a reference each */
    if (core)
        hl_table_remove(&core->names, &name->entry);
    hl_memory_free(memory, name);
}
