/* SPDX-License-Identifier: BSD-3-Clause */
/* last_words - the sentence of an acquire that ends without the lock: what or who was in the way. */
#ifndef HL_LOCK_LAST_WORDS_H
#define HL_LOCK_LAST_WORDS_H

#include "lock/core.h"

struct hl_last_words { /* in memory that the caller must free; NULL: no text or no memory: the status' own sentence */
    char *holder, *detail;
    uint32_t holder_remaining_ms;
};
struct hl_last_words hl_last_words_copy(const struct hl_memory *memory, const struct hilock_result *result);
void hl_last_words_free(const struct hl_memory *memory, struct hl_last_words *words); /* leaves none */
struct hl_last_words *hl_last_words_keep(const struct hl_memory *memory, struct hl_last_words words); /* NULL: none */
void hl_last_words_drop(const struct hl_memory *memory, struct hl_last_words *kept);
/* while the gate still knows */
struct hl_last_words hl_last_words_of(struct hl_core *core, const struct hl_acquire *acquire, hilock_status status);

#endif
