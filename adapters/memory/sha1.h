/* SPDX-License-Identifier: BSD-3-Clause */
/* sha1 - names scripts (FIPS 180-4). */
#ifndef SIM_STORE_SHA1_H
#define SIM_STORE_SHA1_H

#include <stddef.h>

enum { SIM_SHA1_DIGITS = 40 };

void sim_sha1_of(const char *text, size_t length, char ret_digits[SIM_SHA1_DIGITS + 1]);

#endif
