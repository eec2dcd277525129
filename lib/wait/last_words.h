/* SPDX-License-Identifier: BSD-3-Clause */
/* last_words - the sentence of an acquire that ends without the lock: what or who was in the way. */
#ifndef HL_WAIT_LAST_WORDS_H
#define HL_WAIT_LAST_WORDS_H

#include "wait/waiter.h"

struct hl_last_words { /* one block of memory; NULL: no text or no memory: the status' own sentence */
    uint32_t holder_remaining_ms;
    const char *detail; /* behind the holder */
    char holder[];      /* "": none */
};
struct hl_last_words *hl_last_words_copy(const struct hl_memory *memory, const struct hilock_result *result);
void hl_last_words_say(const struct hl_last_words *words, struct hilock_result *result); /* of that status */
/* while the gate still knows */
struct hl_last_words *hl_last_words_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status);

#endif
