/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.h - checks all claims of the demo. */
#ifndef DEMO_VERDICT_H
#define DEMO_VERDICT_H

#include "audit.h"
#include "chaos.h"
#include "load.h"

struct evidence {
    const struct plan *plan;
    bool has_locks, is_clean_end; /* every shop closed in the ordinary way */
    const struct ledger *ledger;
    const struct shelf *shelves;
    const struct chaos *chaos;
    const struct load_figures *load;
    struct story *story; /* is told each claim; NULL: none */
};

/* Prints one line for each claim. True: all of them hold. */
bool verdict_give(const struct evidence *evidence);

#endif
