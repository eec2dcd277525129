/* SPDX-License-Identifier: BSD-3-Clause */
/* commands.h - how many commands clients have sent, as the server counts them. */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include <stdint.h>

struct commands;

/* NULL: ret_error (STORE_ERROR_SIZE) says why. */
struct commands *commands_open(const char *url, char *ret_error);

/* Sent by all clients since the server's start; its own asking is not counted. Nor are the commands that scripts use,
 * so not those that clients send of kind SIMPLE. -1: reported on stderr. */
int commands_count(struct commands *commands, uint64_t *ret_count);

/* How often this one ran ("hset"; lower case), for clients and inside scripts. -1: reported on stderr. */
int commands_count_of(struct commands *commands, const char *name, uint64_t *ret_count);
/* How long this one ran so far, in microseconds. -1: reported on stderr. */
int commands_us_of(struct commands *commands, const char *name, uint64_t *ret_us);
/* What the server has used of a processor so far, in user mode, in microseconds. -1: reported on stderr. */
int commands_server_us(struct commands *commands, uint64_t *ret_us);
void commands_close(struct commands *commands); /* NULL is allowed */

#endif
