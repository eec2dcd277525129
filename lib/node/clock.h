/* SPDX-License-Identifier: BSD-3-Clause */
/* clock - estimates a server's clock: a sample, plus the time that has passed here since. A sample comes from the reply
 * to TIME, or to a request that ran too late. It counts from the send of the request, so the estimate may be ahead of
 * the server by up to one round trip. Time stamps in other replies and in messages only raise the estimate, because the
 * server's clock shows at least the stamp when the stamp is read. So an estimate that is behind, because the server's
 * clock was set forward or this process was suspended, corrects itself. */
#ifndef HL_NODE_CLOCK_H
#define HL_NODE_CLOCK_H

#include <stdint.h>

struct hl_node;

/* Adds a round trip to the node's mean. A very long one, as after a pause of the process, counts as twice the mean. */
void hl_clock_add_round_trip(struct hl_node *node, uint64_t took_us);
/* Takes a sample that was asked for at asked_us. */
void hl_clock_learn(struct hl_node *node, uint64_t server_us, uint64_t asked_us);
void hl_clock_raise(struct hl_node *node, uint64_t server_us); /* takes a stamp of its time, read just now */
uint64_t hl_clock_server_us(const struct hl_node *node); /* the server's time now; 0: unknown */
/* Returns the server time in ms after which a command that is sent at sent_us must not be executed; 0: unknown. The
 * server's clock may run slower than ours, by a hundredth at most. So the older the sample is, the earlier is that
 * time. If it is too early, the server refuses the command as late, and that answer is a new sample. */
uint64_t hl_clock_not_after_ms(const struct hl_node *node, uint64_t sent_us);

#endif
