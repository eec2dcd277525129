/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger.h - what the resource recorded, and what the store shows just now. */
#ifndef DEMO_LEDGER_H
#define DEMO_LEDGER_H

#include "plan.h"

#include <stddef.h>
#include <stdint.h>

struct ledger;

enum entry_kind { ENTRY_SALE, ENTRY_REFUSED, ENTRY_LOST };

struct entry { /* one line of the ledger; the shops write it, see till.c */
    enum entry_kind kind;
    unsigned item;
    uint64_t token;
    char shop;
    unsigned piece, waited_ms;
    uint64_t at_ms; /* by the server's clock */
};

struct shelf { /* one item, now */
    unsigned left;
    uint64_t fence;   /* highest token that the resource has seen */
    char holder[128]; /* who holds the item's lock, "<client uuid>:<n>:<label>"; "" when it is free */
    uint64_t token;   /* the token of that hold */
};

/* Fills the shelves of a run; all its keys begin with prefix. NULL: ret_error (STORE_ERROR_SIZE) says why. */
struct ledger *ledger_open(const char *url, const char *prefix, const struct plan *plan, char *ret_error);

/* Reads on from where the last call ended. -1: the store is gone. Entries move in memory when it reads. */
int ledger_follow(struct ledger *ledger);
const struct entry *ledger_entries(const struct ledger *ledger, size_t *ret_count);

/* -1: the store is gone. */
int ledger_shelves(struct ledger *ledger, struct shelf ret_shelves[ITEMS_MAX]);

/* By the clock that stamps the entries. -1: the store is gone. */
int ledger_now(struct ledger *ledger, uint64_t *ret_now_ms);

/* Removes the run's keys from the store. NULL is allowed. */
void ledger_close(struct ledger *ledger);

#endif
