/* SPDX-License-Identifier: BSD-3-Clause */
/* What costs much is counted, not timed: walks over all holds, addresses that are compared, looks at the clock. */
#include "node/address.h"
#include "play.h"
#include "stage.h"

struct hl_core;
struct hl_hold;
struct hl_node;

/* The linker has the library's own calls pass here. */
static unsigned walks, compares, looks;

void __real_hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg);
void __wrap_hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg);
uint64_t __real_hl_holds_left_us(void *core, const struct hl_node *node);
uint64_t __wrap_hl_holds_left_us(void *core, const struct hl_node *node);
int __real_hl_address_is_same(const struct hl_address *a, const struct hl_address *b);
int __wrap_hl_address_is_same(const struct hl_address *a, const struct hl_address *b);
uint64_t __real_world_clock_us(const struct world_clock *clock);
uint64_t __wrap_world_clock_us(const struct world_clock *clock);

void __wrap_hl_hold_each_held(struct hl_core *core, void (*visit)(struct hl_hold *hold, void *arg), void *arg)
{
    walks++;
    __real_hl_hold_each_held(core, visit, arg);
}

uint64_t __wrap_hl_holds_left_us(void *core, const struct hl_node *node)
{
    walks++;
    return __real_hl_holds_left_us(core, node);
}

int __wrap_hl_address_is_same(const struct hl_address *a, const struct hl_address *b)
{
    compares++;
    return __real_hl_address_is_same(a, b);
}

uint64_t __wrap_world_clock_us(const struct world_clock *clock)
{
    looks++;
    return __real_world_clock_us(clock);
}

enum { HELD = 200, RANGES = 16384, HOSTS = 1000 };

/* All that is held moves in one moment, which is noticed behind so many milliseconds. */
static void move_together(struct fixture *s, hilock_kind kind, uint64_t noticed_ms)
{
    struct handle *handles[HELD];
    cluster_set(s);
    s->is_untold = 1;
    struct client *p = cluster_connect(s);
    for (int i = 0; i < HELD; i++)
        acquire(handles[i] = handle_new(p, "a", cluster_name(1, i), HILOCK_LOCK_OPTIONS(.kind = kind)), HILOCK_FOREVER);
    run_ms(s, 100);
    for (int i = 0; i < HELD; i++) {
        cluster_move_lock(s, hilock_lock_name(handles[i]->lock), 1, 2);
        cluster_end_move(s, cluster_slot(hilock_lock_name(handles[i]->lock)), 2);
    }
    run_ms(s, noticed_ms);
    walks = 0;
    run_ms(s, 2000);
    HOLDS(s, walks > 0 && walks < 10);
    HOLDS(s, store_count(store_at(s, 2), "renew") >= HELD);
    for (int i = 0; i < HELD; i++)
        HOLDS(s, hilock_lock_remaining_ms(handles[i]->lock) > 20000);
}

/* Who was granted a free name listens to nothing: renewals of all that is held, after a third of the lease, come back with MOVED in one turn. */
A_PLAY(slots_that_move_together_are_looked_after_together) { move_together(s, HILOCK_MUTEX, 9000); }

/* Each slot's channel of grants is ended by the server that gives the slot away. */
A_PLAY(slots_whose_channels_end_together_are_looked_after_together) { move_together(s, HILOCK_FAIR, 0); }

static struct hl_reply *topology(unsigned span)
{
    struct hl_reply *all = say_array(0);
    for (int i = 0; i < RANGES; i++) {
        const char *host = formatted("10.1.%d.%d", i % HOSTS / 250, i % HOSTS % 250);
        all = say_longer(all, say_array(3, say_integer(span > 1 ? 0 : i), say_integer(span > 1 ? (int)span - 1 : i),
                                        say_array(2, say_string(host), say_integer(6379))));
    }
    return all;
}

A_PLAY(a_long_topology_costs_few_compares)
{
    cluster_set(s);
    PLAN(s, .on = "CLUSTER SLOTS", .fate.refusal = topology(1));
    compares = 0;
    fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
    HOLDS(s, compares >= RANGES - HOSTS && compares < 2 * RANGES);
}

/* Each says that it has all slots: only that many slots are counted, no more. */
A_PLAY(ranges_that_overlap_without_end_are_passed_over)
{
    cluster_set(s);
    PLAN(s, .on = "CLUSTER SLOTS", .fate.refusal = topology(RANGES));
    compares = 0;
    fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = CLUSTER_URL));
    HOLDS(s, compares < 10);
}

static unsigned steps;
static void count_step(const struct hilock_trace *trace, void *user)
{
    (void)trace, (void)user;
    steps++;
}

/* Each step of a trace has a time of its own. */
A_PLAY(a_trace_that_nobody_asked_for_costs_no_look_at_the_clock)
{
    unsigned of[2];
    for (int i = 0; i < 2; i++) {
        struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.on_trace = i ? count_step : NULL));
        looks = steps = 0;
        release_quietly(held(p, "a", "stock", NULL));
        run_ms(s, 1);
        of[i] = looks;
        client_abandon(p);
    }
    HOLDS(s, steps > 0);
    SAME(s, of[1], of[0] + steps);
}
