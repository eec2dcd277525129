/* SPDX-License-Identifier: BSD-3-Clause */
/* words - every text of this folder that a user reads: the details of results and events of a multi or a quorum. Each
 * text says what happened, to what, and what to do. A function gets values and makes the finished text. */
#ifndef HL_GROUP_WORDS_H
#define HL_GROUP_WORDS_H

#include "base/text.h"

extern const char hl_words_all_granted[], hl_words_settled[], hl_words_half_extended[], hl_words_vote_lost[];
/* why one master did not grant, for hl_words_add_master */
extern const char hl_words_away[], hl_words_unconnected[], hl_words_unanswered[], hl_words_no_vote[];

/* Too few masters answered an acquire. attempts: how many requests were sent */
struct hl_text hl_words_acquire_silence(unsigned needed, unsigned masters, uint32_t within_ms, unsigned attempts);
/* Too few masters answered an operator's question. may_have_ended: it may have ended the hold all the same */
struct hl_text hl_words_question_silence(unsigned needed, unsigned masters, uint32_t within_ms,
                                         int may_have_ended);
/* A name of a multi was lost; why: what happened to that name. names: how many the multi has */
struct hl_text hl_words_multi_lost(const char *why, unsigned names);
/* A quorum is granted: add the missing masters, and then for how long the hold is valid. */
struct hl_text hl_words_votes(unsigned granted, unsigned masters);
void hl_words_add_validity(struct hl_text *text, uint32_t valid_ms);
/* Adds one master of a list to the text. is_granted: the list has those that did not grant, otherwise those that cannot
 * be reached */
void hl_words_add_master(struct hl_text *text, int is_first, int is_granted, const char *node, const char *why);

#endif
