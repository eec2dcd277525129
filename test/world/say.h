/* SPDX-License-Identifier: BSD-3-Clause */
/* say - what a server says, and in words what it is asked: replies built by the world, each owned by its holder. The library sees them as it sees any parser's
 * (base/reply.h): bytes end where their length says, and the byte behind them is no terminator. */
#ifndef TEST_WORLD_SAY_H
#define TEST_WORLD_SAY_H

#include "base/reply.h"

struct hl_command;
struct sim_reply;

struct hl_reply *say_nil(void);
struct hl_reply *say_integer(int64_t integer);
struct hl_reply *say_bytes(const char *bytes, size_t length);
struct hl_reply *say_string(const char *text);
struct hl_reply *say_status(const char *text);
__attribute__((format(printf, 1, 2))) struct hl_reply *say_error(const char *format, ...);
struct hl_reply *say_array(size_t count, ...); /* of as many struct hl_reply *, which it takes over */
struct hl_reply *say_longer(struct hl_reply *array, struct hl_reply *item); /* takes both over */
struct hl_reply *say_again(const struct hl_reply *reply); /* a copy */
struct hl_reply *say_stored(const struct sim_reply *reply);  /* what a store (adapters/memory) says */
void say_free(struct hl_reply *reply); /* NULL is allowed */
const char *say_request(const struct hl_command *command); /* what a client says, with | between; until the next */

#endif
