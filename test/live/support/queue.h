/* SPDX-License-Identifier: BSD-3-Clause */
/* queue - processes that stand in the queue of one FAIR lock, in a known order; each has it from its grant until it gets the order to release. */
#ifndef LIVE_QUEUE_H
#define LIVE_QUEUE_H

#include <stdint.h>
#include <sys/types.h>

enum { QUEUE_PLAYERS = 4, QUEUE_WINDOW_MS = 3000 };

struct queue {
    const char *url, *name; /* given; outlive it */
    uint32_t lease_ms;      /* given */
    struct queue_play *play; /* shared by the processes */
    pid_t pids[QUEUE_PLAYERS];
};

void queue_set(struct queue *queue); /* player 0 has it, the others wait in their order */
void queue_end(struct queue *queue); /* those still alive go on by themselves */

uint64_t queue_granted_us(struct queue *queue, unsigned player);   /* when; waits until it was */
int queue_has_been_granted(const struct queue *queue, unsigned player);
uint64_t queue_let_go(struct queue *queue, unsigned player);       /* and waits for its end: when it did */
void queue_dies_when_granted(struct queue *queue, unsigned player);

#endif
