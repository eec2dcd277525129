/* SPDX-License-Identifier: BSD-3-Clause */
/* raw - bytes to a store in memory, and from it, over a link of one's own; the loop turns until nothing more is said. */
#ifndef TEST_MEMORY_RAW_H
#define TEST_MEMORY_RAW_H

#include <hilock/memory.h>

#include "unit/poll_loop.h"

struct raw_store { struct poll_loop *loop; hilock_memory *memory; };

struct raw_store raw_open(const struct hilock_memory_options *options);
void raw_close(struct raw_store *store); /* and nothing of it is left */
int raw_connect(const struct raw_store *store);
/* What it says to these bytes, ended by a zero; *ret_is_open: whether the link stands. Good until the next call. */
const char *raw_ask(const struct raw_store *store, int fd, const char *bytes, size_t length, int *ret_is_open);
const char *raw_say(const struct raw_store *store, int fd, const char *text); /* the same, of a text */

#endif
