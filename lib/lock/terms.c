/* SPDX-License-Identifier: BSD-3-Clause */
/* terms - see terms.h. */
#include "lock/terms.h"

#include "lock/name.h"

void hl_terms_unref(struct hl_terms *terms)
{
    struct hl_cell *cell = terms->cell;
    if (--terms->refs)
        return;
    if (terms->multi)
        hl_names_free(cell->core, &cell->memory, terms->multi);
    hl_memory_free(&cell->memory, terms);
    hl_cell_unref(cell);
}
