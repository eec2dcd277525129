/* SPDX-License-Identifier: BSD-3-Clause */
/* container - finds a struct from a pointer to one of its members. A callback about an alarm, a request, a notice or a
 * route gets a pointer to that member; this macro turns it into a pointer to the owner.
 *
 * The compiler checks that the pointer has the member's type: any other type is a mismatch in the conditional
 * expression, and sizeof refuses a void pointer. The pointer is evaluated once and must not be NULL. A const pointer
 * needs a const type: HL_CONTAINER(request, const struct hl_inquiry, request). */
#ifndef HL_BASE_CONTAINER_H
#define HL_BASE_CONTAINER_H

#include <stddef.h>

#define HL_CONTAINER(pointer, type, member)                                    \
    ((type *)(const void *)((const char *)(pointer) - offsetof(type, member) - \
                            0 * sizeof *(1 ? (pointer) : &((type *)0)->member)))

#endif
