/* SPDX-License-Identifier: BSD-3-Clause */
/* label - the label of a `run` client: program@host/pid of the command, not of the holder that runs it. */
#ifndef SHELL_LABEL_H
#define SHELL_LABEL_H

struct label { char bytes[65]; };

struct label label_of(const char *command);

#endif
