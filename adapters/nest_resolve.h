/* SPDX-License-Identifier: BSD-3-Clause */
/* nest_resolve.h - resolves host names by getaddrinfo(), for a loop without a resolver of its own. A loop that has one
 * uses the last two functions. */
#ifndef HL_NEST_RESOLVE_H
#define HL_NEST_RESOLVE_H

#include <hilock/loop.h>

struct addrinfo;

/* `resolve` and `resolve_cancel` of the loop table. Each query has a thread, which lives as long as its getaddrinfo()
 * does. ctx: the nest */
void *hl_nest_resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg);
void hl_nest_resolve_cancel(void *query);

extern const struct addrinfo hl_nest_hints;
const char *hl_nest_resolve_error(int error); /* the text for an EAI_... code */
/* Calls done with the addresses found, or, if found is NULL, with the error. */
void hl_nest_deliver(const struct addrinfo *found, const char *error, hilock_resolved_fn *done, void *arg);

#endif
