/* SPDX-License-Identifier: BSD-3-Clause */
/* text - sentences for people, in fixed space. Text from outside is quoted, so that a log line stays one line:
 * everything but printable ASCII is escaped, and long texts are cut. */
#ifndef HL_BASE_TEXT_H
#define HL_BASE_TEXT_H

#include <hilock/hilock.h>
#include <stdarg.h>
#include <stddef.h>

enum { HL_TEXT_MAX = 256 };

struct hl_text { char bytes[HL_TEXT_MAX]; }; /* always has a terminator */

__attribute__((format(printf, 2, 3))) void hl_text_set(struct hl_text *text, const char *format, ...);
__attribute__((format(printf, 2, 3))) void hl_text_add(struct hl_text *text, const char *format, ...);
/* Sets the text, and returns the status, so that a caller can refuse in one line. */
__attribute__((format(printf, 3, 4))) hilock_status hl_text_refuse(struct hl_text *why, hilock_status status,
                                                                   const char *format, ...);

struct hl_quoted { char bytes[100]; };
/* Adds no quotation marks; a cut text ends with "..". */
struct hl_quoted hl_text_quote(const char *bytes, size_t length);
/* Quotes text from a server. Each of the secrets (a list that ends with NULL) becomes "***". A uuid is cut, because it
 * may be the beginning of a holder id. */
struct hl_quoted hl_text_quote_server(const char *const *secrets, const char *bytes, size_t length);
struct hl_quoted hl_text_holder(const char *holder, size_t length); /* "5f0c1a2b..:17:sh@db1", without the whole uuid */

#endif
