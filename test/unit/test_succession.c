/* SPDX-License-Identifier: BSD-3-Clause */
/* A free lock goes to the living: who has it how soon, when waiters and holders are killed or stopped, poll, or wait
 * beside programs of another kind; and what waiting costs. */
#include "play.h"

enum { LEASE_MS = 30000, LOST_LEASE_MS = 4000, MOST = 1024, STEP_US = 200 };
#define FAIR(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = LEASE_MS, __VA_ARGS__)

static struct handle *waits(struct client *p, const struct hilock_lock_options *options) { return asking(p, "w", "stock", options); }

/* Claims that the time since then is no longer. */
#define WITHIN_MS(fixture, since_us, most_ms) \
    fixture_claim((fixture), fixture_us(fixture) - (since_us) <= (uint64_t)(most_ms) * 1000, \
                  formatted("%s within %d ms, not %d", __func__, (int)(most_ms), (int)((fixture_us(fixture) - (since_us)) / 1000)), __FILE__, __LINE__)

static void run_until_held(struct handle *handle, unsigned most_ms)
{
    uint64_t ends_us = fixture_us(handle->fixture) + 1000 * (uint64_t)most_ms;
    while (!is_held(handle) && fixture_us(handle->fixture) < ends_us)
        run_us(handle->fixture, STEP_US);
}

/* So many clients, with so many handles each that wait. */
static unsigned crew(struct fixture *s, unsigned clients, unsigned each, struct client **ret_clients)
{
    s->is_untold = 1;
    for (unsigned i = 0; i < clients; i++) {
        ret_clients[i] = fixture_connect(s, NULL);
        for (unsigned j = 0; j < each; j++)
            waits(ret_clients[i], FAIR(.min_validity_ms = 100));
        run_ms(s, 2);
    }
    return clients;
}

static void kill_all(struct client **clients, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        client_abandon(clients[i]);
}

static void stop_all(struct client **clients, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        world_freeze(&clients[i]->loop.lane);
}

/* They end stopped: what came for them meanwhile is not read. */
static void end_all(struct client **clients, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        clients[i]->loop.lane.until_us = 0;
        client_abandon(clients[i]);
    }
}

/* ---- the dead ---- */

static void try_behind_dead(struct fixture *s, unsigned count, unsigned each)
{
    struct client *crowd[MOST], *p = fixture_connect(s, NULL);
    struct handle *t = handle_new(p, "t", "stock", FAIR(.wait_report_ms = 0));
    struct client *holder = fixture_connect(s, NULL);
    held(holder, "h", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = LOST_LEASE_MS));
    crew(s, count, each, crowd);
    client_abandon(holder);
    kill_all(crowd, count);
    run_ms(s, LOST_LEASE_MS + 1);
    acquire(t, HILOCK_TRY);
    run_ms(s, 20);
    HOLDS(s, is_held(t));
}

A_PLAY(a_try_is_granted_when_only_dead_places_wait) { try_behind_dead(s, 2, 1); }
A_PLAY(a_try_is_granted_behind_more_dead_places_than_a_script_looks_at) { try_behind_dead(s, 4, 40); }

/* Killed waiters and a killed holder: whoever lives has the name at the end of the lease. */
static void after_the_dead(struct fixture *s, unsigned count, unsigned each)
{
    struct client *crowd[MOST], *holder = fixture_connect(s, NULL);
    struct handle *living;
    uint64_t since_us;
    held(holder, "h", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = LOST_LEASE_MS));
    crew(s, count, each, crowd);
    living = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 1000);
    client_abandon(holder);
    kill_all(crowd, count);
    since_us = fixture_us(s) + 1000 * (uint64_t)store_left_ms(&s->store, "stock");
    run_until_held(living, 2 * LOST_LEASE_MS + 40000);
    HOLDS(s, is_held(living));
    WITHIN_MS(s, since_us, 105);
}

A_PLAY(a_killed_holder_costs_its_lease) { after_the_dead(s, 0, 0); }
A_PLAY(a_killed_waiter_costs_nothing_more) { after_the_dead(s, 1, 1); }
A_PLAY(twelve_killed_programs_cost_nothing_more) { after_the_dead(s, 12, 1); }
A_PLAY(a_killed_program_with_64_handles_costs_nothing_more) { after_the_dead(s, 1, 64); }
A_PLAY(a_thousand_killed_waiters_cost_nothing_more) { after_the_dead(s, 10, 100); }

/* The holder lives and releases. */
A_PLAY(a_release_passes_200_dead_places)
{
    struct client *crowd[1];
    struct handle *holder = held(fixture_connect(s, NULL), "h", "stock", FAIR(.min_validity_ms = 100)), *living;
    uint64_t since_us;
    crew(s, 1, 200, crowd);
    living = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 100);
    kill_all(crowd, 1);
    run_ms(s, 5);
    since_us = fixture_us(s);
    release_quietly(holder);
    run_until_held(living, 40000);
    WITHIN_MS(s, since_us, 20);
}

/* ---- the stopped ---- */

/* They stop just before the release. */
static void behind_the_stopped(struct fixture *s, unsigned count, unsigned each, const struct hilock_lock_options *options, unsigned most_ms)
{
    struct client *crowd[MOST];
    struct handle *holder = held(fixture_connect(s, NULL), "h", "stock", options), *living;
    uint64_t since_us;
    crew(s, count, each, crowd);
    living = waits(fixture_connect(s, NULL), options);
    run_ms(s, 500);
    stop_all(crowd, count);
    since_us = fixture_us(s);
    release_quietly(holder);
    run_until_held(living, 60000);
    WITHIN_MS(s, since_us, most_ms);
    end_all(crowd, count);
}

A_PLAY(a_stopped_waiter_costs_half_a_second) { behind_the_stopped(s, 1, 1, FAIR(.min_validity_ms = 100), 500); }
A_PLAY(a_stopped_waiter_of_a_mutex_costs_half_a_second) { behind_the_stopped(s, 1, 1, HILOCK_LOCK_OPTIONS(.min_validity_ms = 100), 500); }
A_PLAY(three_stopped_programs_cost_half_a_second_each) { behind_the_stopped(s, 3, 1, FAIR(.min_validity_ms = 100), 1500); }
A_PLAY(a_stopped_program_with_64_handles_costs_half_a_second) { behind_the_stopped(s, 1, 64, FAIR(.min_validity_ms = 100), 500); }
A_PLAY(a_stopped_program_with_200_handles_costs_half_a_second) { behind_the_stopped(s, 1, 200, FAIR(.min_validity_ms = 100), 500); }

/* Their places stand by turns. */
A_PLAY(two_stopped_programs_with_many_handles_cost_half_a_second_each)
{
    struct client *crowd[2] = {fixture_connect(s, NULL), fixture_connect(s, NULL)};
    struct handle *holder = held(fixture_connect(s, NULL), "h", "stock", FAIR(.min_validity_ms = 100)), *living;
    uint64_t since_us;
    s->is_untold = 1;
    for (int i = 0; i < 16; i++) {
        waits(crowd[i % 2], FAIR(.min_validity_ms = 100));
        run_ms(s, 2);
    }
    living = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 500);
    stop_all(crowd, 2);
    since_us = fixture_us(s);
    release_quietly(holder);
    run_until_held(living, 60000);
    WITHIN_MS(s, since_us, 1000);
    end_all(crowd, 2);
}

/* Whoever comes by at the end of a window gives no other one to the same stopped client. */
A_PLAY(others_who_ask_cost_no_window_more)
{
    struct client *crowd[1], *passer = fixture_connect(s, NULL);
    struct handle *holder = held(fixture_connect(s, NULL), "h", "stock", FAIR(.min_validity_ms = 100)), *living, *t = handle_new(passer, "t", "stock", FAIR(.wait_report_ms = 0));
    uint64_t since_us;
    crew(s, 1, 16, crowd);
    living = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 500);
    stop_all(crowd, 1);
    since_us = fixture_us(s);
    release_quietly(holder);
    while (!is_held(living) && fixture_us(s) < since_us + 20000000) {
        acquire(t, HILOCK_TRY);
        run_ms(s, 2);
    }
    WITHIN_MS(s, since_us, 500);
    end_all(crowd, 1);
}

/* The first place must have asked within four seconds. */
A_PLAY(a_waiter_that_stopped_long_ago_costs_nothing)
{
    struct client *crowd[1];
    struct handle *holder = held(fixture_connect(s, NULL), "h", "stock", FAIR(.min_validity_ms = 100)), *living;
    uint64_t since_us;
    crew(s, 1, 1, crowd);
    living = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 500);
    stop_all(crowd, 1);
    run_ms(s, 4100);
    since_us = fixture_us(s);
    release_quietly(holder);
    run_until_held(living, 40000);
    WITHIN_MS(s, since_us, 5);
    end_all(crowd, 1);
}

/* And any other one within eleven. */
A_PLAY(a_waiter_that_stopped_longer_ago_at_another_place_costs_nothing)
{
    struct client *crowd[1];
    struct handle *holder = held(fixture_connect(s, NULL), "h", "stock", FAIR(.min_validity_ms = 100)), *first, *living;
    uint64_t since_us;
    first = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 2);
    crew(s, 1, 1, crowd);
    living = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 500);
    stop_all(crowd, 1);
    run_ms(s, 11100);
    release_quietly(holder);
    run_ms(s, 5);
    HOLDS(s, is_held(first));
    since_us = fixture_us(s);
    release_quietly(first);
    run_until_held(living, 40000);
    WITHIN_MS(s, since_us, 5);
    end_all(crowd, 1);
}

/* A stalled client loses its turn, not its ticket. */
A_PLAY(who_goes_on_stands_where_it_stood)
{
    struct client *crowd[1];
    struct handle *holder = held(fixture_connect(s, NULL), "h", "stock", FAIR(.min_validity_ms = 100)), *stalled, *second, *third;
    s->is_untold = 1;
    crowd[0] = fixture_connect(s, NULL);
    stalled = waits(crowd[0], FAIR(.min_validity_ms = 100));
    run_ms(s, 2);
    second = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 2);
    third = waits(fixture_connect(s, NULL), FAIR(.min_validity_ms = 100));
    run_ms(s, 500);
    stop_all(crowd, 1);
    release_quietly(holder);
    run_until_held(second, 10000);
    world_thaw(&s->world, &crowd[0]->loop.lane);
    run_ms(s, 50);
    release_quietly(second);
    run_ms(s, 5);
    HOLDS(s, is_held(stalled));
    HOLDS(s, !is_held(third));
}

/* ---- other programs ---- */

A_PLAY(the_next_one_hears_the_other_program_when_the_head_has_left)
{
    struct handle *first, *second;
    uint64_t since_us;
    s->is_tampered = s->is_untold = 1;
    store_take(&s->store, "stock", "java:1", 60000);
    first = asking(fixture_connect(s, NULL), "a", "stock", HILOCK_LOCK_OPTIONS(.min_validity_ms = 100));
    cancel(first);
    run_ms(s, 5);
    acquire(first, 1000);
    run_ms(s, 5);
    second = asking(fixture_connect(s, NULL), "b", "stock", HILOCK_LOCK_OPTIONS(.min_validity_ms = 100));
    run_ms(s, 1500);
    since_us = fixture_us(s);
    store_free_name(&s->store, "stock");
    run_until_held(second, 20000);
    WITHIN_MS(s, since_us, 100);
}

/* ---- shares of the time ---- */

struct round {
    struct handle *handle;
    uint64_t since_us, longest_us; /* of its wait, or its hold */
};

/* They take turns of so long. How many in that span. */
static unsigned turns(struct fixture *s, struct round *rounds, unsigned count, uint64_t hold_us, unsigned span_ms)
{
    uint64_t ends_us = fixture_us(s) + 1000 * (uint64_t)span_ms;
    unsigned held_ever = 0;
    while (fixture_us(s) < ends_us) {
        for (unsigned i = 0; i < count; i++) {
            struct round *round = &rounds[i];
            hilock_state state = hilock_lock_state(round->handle->lock);
            if (state == HILOCK_STATE_WAITING && fixture_us(s) - round->since_us > round->longest_us)
                round->longest_us = fixture_us(s) - round->since_us;
            if (state == HILOCK_STATE_HELD && round->since_us & 1) { /* odd: it waited */
                round->since_us = fixture_us(s) & ~(uint64_t)1;
                held_ever++;
            }
            if (state == HILOCK_STATE_HELD && fixture_us(s) >= round->since_us + hold_us) {
                release_quietly(round->handle);
                state = HILOCK_STATE_IDLE;
            }
            if (state == HILOCK_STATE_IDLE) {
                acquire(round->handle, HILOCK_FOREVER);
                round->since_us = fixture_us(s) | 1;
            }
        }
        run_us(s, STEP_US);
    }
    return held_ever;
}

static unsigned twelve(struct fixture *s, unsigned pollers, struct round rounds[12], uint64_t hold_us)
{
    s->is_untold = 1;
    for (unsigned i = 0; i < 12; i++)
        rounds[i] = (struct round){.handle = handle_new(fixture_connect(s, NULL), "w", formatted("stock"),
                                                         FAIR(.min_validity_ms = 100, .wake = i < pollers ? HILOCK_WAKE_POLL : HILOCK_WAKE_SUBSCRIBE))};
    turns(s, rounds, 12, hold_us, 2000);
    for (unsigned i = 0; i < 12; i++)
        rounds[i].longest_us = 0;
    return turns(s, rounds, 12, hold_us, 4000);
}

enum { TURN_US = 8000, TURNS_OF_TWELVE = 480 }; /* without one that polls */

A_PLAY(twelve_take_turns)
{
    struct round rounds[12];
    HOLDS(s, twelve(s, 0, rounds, TURN_US) >= TURNS_OF_TWELVE - 10);
}

A_PLAY(one_that_polls_costs_the_others_a_tenth_at_most)
{
    struct round rounds[12];
    unsigned count = twelve(s, 1, rounds, TURN_US);
    fixture_claim(s, count >= TURNS_OF_TWELVE * 9 / 10, formatted("%u turns of twelve, one of which polls", count), __FILE__, __LINE__);
    fixture_claim(s, rounds[0].longest_us <= 12 * (TURN_US + 400) + 200000, formatted("it waits for %d us at most", (int)rounds[0].longest_us), __FILE__,
                  __LINE__);
}

static void ignore(void *arg, struct hl_reply *message)
{
    (void)arg;
    say_free(message);
}

A_PLAY(an_idle_listener_costs_half_of_the_turns_at_most)
{
    static const char *const subscribe[] = {"SUBSCRIBE", "redisson_lock__channel:{stock}"};
    static const size_t lengths[] = {9, 30};
    struct round rounds[12];
    struct store_peer *other;
    unsigned without = twelve(s, 0, rounds, 0), with;
    other = store_connect(&s->store, ignore, NULL);
    say_free(store_execute(other, 2, subscribe, lengths));
    turns(s, rounds, 12, 0, 6000); /* the pauses grow */
    with = turns(s, rounds, 12, 0, 4000);
    fixture_claim(s, 2 * with >= without, formatted("%u turns beside a listener, %u without", with, without), __FILE__, __LINE__);
    store_disconnect(other);
}

/* ---- what waiting costs ---- */

enum { NAMES = 2000, PARTS = 200, PART_US = 100000 };

A_PLAY(waiting_for_many_names_is_cheap_and_even)
{
    static struct handle *handles[NAMES];
    struct client *p = fixture_connect(s, NULL);
    unsigned parts[PARTS] = {0}, total = 0, most = 0;
    uint64_t since_us;
    s->is_untold = s->is_tampered = 1;
    for (unsigned i = 0; i < NAMES; i++) {
        store_grant(&s->store, formatted("stock:%u", i), "00000000-0000-4000-8000-000000000000:1", 3600000);
        handles[i] = asking(p, "w", formatted("stock:%u", i), HILOCK_LOCK_OPTIONS(.min_validity_ms = 100));
    }
    run_ms(s, 25000);
    store_forget(&s->store);
    since_us = fixture_us(s);
    run_ms(s, PARTS * PART_US / 1000);
    for (size_t i = 0; i < s->store.lines_count; i++)
        if (s->store.lines[i].at_us - since_us < (uint64_t)PARTS * PART_US)
            parts[(s->store.lines[i].at_us - since_us) / PART_US]++;
    for (unsigned i = 0; i < PARTS; i++) {
        total += parts[i];
        most = parts[i] > most ? parts[i] : most;
    }
    /* 1 200 commands a second for 10 000 names */
    fixture_claim(s, total <= 1200u * NAMES / 10000 * (PARTS * PART_US / 1000000), formatted("%u commands in 20 s for %u names", total, (unsigned)NAMES), __FILE__, __LINE__);
    fixture_claim(s, most <= 3 * total / PARTS, formatted("%u of %u in 100 ms", most, total), __FILE__, __LINE__);
    for (unsigned i = 0; i < NAMES; i++)
        handle_free(handles[i]);
}

/* Its grant went to one that stands still. */
A_PLAY(who_closes_looks_again_while_it_drains)
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *h = held(p, "h", "stock", FAIR(0)), *living;
    waits(q, FAIR(0));
    run_ms(s, 2);
    living = waits(fixture_connect(s, NULL), FAIR(0));
    run_ms(s, 2);
    stop_all(&q, 1);
    release_quietly(h);
    client_close(p, 5000);
    uint64_t released_us = fixture_us(s);
    run_until_held(living, 3000);
    WITHIN_MS(s, released_us, 500);
    end_all(&q, 1);
}

/* ---- who asks, and when ---- */

/* So a renewal can be told from the window that it came in. */
A_PLAY(a_window_is_shorter_than_the_lease)
{
    struct client *p = fixture_connect(s, NULL);
    store_grant(&s->store, "stock", "x:9", 60000);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 300));
    run_ms(s, 2);
    HOLDS(s, strstr(store_line(&s->store, "mutex_acquire", -1)->text, " 200 0 1"));
    asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, .lease_ms = 150));
    run_ms(s, 2);
    HOLDS(s, strstr(store_line(&s->store, "mutex_acquire", -1)->text, " 75 0 1"));
}

/* A newcomer finds the name granted a moment ago. That grant is looked after by whoever made it. */
static size_t asked_by_the_place_at_the_end_of_a_window(struct fixture *s, int place)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", FAIR(0));
    for (int i = 0; i < place; i++) /* one of them is granted it */
        waits(q, FAIR(0));
    run_ms(s, 2);
    release_quietly(h);
    run_ms(s, 2);
    waits(fixture_connect(s, NULL), FAIR(0));
    run_ms(s, 10);
    size_t before = asked(s, "mutex_acquire");
    run_ms(s, 1000);
    return asked(s, "mutex_acquire") - before;
}

A_PLAY(the_eighth_place_asks_at_the_end_of_a_window) { SAME(s, asked_by_the_place_at_the_end_of_a_window(s, 8), 1); }
A_PLAY(a_far_place_does_not_ask_at_the_end_of_a_window) { SAME(s, asked_by_the_place_at_the_end_of_a_window(s, 9), 0); }

/* Nobody behind a dead first place would hear of the release of another program. */
A_PLAY(the_second_place_looks_behind_another_program)
{
    struct client *p = fixture_connect(s, NULL);
    store_take(&s->store, "stock", "another", 600000);
    waits(p, FAIR(0));
    run_ms(s, 2);
    waits(fixture_connect(s, NULL), FAIR(0));
    run_ms(s, 2);
    stop_all(&p, 1);
    size_t before = asked(s, "mutex_acquire");
    run_ms(s, 3500);
    SAME(s, asked(s, "mutex_acquire") - before, 1);
    end_all(&p, 1);
}

/* It was stamped before this client stood still: by that time it would promise too little, and be passed over. */
A_PLAY(a_message_from_long_ago_does_not_set_the_clock_back)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", FAIR(0)), *b = waits(q, FAIR(0)), *c;
    run_ms(s, 2);
    c = waits(fixture_connect(s, NULL), FAIR(0));
    run_ms(s, 2);
    stop_all(&q, 1);
    release_quietly(h);
    run_ms(s, 2600);
    HOLDS(s, is_held(c));
    world_thaw(&s->world, &q->loop.lane);
    run_ms(s, 2000);
    uint64_t passed_over = counts_of(q).passed_over;
    release_quietly(c);
    run_ms(s, 5);
    HOLDS(s, is_held(b));
    SAME(s, counts_of(q).passed_over, passed_over);
    fixture_hush(s);
}

/* A forced release wakes the first waiter, which is dead. */
A_PLAY(who_ends_a_hold_by_force_looks_after_it)
{
    struct client *dead = fixture_connect(s, NULL);
    struct handle *c;
    store_grant(&s->store, "stock", "x:9", 600000);
    waits(dead, FAIR(0));
    run_ms(s, 2);
    c = waits(fixture_connect(s, NULL), FAIR(0));
    run_ms(s, 100);
    client_abandon(dead);
    force(handle_new(fixture_connect(s, NULL), "f", "stock", NULL), "x:9");
    run_ms(s, 5);
    HOLDS(s, is_held(c));
    fixture_hush(s);
}
