/* SPDX-License-Identifier: BSD-3-Clause */
/* A validity follows one hold, is 0 from its end on, after any end, and outlives lock and client. */
#include <sys/wait.h>
#include <unistd.h>

#include "play.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};

static hilock_validity *validity_of(struct handle *handle)
{
    hilock_validity *validity = NULL;
    SAME(handle->fixture, hilock_lock_validity(handle->lock, &validity), HILOCK_OK);
    return validity;
}

static uint32_t left(const hilock_validity *validity) { return hilock_validity_remaining_ms(validity); }

HOLDING(within_one_hold_it_is_one_object_and_never_shows_another, NULL)
{
    hilock_validity *first = validity_of(a), *again = validity_of(a), *second;
    HOLDS(s, first == again);
    hilock_validity_unref(again);
    HOLDS(s, left(first) > 0);
    release_quietly(a);
    SAME(s, left(first), 0);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 2, "a:OK");
    SAME(s, left(first), 0);
    second = validity_of(a);
    HOLDS(s, second != first && left(second) > 0);
    run_ms(s, 60000);
    SAME(s, left(first), 0);
    HOLDS(s, left(second) > 0);
    hilock_validity_unref(first);
    HOLDS(s, hilock_validity_ref(second) == second);
    hilock_validity_unref(second);
    HOLDS(s, left(second) > 0);
    hilock_validity_unref(second);
    second = validity_of(a); /* nobody had it any more */
    HOLDS(s, left(second) > 0);
    hilock_validity_unref(second);
}

static hilock_validity *watched;

static void it_is_0(struct handle *handle) { SAME(handle->fixture, left(watched), 0); }

static struct handle *ended;

static void it_is_refused(struct handle *handle)
{
    hilock_validity *validity = NULL;
    SAME(handle->fixture, hilock_lock_state(ended->lock), HILOCK_STATE_HELD);
    SAME(handle->fixture, hilock_lock_validity(ended->lock, &validity), HILOCK_NOT_HELD);
    HOLDS(handle->fixture, !validity);
}

HOLDING(a_hold_that_is_over_gives_none_though_its_loss_is_still_to_be_told, NULL)
{
    ended = held(p, "b", "other", NULL);
    when(a, "LOST SUSPENDED", it_is_refused);
    world_jump_us(&s->world, 3600000000u);
    TELLS_IN(s, 5, "a:LOST SUSPENDED b:LOST SUSPENDED");
}

static void end_by_abandon(struct handle *a) { client_abandon(a->client); }
static void end_by_deadline(struct handle *a)
{
    world_jump_us(&a->fixture->world, 3600000000u);
    SAME(a->fixture, left(watched), 0); /* before anything has run */
    run_ms(a->fixture, 5);
}

static void end_by_extend(struct handle *a)
{
    store_delete(&a->fixture->store, "stock");
    extend(a, 0);
    run_ms(a->fixture, 2);
}

A_PLAY(whatever_ends_the_hold_it_is_0_before_anybody_is_told)
{
    static void (*const ends[])(struct handle *a) = {release_quietly, handle_free, handle_drop, end_by_abandon,
                                                  end_by_deadline, end_by_extend};
    s->is_tampered = 1;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct client *p = fixture_connect(s, NULL);
        store_delete(&s->store, "stock");
        struct handle *a = held(p, "a", "stock", &short_lease);
        watched = validity_of(a);
        HOLDS(s, left(watched) > 0);
        when(a, NULL, it_is_0);
        ends[i](a);
        SAME(s, left(watched), 0);
        if (p->client)
            client_abandon(p);
        run_ms(s, 10);
        SAME(s, left(watched), 0);
        hilock_validity_unref(watched);
        fixture_hush(s);
    }
}

HOLDING(it_is_0_while_its_loss_stands_behind_another_callback, NULL)
{
    struct handle *c = held(p, "c", "other", NULL);
    watched = validity_of(a);
    s->is_tampered = 1;
    store_clear(&s->store);
    extend(c, 0);
    extend(a, 0);
    run_us(s, 10);
    when(c, "extend LOST", it_is_0);
    frozen_ms(p, 5);
    TELLS_IN(s, 1, "c:extend LOST a:extend LOST");
    hilock_validity_unref(watched);
}

HOLDING(in_a_forked_child_it_is_0, NULL)
{
    hilock_validity *validity = validity_of(a);
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        int is_dead = left(validity) == 0;
        hilock_client_abandon(p->client);
        is_dead &= left(validity) == 0 && hilock_validity_ref(validity) == validity;
        hilock_validity_unref(validity);
        hilock_validity_unref(validity);
        hilock_lock_free(a->lock);
        _exit(is_dead && s->memory.blocks == 0 ? 0 : 1);
    }
    HOLDS(s, child > 0 && waitpid(child, &status, 0) == child);
    SAME(s, status, 0);
    HOLDS(s, left(validity) > 0);
    hilock_validity_unref(validity);
}

HOLDING(without_memory_it_is_refused, NULL)
{
    hilock_validity *validity = NULL;
    for (uint64_t fail = 1; fail <= 2; fail++) {
        s->memory.fail_at = s->memory.asked + fail;
        s->memory.fails = 1;
        SAME(s, hilock_lock_validity(a->lock, &validity), HILOCK_NO_MEMORY);
        TEXT(s, hilock_client_refusal(p->client), "out of memory for a validity");
    }
    HOLDS(s, !validity);
    s->memory.fail_at = 0;
    validity = validity_of(a);
    HOLDS(s, left(validity) > 0);
    hilock_validity_unref(validity);
}

A_PLAY(none_is_0_and_may_be_given_back)
{
    SAME(s, left(NULL), 0);
    HOLDS(s, !hilock_validity_ref(NULL));
    hilock_validity_unref(NULL);
    SAME(s, hilock_multi_token(NULL, 0), 0);
}

/* Though its loop has not turned: the clock says that it is over. */
HOLDING(there_is_none_from_the_deadline_on, HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER))
{
    hilock_validity *validity = NULL;
    uint64_t deadline_us = sent_at_us(s, "mutex_acquire", -1) + 3000000 - 30000 - 7000;
    world_freeze(&p->loop.lane);
    run_to(s, deadline_us - 1);
    hilock_validity_unref(validity_of(a));
    run_us(s, 1);
    SAME(s, hilock_lock_validity(a->lock, &validity), HILOCK_NOT_HELD);
    HOLDS(s, !validity);
    world_thaw(&s->world, &p->loop.lane);
}
