/* SPDX-License-Identifier: BSD-3-Clause */
/* reply - an answer of the store. */
#ifndef SIM_STORE_REPLY_H
#define SIM_STORE_REPLY_H

#include <stddef.h>
#include <stdint.h>

enum sim_reply_type {
    SIM_REPLY_NIL,
    SIM_REPLY_INTEGER,
    SIM_REPLY_STRING,
    SIM_REPLY_STATUS,
    SIM_REPLY_ERROR,
    SIM_REPLY_ARRAY
};

struct sim_reply {
    enum sim_reply_type type;
    int64_t integer;               /* set if INTEGER */
    const char *bytes;             /* set if STRING, STATUS or ERROR; never NULL then */
    size_t length;
    const struct sim_reply *items; /* set if ARRAY: there are `count` of them */
    size_t count;
};

int sim_reply_is(const struct sim_reply *reply, const char *text); /* it is a STRING or STATUS of exactly these bytes */
/* it is a STRING, STATUS or ERROR that begins with these bytes */
int sim_reply_starts(const struct sim_reply *reply, const char *prefix);

#endif
