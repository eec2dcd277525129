/* SPDX-License-Identifier: BSD-3-Clause */
/* field - see field.h. */
#include "wire/field.h"

#include <string.h>

#include "wire/response.h"

int hl_field_take(struct hl_field *text, struct hl_field *ret_word)
{
    const char *end = memchr(text->at, ' ', text->length);
    *ret_word = (struct hl_field){text->at, end ? (size_t)(end - text->at) : text->length};
    text->at += ret_word->length + (end != NULL);
    text->length -= ret_word->length + (end != NULL);
    return ret_word->length != 0;
}

int hl_field_is_number(struct hl_field text, uint64_t *ret_number)
{
    *ret_number = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (i == 17 || text.at[i] < '0' || text.at[i] > '9')
            return 0;
        *ret_number = *ret_number * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.length && *ret_number <= HL_NUMBER_MAX;
}

int hl_field_take_number(struct hl_field *text, uint64_t *ret_number)
{
    struct hl_field word;
    return hl_field_take(text, &word) && hl_field_is_number(word, ret_number);
}
