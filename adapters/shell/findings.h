/* SPDX-License-Identifier: BSD-3-Clause */
/* findings - prints what `doctor` has found, one line for each finding: what is wrong, and what to do. */
#ifndef SHELL_FINDINGS_H
#define SHELL_FINDINGS_H

#include <stddef.h>

struct store;
struct options;

enum grade { FINE, DOUBTFUL, WRONG };

/* A finding can make later checks pointless: a kind that cannot work because of it is not tried. */
/* Sharing a name needs all that MUTEX needs, so BLOCKS_ALL does without BLOCKS_SHARED. */
enum { BLOCKS_QUEUED = 1, BLOCKS_SIMPLE = 2, BLOCKS_SHARED = 4, BLOCKS_ALL = BLOCKS_QUEUED | BLOCKS_SIMPLE };

struct findings {
    int is_json;
    unsigned wrong, doubtful;
    unsigned blocked;  /* a set of BLOCKS_...: the kinds that are not tried */
    char away[300];    /* why the library could not lock although some servers may answer; or "" */
    const char *place; /* the server that the findings are about; "": all servers */
};

/* advice: what to do; NULL: nothing is to be done */
void finding(struct findings *findings, enum grade grade, const char *topic, const char *advice, const char *format,
             ...) __attribute__((format(printf, 5, 6)));

/* Checks that the library can lock at all. Returns 0 if not, after it has printed why. *ret_code is set if no client
 * could be opened */
int checkup_address(struct findings *findings, const struct options *options, int *ret_code);
int checkup_server(struct store *store, void *findings);              /* checks version, eviction, persistence, role,
                                                                         clock and latency */
void checkup_view(struct findings *findings, struct store *store);    /* checks what sentinels or a cluster report
                                                                         about themselves */
void checkup_config(struct findings *findings, struct store *store); /* checks the limits of connections */
/* Finds the rights that the user lacks, for each kind of lock. */
void checkup_rights(struct findings *findings, struct store *store, const char *name);
/* Takes and releases a lock of each kind that is not blocked. */
int checkup_kinds(struct findings *findings, const struct options *options);

#endif
