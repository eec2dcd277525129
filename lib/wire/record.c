/* SPDX-License-Identifier: BSD-3-Clause */
/* record - see record.h. */
#include "wire/record.h"

#include "base/platform.h"
#include "wire/holder.h"

/* " <version> <channel> <due> <window_ms> <reserved> <most>". The last word is how many may hold the name together. */
void hl_record_add_entry(struct hl_command *command, const struct hl_queue_entry *entry)
{
    hl_command_append_text(command, " " HL_RECORD_VERSION " ");
    hl_command_append_text(command, *entry->channel ? entry->channel : HL_CHANNEL_POLLS);
    hl_command_append_number(command, " ", entry->due_s);
    hl_command_append_number(command, " ", entry->window_ms);
    hl_command_append_number(command, " ", entry->reserved);
    hl_command_append_number(command, " ", entry->holders_max);
}

/* "; <number> <due> <channel> <window_ms>" */
void hl_record_add_heartbeat(struct hl_command *command, const struct hl_heartbeat *heartbeat)
{
    static const char *const polls[] = {[HL_POLLS_FIRST] = HL_CHANNEL_POLLS_FIRST, [HL_POLLS_FAR] = HL_CHANNEL_POLLS};
    hl_command_append_number(command, "; ", heartbeat->number);
    hl_command_append_number(command, " ", heartbeat->due_s);
    hl_command_append_text(command, " ");
    hl_command_append_text(command, heartbeat->listening == HL_LISTENS ? heartbeat->channel
                                                                       : polls[heartbeat->listening]);
    hl_command_append_number(command, " ", heartbeat->window_ms);
}

void hl_record_channel(char to[HL_GRANT_CHANNEL_MAX], const char *uuid, const char *tag, int is_sharded)
{
    char *end = stpcpy(stpcpy(to, is_sharded ? HL_CHANNEL_SHARDED : ""), "hilock:grant:");
    end = mempcpy(end, uuid, HL_UUID_LENGTH);
    end = *tag ? stpcpy(stpcpy(stpcpy(end, ":{"), tag), "}") : end;
    *end = '\0';
}
