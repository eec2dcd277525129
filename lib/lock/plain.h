/* SPDX-License-Identifier: BSD-3-Clause */
/* plain - a handle of one name: the table of its calls. */
#ifndef HL_LOCK_PLAIN_H
#define HL_LOCK_PLAIN_H

#include "core/lock.h"

extern const struct hl_handle_ops hl_plain_ops;

#endif
