/* SPDX-License-Identifier: BSD-3-Clause */
/* command - see command.h. */
#include "base/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"

void hl_command_begin(struct hl_command *command, const char *word)
{
    command->argc = 0;
    command->script = NULL;
    command->used = 0;
    hl_command_add_word(command, word);
}

void hl_command_evalsha(struct hl_command *command, const struct hl_script *script, unsigned keys)
{
    hl_command_begin(command, "EVALSHA");
    hl_command_add(command, script->sha1, 40);
    hl_command_add_number(command, keys);
    command->script = script;
}

void hl_command_load(struct hl_command *command, const struct hl_script *script)
{
    hl_command_begin(command, "SCRIPT");
    hl_command_add_word(command, "LOAD");
    hl_command_add(command, script->text, script->length);
}

void hl_command_add(struct hl_command *command, const char *bytes, size_t length)
{
    HL_REQUIRE(command->argc < HL_COMMAND_ARGS_MAX);
    command->argv[command->argc] = bytes;
    command->lengths[command->argc++] = length;
}

void hl_command_add_word(struct hl_command *command, const char *word) { hl_command_add(command, word, strlen(word)); }

void hl_command_add_number(struct hl_command *command, uint64_t number)
{
    char *digits = hl_command_room(command, 21);
    int length = snprintf(digits, 21, "%" PRIu64, number);
    hl_command_add(command, digits, (size_t)length);
}

char *hl_command_room(struct hl_command *command, size_t length)
{
    char *room = command->room + command->used;
    HL_REQUIRE(length <= sizeof command->room - command->used);
    command->used += length;
    return room;
}
