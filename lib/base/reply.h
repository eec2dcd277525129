/* SPDX-License-Identifier: BSD-3-Clause */
/* reply - a server's reply, independent of the parser that made it.
 * All of its content comes from the server and is hostile (R9): strings are binary and have a length, and items may be
 * of any type. A reply is valid only during the call that delivers it. */
#ifndef HL_BASE_REPLY_H
#define HL_BASE_REPLY_H

#include <stddef.h>
#include <stdint.h>

enum hl_reply_type { HL_REPLY_NIL, HL_REPLY_INTEGER, HL_REPLY_STRING, HL_REPLY_STATUS, HL_REPLY_ERROR, HL_REPLY_ARRAY };

enum {
    HL_REPLY_DEPTH_MAX = 8, HL_REPLY_ITEMS_MAX = 1 << 17, /* a deeper or longer reply ends the link */
    HL_REPLY_INNER_MAX = 3                                /* how many items of a list inside a list are kept */
};

struct hl_reply {
    enum hl_reply_type type;
    int64_t integer;              /* the value of an INTEGER */
    const char *bytes;            /* the text of a STRING, STATUS or ERROR: not NULL, perhaps without a terminator */
    size_t length;
    const struct hl_reply *items; /* the `count` items of an ARRAY */
    size_t count;
};

/* Returns item i of an array. NULL: not an array, too short, or the item has another type. */
const struct hl_reply *hl_reply_item(const struct hl_reply *reply, size_t i, enum hl_reply_type type);
int hl_reply_is(const struct hl_reply *reply, const char *text); /* it is a STRING or STATUS with exactly this text */
/* Reads the decimal number at the start. Returns how many digits it has, or 0 if there are none or more than 12. */
size_t hl_reply_decimal(const char *bytes, size_t length, uint64_t *ret_number);
/* The error has this code: "CODE ..", or "ERR ..: -CODE .." as Redis 6 wraps an error inside a script. */
int hl_reply_has_code(const struct hl_reply *error, const char *code);
int hl_reply_starts(const struct hl_reply *reply, const char *prefix); /* it is a STRING, STATUS or ERROR */

#endif
