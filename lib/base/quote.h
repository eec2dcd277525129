/* SPDX-License-Identifier: BSD-3-Clause */
/* quote - what comes from outside, as text for humans: bytes that are not printable ASCII are escaped, long ones are cut, so that a log line stays
 * one line. */
#ifndef HL_BASE_QUOTE_H
#define HL_BASE_QUOTE_H

#include <stddef.h>

struct hl_quoted { char bytes[100]; };
struct hl_quoted hl_quote(const char *bytes, size_t length); /* without quotation marks; cut with ".." */
/* What a server said: each of the secrets (ended by NULL) is "***" in it, and a uuid, as holders begin, is cut. */
struct hl_quoted hl_quote_said(const char *const *secrets, const char *bytes, size_t length);
struct hl_quoted hl_quote_holder(const char *holder, size_t length); /* "5f0c1a2b..:17": never a whole uuid */

#endif
