/* SPDX-License-Identifier: BSD-3-Clause */
/* terms - see terms.h. */
#include "lock/terms.h"

void hl_terms_unref(struct hl_terms *terms)
{
    struct hl_cell *cell = terms->cell;
    if (--terms->refs)
        return;
    hl_memory_free(&cell->memory, terms);
    hl_cell_unref(cell);
}

uint64_t hl_terms_least_us(const struct hl_terms *terms, uint32_t granted_ms)
{
    return (uint64_t)(terms->min_validity_ms ? terms->min_validity_ms : granted_ms / 2) * 1000;
}

void hl_terms_trace(const struct hl_terms *terms, enum hl_what what, const struct hl_fact *fact)
{
    if (!terms->is_internal)
        hl_trace(&terms->cell->core->host, what, fact);
}
