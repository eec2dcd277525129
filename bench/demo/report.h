/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - what the reader sees. */
#ifndef DEMO_REPORT_H
#define DEMO_REPORT_H

#include "audit.h"
#include "branch.h"
#include "load.h"

struct view { /* a moment of the run */
    const struct plan *plan;
    uint64_t elapsed_ms;
    bool has_locks;
    const struct audit *audit;
    const struct shelf *shelves;   /* ITEMS_MAX */
    const struct branch *branches; /* SHOPS */
    const struct load_figures *load;
};

struct claim { /* one line of the verdict */
    const char *what;
    char figure[120];
    bool holds;
};

/* How often report_view is worth a call. */
unsigned report_interval_ms(void);

void report_view(const struct view *view);
__attribute__((format(printf, 1, 2))) void report_event(const char *format, ...);
void report_claims(const struct claim *claims, size_t count);

#endif
