/* SPDX-License-Identifier: BSD-3-Clause */
/* look - finds the present holders of names: the answer of hilock_holders (on a quorum, of hilock_peek), and the age of
 * the hold if the server allows that question. It prints them as JSON; table.h prints them for people. */
#ifndef SHELL_LOOK_H
#define SHELL_LOOK_H

#include "json.h"
#include "options.h"
#include "session.h"

struct look_holder { /* one of those that hold a name */
    char *id;
    char who[80];
    uint64_t token; /* 0: it is not ours */
    uint32_t remaining_ms;
};

struct look {
    char *name;
    hilock_kind kind;      /* the kind of lock that was found; MUTEX if the name is free */
    hilock_status status;  /* the status of the peek */
    char *holder;          /* "": the name is free. Of several that share the name: the one whose lease ends last */
    uint32_t holders;      /* how many hold the name; 0: it is free, or that is not known */
    struct look_holder *all; /* those that are listed, the first of them is `holder`; NULL: none */
    size_t listed;
    char detail[300];      /* the library's text */
    char who[80];          /* the holder's label. "": it has none */
    uint32_t remaining_ms, waiters, ready;
    uint64_t token, since_ms; /* 0: it is not known */
};

struct looks {
    struct look *all;
    size_t count;
    int code;             /* the exit code */
    const char *lacks;    /* why the age is not known; or NULL */
};

/* Returns 0, or the exit code after it has printed the reason. */
int looks_take(struct looks *ret, struct session *session, const struct options *options);
void look_free(struct look *look); /* what it points to */
void looks_free(struct looks *looks);
void look_json(struct json *json, const struct look *look);

#endif
