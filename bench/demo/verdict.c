/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c - checks all claims of the demo.
 *
 * Each claim compares what was done to the shops (chaos) with what the resource recorded (ledger, stock). A shop's own
 * word counts only where it is the claim itself: that it learned of a loss. To add a claim, write a function and name
 * it in verdict_give. */
#include "verdict.h"

#include "report.h"
#include "story.h"

#include <stdarg.h>
#include <stdio.h>

struct verdict {
    const struct evidence *evidence;
    const struct entry *entries;
    size_t entry_count;
    struct audit audit;
    struct claim claims[16];
    size_t claim_count;
};

__attribute__((format(printf, 4, 5))) static void claim(struct verdict *verdict, const char *what, bool holds,
                                                        const char *format, ...)
{
    struct claim *claim = &verdict->claims[verdict->claim_count++];
    va_list arguments;
    claim->what = what;
    claim->holds = holds;
    va_start(arguments, format);
    vsnprintf(claim->figure, sizeof claim->figure, format, arguments);
    va_end(arguments);
}

static unsigned count_told(const struct verdict *verdict, enum entry_kind kind)
{
    const struct chaos_victim *sleeper = &verdict->evidence->chaos->suspended;
    unsigned told = 0;
    for (unsigned i = 0; i < sleeper->count; i++)
        told += audit_has(verdict->entries, verdict->entry_count, kind, sleeper->holds[i]);
    return told;
}

static void claim_sold(struct verdict *verdict)
{
    const struct audit *audit = &verdict->audit;
    const struct plan *plan = verdict->evidence->plan;
    unsigned told = verdict->evidence->load->sold;
    claim(verdict, "sold", audit->sold > 0, "%u of %u pieces, in %u sales: shop A %u, B %u, C %u",
          audit->sold - audit->oversold, plan->items * plan->stock, audit->sold, audit->sold_by[0], audit->sold_by[1],
          audit->sold_by[2]);
    claim(verdict, "oversold", audit->oversold == 0, "%u sales of a piece that was gone", audit->oversold);
    claim(verdict, "promises kept", told <= audit->sold, "%u buyers were told of a sale, the ledger has %u sales", told,
          audit->sold);
}

static void claim_books(struct verdict *verdict)
{
    const struct plan *plan = verdict->evidence->plan;
    unsigned wrong = 0;
    for (unsigned item = 0; item < plan->items; item++)
        wrong += verdict->evidence->shelves[item].left + verdict->audit.sold_of[item] != plan->stock;
    claim(verdict, "books balance", wrong == 0, "sold and left make %u for %u of %u items", plan->stock,
          plan->items - wrong, plan->items);
}

static void claim_killed(struct verdict *verdict)
{
    const struct chaos_victim *killed = &verdict->evidence->chaos->killed;
    unsigned freed = 0;
    for (unsigned i = 0; i < killed->count; i++)
        freed += verdict->evidence->shelves[killed->holds[i].item].fence > killed->holds[i].token;
    claim(verdict, "holders killed", killed->count > 0, "%d process, in the middle of %u sales", killed->count > 0,
          killed->count);
    claim(verdict, "their locks came free", killed->count > 0 && freed == killed->count,
          "%u of %u were taken by others afterwards", freed, killed->count);
}

static void claim_suspended(struct verdict *verdict)
{
    unsigned held = verdict->evidence->chaos->suspended.count;
    unsigned told = count_told(verdict, ENTRY_LOST), refused = count_told(verdict, ENTRY_REFUSED);
    claim(verdict, "losses told", held > 0 && told == held, "%u of %u holds of the suspended shop", told, held);
    claim(verdict, "late writes refused", held > 0 && refused == held, "%u of %u, by the fencing token", refused, held);
    claim(verdict, "no other refusal", verdict->audit.unexplained == 0, "%u writes refused without a loss told",
          verdict->audit.unexplained);
}

static void claim_tokens(struct verdict *verdict)
{
    const struct audit *audit = &verdict->audit;
    claim(verdict, "tokens rise strictly", audit->tokens_fallen == 0, "in %u of %u sales, item by item",
          audit->sold - audit->tokens_fallen, audit->sold);
}

static void claim_nothing_left(struct verdict *verdict)
{
    unsigned held = 0, items = verdict->evidence->plan->items;
    for (unsigned item = 0; item < items; item++)
        held += verdict->evidence->shelves[item].holder[0] != '\0';
    claim(verdict, "nothing left locked", held == 0, "%u of %u locks are still held", held, items);
}

/* Figures that depend on the machine, and so are not judged. */
static void print_figures(const struct verdict *verdict)
{
    const struct evidence *evidence = verdict->evidence;
    uint64_t leases_end_ms = evidence->chaos->killed_ms + evidence->plan->lease_ms;
    printf("%-22s        p50 %u ms, p99 %u ms (for the lock, of all sales)\n", "wait", verdict->audit.wait_p50_ms,
           verdict->audit.wait_p99_ms);
    printf("%-22s        %llu ms, once the leases of the killed shop were over\n", "longest without a sale",
           (unsigned long long)audit_longest_pause_ms(verdict->entries, verdict->entry_count, leases_end_ms));
}

bool verdict_give(const struct evidence *evidence)
{
    struct verdict verdict = {.evidence = evidence};
    bool holds = true;
    verdict.entries = ledger_entries(evidence->ledger, &verdict.entry_count);
    audit_run(&verdict.audit, verdict.entries, verdict.entry_count);
    claim_sold(&verdict);
    claim_books(&verdict);
    if (evidence->has_locks) {
        claim_killed(&verdict);
        claim_suspended(&verdict);
        claim_tokens(&verdict);
        claim_nothing_left(&verdict);
    }
    claim(&verdict, "shops closed", evidence->is_clean_end, "%s",
          evidence->is_clean_end ? "all with status 0" : "not all with status 0");
    for (size_t i = 0; i < verdict.claim_count; i++)
        story_tell(evidence->story, "claim", "\"what\": \"%s\", \"holds\": %s, \"figure\": \"%s\"",
                   verdict.claims[i].what, verdict.claims[i].holds ? "true" : "false", verdict.claims[i].figure);
    report_claims(verdict.claims, verdict.claim_count);
    if (evidence->has_locks)
        print_figures(&verdict);
    for (size_t i = 0; i < verdict.claim_count; i++)
        holds = holds && verdict.claims[i].holds;
    return holds;
}
