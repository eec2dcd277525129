/* SPDX-License-Identifier: BSD-3-Clause */
/* text - sentences for humans in fixed space. Text from outside is quoted, for a log line that stays one: all but
 * printable ASCII is escaped, long texts are cut. */
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

struct hl_quoted { char bytes[100]; };
struct hl_quoted hl_text_quote(const char *bytes, size_t length); /* without quotation marks; cut with ".." */
/* A server's words: each of the secrets (ended by NULL) becomes "***", and a uuid, which begins a holder, is cut. */
struct hl_quoted hl_text_quote_server(const char *const *secrets, const char *bytes, size_t length);
struct hl_quoted hl_text_holder(const char *holder, size_t length); /* "5f0c1a2b..:17:sh@db1": no whole uuid */

#endif
