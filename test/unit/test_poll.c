/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind SIMPLE and wake POLL in virtual time: what is asked when, without a subscription; handles of several
 * kinds on one name. */
#include "play.h"

#define SIMPLE(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, __VA_ARGS__)

static struct handle *simple(struct client *p, const char *tag) { return handle_new(p, tag, "stock", SIMPLE(.lease_ms = 3000)); }

static struct handle *waits(struct client *p, const char *tag) { return acquiring(simple(p, tag), HILOCK_FOREVER); }

/* ---- acquire ---- */

WITH_CLIENT(a_free_name_costs_one_native_command_and_no_second_link)
{
    struct hilock_lock_info info = {.size = sizeof info};
    struct handle *a = waits(p, "a");
    TELLS_IN(s, 1, "a:OK");
    TEXT(s, store_line(&s->store, "SET", 0)->text, formatted("SET stock %s:1 NX PX 3000", p->uuid));
    BELIEVES(s, a, sent_at_us(s, "SET", 0) + 3000000 - 30000 - 7000);
    SAME(s, a->result.fencing_token, 0);
    SAME(s, hilock_lock_token(a->lock), 0);
    hilock_lock_describe(a->lock, &info);
    SAME(s, info.kind, HILOCK_SIMPLE);
    release(a);
    TELLS_IN(s, 1, "a:released");
    SAME(s, asked(s, "SET"), 1);
    SAME(s, asked(s, "simple_acquire"), 0);
    SAME(s, asked(s, "simple_release"), 1);
    SAME(s, sim_store_keys(store_now(&s->store)), 0); /* not even a token */
    SAME(s, s->store.peers_ever, 1);
}

WITH_CLIENT(a_try_of_a_held_name_is_one_attempt_of_two_commands)
{
    store_take_simple(&s->store, "stock", "another", 60000);
    struct handle *a = acquiring(simple(p, "a"), HILOCK_TRY);
    TELLS_IN(s, 10, "a:TIMED_OUT");
    SAME(s, asked(s, "SET"), 1);
    SAME(s, asked(s, "simple_acquire"), 1);
    SAME(s, a->result.attempts, 1);
    TEXT(s, a->holder, "another");
    TEXT(s, a->detail, "\"stock\" is held by another; its lease ends in 60000 ms");
}

WITH_CLIENT(a_server_that_answers_nil_for_ever_is_asked_no_third_time)
{
    PLAN(s, .on = "SET", .fate.refusal = say_nil(), .times = PLAN_ALWAYS);
    PLAN(s, .on = "simple_acquire", .fate.refusal = say_nil(), .times = PLAN_ALWAYS);
    waits(p, "a");
    TELLS_IN(s, 5, "a:PROTOCOL");
}

/* ---- polling ---- */

WITH_CLIENT(polls_come_after_min_and_a_random_part_of_jitter)
{
    uint64_t shortest_us = UINT64_MAX, longest_us = 0;
    store_take_simple(&s->store, "stock", "another", 600000);
    asking(p, "a", "stock", SIMPLE(.poll_min_ms = 20, .poll_jitter_ms = 10));
    TELLS_IN(s, 2000, "a:WAITING");
    HOLDS(s, asked(s, "SET") >= 2000 / 31 && asked(s, "SET") <= 2000 / 20);
    for (int i = 1; i < (int)asked(s, "SET"); i++) {
        uint64_t pause_us = sent_at_us(s, "SET", i) - sent_at_us(s, "simple_acquire", i - 1) - 200; /* from its answer */
        shortest_us = pause_us < shortest_us ? pause_us : shortest_us;
        longest_us = pause_us > longest_us ? pause_us : longest_us;
    }
    HOLDS(s, shortest_us >= 20000 && longest_us <= 30000 && longest_us - shortest_us > 3000);
}

WITH_CLIENT(a_MUTEX_that_polls_needs_no_subscription)
{
    store_take(&s->store, "stock", "another", 600000);
    struct handle *a = asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.wake = HILOCK_WAKE_POLL));
    run_ms(s, 1000);
    HOLDS(s, asked(s, "mutex_acquire") > 40 && asked(s, "mutex_acquire") <= 70); /* a sixteenth of its wait, 5 ms at least */
    store_delete(&s->store, "stock"); /* said nowhere */
    TELLS_IN(s, 101, "a:WAITING a:OK");
    HOLDS(s, hilock_lock_token(a->lock) > 0);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
    SAME(s, s->store.peers_ever, 1);
}

WITH_CLIENT(where_a_subscription_is_refused_its_waiter_polls)
{
    PLAN(s, .on = "SUBSCRIBE", .error = "NOPERM this user has no permissions to access one of the channels", .times = PLAN_ALWAYS);
    store_take(&s->store, "stock", "another", 600000);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.poll_min_ms = 200, .poll_jitter_ms = 1));
    run_ms(s, 12000);
    store_delete(&s->store, "stock");
    TELLS_IN(s, 250, "a:WAITING a:OK");
}

/* ---- renewal and release ---- */

WITH_CLIENT(an_extended_SIMPLE_lock_is_not_shortened_by_its_renewals)
{
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .lease_ms = 9000));
    SAME(s, extend(a, 60000), HILOCK_OK);
    TELLS_IN(s, 20000, "a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 39000 && store_left_ms(&s->store, "stock") > 39000);
    HOLDS(s, asked(s, "simple_renew") >= 5);
}

/* The answer to that renewal says that the lock is held, so a release must follow. */
WITH_CLIENT(a_SIMPLE_lock_is_released_behind_a_renewal_under_way)
{
    struct handle *a = held(p, "a", "stock", SIMPLE(.lease_ms = 3000));
    PLAN(s, .on = "simple_renew", .fate.back_us = 100000);
    run_ms(s, 1010);
    release(a);
    TELLS_IN(s, 110, "a:released");
    SAME(s, asked(s, "simple_release"), 1);
    SAME(s, store_left_ms(&s->store, "stock"), -2);
}

/* Or it says that nothing is there: then nothing is left to be released. */
WITH_CLIENT(a_SIMPLE_lock_that_a_renewal_under_way_does_not_find_is_LOST)
{
    struct handle *a = held(p, "a", "stock", SIMPLE(.lease_ms = 3000));
    s->is_tampered = 1;
    store_delete(&s->store, "stock");
    PLAN(s, .on = "simple_renew", .fate.back_us = 100000);
    run_ms(s, 1010);
    release(a);
    TELLS_IN(s, 110, "a:release LOST");
    SAME(s, asked(s, "simple_release"), 0);
}

WITH_CLIENT(siblings_of_two_kinds_stand_in_one_line)
{
    struct handle *a = held(p, "a", "stock", NULL), *b, *c = simple(p, "c");
    b = waits(p, "b");
    acquire(c, HILOCK_TRY);
    TELLS_IN(s, 500, "b:WAITING c:TIMED_OUT");
    TEXT(s, c->detail, "\"stock\" is held by another handle of this client");
    SAME(s, asked(s, "SET"), 0);
    release(a);
    TELLS_IN(s, 2, "a:released b:OK");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 500, "a:WAITING");
    release(b);
    TELLS_IN(s, 2, "b:released a:OK");
}

/* ---- several kinds on one name ---- */

WITH_CLIENT(the_wrong_kind_for_one_is_not_told_another)
{
    store_take(&s->store, "stock", "another", 60000);
    PLAN(s, .on = "mutex_acquire", .holds = 1);
    waits(p, "a");
    acquiring(handle_new(p, "b", "stock", NULL), 100);
    TELLS_IN(s, 90, "a:WRONG_KIND");
    TELLS_IN(s, 20, "b:UNREACHABLE");
}
