/* SPDX-License-Identifier: BSD-3-Clause */
/* command - see command.h. */
#include "base/command.h"

#include <string.h>

#include "base/contract.h"
#include "base/platform.h"

/* Bytes around an argument on the wire: $, its length, two line ends. */
enum { FRAME_MAX = 1 + HL_DECIMAL_MAX + 2 + 2 };

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
    HL_REQUIRE(command->argc < HL_COMMAND_ARGS_MAX); /* no command that we build has more arguments */
    command->argv[command->argc] = bytes;
    command->lengths[command->argc++] = length;
}

void hl_command_add_word(struct hl_command *command, const char *word) { hl_command_add(command, word, strlen(word)); }

void hl_command_add_number(struct hl_command *command, uint64_t number)
{
    char *digits = hl_command_room(command, HL_DECIMAL_MAX);
    hl_command_add(command, digits, hl_command_decimal(digits, number));
}

/* Written by hand because every command has several numbers, and snprintf took a fifth of the client's time for a
 * request. */
size_t hl_command_decimal(char to[HL_DECIMAL_MAX], uint64_t number)
{
    size_t digits = 1;
    for (uint64_t limit = 10; digits < HL_DECIMAL_MAX && number >= limit; limit *= 10)
        digits++;
    for (size_t at = digits; at--; number /= 10)
        to[at] = (char)('0' + number % 10);
    return digits;
}

static char *add_count(char *to, char mark, size_t count)
{
    *to++ = mark;
    return mempcpy(to + hl_command_decimal(to, count), "\r\n", 2);
}

size_t hl_command_encoded_max(int argc, const size_t *lengths)
{
    size_t room = FRAME_MAX;
    for (int i = 0; i < argc; i++)
        room += FRAME_MAX + lengths[i];
    return room;
}

size_t hl_command_encode(char *to, int argc, const char *const *argv, const size_t *lengths)
{
    char *at = add_count(to, '*', (size_t)argc);
    for (int i = 0; i < argc; i++) {
        at = mempcpy(add_count(at, '$', lengths[i]), argv[i], lengths[i]);
        at = mempcpy(at, "\r\n", 2);
    }
    return (size_t)(at - to);
}

/* The room fits the longest command, a release of kind FAIR: three keys and a channel of HILOCK_NAME_MAX bytes each, a
 * holder and numbers. */
char *hl_command_room(struct hl_command *command, size_t length)
{
    char *room = command->room + command->used;
    HL_REQUIRE(length <= sizeof command->room - command->used); /* names are bounded when a handle is made */
    command->used += length;
    return room;
}
