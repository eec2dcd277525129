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

void hl_terms_trace(const struct hl_terms *terms, enum hl_what what, const struct hl_fact *fact)
{
    if (!terms->is_internal)
        hl_trace(&terms->cell->core->host, what, fact);
}
