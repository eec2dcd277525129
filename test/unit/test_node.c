/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to one server: sent in order within limits, answered once, given up in time; scripts and the server's clock at hand. */
#include "play.h"
#include "wire/scripts.h"

static unsigned scripts(void)
{
    unsigned count = 0;
    while (hl_scripts[count])
        count++;
    return count;
}

GIVEN(before_anything_else_scripts_are_loaded_and_the_time_is_asked, fixture_open(s, NULL))
{
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 2, "a:OK");
    TEXT(s, store_line(&s->store, NULL, 0)->word, "CLIENT");
    SAME(s, asked(s, "SCRIPT"), scripts());
    SAME(s, asked(s, "TIME"), 1);
    HOLDS(s, asked_at_us(s, "TIME", 0) < asked_at_us(s, "mutex_acquire", 0));
    HOLDS(s, asked_at_us(s, "SCRIPT", -1) <= asked_at_us(s, "TIME", 0));
}

WITH_CLIENT(a_script_that_stays_unknown_is_an_error_of_the_server)
{
    struct plan *unknown =
        PLAN(s, .on = "mutex_acquire", .error = "NOSCRIPT No matching script. Please use EVAL.", .times = PLAN_ALWAYS);
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), 2000);
    TELLS_IN(s, 3000, "a:SERVER");
    SAME(s, unknown->met, 1 + 3); /* it was loaded three times */
    HOLDS(s, strstr(a->detail, "NOSCRIPT"));
}

GIVEN(a_script_is_missed_where_none_was_asked_for, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.keepalive_ms = 1000)))
{
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    PLAN(s, .on = "TIME", .error = "NOSCRIPT No matching script. Please use EVAL.");
    PLAN(s, .on = "SET", .error = "NOSCRIPT No matching script. Please use EVAL.");
    run_ms(s, 1500);
    acquire(a, 2000);
    TELLS_IN(s, 10, "a:SERVER");
    HOLDS(s, strstr(a->detail, "NOSCRIPT"));
}

A_PLAY(a_script_that_may_not_be_loaded_says_so)
{
    PLAN(s, .on = "SCRIPT", .error = "NOPERM this user has no permissions to run the 'script|load' command", .times = PLAN_ALWAYS);
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = asking(p, "a", "stock", NULL);
    TELLS_IN(s, 10, "a:DENIED");
    HOLDS(s, strstr(a->detail, "'script|load'"));
}

/* Each script that is missing has a load of its own under way, in any order. */
WITH_CLIENT(several_scripts_are_loaded_once_each)
{
    struct handle *a[4], *b[4];
    s->is_untold = 1;
    for (int i = 0; i < 4; i++) {
        a[i] = held(p, "a", formatted("h%d", i), NULL);
        b[i] = handle_new(p, "b", formatted("n%d", i), HILOCK_LOCK_OPTIONS(.kind = i & 1 ? HILOCK_FAIR : HILOCK_MUTEX));
    }
    sim_store_flush_scripts(s->store.core);
    for (int i = 0; i < 4; i++) {
        acquire(b[i], HILOCK_FOREVER);
        release(a[i]);
    }
    run_ms(s, 10);
    SAME(s, asked(s, "SCRIPT"), scripts() + 2); /* of both kinds: mutex_acquire, mutex_release */
    for (int i = 0; i < 4; i++) {
        SAME(s, hilock_lock_state(a[i]->lock), HILOCK_STATE_IDLE);
        SAME(s, hilock_lock_state(b[i]->lock), HILOCK_STATE_HELD);
    }
}

GIVEN(no_more_than_inflight_max_are_on_the_wire, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.inflight_max = 8)))
{
    s->is_untold = 1;
    for (int i = 0; i < 40; i++) {
        const char *name = formatted("n%d", i);
        asking(p, name, name, NULL);
    }
    run_us(s, 50);
    SAME(s, counts_of(p).inflight, 8);
    run_us(s, 100);
    SAME(s, asked(s, "mutex_acquire"), 8);
    run_us(s, 200);
    SAME(s, asked(s, "mutex_acquire"), 16);
    run_ms(s, 2);
    SAME(s, asked(s, "mutex_acquire"), 40);
    SAME(s, counts_of(p).inflight, 0);
}

/* Every timer is late: the server has had its moments after the first few. */
A_PLAY(a_loop_that_is_always_late_gives_the_link_up_too)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 700));
    p->tells = 1;
    p->loop.late_us = 200000;
    PLAN(s, .on = "mutex_acquire", .fate.answer_is_lost = 1);
    uint64_t sent_us = fixture_us(s);
    asking(p, "a", "stock", NULL);
    HOLDS(s, run_until_told(s, 2500));
    TELLS(s, "down");
    SAME(s, fixture_us(s), sent_us + 700000 + 200000 + 3 * (50000 + 200000) + 200000); /* three moments */
}

/* One that is late by no more than a tenth of a second did not stand still. */
A_PLAY(a_loop_that_is_a_little_late_gives_no_moment)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 700));
    p->tells = 1;
    p->loop.late_us = 100000;
    PLAN(s, .on = "mutex_acquire", .fate.answer_is_lost = 1);
    uint64_t sent_us = fixture_us(s);
    asking(p, "a", "stock", NULL);
    HOLDS(s, run_until_told(s, 2500));
    TELLS(s, "down");
    SAME(s, fixture_us(s), sent_us + 700000 + 2 * 100000);
}

A_PLAY(an_unanswered_command_breaks_the_link_in_its_time)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 700));
    uint64_t sent_us = fixture_us(s);
    p->tells = 1;
    PLAN(s, .on = "mutex_acquire", .fate.answer_is_lost = 1);
    asking(p, "a", "stock", NULL);
    HOLDS(s, run_until_told(s, 1000));
    TELLS(s, "down");
    SAME(s, fixture_us(s), sent_us + 700000);
    HOLDS(s, strstr(p->event_detail, "a command timed out; next try in "));
    TEXT(s, p->event_node, "127.0.0.1:6379");
    HOLDS(s, p->event.retry_ms > 0 && p->event.retry_ms <= 50);
    TELLS_IN(s, 100, "up a:OK");
}

/* The loop stood still, not the server: what waits to be read is read before the link is judged, whichever the loop looks at first. */
static void stands_still(struct fixture *s, uint64_t answer_us, const char *told)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 700));
    PLAN(s, .on = "mutex_acquire", .fate.back_us = answer_us);
    asking(p, "a", "stock", NULL);
    run_ms(s, 10);
    world_freeze(&p->loop.lane);
    run_ms(s, 5000);
    p->tells = 1;
    world_thaw(&s->world, &p->loop.lane);
    TELLS_IN(s, 100, told);
    SAME(s, asked(s, "mutex_acquire"), 1);
}

A_PLAY(a_loop_that_stood_still_reads_its_answers_first) { stands_still(s, 650000, "a:OK STALLED"); }
A_PLAY(a_loop_that_stood_still_gives_its_answers_a_moment) { stands_still(s, 900000, "STALLED a:OK"); }

A_PLAY(a_dead_idle_link_is_found_by_the_probe)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.keepalive_ms = 2000, .command_timeout_ms = 3000));
    p->tells = 1;
    PLAN(s, .on = "TIME", .fate.is_lost = 1);
    TELLS_IN(s, 4900, "");
    TELLS_IN(s, 200, "down up");
}

GIVEN(a_busy_link_is_not_probed, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.keepalive_ms = 2000)))
{
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    run_ms(s, 30000);
    SAME(s, asked(s, "TIME"), 1);
}

GIVEN(an_acquire_carries_the_servers_time, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 1000)))
{
    unsigned long long not_after_us = 0, sampled_us;
    run_ms(s, 5000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 1);
    sscanf(strstr(store_line(&s->store, "mutex_acquire", 0)->text, " 30000 "), " 30000 %llu", &not_after_us);
    /* TIME was executed 100 us after it was sent, and elapsed time counts from that send */
    sampled_us = store_us(&s->store) - (fixture_us(s) - sent_at_us(s, "mutex_acquire", 0)) + 100;
    sampled_us -= (sent_at_us(s, "mutex_acquire", 0) - sent_at_us(s, "TIME", 0)) / 100; /* the rates may differ */
    SAME(s, not_after_us, (sampled_us / 1000 + 1000 + 1) * 1000);
}

WITH_CLIENT(LATE_twice_is_a_fault_that_passes)
{
    PLAN(s, .on = "mutex_acquire", .error = "LATE 1 1", .times = 2);
    struct handle *a = asking(p, "a", "stock", NULL), *b = handle_new(p, "b", "other", NULL);
    TELLS_IN(s, 300, "a:OK");
    SAME(s, a->result.attempts, 4); /* LATE, LATE; late in truth, for "1 1" was believed; granted */
    PLAN(s, .on = "mutex_acquire", .error = "LATE 1 1", .times = PLAN_ALWAYS);
    acquire(b, 1000);
    TELLS_IN(s, 1100, "b:UNREACHABLE");
}

WITH_CLIENT(an_answer_to_nothing_breaks_the_link)
{
    struct hl_reply *odd = say_integer(1);
    p->tells = 1;
    net_say(&s->net, &p->loop, NET_COMMANDS, odd);
    say_free(odd);
    TELLS_IN(s, 100, "down up");
    TEXT(s, p->event_detail, "");
    HOLDS(s, strstr(p->log, "unexpected reply: no command asked for it"));
}

A_PLAY(a_refused_script_or_TIME_does_not_stop_the_node)
{
    PLAN(s, .on = "SCRIPT", .error = "NOPERM this user has no permissions to run 'script'", .times = 3);
    PLAN(s, .on = "TIME", .error = "NOPERM this user has no permissions to run 'time'");
    struct client *p = fixture_connect(s, NULL);
    HOLDS(s, strstr(p->log, "SCRIPT LOAD refused: NOPERM") && strstr(p->log, "TIME refused: NOPERM"));
    held(p, "a", "stock", NULL); /* NOSCRIPT, loaded after all; and without a not_after */
    HOLDS(s, strstr(store_line(&s->store, "mutex_acquire", -1)->text, " 30000 9999999999999999 "));
}

A_PLAY(a_right_that_is_missing_again_is_told_of_again)
{
    static const int is_missing[] = {1, 1, 0, 1, 1};
    struct client *p = fixture_open(s, NULL);
    for (size_t i = 0; i < sizeof is_missing / sizeof *is_missing; i++) {
        struct plan *denied = PLAN(s, .on = "TIME", .error = "NOPERM this user has no permissions to run the 'time' command",
                                   .times = PLAN_ALWAYS);
        if (!is_missing[i])
            plan_end(denied);
        run_ms(s, 100);
        HOLDS(s, hilock_client_is_connected(p->client));
        plan_end(denied);
        net_reset(&s->net, NULL, NET_ALL);
    }
    SAME(s, client_lines(p, "TIME refused: NOPERM"), 2);
}

/* The script of a release counts those who listen, and only waiters of kind FAIR need that. */
A_PLAY(who_may_not_count_listeners_is_told_once_that_FAIR_needs_it)
{
    static const char told[] = "PUBSUB NUMSUB refused: a waiter that was killed counts as one that stands still";
    struct plan *denied = PLAN(s, .on = "PUBSUB", .error = "NOPERM this user has no permissions", .times = PLAN_ALWAYS);
    struct client *p = fixture_connect(s, NULL);
    run_ms(s, 100);
    SAME(s, client_lines(p, told), 0);
    store_grant(&s->store, "stock", "x:9", 600000);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    run_ms(s, 100);
    SAME(s, client_lines(p, told), 1);
    plan_end(denied);
    for (int i = 0; i < 2; i++) {
        net_reset(&s->net, NULL, NET_COMMANDS);
        run_ms(s, 500);
        denied = PLAN(s, .on = "PUBSUB", .error = "NOPERM this user has no permissions", .times = PLAN_ALWAYS);
    }
    SAME(s, client_lines(p, told), 2); /* it had the right for a while */
}

/* Its url does not say so, and nobody asks the server that it names. */
WITH_CLIENT(a_server_that_turns_out_to_be_of_a_cluster_is_told_of_once)
{
    PLAN(s, .on = "mutex_acquire", .error = "MOVED 2594 10.0.0.9:6379", .times = PLAN_ALWAYS);
    struct handle *a = asking(p, "a", "stock", NULL);
    TELLS_IN(s, 5, "a:SERVER");
    HOLDS(s, strstr(a->detail, "redis+cluster"));
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5, "a:SERVER");
    SAME(s, client_lines(p, "127.0.0.1:6379: it is"), 1);
}

/* It sleeps until a message comes, or the holder's lease ends in a minute: that would be late. */
A_PLAY(who_sleeps_is_told_at_once_that_the_login_is_refused)
{
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET));
    store_take(&s->store, "stock", "another", 60000);
    asking(p, "a", "stock", NULL);
    unheard_ms(s, 1000);
    PLAN(s, .on = "AUTH", .error = "WRONGPASS", .times = PLAN_ALWAYS);
    net_reset(&s->net, NULL, NET_ALL);
    TELLS_IN(s, 200, "a:DENIED");
}
