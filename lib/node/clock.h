/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - what a client knows of a server's clock: a sample, and the time that has passed here since. A sample is the
 * answer to TIME, or to a request that ran too late; it is as old as the send of that question, so the estimate may be
 * ahead of the truth by a round trip. Stamps of the server in other answers and in messages only raise it: when one is
 * read, that clock shows as much or more. So an estimate that is behind, because the clock was set forward or this
 * process was suspended, repairs itself. */
#ifndef HL_NODE_CLOCK_H
#define HL_NODE_CLOCK_H

#include <stdint.h>

struct hl_node;

void hl_clock_learn(struct hl_node *node, uint64_t server_us, uint64_t asked_us); /* a sample, asked for then */
void hl_clock_raise(struct hl_node *node, uint64_t server_us); /* a stamp that was read now */
uint64_t hl_clock_server_us(const struct hl_node *node); /* 0: not known */
/* Server time in ms after which a command sent at sent_us must not be executed; 0: not known. */
uint64_t hl_clock_not_after_ms(const struct hl_node *node, uint64_t sent_us);

#endif
