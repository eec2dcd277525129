/* SPDX-License-Identifier: BSD-3-Clause */
/* quote - text from outside, for a log line that stays one: all but printable ASCII is escaped, long texts are cut. */
#ifndef HL_BASE_QUOTE_H
#define HL_BASE_QUOTE_H

#include <stddef.h>

struct hl_quoted { char bytes[100]; };
struct hl_quoted hl_quote(const char *bytes, size_t length); /* without quotation marks; cut with ".." */
/* A server's words: each of the secrets (ended by NULL) becomes "***", and a uuid, which begins a holder, is cut. */
struct hl_quoted hl_quote_said(const char *const *secrets, const char *bytes, size_t length);
struct hl_quoted hl_quote_holder(const char *holder, size_t length); /* "5f0c1a2b..:17:sh@db1": no whole uuid */

#endif
