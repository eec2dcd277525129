/* SPDX-License-Identifier: BSD-3-Clause */
/* audit.h - what the ledger proves. */
#ifndef DEMO_AUDIT_H
#define DEMO_AUDIT_H

#include "ledger.h"

#include <stdbool.h>

struct hold { /* a hold of one item's lock; its fencing token names it */
    unsigned item;
    uint64_t token;
};

struct audit {
    unsigned sold;              /* sales in the ledger */
    unsigned oversold;          /* of these, sales of a piece that had been sold before */
    unsigned unexplained;       /* writes refused as stale though the shop never learned that the hold was lost */
    unsigned tokens_fallen;     /* sales whose token is not above the one of the item's sale before */
    unsigned sold_of[ITEMS_MAX]; /* pieces of each item, doubles not counted */
    unsigned sold_by[SHOPS];
    unsigned wait_p50_ms, wait_p99_ms; /* how long all sales waited for the lock */
};

void audit_run(struct audit *ret_audit, const struct entry *entries, size_t count);

/* The longest time without a sale, from a moment on to the last sale. */
uint64_t audit_longest_pause_ms(const struct entry *entries, size_t count, uint64_t from_ms);

/* Does the ledger have a line of this kind for this hold? */
bool audit_has(const struct entry *entries, size_t count, enum entry_kind kind, struct hold hold);

#endif
