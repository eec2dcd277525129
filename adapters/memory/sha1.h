/* SPDX-License-Identifier: BSD-3-Clause */
/* sha1 - computes SHA-1 (FIPS 180-4), by which scripts are named. */
#ifndef SIM_STORE_SHA1_H
#define SIM_STORE_SHA1_H

#include <stddef.h>

enum { SIM_SHA1_DIGITS = 40 };

void sim_sha1_of(const char *text, size_t length, char ret_digits[SIM_SHA1_DIGITS + 1]);

#endif
