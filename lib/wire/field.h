/* SPDX-License-Identifier: BSD-3-Clause */
/* field - the fields of a text that a script made: words and numbers with a space between them. */
#ifndef HL_WIRE_FIELD_H
#define HL_WIRE_FIELD_H

#include <stddef.h>
#include <stdint.h>

struct hl_field { const char *at; size_t length; }; /* a part of a text; the bytes stay where they are */

/* Takes the text up to the next space, which is skipped, or up to the end. Returns 0 if nothing is there. */
int hl_field_take(struct hl_field *text, struct hl_field *ret_word);
int hl_field_is_number(struct hl_field text, uint64_t *ret_number); /* 1: the whole text is a number */
int hl_field_take_number(struct hl_field *text, uint64_t *ret_number);

#endif
