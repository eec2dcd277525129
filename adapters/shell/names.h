/* SPDX-License-Identifier: BSD-3-Clause */
/* names - the names of held locks that begin with a prefix. */
#ifndef SHELL_NAMES_H
#define SHELL_NAMES_H

#include <stddef.h>

struct store;

struct names { char **all; size_t count, room; };

/* sorted. 0; -1: see the store's error */
int names_find(struct names *ret, struct store *store, const char *prefix, const char *type);
int names_add(struct names *names, const char *name); /* 0; -1: no memory */
void names_free(struct names *names);

#endif
