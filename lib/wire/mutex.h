/* SPDX-License-Identifier: BSD-3-Clause */
/* mutex - the words of kind MUTEX: argv out, replies in. Pure: no state, no I/O; reached by
 * hl_kind_mutex (kind.h). The layout is Redisson's RLock's, so that Java services and ours exclude each other (README.md here). */
#ifndef HL_WIRE_MUTEX_H
#define HL_WIRE_MUTEX_H

#include "wire/kind.h"

hl_say_fn hl_mutex_acquire, hl_mutex_renew, hl_mutex_release;
hl_hear_fn hl_mutex_acquired, hl_mutex_renewed, hl_mutex_released;
hl_force_fn hl_mutex_force;

#endif
