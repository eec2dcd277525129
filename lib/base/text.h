/* SPDX-License-Identifier: BSD-3-Clause */
/* text - sentences for humans in fixed space. Text from outside goes into them by quote.h. */
#ifndef HL_BASE_TEXT_H
#define HL_BASE_TEXT_H

#include <hilock/hilock.h>
#include <stdarg.h>
#include <stddef.h>

enum { HL_TEXT_MAX = 256 };

struct hl_text { char bytes[HL_TEXT_MAX]; }; /* always terminated */

__attribute__((format(printf, 2, 3))) void hl_text_set(struct hl_text *text, const char *format, ...);
__attribute__((format(printf, 2, 3))) void hl_text_add(struct hl_text *text, const char *format, ...);
/* Sets the reason of a refusal, and returns status. */
__attribute__((format(printf, 3, 4))) hilock_status hl_text_refuse(struct hl_text *why, hilock_status status,
                                                                   const char *format, ...);

#endif
