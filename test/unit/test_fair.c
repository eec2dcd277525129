/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind FAIR in virtual time: the queue, pushed grants and what becomes of them, heartbeats, deaths, and other kinds on the same name. */
#include <stdio.h>
#include <string.h>

#include "play.h"

#define FAIR(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, __VA_ARGS__)
#define MARGIN_US(us) ((us) / 100 + 7000)

static struct hand *fair(struct party *p, const char *tag) { return hand_new(p, tag, "stock", FAIR(.lease_ms = 30000)); }

/* Stands in the queue, and the clients are quiet. */
static struct hand *waits(struct party *p, const char *tag)
{
    struct hand *hand = fair(p, tag);
    acquire(hand, HILOCK_FOREVER);
    run_ms(p->scene, 2);
    return hand;
}

static struct hand *holds(struct party *p, const char *tag)
{
    struct hand *hand = waits(p, tag);
    HOLDS(p->scene, hilock_lock_state(hand->lock) == HILOCK_HELD);
    scene_hush(p->scene);
    return hand;
}

/* ---- the plain way ---- */

static void a_free_lock_is_one_round_trip(struct scene *s)
{
    struct party *p = scene_connect(s, NULL);
    struct hand *a = fair(p, "a");
    run_ms(s, 2);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 1);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "fair_acquire"), 1);
    BELIEVES(s, a, sent_at_us(s, "fair_acquire", 0) + 30000000 - MARGIN_US(30000000));
    HOLDS(s, a->result.fencing_token > 0);
    release(a);
    run_ms(s, 1);
    TELLS(s, "a:released");
    SAME(s, asked(s, "fair_release"), 1);
    SAME(s, keys_count(&s->store.keys, store_ms(&s->store)), 1); /* the token */
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{stock}"), 0);
}

static void handed_over_by_one_script_and_one_push(struct scene *s)
{
    struct hand *a = holds(scene_connect(s, NULL), "a"), *b = waits(scene_connect(s, NULL), "b");
    uint64_t token = a->result.fencing_token;
    TELLS(s, "b:WAITING");
    SAME(s, b->event.position, 1);
    SAME(s, b->event.waiters, 1);
    store_forget(&s->store);
    s->world.now_us += 0;
    release(a);
    run_ms(s, 1);
    TELLS(s, "b:OK a:released");
    SAME(s, asked(s, NULL), 1);
    HOLDS(s, b->result.fencing_token > token);
    HOLDS(s, b->result.remaining_ms > 2900 && b->result.remaining_ms < 3000);
}

const struct play plays[] = {
    PLAY(a_free_lock_is_one_round_trip),
    PLAY(handed_over_by_one_script_and_one_push),
};

int main(void) { return PLAYS_RUN(plays); }
