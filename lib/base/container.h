/* SPDX-License-Identifier: BSD-3-Clause */
/* container - from an embedded struct to the struct that has it as a member. Alarms, requests, notices and routes come
 * back to their owner as pointers to themselves; the owner finds itself by this, wherever the member stands in it.
 *
 * The compiler checks that the pointer is one to that member: another type is a mismatch in the conditional, and a void
 * pointer, which could be anything, has no size. The pointer is evaluated once. NULL is not allowed. A const pointer
 * needs a const type: HL_CONTAINER(request, const struct hl_inquiry, request). */
#ifndef HL_BASE_CONTAINER_H
#define HL_BASE_CONTAINER_H

#include <stddef.h>

#define HL_CONTAINER(pointer, type, member)                                    \
    ((type *)(const void *)((const char *)(pointer) - offsetof(type, member) - \
                            0 * sizeof *(1 ? (pointer) : &((type *)0)->member)))

#endif
