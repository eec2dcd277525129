/* SPDX-License-Identifier: BSD-3-Clause */
/* view - what the latest answer of the store, which the line of the name keeps, means for a waiter: how long it may
 * sleep, and the words if its acquire ends without the lock: who held the name, or what was in the way. */
#ifndef HL_LOCK_VIEW_H
#define HL_LOCK_VIEW_H

#include "base/text.h"
#include "lock/acquire.h"

/* returns how long this waiter may sleep until it sends a request again */
uint64_t hl_view_sleep_us(struct hl_core *core, const struct hl_acquire *acquire);
/* Returns how long a polling waiter sleeps between two polls. A part of the time is random, so that pollers do not fall
 * into step. */
uint64_t hl_view_poll_us(struct hl_core *core, const struct hl_terms *terms);
/* 1: a hold of this client is in the way of this try, or the lease of the holder, as last heard, is not over: so the
 * try needs no request. */
int hl_view_denies(const struct hl_acquire *acquire);

/* The status of an acquire that ends now. TIMED_OUT: another holds the name; UNREACHABLE: there was no answer;
 * otherwise the latest fault of the store. */
hilock_status hl_view_status(struct hl_core *core, const struct hl_acquire *acquire);

struct hl_view { /* what an answer with a given status shows */
    char words[HL_TEXT_MAX];      /* TIMED_OUT: the holder, which may be a handle of this client; a fault: the words
                                     of the server; otherwise "" */
    uint32_t holder_remaining_ms; /* TIMED_OUT: what is left of the holder's lease */
    uint32_t holders;             /* TIMED_OUT: how many hold the name, as last heard; 0: not heard */
    uint32_t age_ms;              /* how old the words are; 0: they name our own holder */
};
struct hl_view hl_view_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status);

struct hl_result_words { /* One block of memory. NULL stands for no text or no memory; then the user gets the
                            sentence of the status. */
    uint32_t holder_remaining_ms, holders;
    const char *detail; /* the sentence; its bytes follow the holder in the same block */
    char holder[];      /* "": no holder is known */
};
struct hl_result_words *hl_view_copy_words(const struct hl_memory *memory, const struct hilock_result *result);
/* result->status is set already */
void hl_view_set_words(const struct hl_result_words *words, struct hilock_result *result);
/* Call before the acquire leaves its line. */
struct hl_result_words *hl_view_result_words(struct hl_core *core, const struct hl_acquire *acquire,
                                             hilock_status status);

#endif
