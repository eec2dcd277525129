/* SPDX-License-Identifier: BSD-3-Clause */
/* Alarms go off in order, each at its time and never before, however many are set, put off, stopped and ended meanwhile; setting needs no
 * memory; and what is set while others go off is for a later turn. */
#include "base/alarm.h"
#include "suite.h"
#include "world/loop.h"

enum { MANY = 5000, NEVER = 0 };

struct bell {
    struct hl_alarm alarm;
    uint64_t due_us; /* NEVER */
    unsigned rings;
};

static struct world world;
static struct world_memory memory;
static struct world_loop loop;
static struct hl_host host;
static struct hl_alarms alarms;
static struct bell bells[MANY];
static uint64_t latest_us;
static unsigned rung, leaves;
static void (*on_ring)(struct bell *bell);

static void ring(struct hl_alarm *alarm)
{
    struct bell *bell = (struct bell *)(void *)((char *)alarm - offsetof(struct bell, alarm));
    uint64_t due_us = bell->due_us;
    assert_int_not_equal(due_us, NEVER);
    assert_true(due_us <= hl_now_us(&host) && due_us >= latest_us);
    assert_int_equal(host.depth, 1);
    latest_us = due_us;
    bell->due_us = NEVER;
    bell->rings++;
    rung++;
    if (on_ring)
        on_ring(bell);
}

static void on_leave(void *arg)
{
    (void)arg;
    leaves++;
    hl_host_settle(&host);
}

static void begin(void)
{
    struct hl_memory own;
    memory = (struct world_memory){.blocks = 0};
    struct hilock_allocator allocator = world_memory_allocator(&memory);
    memset(bells, 0, sizeof bells);
    latest_us = rung = leaves = 0;
    on_ring = NULL;
    world_init(&world);
    world_loop_init(&loop, &world, &memory);
    struct hilock_loop table = world_loop_table(&loop);
    hl_memory_init(&own, &allocator);
    assert_int_equal(hl_host_init(&host, &table, &own, 7), 0);
    host.on_leave = on_leave;
    assert_int_equal(hl_alarms_init(&alarms, &host, ring), 0);
}

static void end(void)
{
    for (unsigned i = 0; i < MANY; i++)
        hl_alarm_end(&alarms, &bells[i].alarm);
    hl_alarms_done(&alarms);
    hl_host_done(&host);
    world_done(&world);
    assert_int_equal(loop.timers, 0);
    assert_int_equal(memory.blocks, 0);
}

#define WITH_BELLS(name) TEST_WITHIN(name, begin, end)

static void begin_all(void)
{
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(hl_alarm_begin(&alarms, &bells[i].alarm), 0);
}

static void set(struct bell *bell, uint64_t in_us)
{
    bell->due_us = hl_now_us(&host) + in_us;
    hl_alarm_set(&alarms, &bell->alarm, bell->due_us);
}

static void stop(struct bell *bell)
{
    bell->due_us = NEVER;
    hl_alarm_stop(&alarms, &bell->alarm);
}

static unsigned overdue(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MANY; i++)
        count += bells[i].due_us != NEVER && bells[i].due_us < hl_now_us(&host);
    return count;
}

WITH_BELLS(each_at_its_time)
{
    uint64_t spans_us[] = {1, 1000, 1000000, 60000000};
    begin_all();
    for (unsigned i = 0; i < 40 * MANY; i++) {
        struct bell *bell = &bells[hl_random_below(&host.random, MANY)];
        if (hl_random_below(&host.random, 4))
            set(bell, 1 + hl_random_below(&host.random, spans_us[hl_random_below(&host.random, 4)]));
        else
            stop(bell);
        world_run_us(&world, hl_random_below(&host.random, 100));
        if (i % MANY == 0)
            assert_int_equal(overdue(), 0);
    }
    world_run_us(&world, 100000000);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(bells[i].due_us, NEVER);
    assert_true(rung > MANY);
}

/* Loops may call timers a little too soon, or late. */
WITH_BELLS(never_early)
{
    begin_all();
    loop.early_us = 700;
    for (unsigned i = 0; i < MANY; i++)
        set(&bells[i], 1000 * i);
    world_run_us(&world, 500 * 1000);
    assert_int_equal(rung, 501);
    loop.late_us = 5000;
    world_run_us(&world, 1000 * MANY);
    assert_int_equal(rung, MANY);
}

static uint64_t clock_reads;
static uint64_t (*read_clock)(const void *clock);
static uint64_t count_clock(const void *clock) { return clock_reads++, read_clock(clock); }

/* Only one that is earlier than all others moves the timer, and needs to know the time. */
WITH_BELLS(one_that_is_no_earlier_than_the_first_reads_no_clock)
{
    uint64_t at_us = hl_now_us(&host) + 1000;
    begin_all();
    read_clock = host.loop.now_us;
    host.loop.now_us = count_clock;
    clock_reads = 0;
    for (unsigned i = 0; i < 10; i++) {
        bells[i].due_us = at_us + i / 5;
        hl_alarm_set(&alarms, &bells[i].alarm, bells[i].due_us);
    }
    assert_int_equal(clock_reads, 1);
    world_run_us(&world, 2000);
    assert_int_equal(rung, 10);
}

/* The loop has others to look after, too. */
WITH_BELLS(a_turn_rings_a_thousand_at_most)
{
    begin_all();
    for (unsigned i = 0; i < 2500; i++)
        set(&bells[i], 1000);
    while (rung == 0)
        assert_true(world_step(&world, UINT64_MAX));
    assert_int_equal(rung, 1000);
    world_run_us(&world, 0);
    assert_int_equal(rung, 2500);
}

static void again(struct bell *bell) { set(bell, 0); }

/* Each in a turn of its own: the loop has others to look after, too. */
WITH_BELLS(set_for_now_is_for_a_later_turn)
{
    begin_all();
    on_ring = again;
    set(&bells[0], 0);
    set(&bells[1], 0);
    while (leaves < 10)
        assert_true(world_step(&world, UINT64_MAX));
    assert_true(bells[0].rings <= 10 && bells[1].rings <= 10 && bells[0].rings + bells[1].rings >= 18);
}

static void end_the_others(struct bell *bell)
{
    for (unsigned i = 0; i < MANY; i++)
        if (&bells[i] != bell) {
            hl_alarm_end(&alarms, &bells[i].alarm);
            bells[i].due_us = NEVER;
        }
}

WITH_BELLS(who_goes_off_may_end_the_others)
{
    begin_all();
    on_ring = end_the_others;
    for (unsigned i = 0; i < MANY; i++)
        set(&bells[i], 1000);
    world_run_us(&world, 2000);
    assert_int_equal(rung, 1);
}

WITH_BELLS(only_a_begin_needs_memory)
{
    unsigned refused = 0;
    for (unsigned i = 0; i < MANY; i++) {
        memory.is_out = i % 2;
        if (hl_alarm_begin(&alarms, &bells[i].alarm) == 0)
            continue;
        refused++;
        assert_false(hl_alarm_has_begun(&bells[i].alarm));
        memory.is_out = 0;
        assert_int_equal(hl_alarm_begin(&alarms, &bells[i].alarm), 0);
    }
    memory.is_out = 1;
    for (unsigned i = 0; i < MANY; i++)
        set(&bells[i], 1000 + i);
    for (unsigned i = 0; i < MANY; i += 2) {
        hl_alarm_end(&alarms, &bells[i].alarm);
        bells[i].due_us = NEVER;
    }
    world_run_us(&world, 2 * MANY);
    assert_int_equal(rung, MANY / 2);
    assert_true(refused < 20);
}

WITH_BELLS(what_many_needed_is_given_back)
{
    size_t bytes = memory.bytes;
    begin_all();
    assert_true(memory.bytes - bytes < 40 * MANY);
    end();
    begin();
    begin_all();
    for (unsigned i = 0; i < MANY; i++)
        hl_alarm_end(&alarms, &bells[i].alarm);
    assert_int_equal(memory.bytes, bytes);
}

/* A third of the room is enough use for it, and the least room stays. */
WITH_BELLS(memory_is_given_back_when_most_is_unused)
{
    unsigned i;
    size_t least = memory.bytes, most;
    for (i = 0; i < 17; i++)
        assert_int_equal(hl_alarm_begin(&alarms, &bells[i].alarm), 0);
    most = memory.bytes; /* of 24 alarms */
    while (i > 8)
        hl_alarm_end(&alarms, &bells[--i].alarm);
    assert_int_equal(memory.bytes, most);
    hl_alarm_end(&alarms, &bells[--i].alarm);
    assert_int_equal(memory.bytes, least);
    uint64_t asked = memory.asked;
    while (i > 0)
        hl_alarm_end(&alarms, &bells[--i].alarm);
    assert_int_equal(memory.asked, asked);
}

/* Whatever is refused, nothing stays. */
WITH_BELLS(alarms_need_a_timer_and_memory_to_begin_with)
{
    size_t blocks = memory.blocks;
    unsigned refused = 0;
    for (;; refused++) {
        struct hl_alarms more;
        memory.fails = 1;
        memory.fail_at = memory.asked + 1 + refused;
        int status = hl_alarms_init(&more, &host, ring);
        memory.fail_at = 0;
        hl_alarms_done(&more);
        assert_int_equal(memory.blocks, blocks);
        if (status == 0)
            break;
        assert_int_equal(status, -1);
    }
    assert_int_equal(refused, 3); /* the timer, that of the loop, and the heap */
}
