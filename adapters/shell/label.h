/* SPDX-License-Identifier: BSD-3-Clause */
/* label - makes the label of the client of `run`: program@host/pid, with the program of the command, not hilock. */
#ifndef SHELL_LABEL_H
#define SHELL_LABEL_H

struct label { char bytes[65]; };

struct label label_of(const char *command);

#endif
