/* SPDX-License-Identifier: BSD-3-Clause */
/* findings - what `doctor` has found, a line each: what is wrong, and what to do. */
#ifndef SHELL_FINDINGS_H
#define SHELL_FINDINGS_H

#include <stddef.h>

struct store;
struct options;

enum grade { FINE, DOUBTFUL, WRONG };

struct findings {
    int is_json;
    unsigned wrong, doubtful;
    const char *place; /* the server; "": all of them */
};

/* advice NULL: nothing is to be done. */
void finding(struct findings *findings, enum grade grade, const char *topic, const char *advice, const char *format,
             ...) __attribute__((format(printf, 5, 6)));

int checkup_server(struct store *store, void *findings);              /* version, eviction, persistence, role, clock,
                                                                         latency */
void checkup_view(struct findings *findings, struct store *store);    /* what sentinels, or a cluster, report about
                                                                         themselves */
/* what the user lacks, of each kind */
void checkup_rights(struct findings *findings, struct store *store, const char *name);
/* a lock of each kind, taken and given back */
int checkup_kinds(struct findings *findings, const struct options *options);

#endif
