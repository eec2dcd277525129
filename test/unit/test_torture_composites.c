/* SPDX-License-Identifier: BSD-3-Clause */
/* Multis and quorums in which each allocation, timer, link and command in turn fails: refusals say NO_MEMORY, every accepted acquire is answered,
 * nothing leaks, and nothing of ours stays at any store for longer than its lease. */
#include <stdio.h>
#include <string.h>

#include "quorum_stage.h"
#include "suite.h"
#include "wanted.h"

enum { LEASE_MS = 3000, IN_A_ROW = 5 };

static const char *const names[] = {"stock", "b", "c", NULL};

static struct client *client_of(struct fixture *s, unsigned masters)
{
    struct hilock_client_options options = hilock_client_options_default();
    options.quorum_urls = masters > 1 ? urls_of(masters) : NULL;
    return fixture_open(s, &options);
}

static struct handle *seat(struct client *p, const char *tag, int is_multi)
{
    const struct hilock_lock_options options = {.size = sizeof options, .lease_ms = LEASE_MS};
    struct handle *handle = is_multi ? multi_new(p, tag, names, &options) : handle_new(p, tag, "stock", &options);
    HOLDS(p->fixture, handle->lock || !p->client || strncmp(hilock_client_refusal(p->client), "out of memory", 13) == 0);
    return handle;
}

/* 1: accepted, so that it will be answered. */
static int ask(struct handle *handle)
{
    hilock_status status = handle->lock ? acquire(handle, 6000) : HILOCK_NO_MEMORY;
    HOLDS(handle->fixture, status == HILOCK_OK || status == HILOCK_NO_MEMORY);
    return status == HILOCK_OK;
}

static void play(struct fixture *s, unsigned masters)
{
    struct client *p = client_of(s, masters), *q = client_of(s, masters);
    struct handle *a = p->client ? seat(p, "a", masters == 1) : NULL, *b = q->client ? seat(q, "b", masters == 1) : NULL;
    int owed = 0;
    HOLDS(s, p->client || p->status == HILOCK_NO_MEMORY);
    store_take(&s->store, "stock", "another", 700);
    owed += a && ask(a);
    run_ms(s, 20);
    owed += b && ask(b);
    run_ms(s, 1000);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 1500);
    if (a && a->lock && hilock_lock_state(a->lock) == HILOCK_STATE_HELD)
        release_quietly(a);
    run_ms(s, 8000);
    SAME(s, (a ? a->calls > 0 : 0) + (b ? b->calls > 0 : 0), owed);
    if (a)
        handle_free(a);
    if (b)
        handle_free(b);
    s->memory.fail_at = 0;
    run_ms(s, 3 * LEASE_MS + 8000);
    SAME(s, kept(s, "stock") + kept(s, "b") + kept(s, "c"), 0);
}

/* at 0: nothing fails, and what is returned is how often memory was asked for. Else 1: all held. */
static uint64_t play_once(unsigned masters, uint64_t at)
{
    struct fixture s;
    fixture_begin(&s);
    s.is_untold = 1;
    s.is_tampered = 1; /* somebody else had it first */
    if (masters > 1) {
        fixture_masters(&s, masters);
        s.is_tampered = 1;
    }
    s.memory.fail_at = at;
    s.memory.fails = IN_A_ROW;
    play(&s, masters);
    uint64_t asked_for = s.memory.asked;
    HOLDS(&s, s.memory.refused > 0 || at + 20 > asked_for || !at); /* the last ones are asked for when none fails any more */
    return fixture_end(&s) ? (at ? 1 : asked_for) : 0;
}

static void each_in_turn_may_fail(unsigned masters)
{
    uint64_t most = play_once(masters, 0);
    assert_true(most > 0);
    for (uint64_t at = wanted_first(); at <= most; at += 3 * wanted_stride())
        if (!play_once(masters, at))
            fail_msg("when allocations %llu to %llu of %llu fail", (unsigned long long)at, (unsigned long long)at + IN_A_ROW - 1, (unsigned long long)most);
}

TEST(of_a_multi) { each_in_turn_may_fail(1); }
TEST(of_a_quorum) { each_in_turn_may_fail(3); }
