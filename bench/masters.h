/* SPDX-License-Identifier: BSD-3-Clause */
/* masters.h - the servers that a URL means: one, or each master of a cluster with its slots as they are when it is
 * asked. */
#ifndef BENCH_MASTERS_H
#define BENCH_MASTERS_H

#include <stddef.h>

struct masters;

enum { MASTERS_MAX = 16 };

struct masters *masters_open(const char *url, char *ret_error); /* NULL: ret_error has the reason */
void masters_close(struct masters *masters);                    /* NULL is allowed */
unsigned masters_count(const struct masters *masters);
const char *masters_url(const struct masters *masters, unsigned i); /* a redis:// or unix:// URL */
unsigned masters_of(const struct masters *masters, const char *key, size_t length);

#endif
