/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - the hash slot of a key in a cluster: CRC16 of it, or of what stands in its first braces when that is not empty. Not the library's code for
 * it: where the two differ, clients are redirected for ever. */
#ifndef SIM_STORE_SLOT_H
#define SIM_STORE_SLOT_H

#include <stddef.h>

unsigned sim_slot_of(const char *key, size_t length); /* below SIM_SLOTS */

#endif
