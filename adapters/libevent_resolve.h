/* SPDX-License-Identifier: BSD-3-Clause */
/* libevent_resolve.h - `resolve` and `resolve_cancel` of the loop table, for libevent. */
#ifndef HL_LIBEVENT_RESOLVE_H
#define HL_LIBEVENT_RESOLVE_H

#include <hilock/loop.h>

struct event_base;

/* Both are functions of the loop table, described in hilock/loop.h. NULL: no memory. */
void *hl_libevent_resolve(struct event_base *base, const char *host, hilock_resolved_fn *done, void *arg);
void hl_libevent_resolve_cancel(void *query);

#endif
