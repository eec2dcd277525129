/* SPDX-License-Identifier: BSD-3-Clause */
/* names - a list of the names of held locks that begin with a prefix. */
#ifndef SHELL_NAMES_H
#define SHELL_NAMES_H

#include <stddef.h>

struct store;

struct names { char **all; size_t count, room; };

/* Finds the names, sorted. Returns 0, or -1: the store's error has the reason. */
int names_find(struct names *ret, struct store *store, const char *prefix, const char *type);
int names_add(struct names *names, const char *name); /* returns 0, or -1 without memory */
void names_free(struct names *names);

#endif
