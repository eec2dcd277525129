/* SPDX-License-Identifier: BSD-3-Clause */
/* holder - what the store keeps as the owner of a name: "<client uuid>:<n>:<label>". A client never uses an n twice
 * (R2). The label names the client in words, for people who look at its locks; without a label a holder is "<client
 * uuid>:<n>". Scripts and other programs treat the whole as one text. */
#ifndef HL_WIRE_HOLDER_H
#define HL_WIRE_HOLDER_H

#include "base/command.h"
#include "wire/protocol.h"

enum {
    HL_LABEL_MAX = 64,
    HL_HOLDER_MAX = HL_UUID_LENGTH + 1 + HL_DECIMAL_MAX + 1 + HL_LABEL_MAX
};

/* label NULL or "": the holder gets none. Returns the length; there is no terminator. */
size_t hl_holder_write(char to[HL_HOLDER_MAX], const char *uuid, uint64_t n, const char *label);
/* Adds the same to a command, as an argument. */
void hl_holder_add(struct hl_command *command, const char *uuid, uint64_t n, const char *label);
uint64_t hl_holder_number(const char *holder);   /* returns the n of a holder; 0: the text has another form */
/* returns the label of a holder; "": it has none, or the text has another form */
const char *hl_holder_label(const char *holder);
/* returns 1 for a text of 1..HL_LABEL_MAX letters, digits or _.-+@/=, */
int hl_holder_is_label(const char *label);
void hl_holder_mend_label(char *label);          /* replaces every other character by "-" */

#endif
