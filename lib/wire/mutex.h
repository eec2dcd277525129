/* SPDX-License-Identifier: BSD-3-Clause */
/* mutex - the words of kind MUTEX: argv out, replies in. Pure: no state, no I/O.
 * The layout is Redisson's RLock's, so that Java services and ours exclude each other (README.md here). */
#ifndef HL_WIRE_MUTEX_H
#define HL_WIRE_MUTEX_H

#include "base/command.h"
#include "wire/fault.h"

struct hl_words { /* of whom and what a command speaks; by reference */
    const char *name;
    size_t name_length;
    const char *uuid; /* of the client; with the acquisition's number it is the holder */
    uint64_t id;
};

struct hl_mutex_terms {
    uint64_t lease_ms;
    unsigned reserved;     /* tokens set aside for hand-offs */
    uint64_t not_after_ms; /* server time; 0: any time */
    uint64_t token_ttl_ms;
};

void hl_mutex_acquire(struct hl_command *command, const struct hl_words *words, const struct hl_mutex_terms *terms);
void hl_mutex_renew(struct hl_command *command, const struct hl_words *words, uint64_t lease_ms, uint64_t token);
void hl_mutex_release(struct hl_command *command, const struct hl_words *words);

enum hl_verdict {
    HL_YES,   /* acquire: ours under `token`. renew: it was ours. release: it was, and is free now */
    HL_NO,    /* acquire: `holder` has it. renew, release: the store does not know this hold */
    HL_LATE,  /* acquire: later than not_after by the server's clock, server_us: not done */
    HL_FAULT  /* not done, so far as the store says: `fault`, `quote` */
};

struct hl_said {
    enum hl_verdict verdict;
    uint64_t token;              /* acquire YES */
    uint64_t left_ms;            /* acquire NO: PTTL of the holder; renew YES: PTTL found */
    int has_no_ttl;              /* acquire NO: held without an expiry */
    const char *holder;          /* acquire NO; dies with the reply */
    size_t holder_length;
    uint64_t server_us;          /* LATE */
    uint64_t listeners;          /* release YES */
    int was_unheard;             /* release YES: the message was refused */
    struct hl_fault fault;       /* FAULT */
    const char *quote;           /* FAULT: the server's words; dies with the reply */
    size_t quote_length;
};

struct hl_said hl_mutex_acquire_said(const struct hl_reply *reply);
struct hl_said hl_mutex_renew_said(const struct hl_reply *reply);
struct hl_said hl_mutex_release_said(const struct hl_reply *reply);

#endif
