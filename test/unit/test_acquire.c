/* SPDX-License-Identifier: BSD-3-Clause */
/* One accepted acquire gets one answer: the right one, at its time, with true fields. */
#include "play.h"

static void a_free_name_is_granted_after_one_round_trip(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = hand_new(p, "a", "stock", NULL);
    uint64_t begun_us = scene_us(s);
    SAME(s, acquire(a, HILOCK_FOREVER), HILOCK_OK);
    TELLS(s, "");
    run_ms(s, 1);
    TELLS(s, "a:OK");
    SAME(s, a->at_us, begun_us + 200);
    SAME(s, a->result.size, sizeof a->result);
    SAME(s, a->result.operation, HILOCK_ACQUIRE);
    HOLDS(s, a->result.lock == a->lock);
    SAME(s, a->result.state, HILOCK_HELD);
    SAME(s, a->result.attempts, 1);
    SAME(s, a->result.hold_count, 1);
    SAME(s, a->result.waited_ms, 0);
    SAME(s, a->result.votes, 0);
    SAME(s, a->result.fencing_token, store_token(&s->store, "stock", store_holder(&s->store, "stock")));
    TEXT(s, a->holder, "");
    SAME(s, asked(s, "mutex_acquire"), 1);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
}

static const struct play plays[] = {
    PLAY(a_free_name_is_granted_after_one_round_trip),
};

int main(void) { return PLAYS_RUN(plays); }
