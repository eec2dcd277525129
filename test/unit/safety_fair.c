/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be believed of a grant that was pushed, and what keeps a queue at the store going. Pushes that must come at an odd moment are said by
 * handle, and what they say is then true at the store. */
#include "safety.h"
#include "stage.h"

#define FAIR(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, __VA_ARGS__)

/* Another client's lock, which hands over. */
static void taken(struct fixture *s) { store_grant(&s->store, "stock", "x:9", 600000); }

static uint64_t grant(struct fixture *s, const struct client *p, int id, uint64_t lease_ms)
{
    const char *holder = formatted("%s:%d", p->uuid, id);
    store_take(&s->store, "stock", holder, lease_ms);
    return store_token(&s->store, "stock", holder);
}

/* The names "a" and "{a}" once shared a queue. */
ALSO(FAIR_UNKNOWN_KEPT, a_grant_of_another_name_is_not_believed, "nothing is reported")
SAFETY_WITH_CLIENT(FAIR_OTHER_NAME_BELIEVED, a_grant_of_another_name_is_not_believed, OVERBELIEF)
{
    taken(s);
    waits(p, "b", "stock");
    const char *holder = formatted("%s:1", p->uuid);
    store_take(&s->store, "{stock}", holder, 3000);
    SAME(s, push_grant(p, "{stock}", 1, 1, 1, store_token(&s->store, "{stock}", holder)), 1);
    TELLS_IN(s, 2, "");
    TEXT(s, store_holder(&s->store, "{stock}"), ""); /* no wait has this id: given back */
}

/* Until the next heartbeat leaves. */
static void run_to_heartbeat(struct fixture *s)
{
    unsigned requests = s->net.requests;
    for (int i = 0; i < 200000 && s->net.requests == requests; i++)
        run_us(s, 50);
}

/* ---- the deadline ---- */

/* The second heartbeat is on its way when the grant for the first one is reported, long over. */
ALSO(FAIR_FROM_ARRIVAL, a_grant_counts_from_the_very_heartbeat_it_names, OVERBELIEF)
ALSO(FAIR_NEWEST_SEND, a_grant_counts_from_the_very_heartbeat_it_names, OVERBELIEF)
SAFETY_WITH_CLIENT(FAIR_NUMBERS_REUSED, a_grant_counts_from_the_very_heartbeat_it_names, OVERBELIEF)
{
    taken(s);
    waits(p, "b", "stock");
    run_ms(s, 100);
    uint64_t token = grant(s, p, 1, 3000);
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 1000000);
    run_to_heartbeat(s);
    run_ms(s, 150);
    (void)push_grant(p, "stock", 1, 1, 100, token);
    TELLS_IN(s, 10, "");
}

/* Its clock is faster than the client's, within what the margin allows. */
SAFETY(FAIR_DRIFT_OF_LEASE, the_margin_covers_the_time_since_the_heartbeat, OVERBELIEF)
{
    world_clock_set_rate(&s->store.clock, 9000);
    struct handle *a = waits(fixture_connect(s, NULL), "a", "stock");
    struct handle *b = waits(fixture_connect(s, NULL), "b", "stock");
    run_ms(s, 2300); /* long after its heartbeat */
    PLAN(s, .on = "renew", .fate.is_lost = 1, .times = PLAN_ALWAYS);
    release_quietly(a);
    TELLS_IN(s, 5000, "b:OK b:RENEWAL_FAILED b:LOST EXPIRED");
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_IDLE);
}

SAFETY_WITH_CLIENT(FAIR_BELIEVES_OLD_LINK, a_push_about_an_earlier_link_is_confirmed_first, "nothing is reported")
{
    taken(s);
    waits(p, "b", "stock");
    s->place->mood = NET_REFUSES;
    net_reset(&s->net, &p->loop, NET_COMMANDS);
    run_ms(s, 100);
    uint64_t token = grant(s, p, 1, 3000);
    (void)push_grant(p, "stock", 1, 1, 100, token);
    TELLS_IN(s, 10, "");
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 2000, "b:OK");
}

SAFETY(FAIR_STEP_BELIEVED, a_push_that_counts_a_step_of_the_clock_is_confirmed_first, OVERBELIEF)
{
    struct handle *a = waits(fixture_connect(s, NULL), "a", "stock");
    waits(fixture_connect(s, NULL), "b", "stock");
    run_ms(s, 100);
    PLAN(s, .on = "renew", .fate.is_lost = 1);
    world_clock_step(&s->store.clock, 2000000);
    uint64_t released_us = fixture_us(s);
    release_quietly(a);
    TELLS_IN(s, 1, "b:OK");
    HOLDS(s, asked_at_us(s, "mutex_acquire", -1) > released_us);
    run_ms(s, 5000);
}

/* ---- answers that cross the push ---- */

SAFETY(FAIR_OLD_NO_BELIEVED, an_old_no_does_not_end_a_hold, "b:OK")
{
    struct handle *a = waits(fixture_connect(s, NULL), "a", "stock"), *b = waits(fixture_connect(s, NULL), "b", "stock");
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 200000);
    run_to_heartbeat(s);
    run_ms(s, 1);
    release_quietly(a);
    TELLS_IN(s, 1000, "b:OK");
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
}

SAFETY_WITH_CLIENT(FAIR_RETAKEN_BELIEVED, under_another_token_it_is_another_hold, "b:OK b:LOST TAKEN")
{
    s->is_tampered = 1;
    taken(s);
    waits(p, "b", "stock");
    PLAN(s, .on = "mutex_acquire", .fate.refusal = say_integer(99));
    run_to_heartbeat(s);
    uint64_t token = grant(s, p, 1, 3000);
    (void)push_grant(p, "stock", 1, 1, 2300, token);
    TELLS_IN(s, 5, "b:OK b:LOST TAKEN");
    TEXT(s, store_holder(&s->store, "stock"), "");
    SAME(s, asked(s, "mutex_release"), 1); /* behind the loss, and not before */
}

/* The heartbeat was on its way when the push came, and made a lease of the window: its answer is read after the window. */
SAFETY(R11_HEARTBEAT_RESURRECTS, an_answer_behind_the_end_of_the_window_revives_nothing, "b:LOST SUSPENDED")
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = waits(fixture_connect(s, NULL), "a", "stock"), *b = waits(q, "b", "stock");
    PLAN(s, .on = "mutex_acquire", .fate.there_us = 50000); /* before the first renewal is due */
    run_to_heartbeat(s);
    release_quietly(a);
    TELLS_IN(s, 2, "b:OK");
    HOLDS(s, hilock_lock_remaining_ms(b->lock) < 400);
    world_freeze(&q->loop.lane);
    run_ms(s, 5000);
    HOLDS(s, store_left_ms(&s->store, "stock") > 3000);
    world_thaw(&s->world, &q->loop.lane);
    TELLS_IN(s, 5, "b:LOST SUSPENDED");
    SAME(s, hilock_lock_remaining_ms(b->lock), 0);
    HOLDS(s, strstr(b->detail, " 4") && strstr(b->detail, " ms after the deadline of")); /* it did not move */
    HOLDS(s, !is_ours(s, "stock"));
}

/* ---- the queue ---- */

SAFETY(FAIR_TAIL, a_waiter_keeps_its_place_though_the_store_forgets, "b->result.position == 1")
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    taken(s);
    struct handle *b = waits(p, "b", "stock");
    waits(q, "c", "stock");
    run_to_heartbeat(s); /* of b, which is first */
    run_ms(s, 1);
    store_clear(&s->store);
    taken(s);
    store_publish(&s->store, formatted("hilock:grant:%s", q->uuid), formatted("F1 %s:1 0: stock", q->uuid));
    run_ms(s, 2); /* c asks at once, b does not */
    SAME(s, waiters_of(b), 1);
    run_to_heartbeat(s);
    run_ms(s, 1);
    SAME(s, waiters_of(b), 2);
    SAME(s, b->result.position, 1);
}

ALSO(FAIR_DEAF_TO_OTHERS, a_message_wakes_within_one_round_trip, "a:WAITING a:OK")
SAFETY_WITH_CLIENT(WAKE_IGNORED, a_message_wakes_within_one_round_trip, "a:WAITING a:OK")
{
    store_take(&s->store, "stock", "another", 60000);
    struct handle *a = asking(p, "a", "stock", NULL);
    run_ms(s, 700);
    uint64_t freed_us = fixture_us(s);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 1, "a:WAITING a:OK");
    SAME(s, a->at_us, freed_us + 100 + 200); /* the message, and one request */
    SAME(s, a->result.attempts, 3);
}

/* Waits in Redisson's own fair queue. */
static void queues(struct fixture *s, const char *holder)
{
    const char *const push[] = {"RPUSH", "redisson_lock_queue:{stock}", holder};
    const size_t lengths[] = {5, 27, strlen(holder)};
    struct store_peer *java = store_connect(&s->store, NULL, NULL);
    say_free(store_execute(java, 3, push, lengths));
    store_disconnect(java);
}

SAFETY(JAVA_WAITER_UNHEARD, the_head_hears_whom_a_fair_lock_of_Redisson_wakes,
       "store_publish(&s->store, 'redisson_lock__channel:{stock}:java:2', '0') == 1")
{
    store_take(&s->store, "stock", "java:1", 60000);
    queues(s, "java:2");
    waits(fixture_connect(s, NULL), "b", "stock");
    run_ms(s, 1000);
    store_delete(&s->store, "stock");
    SAME(s, store_publish(&s->store, "redisson_lock__channel:{stock}:java:2", "0"), 1);
    TELLS_IN(s, 2, "b:OK");
}

/* Its queue was empty by then: it tells nobody. */
SAFETY(JAVA_WAITER_TRUSTED, a_release_that_wakes_nobody_is_looked_for, "b:OK")
{
    store_take(&s->store, "stock", "java:1", 60000);
    queues(s, "java:2");
    waits(fixture_connect(s, NULL), "b", "stock");
    run_ms(s, 500);
    store_delete(&s->store, "redisson_lock_queue:{stock}");
    run_ms(s, 500);
    store_delete(&s->store, "stock");
    TELLS_IN(s, 100, "b:OK");
}

/* No queue was ever seen: but the holder is another one, and there was no message. */
SAFETY(JAVA_WAITER_TRUSTED, a_program_that_tells_nobody_is_looked_for, "b:OK")
{
    store_take(&s->store, "stock", "java:1", 60000);
    waits(fixture_connect(s, NULL), "b", "stock");
    run_ms(s, 1000);
    store_take(&s->store, "stock", "java:2", 60000);
    run_ms(s, 3000);
    store_delete(&s->store, "stock");
    TELLS_IN(s, 100, "b:OK");
}

SAFETY(FAIR_LISTENS_ON, nobody_listens_for_programs_that_have_gone,
       "store_listeners(&s->store, 'redisson_lock__channel:{stock}') == 0")
{
    store_take(&s->store, "stock", "java:1", 60000);
    queues(s, "java:2");
    waits(fixture_connect(s, NULL), "b", "stock");
    run_ms(s, 500);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{stock}"), 1);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{stock}:java:2"), 1);
    taken(s);
    run_ms(s, 5000);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{stock}"), 0);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{stock}:java:2"), 0);
}

SAFETY(FAIR_NO_HEARTBEAT, a_dead_holder_is_found_by_the_end_of_its_lease, "b:OK")
{
    store_grant(&s->store, "stock", "x:9", 1500);
    waits(fixture_connect(s, NULL), "b", "stock");
    TELLS_IN(s, 1510, "b:OK");
}

/* It was put in the queue, the answer was lost, and then the server was away for longer than a lease. */
SAFETY(FAIR_QUEUE_FORGOTTEN, who_gave_up_leaves_the_queue_after_a_long_outage, "waiters_of(o) == 0")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)), *q = fixture_connect(s, NULL);
    struct handle *b = handle_new(p, "b", "stock", FAIR(.lease_ms = 1000)), *o = handle_new(q, "o", "stock", FAIR(0));
    taken(s);
    run_ms(s, 2);
    PLAN(s, .on = "mutex_acquire", .fate.answer_is_lost = 1);
    acquire(b, 100);
    run_ms(s, 200);
    s->place->mood = NET_REFUSES;
    net_reset(&s->net, &p->loop, NET_ALL);
    run_ms(s, 10000);
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 5000, "b:UNREACHABLE");
    SAME(s, waiters_of(o), 0);
    HOLDS(s, asked(s, "mutex_release") > 0);
}

/* Its store has restarted with all of its data, and the client asks nothing of it before the guard is over. */
ALSO(FAIR_STAYS_IN_QUEUE, who_gives_up_under_the_guard_leaves_the_queue, "waiters_of(o) == 0")
SAFETY(FAIR_UNSENT_LEAVES_QUEUE, who_gives_up_under_the_guard_leaves_the_queue, "waiters_of(o) == 0")
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 30000));
    struct handle *b, *o = handle_new(fixture_connect(s, NULL), "o", "stock", FAIR(0));
    taken(s);
    b = waits(p, "b", "stock");
    SAME(s, waiters_of(o), 1);
    store_restart(&s->store, 1);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 1000);
    cancel(b);
    run_ms(s, 10);
    SAME(s, waiters_of(o), 0);
    SAME(s, asked(s, "mutex_release"), 1);
}

static void take_if_free(void *arg, struct hl_reply *message)
{
    struct fixture *s = arg;
    say_free(message);
    if (!*store_holder(&s->store, "stock"))
        store_take(&s->store, "stock", "another", 60000);
}

/* Another program listens, and comes at once when it hears that the name is free. */
SAFETY(FAIR_NO_YIELD, a_queue_that_is_never_empty_lets_other_kinds_in, "another:1")
{
    static const char *const subscribe[] = {"SUBSCRIBE", "redisson_lock__channel:{stock}"};
    static const size_t lengths[] = {9, 30};
    struct handle *a = waits(fixture_connect(s, NULL), "a", "stock"), *b = waits(fixture_connect(s, NULL), "b", "stock"), *t;
    struct store_peer *other = store_connect(&s->store, take_if_free, s);
    say_free(store_execute(other, 2, subscribe, lengths));
    for (int i = 0; i < 300 && strcmp(store_holder(&s->store, "stock"), "another:1") != 0; i++) {
        release_quietly(a);
        acquire(a, HILOCK_FOREVER);
        run_ms(s, 2);
        t = a;
        a = b;
        b = t;
    }
    TEXT(s, store_holder(&s->store, "stock"), "another:1");
    store_disconnect(other);
}
