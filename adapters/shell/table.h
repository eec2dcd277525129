/* SPDX-License-Identifier: BSD-3-Clause */
/* table - prints holders for people: a row for each name, with the label of its holder, how long it has been held,
 * how much of the lease is left, and how many wait. If several share the name, their number stands before the label of
 * one of them. On a terminal names and labels are cut so that no row is longer
 * than a line. In a pipe nothing is cut. */
#ifndef SHELL_TABLE_H
#define SHELL_TABLE_H

#include "look.h"

/* Prints a head, the rows, and a sentence for everything that went wrong. is_long: adds the holder's id below each row,
 * and the name if it was cut */
void table_print(const struct looks *looks, int is_long);
/* Prints one row, without a head, behind a few words. */
void table_print_change(const char *before, const struct look *look, int is_long);

#endif
