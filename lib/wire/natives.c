/* SPDX-License-Identifier: BSD-3-Clause */
/* natives - see natives.h. COMMAND INFO answers a list with nil for each name that it does not know. */
#include "wire/natives.h"

void hl_natives_ask(struct hl_command *command)
{
    hl_command_begin(command, "COMMAND");
    hl_command_add_word(command, "INFO");
    hl_command_add_word(command, "DELIFEQ");
    hl_command_add_word(command, "DELEX");
}

static unsigned has(const struct hl_reply *reply, size_t i, const char *name)
{
    const struct hl_reply *entry = hl_reply_item(reply, i, HL_REPLY_ARRAY);
    const struct hl_reply *found = entry ? hl_reply_item(entry, 0, HL_REPLY_STRING) : NULL;
    return found && hl_reply_is(found, name);
}

unsigned hl_natives_told(const struct hl_reply *reply)
{
    return (has(reply, 0, "delifeq") ? HL_NATIVE_DELIFEQ : 0u) | (has(reply, 1, "delex") ? HL_NATIVE_DELEX : 0u);
}
