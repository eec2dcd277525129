/* SPDX-License-Identifier: BSD-3-Clause */
/* text - sentences for humans in fixed space. What comes from outside is quoted: bytes that are not printable ASCII are escaped, long
 * ones are cut, so that a log line stays one line. */
#ifndef HL_BASE_TEXT_H
#define HL_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

enum { HL_TEXT_MAX = 256 };

struct hl_text { char bytes[HL_TEXT_MAX]; }; /* always terminated */

__attribute__((format(printf, 2, 3))) void hl_text_set(struct hl_text *text, const char *format, ...);
__attribute__((format(printf, 2, 3))) void hl_text_add(struct hl_text *text, const char *format, ...);
void hl_text_set_list(struct hl_text *text, const char *format, va_list list);

struct hl_quoted { char bytes[100]; };
struct hl_quoted hl_quote(const char *bytes, size_t length); /* without quotation marks; cut with ".." */
/* What a server said: each of the secrets (ended by NULL) is "***" in it, and a uuid, as holders begin, is cut. */
struct hl_quoted hl_quote_said(const char *const *secrets, const char *bytes, size_t length);
struct hl_quoted hl_quote_holder(const char *holder, size_t length); /* "5f0c1a2b..:17": never a whole uuid */

#endif
