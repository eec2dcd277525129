/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor - checks whether this deployment is good for locks, and says what to do. */
#ifndef SHELL_DOCTOR_H
#define SHELL_DOCTOR_H

#include "options.h"

int doctor_command(const struct options *options); /* 0: nothing is wrong; 1: something is */

#endif
