/* SPDX-License-Identifier: BSD-3-Clause */
/* text - see text.h. */
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>

/* HOLDER_TAIL is for a holder id that is not ours and has no uuid. */
enum { UUID_HEAD = 8, UUID_LENGTH = 36, HOLDER_TAIL = 28 };

void hl_text_set(struct hl_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(text->bytes, sizeof text->bytes, format, list);
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

hilock_status hl_text_refuse(struct hl_text *why, hilock_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why->bytes, sizeof why->bytes, format, list);
    va_end(list);
    return status;
}

static int is_uuid(const char *bytes, size_t length)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    size_t i = 0;
    while (i < length && form[i] && (form[i] == '-' ? bytes[i] == '-' : isxdigit((unsigned char)bytes[i])))
        i++;
    return !form[i];
}

struct piece { const char *shown; size_t shown_length, length; }; /* `shown` stands for the next `length` bytes */

/* Hides the longest secret that begins at i, because one secret may be the beginning of another. Also cuts a uuid. */
static struct piece piece_at(const char *const *secrets, const char *bytes, size_t i, size_t length)
{
    size_t longest = 0;
    for (const char *const *secret = secrets; secret && *secret; secret++) {
        size_t size = strlen(*secret);
        if (size > longest && size <= length - i && memcmp(bytes + i, *secret, size) == 0)
            longest = size;
    }
    if (longest)
        return (struct piece){"***", 3, longest};
    if (secrets && i >= UUID_HEAD && is_uuid(bytes + i - UUID_HEAD, length - i + UUID_HEAD))
        return (struct piece){"..", 2, UUID_LENGTH - UUID_HEAD};
    return (struct piece){bytes + i, 1, 1};
}

struct hl_quoted hl_text_quote_server(const char *const *secrets, const char *bytes, size_t length)
{
    struct hl_quoted quoted = {""};
    struct piece piece;
    char text[5], *end = quoted.bytes;
    for (size_t i = 0; i < length; i += piece.length) {
        piece = piece_at(secrets, bytes, i, length);
        for (size_t at = 0; at < piece.shown_length; at++) {
            unsigned char byte = (unsigned char)piece.shown[at];
            int is_plain = byte >= 0x20 && byte < 0x7f && byte != '\\' && byte != '"';
            snprintf(text, sizeof text, is_plain ? "%c" : "\\x%02x", byte);
            if (end + strlen(text) + sizeof ".." > quoted.bytes + sizeof quoted.bytes) {
                stpcpy(end, "..");
                return quoted;
            }
            end = stpcpy(end, text);
        }
    }
    return quoted;
}

struct hl_quoted hl_text_quote(const char *bytes, size_t length) { return hl_text_quote_server(NULL, bytes, length); }

struct hl_quoted hl_text_holder(const char *holder, size_t length)
{
    static const char *const no_secrets[] = {NULL};
    struct hl_quoted quoted = hl_text_quote(holder, length < UUID_HEAD ? length : UUID_HEAD);
    const char *colon = length > UUID_HEAD ? memchr(holder, ':', length) : NULL;
    size_t tail = colon && colon > holder + UUID_HEAD ? (size_t)(holder + length - colon) : 0;
    size_t head = strlen(quoted.bytes);
    if (is_uuid(holder, length))
        return hl_text_quote_server(no_secrets, holder, length);
    if (length > UUID_HEAD)
        snprintf(quoted.bytes + head, sizeof quoted.bytes - head, "..%.60s%s",
                 hl_text_quote(holder + length - tail, tail < HOLDER_TAIL ? tail : HOLDER_TAIL).bytes,
                 tail > HOLDER_TAIL ? ".." : "");
    return quoted;
}
