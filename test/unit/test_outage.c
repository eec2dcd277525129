/* SPDX-License-Identifier: BSD-3-Clause */
/* A server that stalls, or is away, costs no more than it must: not the links of others, nor holds that it could still renew. */
#include "play.h"
#include "stage.h"

/* A stall that a short lease can hardly bear is no reason to take the link from all the others. */
WITH_CLIENT(a_renewal_that_is_overdue_leaves_the_link_to_others)
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 300)), *b = held(p, "b", "shelf", NULL);
    p->tells = 1;
    for (int i = 0; i < 20; i++) {
        int links = (int)s->place->tried;
        run_to(s, asked_at_us(s, i ? "renew" : "mutex_acquire", i ? -1 : 0) + 99000);
        world_freeze(&s->store.lane);
        run_ms(s, 125); /* the renewal fails, and its answer comes while the hold is still good */
        world_thaw(&s->world, &s->store.lane);
        TELLS_IN(s, 10, "");
        SAME(s, s->place->tried, links);
        HOLDS(s, hilock_lock_remaining_ms(a->lock) > 100);
    }
    run_ms(s, 12000);
    HOLDS(s, hilock_lock_remaining_ms(b->lock) > 19000);
    struct hilock_stats stats = counts_of(p);
    SAME(s, stats.renewals_failed, 20);
    TELLS(s, "");
}

enum { OUTAGES = 20 };

/* Two thirds of a lease are sure, as the guide says: here the server is away for nine tenths of these, from the worst moment on. */
HOLDING(an_outage_within_two_thirds_of_a_lease_costs_no_hold, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    for (int i = 0; i < OUTAGES; i++) {
        run_to(s, sent_at_us(s, i ? "renew" : "mutex_acquire", i ? -1 : 0) + 990000);
        cut_off(s);
        run_ms(s, 1800);
        s->place->mood = NET_LISTENS;
        run_ms(s, 5100);
        HOLDS(s, is_held(a));
    }
    HOLDS(s, s->place->tried < OUTAGES * 60);
}

/* And right after a hand-over: from the first renewal on, which comes after a third of a window of 400 ms. */
A_PLAY(an_outage_soon_after_a_hand_over_costs_no_hold)
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    const struct hilock_lock_options *options = HILOCK_LOCK_OPTIONS(.lease_ms = 9000);
    struct handle *a = held(p, "a", "stock", options), *b = asking(q, "b", "stock", options);
    TELLS_IN(s, 100, "b:WAITING");
    for (int i = 0; i < OUTAGES; i++) {
        struct handle *to = i % 2 ? a : b;
        release_quietly(i % 2 ? b : a);
        HOLDS(s, run_until_told(s, 50));
        TELLS(s, i % 2 ? "a:OK" : "b:OK");
        run_ms(s, 150);
        cut_off(s);
        run_ms(s, 5400);
        s->place->mood = NET_LISTENS;
        unheard_ms(s, 4000);
        HOLDS(s, is_held(to));
        acquire(i % 2 ? b : a, HILOCK_FOREVER);
        unheard_ms(s, 100);
    }
}

/* The less is left, the sooner the next try: after a quarter of that, but not within less than 50 ms. */
HOLDING(while_it_is_away_tries_follow_what_is_left, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    enum { CONNECT_US = 1000 };
    cut_off(s);
    while (is_held(a)) {
        unsigned tried = s->place->tried;
        uint64_t from_us = fixture_us(s), part_us = (uint64_t)hilock_lock_remaining_ms(a->lock) * 1000 / 4;
        while (s->place->tried == tried && is_held(a))
            run_us(s, 100);
        HOLDS(s, fixture_us(s) - from_us <= (part_us > 50000 ? part_us : 50000) + CONNECT_US);
    }
    TELLS(s, "a:RENEWAL_FAILED a:LOST EXPIRED");
}

/* What is held for long enough is no reason to hurry. */
A_PLAY(a_long_lease_leaves_the_pauses_long)
{
    unsigned tried[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct client *p = fixture_connect(s, NULL);
        struct handle *a = handle_new(p, "a", "stock", NULL);
        run_ms(s, 10);
        if (i)
            acquire(a, HILOCK_TRY);
        run_ms(s, 10);
        cut_off(s);
        tried[i] = s->place->tried;
        run_ms(s, 10000);
        tried[i] = s->place->tried - tried[i];
        s->place->mood = NET_LISTENS;
        client_abandon(p);
    }
    TELLS(s, "a:OK");
    HOLDS(s, tried[1] < tried[0] + 6);
}

/* ---- masters of a quorum ---- */

/* Masters nearby have a tenth of a second: one that has not answered for longer is left out at once. */
A_PLAY(a_master_whose_answer_is_overdue_is_not_asked)
{
    struct client *p = quorum(s, 3);
    for (unsigned late_us = 0; late_us < 2; late_us++) {
        struct handle *a = handle_new(p, "a", "stock", NULL), *b = handle_new(p, "b", "other", NULL);
        run_ms(s, 1000);
        world_freeze(&store_at(s, 0)->lane);
        uint64_t begun_us = fixture_us(s);
        acquire(a, HILOCK_TRY);
        run_to(s, begun_us + 100000 + late_us);
        TELLS(s, "a:OK");
        acquire(b, HILOCK_TRY);
        TELLS_IN(s, 10, "b:OK");
        store_forget(store_at(s, 0));
        world_thaw(&s->world, &store_at(s, 0)->lane);
        run_us(s, 1);
        SAME(s, store_count(store_at(s, 0), "mutex_acquire"), 2 - late_us);
        handle_drop(a);
        handle_drop(b);
        unheard_ms(s, 1000);
    }
}

/* They were far away as they were connected, and are not any more: nobody waits for them as for masters that are. */
A_PLAY(masters_that_answer_sooner_by_now_are_given_less_time)
{
    s->net.there_us = s->net.back_us = 200000;
    fixture_masters(s, 3);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.quorum_urls = urls_of(3)));
    struct handle *a = handle_new(p, "a", "stock", NULL);
    run_ms(s, 3000);
    s->net.there_us = s->net.back_us = 100;
    acquire(a, HILOCK_TRY);
    run_ms(s, 10);
    release(a);
    TELLS_IN(s, 100, "a:OK a:released");
    world_freeze(&store_at(s, 0)->lane);
    world_freeze(&store_at(s, 1)->lane);
    store_forget(store_at(s, 2));
    acquire(a, HILOCK_TRY);
    run_ms(s, 400);
    HOLDS(s, store_count(store_at(s, 2), "mutex_release") >= 1);
    TELLS_IN(s, 3000, "a:UNREACHABLE");
    world_thaw(&s->world, &store_at(s, 0)->lane);
    world_thaw(&s->world, &store_at(s, 1)->lane);
}
