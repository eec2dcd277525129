/* SPDX-License-Identifier: BSD-3-Clause */
/* till.h - a shop's side of the shared stock. */
#ifndef DEMO_TILL_H
#define DEMO_TILL_H

#include <stdint.h>

struct event_base;
struct till;

enum { TILL_STALE = -1, TILL_FAILED = -2 };

/* answer: what the call says, or TILL_STALE: a newer token has been here, or TILL_FAILED: no answer, already reported
 * on stderr. */
typedef void till_fn(long long answer, void *user);

struct till_sale {
    unsigned item;
    uint64_t token;     /* 0: sold without a lock, and always accepted */
    long long piece;    /* the stock as it was read: this piece is sold, and one less is written */
    uint32_t waited_ms; /* how long the sale waited for the lock */
};

/* NULL: reported on stderr. on_gone runs if the connection ends by itself. */
struct till *till_open(struct event_base *base, const char *url, const char *prefix, const char *shop,
                       void (*on_gone)(void *), void *user);

/* Returns 0: on_answer will run exactly once; -1: it will not. */
/* answer: pieces left */
int till_look(struct till *till, unsigned item, uint64_t token, till_fn *on_answer, void *user);
int till_sell(struct till *till, const struct till_sale *sale, till_fn *on_answer, void *user);      /* answer: 1 */
int till_note_lost(struct till *till, unsigned item, uint64_t token, till_fn *on_answer, void *user); /* answer: 1 */

/* When all is answered the connection ends. */
void till_close(struct till *till);

#endif
