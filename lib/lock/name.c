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
    HL_REQUIRE(!name->hold && !name->is_awaited); /* both have a reference */
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

/* ---- several ---- */

static int is_before(const struct hl_name *a, const struct hl_name *b)
{
    int differs = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return differs ? differs < 0 : a->length < b->length;
}

struct hl_names *hl_names_new(const struct hl_memory *memory, struct hl_name *const *names, unsigned count)
{
    struct hl_names *own = hl_memory_new(memory, sizeof *own + count * (sizeof own->of[0] + 1));
    uint8_t *order = own ? (uint8_t *)(own->of + count) : NULL;
    if (!own)
        return NULL;
    own->count = count;
    own->order = order;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i;
        own->of[i] = names[i];
        for (; at > 0 && is_before(names[i], names[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)i;
    }
    return own;
}

void hl_names_free(struct hl_core *core, const struct hl_memory *memory, struct hl_names *names)
{
    for (unsigned i = 0; i < names->count; i++)
        hl_name_unref(core, memory, names->of[i]);
    hl_memory_free(memory, names);
}
