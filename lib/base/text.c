/* SPDX-License-Identifier: BSD-3-Clause */
/* text - see text.h. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { HOLDER_TAIL = 28 }; /* ":<any number>:fair", but no uuid */

void hl_text_set_list(struct hl_text *text, const char *format, va_list list) { vsnprintf(text->bytes, sizeof text->bytes, format, list); }

void hl_text_set(struct hl_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    hl_text_set_list(text, format, list);
    va_end(list);
}

void hl_text_add(struct hl_text *text, const char *format, ...)
{
    size_t used = strlen(text->bytes);
    va_list list;
    va_start(list, format);
    vsnprintf(text->bytes + used, sizeof text->bytes - used, format, list);
    va_end(list);
}

/* Appends one byte as text; 0: no room for it and for the ".." that would have to follow. */
static size_t quote_byte(char *to, size_t room, unsigned char byte)
{
    int is_plain = byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '"';
    size_t needed = is_plain ? 1 : 4;
    if (needed + 3 > room)
        return 0;
    if (is_plain)
        *to = (char)byte;
    else
        snprintf(to, room, "\\x%02x", byte);
    return needed;
}

struct hl_quoted hl_quote(const char *bytes, size_t length)
{
    struct hl_quoted quoted;
    size_t used = 0, i = 0, added = 1;
    for (; i < length && added; i++) {
        added = quote_byte(quoted.bytes + used, sizeof quoted.bytes - used, (unsigned char)bytes[i]);
        used += added;
    }
    memcpy(quoted.bytes + used, added ? "" : "..", added ? 1 : 3);
    return quoted;
}

struct hl_quoted hl_quote_holder(const char *holder, size_t length)
{
    const char *colon = length ? memchr(holder, ':', length) : NULL;
    struct hl_quoted head = hl_quote(holder, length < 8 ? length : 8), tail;
    size_t tail_length = colon ? (size_t)(holder + length - colon) : 0, shown = tail_length < HOLDER_TAIL ? tail_length : HOLDER_TAIL;
    if (!colon || colon - holder <= 8)
        return length > 8 ? (memcpy(head.bytes + strlen(head.bytes), "..", 3), head) : head;
    tail = hl_quote(colon, shown);
    snprintf(head.bytes + strlen(head.bytes), sizeof head.bytes - strlen(head.bytes), "..%.60s%s", tail.bytes, shown < tail_length ? ".." : "");
    return head;
}
