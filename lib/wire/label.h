/* SPDX-License-Identifier: BSD-3-Clause */
/* label - a client's name in words, for people who look at its locks. */
#ifndef HL_WIRE_LABEL_H
#define HL_WIRE_LABEL_H

enum { HL_LABEL_MAX = 64 };

int hl_label_is_good(const char *label); /* 1..HL_LABEL_MAX letters, digits or _.-+@/=, */
void hl_label_mend(char *label);         /* other characters become '-' */

#endif
