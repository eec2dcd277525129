/* SPDX-License-Identifier: BSD-3-Clause */
/* findings - what `doctor` has found, a line each: what is wrong, and what to do. */
#ifndef SHELL_FINDINGS_H
#define SHELL_FINDINGS_H

#include <stddef.h>

struct store;
struct options;

enum grade { FINE, DOUBTFUL, WRONG };

/* What is wrong makes some of the following pointless: kinds that cannot be taken for this reason are not tried. */
enum { BLOCKS_QUEUED = 1, BLOCKS_SIMPLE = 2, BLOCKS_ALL = BLOCKS_QUEUED | BLOCKS_SIMPLE };

struct findings {
    int is_json;
    unsigned wrong, doubtful;
    unsigned blocked;  /* BLOCKS_: kinds */
    char away[300];    /* why the library could not lock, though some of the servers may answer; "" */
    const char *place; /* the server; "": all of them */
};

/* advice NULL: nothing is to be done. */
void finding(struct findings *findings, enum grade grade, const char *topic, const char *advice, const char *format,
             ...) __attribute__((format(printf, 5, 6)));

/* Whether the library can lock there at all. 0: no, and it was said why; *ret_code: no client could be opened */
int checkup_address(struct findings *findings, const struct options *options, int *ret_code);
int checkup_server(struct store *store, void *findings);              /* version, eviction, persistence, role, clock,
                                                                         latency */
void checkup_view(struct findings *findings, struct store *store);    /* what sentinels, or a cluster, report about
                                                                         themselves */
void checkup_config(struct findings *findings, struct store *store); /* what it does to connections */
/* what the user lacks, of each kind */
void checkup_rights(struct findings *findings, struct store *store, const char *name);
/* a lock of each kind that is not blocked, taken and given back */
int checkup_kinds(struct findings *findings, const struct options *options);

#endif
