/* SPDX-License-Identifier: BSD-3-Clause */
/* text - see text.h. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

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
