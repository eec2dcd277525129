/* SPDX-License-Identifier: BSD-3-Clause */
/* audit.c - what the ledger proves. Pure: entries in, figures out.
 *
 * A sale names the piece it sold: the stock it had read. Two sales that ran at the same time read the same stock and
 * sell the same piece, so a piece that occurs twice is an oversale, even if the stock in the end looks right.
 * The fence must not hide a lock that fails: each write that it refused must belong to a hold whose loss the shop had
 * learned of. */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

static void rank_waits(struct audit *audit, const struct entry *entries, size_t count)
{
    unsigned *waits = malloc((audit->sold + 1) * sizeof *waits);
    size_t sales = 0;
    if (!waits)
        return;
    for (size_t i = 0; i < count; i++)
        if (entries[i].kind == ENTRY_SALE)
            waits[sales++] = entries[i].waited_ms;
    if (sales > 0) {
        qsort(waits, sales, sizeof *waits, by_size);
        audit->wait_p50_ms = waits[(sales - 1) * 50 / 100];
        audit->wait_p99_ms = waits[(sales - 1) * 99 / 100];
    }
    free(waits);
}

bool audit_has(const struct entry *entries, size_t count, enum entry_kind kind, struct hold hold)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].kind == kind && entries[i].item == hold.item && entries[i].token == hold.token)
            return true;
    return false;
}

uint64_t audit_longest_pause_ms(const struct entry *entries, size_t count, uint64_t from_ms)
{
    uint64_t longest_ms = 0;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].kind != ENTRY_SALE || entries[i].at_ms < from_ms)
            continue;
        if (entries[i].at_ms - from_ms > longest_ms)
            longest_ms = entries[i].at_ms - from_ms;
        from_ms = entries[i].at_ms;
    }
    return longest_ms;
}

void audit_run(struct audit *ret_audit, const struct entry *entries, size_t count)
{
    bool is_gone[ITEMS_MAX][STOCK_MAX + 1] = {{false}};
    uint64_t newest[ITEMS_MAX] = {0};
    struct audit audit = {0};
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = &entries[i];
        if (entry->kind == ENTRY_REFUSED)
            audit.unexplained += !audit_has(entries, count, ENTRY_LOST, (struct hold){entry->item, entry->token});
        if (entry->kind != ENTRY_SALE)
            continue;
        audit.sold++;
        audit.oversold += is_gone[entry->item][entry->piece];
        audit.sold_of[entry->item] += !is_gone[entry->item][entry->piece];
        audit.tokens_fallen += entry->token <= newest[entry->item];
        if (entry->shop >= 'A' && entry->shop < 'A' + SHOPS)
            audit.sold_by[entry->shop - 'A']++;
        is_gone[entry->item][entry->piece] = true;
        newest[entry->item] = entry->token;
    }
    rank_waits(&audit, entries, count);
    *ret_audit = audit;
}
