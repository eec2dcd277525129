/* SPDX-License-Identifier: BSD-3-Clause */
/* command - one command's argv, built in fixed space just before it is sent. Names and ids are always whole arguments:
 * no text is assembled that a server would parse (R9). An argument that is added by reference must live until the
 * command is sent. */
#ifndef HL_BASE_COMMAND_H
#define HL_BASE_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hl_script {
    const char *name, *text;
    size_t length;
    const char *sha1; /* 40 hex digits */
};

enum { HL_COMMAND_ARGS_MAX = 20, HL_COMMAND_ROOM = 6 * 1024, HL_DECIMAL_MAX = 20 };

struct hl_command {
    int argc;
    const char *argv[HL_COMMAND_ARGS_MAX];
    size_t lengths[HL_COMMAND_ARGS_MAX];
    /* The script that an EVALSHA runs, to load it if the server does not have it; else NULL. */
    const struct hl_script *script;
    size_t used;
    char room[HL_COMMAND_ROOM];
};

void hl_command_begin(struct hl_command *command, const char *word);
/* Begins an EVALSHA with `keys` keys; the caller adds the keys and arguments. */
void hl_command_evalsha(struct hl_command *command, const struct hl_script *script, unsigned keys);
void hl_command_load(struct hl_command *command, const struct hl_script *script); /* a whole SCRIPT LOAD */
/* These two add an argument by reference. */
void hl_command_add(struct hl_command *command, const char *bytes, size_t length);
void hl_command_add_word(struct hl_command *command, const char *word);
void hl_command_add_number(struct hl_command *command, uint64_t number);
size_t hl_command_decimal(char to[HL_DECIMAL_MAX], uint64_t number); /* returns the length; writes no terminator */
char *hl_command_room(struct hl_command *command, size_t length); /* space inside the command, for an argument */

/* An argument that is written piece by piece: begins an empty one, which the others continue. No other argument may be
 * added in between. They are inline, because most pieces are short constants. */
static inline void hl_command_begin_text(struct hl_command *command)
{
    hl_command_add(command, hl_command_room(command, 0), 0);
}

static inline void hl_command_append(struct hl_command *command, const char *bytes, size_t length)
{
    memcpy(hl_command_room(command, length), bytes, length);
    command->lengths[command->argc - 1] += length;
}

static inline void hl_command_append_text(struct hl_command *command, const char *text)
{
    hl_command_append(command, text, strlen(text));
}

static inline void hl_command_append_number(struct hl_command *command, const char *before, uint64_t number)
{
    char digits[HL_DECIMAL_MAX];
    hl_command_append_text(command, before);
    hl_command_append(command, digits, hl_command_decimal(digits, number));
}

/* Encodes argv in the Redis protocol, directly into the buffer that it is sent from. Returns the length. hiredis' own
 * formatter took two fifths of the client's time for a request, and leaves a copy in the heap, which may be a
 * password. */
size_t hl_command_encode(char *to, int argc, const char *const *argv, const size_t *lengths);
size_t hl_command_encoded_max(int argc, const size_t *lengths); /* the most room that needs */

#endif
