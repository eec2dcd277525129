/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - the hash slot of a key in a cluster: CRC16 of it, or of the text in its first braces if that is not empty. Not
 * the library's code: if the two differ, clients are redirected for ever. */
#ifndef SIM_STORE_SLOT_H
#define SIM_STORE_SLOT_H

#include <stddef.h>

unsigned sim_slot_of(const char *key, size_t length); /* below SIM_SLOTS */

#endif
