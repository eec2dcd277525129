/* SPDX-License-Identifier: BSD-3-Clause */
/* commands.h - how many commands clients have sent, as the server counts them. */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include <stdint.h>

struct commands;

/* Connects. NULL: ret_error (of STORE_ERROR_SIZE bytes) has the reason. */
struct commands *commands_open(const char *url, char *ret_error);

/* Returns how many commands all clients have sent since the server's start. This does not count its own INFO, nor any
 * command that scripts use, so it does not count the commands of kind SIMPLE. -1: reported on stderr. */
int commands_count(struct commands *commands, uint64_t *ret_count);

/* Returns how often a command ran ("hset", in lower case), for clients and in scripts. -1: reported on stderr. */
int commands_count_of(struct commands *commands, const char *name, uint64_t *ret_count);
/* Returns how long a command has run so far, in microseconds. -1: reported on stderr. */
int commands_us_of(struct commands *commands, const char *name, uint64_t *ret_us);
/* Returns how much processor time in user mode the server has used, in microseconds. -1: reported on stderr. */
int commands_server_us(struct commands *commands, uint64_t *ret_us);
void commands_close(struct commands *commands); /* NULL is allowed */

#endif
