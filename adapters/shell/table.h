/* SPDX-License-Identifier: BSD-3-Clause */
/* table - holders for people: a row for each name, with its holder's label, for how long it is held, what is left of
 * the lease, and how many wait. On a terminal no row is longer than a line: names and labels are cut there. In a pipe
 * nothing is cut. */
#ifndef SHELL_TABLE_H
#define SHELL_TABLE_H

#include "look.h"

/* A head, the rows, and what went wrong in sentences. is_long: below each row the holder's id, and the name if it was
 * cut. */
void table_print(const struct looks *looks, int is_long);
/* One row without a head, behind a few words. */
void table_print_change(const char *before, const struct look *look, int is_long);

#endif
