/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor - checks that a deployment is good for locks, and prints what to do. */
#ifndef SHELL_DOCTOR_H
#define SHELL_DOCTOR_H

#include "options.h"

int doctor_command(const struct options *options); /* returns 0 if nothing is wrong, and 1 if something is */

#endif
