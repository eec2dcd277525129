/* SPDX-License-Identifier: BSD-3-Clause */
/* push - see push.h. */
#include "wire/push.h"

#include <hilock/options.h>
#include <string.h>

#include "wire/field.h"
#include "wire/protocol.h"
#include "wire/queued.h"

/* Returns 1 for a holder of this client, with or without a label, and its number. */
static int is_holder(struct hl_field text, const char *uuid, uint64_t *ret_id)
{
    const char *id = text.at + HL_UUID_LENGTH + 1, *end = text.at + text.length, *colon;
    if (text.length <= HL_UUID_LENGTH || memcmp(text.at, uuid, HL_UUID_LENGTH) != 0 || id[-1] != ':')
        return 0;
    colon = memchr(id, ':', (size_t)(end - id));
    return (!colon || colon + 1 < end) &&
           hl_field_is_number((struct hl_field){id, (size_t)((colon ? colon : end) - id)}, ret_id);
}

/* Cuts off the name that follows the words, which may be any bytes. No word contains a colon with a space behind it.
 * Returns 0 if there is no name. */
static int cut_name(struct hl_field *text, struct hl_push *push)
{
    const char *end = memmem(text->at, text->length, ": ", 2);
    size_t used = end ? (size_t)(end - text->at) : 0;
    push->name = end ? end + 2 : NULL;
    push->name_length = end ? text->length - used - 2 : 0;
    text->length = used;
    return push->name_length && push->name_length <= HILOCK_NAME_MAX;
}

static int take_time(struct hl_field *text, uint64_t *ret_us)
{
    uint64_t seconds, microseconds;
    int is_good = hl_field_take_number(text, &seconds) && hl_field_take_number(text, &microseconds) &&
                  seconds <= HL_NUMBER_MAX / 1000000 && microseconds <= 999999;
    *ret_us = is_good ? seconds * 1000000 + microseconds : 0;
    return is_good;
}

static int is_word(struct hl_field text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

struct hl_push hl_push_read(const struct hl_reply *message, const char *uuid)
{
    const struct hl_push nonsense = {.what = HL_PUSH_INVALID};
    struct hl_push push = {.what = HL_PUSH_GRANT};
    struct hl_field text = {message->bytes, message->length}, what, holder;
    uint64_t pause_ms;
    if (!cut_name(&text, &push) || !hl_field_take(&text, &what) || !hl_field_take(&text, &holder) ||
        !is_holder(holder, uuid, &push.id))
        return nonsense;
    if (is_word(what, HL_ASK_WORD)) {
        push.what = HL_PUSH_ASK;
        if (!hl_field_take_number(&text, &pause_ms) || pause_ms > HL_YIELD_MAX_MS)
            return nonsense;
        push.pause_us = pause_ms * 1000;
        (void)take_time(&text, &push.server_us);
        return push;
    }
    if (!is_word(what, HL_GRANT_WORD) || !hl_field_take_number(&text, &push.number) ||
        !hl_field_take_number(&text, &push.asked_us) ||
        !hl_field_take_number(&text, &push.window_ms) || !hl_field_take_number(&text, &push.token) ||
        !take_time(&text, &push.granted_us) || !push.token || push.window_ms > HL_WINDOW_MAX_MS)
        return nonsense;
    push.server_us = push.granted_us;
    return push;
}
