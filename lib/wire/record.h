/* SPDX-License-Identifier: BSD-3-Clause */
/* record - how a waiter stands in the queue at the store: its place, and its latest heartbeat. Only record.c knows here
 * how these are written, and only record.lua at the server. README.md lists their words. */
#ifndef HL_WIRE_RECORD_H
#define HL_WIRE_RECORD_H

#include "base/command.h"
#include "wire/protocol.h"

enum { HL_GRANT_CHANNEL_MAX = 64 }; /* the length of the text, with its terminator */

/* How a waiter stands in the queue at the store. The store finds a place by this text alone. So the text is made once
 * for an id, at its first question, and never changes for that id. */
struct hl_queue_entry {
    uint64_t due_s;     /* the next heartbeat comes before the end of this second, by the server's clock; 0: there is
                           no entry */
    uint32_t window_ms; /* how long a grant stands that is pushed to this waiter */
    unsigned reserved;  /* how many tokens such a grant reserves for later turns */
    uint32_t holders_max; /* how many may hold the name together with this waiter, itself included */
    char channel[HL_GRANT_CHANNEL_MAX]; /* where grants are pushed; "": the waiter polls */
};

/* What has changed since the entry was written. Each question has one, except a first question without a ticket. */
struct hl_heartbeat {
    uint64_t number;    /* the number of this question, never used twice with this id; 0: this is a first question
                           without a heartbeat */
    uint64_t due_s;
    uint32_t window_ms;
    /* FIRST: polls in short steps, so that it is ready; FAR: is passed over */
    enum hl_listening { HL_LISTENS, HL_POLLS_FIRST, HL_POLLS_FAR } listening;
    char channel[HL_GRANT_CHANNEL_MAX]; /* LISTENS: where grants are pushed */
};

/* These two continue the last argument of a command. The holder of the place must stand in front, or the script puts it
 * there. */
void hl_record_add_entry(struct hl_command *command, const struct hl_queue_entry *entry);
void hl_record_add_heartbeat(struct hl_command *command, const struct hl_heartbeat *heartbeat);
/* Writes the channel on which a client gets its grants, as its places name it. If it is sharded, the channel itself
 * begins after the "!". tag: the hash tag of the lock's slot, or "". */
void hl_record_channel(char to[HL_GRANT_CHANNEL_MAX], const char *uuid, const char *tag, int is_sharded);

#endif
