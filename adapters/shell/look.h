/* SPDX-License-Identifier: BSD-3-Clause */
/* look - the present holders of names: the answer of peek, and the age of the hold if the server allows that question.
 * As JSON here, for people in table.h. */
#ifndef SHELL_LOOK_H
#define SHELL_LOOK_H

#include "json.h"
#include "options.h"
#include "session.h"

struct look {
    char *name;
    hilock_kind kind;      /* the kind found; of a free name MUTEX */
    hilock_status status;  /* of the peek */
    char *holder;          /* "": free */
    char detail[300];      /* in the words of the library */
    char who[80];          /* the holder's label. "": it has none */
    uint32_t remaining_ms, waiters, ready;
    uint64_t token, since_ms; /* 0: not known */
};

struct looks {
    struct look *all;
    size_t count;
    int code;             /* what to exit with */
    const char *lacks;    /* why the time is unknown; NULL */
};

/* 0; else the exit code, and the reason was printed */
int looks_take(struct looks *ret, struct session *session, const struct options *options);
void looks_free(struct looks *looks);
void look_json(struct json *json, const struct look *look);

#endif
