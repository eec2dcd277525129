/* SPDX-License-Identifier: BSD-3-Clause */
/* reply - a server's answer as the library sees it; any parser may have made it.
 * Everything in it comes from the server and is hostile (R9): bytes are counted and binary, items may be of any type,
 * and all of it dies when the call that brought it returns. */
#ifndef HL_BASE_REPLY_H
#define HL_BASE_REPLY_H

#include <stddef.h>
#include <stdint.h>

enum hl_reply_type { HL_REPLY_NIL, HL_REPLY_INTEGER, HL_REPLY_STRING, HL_REPLY_STATUS, HL_REPLY_ERROR, HL_REPLY_ARRAY };

enum {
    HL_REPLY_DEPTH_MAX = 8, HL_REPLY_ITEMS_MAX = 1 << 17, /* a deeper or longer one ends its link */
    HL_REPLY_INNER_MAX = 3                                /* a list inside a list is kept up to here */
};

struct hl_reply {
    enum hl_reply_type type;
    int64_t integer;              /* INTEGER */
    const char *bytes;            /* STRING, STATUS, ERROR: not NULL; no terminator promised */
    size_t length;
    const struct hl_reply *items; /* ARRAY: count of them */
    size_t count;
};

/* Item i. NULL: not an array, too short, or an item of another type. */
const struct hl_reply *hl_reply_item(const struct hl_reply *reply, size_t i, enum hl_reply_type type);
int hl_reply_is(const struct hl_reply *reply, const char *text); /* STRING or STATUS of exactly these bytes */
/* how many leading digits; 0: none, or above 12 */
size_t hl_reply_decimal(const char *bytes, size_t length, uint64_t *ret_number);
int hl_reply_has_code(const struct hl_reply *error, const char *code); /* "CODE ..", or wrapped by a script of Redis
                                                                          6: "ERR ..: -CODE .." */
int hl_reply_starts(const struct hl_reply *reply, const char *prefix); /* STRING, STATUS or ERROR */

#endif
