/* SPDX-License-Identifier: BSD-3-Clause */
/* status - shows the present holders of names, once or repeatedly. */
#ifndef SHELL_STATUS_H
#define SHELL_STATUS_H

#include "options.h"

int status_command(const struct options *options);
int watch_command(const struct options *options); /* runs until a signal comes, or nobody reads stdout */
int break_command(const struct options *options); /* ends the hold of a given holder */

#endif
