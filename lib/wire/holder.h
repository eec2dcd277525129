/* SPDX-License-Identifier: BSD-3-Clause */
/* holder - what the store keeps as the owner of a name: "<client uuid>:<n>:<label>", n never used twice by a client
 * (R2). The label names the client in words, for people who look at its locks; without one a holder is
 * "<client uuid>:<n>". To scripts, and to every other program, all of it is one text. */
#ifndef HL_WIRE_HOLDER_H
#define HL_WIRE_HOLDER_H

#include "base/command.h"

enum {
    HL_LABEL_MAX = 64,
    HL_UUID_LENGTH = 36,
    HL_HOLDER_MAX = HL_UUID_LENGTH + 1 + HL_DECIMAL_MAX + 1 + HL_LABEL_MAX
};

/* label NULL or "": none. Returns the length; no terminator. */
size_t hl_holder_write(char to[HL_HOLDER_MAX], const char *uuid, uint64_t n, const char *label);
/* the same, as an argument */
void hl_holder_add(struct hl_command *command, const char *uuid, uint64_t n, const char *label);
uint64_t hl_holder_number(const char *holder);   /* the n in it; 0 if it is of another form */
const char *hl_holder_label(const char *holder); /* in it; "" if it has none, or is of another form */
int hl_holder_is_label(const char *label);       /* 1..HL_LABEL_MAX letters, digits or _.-+@/=, */
void hl_holder_mend_label(char *label);          /* other characters become '-' */

#endif
