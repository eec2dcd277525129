/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - the hash slot of a key in a cluster: the CRC16 of the key, or of the text in its first braces if that is
 * not empty. This is not the library's code, on purpose: if the two differ, clients are redirected for ever, and
 * tests fail. */
#ifndef SIM_STORE_SLOT_H
#define SIM_STORE_SLOT_H

#include <stddef.h>

unsigned sim_slot_of(const char *key, size_t length); /* returns a number below SIM_SLOTS */

#endif
