/* SPDX-License-Identifier: BSD-3-Clause */
/* words - see words.h. */
#include "group/words.h"

const char hl_words_all_granted[] = "granted";
const char hl_words_settled[] = "every release of this handle is confirmed, or its lease has run out";
const char hl_words_half_extended[] =
    "too few masters confirmed the extend; the hold lasts as long as hilock_lock_remaining_ms() reports";
const char hl_words_vote_lost[] =
    "a master's vote was lost, and renewals at other masters fail: too few votes are renewed";
const char hl_words_away[] = "away";
const char hl_words_unconnected[] = "not connected yet";
const char hl_words_unanswered[] = "no answer yet";
const char hl_words_no_vote[] = "no vote";

struct hl_text hl_words_acquire_silence(unsigned needed, unsigned masters, uint32_t within_ms, unsigned attempts)
{
    struct hl_text text;
    hl_text_set(&text, "no answer from %u of %u masters within %u ms and %u attempt%s%s", needed, masters, within_ms,
                attempts, attempts == 1 ? "" : "s", attempts ? "; a late grant will be undone" : "");
    return text;
}

struct hl_text hl_words_question_silence(unsigned needed, unsigned masters, uint32_t within_ms,
                                         int may_have_ended)
{
    struct hl_text text;
    hl_text_set(&text, "no answer from %u of %u masters within %u ms%s", needed, masters, within_ms,
                may_have_ended ? "; the hold may have been ended: ask again" : "");
    return text;
}

struct hl_text hl_words_multi_lost(const char *why, unsigned names)
{
    struct hl_text text;
    hl_text_set(&text, "%s; all %u names of this multi are released", why, names);
    return text;
}

struct hl_text hl_words_votes(unsigned granted, unsigned masters)
{
    struct hl_text text;
    hl_text_set(&text, "%u of %u masters said yes", granted, masters);
    return text;
}

void hl_words_add_validity(struct hl_text *text, uint32_t valid_ms)
{
    hl_text_add(text, "; valid for %u ms", valid_ms);
}

void hl_words_add_master(struct hl_text *text, int is_first, int is_granted, const char *node, const char *why)
{
    const char *lead = !is_first ? ", " : is_granted ? "; not: " : "; away: ";
    hl_text_add(text, "%s%s (%s)", lead, node, why);
}
