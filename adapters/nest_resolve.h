/* SPDX-License-Identifier: BSD-3-Clause */
/* nest_resolve.h - host names by getaddrinfo: for a loop without a resolver of its own; a loop that has one shares
 * parts of it. */
#ifndef HL_NEST_RESOLVE_H
#define HL_NEST_RESOLVE_H

#include <hilock/loop.h>

struct addrinfo;

/* `resolve` and `resolve_cancel` of the table, by a thread that lives as long as its getaddrinfo does. ctx: the
 * nest. */
void *hl_nest_resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg);
void hl_nest_resolve_cancel(void *query);

extern const struct addrinfo hl_nest_hints;
const char *hl_nest_resolve_error(int error); /* one of EAI_ */
/* found NULL: error says why */
void hl_nest_deliver(const struct addrinfo *found, const char *error, hilock_resolved_fn *done, void *arg);

#endif
