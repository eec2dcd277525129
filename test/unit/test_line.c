/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of one name: which waiter asks, when, how often; what each is notified of; and R7 in times. */
#include "play.h"
#include "stage.h"

#define CHANNEL "redisson_lock__channel:{stock}"

/* Without hand-off: each release is one at the store. */
static const struct hilock_client_options alone = {.size = sizeof alone, .turns_max = 1};

/* Its release hands over: there is nothing to listen to but grants, and nothing to ask twice for. */
WITH_CLIENT(behind_a_holder_that_hands_over_it_asks_once)
{
    handle_new(p, "x", "other", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)); /* for its grants it listens from here on */
    run_ms(s, 5);
    held(fixture_connect(s, NULL), "h", "stock", NULL);
    store_forget(&s->store);
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 2300, "a:WAITING");
    SAME(s, asked(s, "mutex_acquire"), 1);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
}

WITH_CLIENT(a_holder_without_an_expiry_is_asked_after_within_three_seconds)
{
    store_take(&s->store, "stock", "another", 0);
    asking(p, "a", "stock", NULL);
    run_ms(s, 20010);
    HOLDS(s, asked(s, "mutex_acquire") >= 2 + 7 && asked(s, "mutex_acquire") <= 2 + 8); /* every 2.4 to 2.7 s */
}

WITH_CLIENT(who_may_not_subscribe_polls)
{
    struct plan *denied = PLAN(s, .on = "SUBSCRIBE", .error = "NOPERM No permissions to access a channel", .times = PLAN_ALWAYS);
    store_take(&s->store, "stock", "another", 60000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 12000);
    HOLDS(s, asked(s, "mutex_acquire") >= 120 && asked(s, "mutex_acquire") <= 240);
    SAME(s, denied->met, 2); /* of its grants, and of releases by others */
    store_delete(&s->store, "stock");
    TELLS_IN(s, 101, "a:WAITING a:OK");
    HOLDS(s, strstr(p->log, "SUBSCRIBE refused: NOPERM"));
}

GIVEN(the_line_is_first_come_first_served, fixture_connect(s, &alone))
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL), *c = asking(p, "c", "stock", NULL);
    TELLS_IN(s, 10, "b:WAITING c:WAITING");
    when(b, "OK", release_quietly);
    when(c, "OK", release_quietly);
    release_quietly(a);
    TELLS_IN(s, 10, "b:OK c:OK");
    SAME(s, asked(s, "mutex_acquire"), 1); /* each release asks for the next one, too */
    SAME(s, asked(s, "mutex_release"), 3);
}

A_PLAY(WAITING_is_told_once_or_as_often_as_asked)
{
    store_take(&s->store, "stock", "another", 60000);
    asking(the_client(s), "a", "stock", NULL);
    struct handle *b = asking(the_client(s), "b", "stock", HILOCK_LOCK_OPTIONS(.wait_report_ms = 300));
    TELLS_IN(s, 1000, "a:WAITING b:WAITING b:WAITING b:WAITING b:WAITING");
    SAME(s, b->event.waited_ms, 900);
    TEXT(s, b->holder, "another:1");
}

/* The store was asked once, 1 ms after the acquire: what the later reports tell is that much older. */
A_PLAY(WAITING_says_how_old_its_knowledge_is)
{
    store_take(&s->store, "stock", "another", 60000);
    struct handle *a = asking(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.wait_report_ms = 300));
    TELLS_IN(s, 100, "a:WAITING");
    SAME(s, a->event.holder_age_ms, 0);
    const size_t sent = asked(s, "mutex_acquire");
    TELLS_IN(s, 900, "a:WAITING a:WAITING a:WAITING");
    HOLDS(s, a->event.holder_age_ms >= 890 && a->event.holder_age_ms <= 900);
    SAME(s, asked(s, "mutex_acquire"), sent);
    TELLS_IN(s, 5100, "a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING "
                      "a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING a:WAITING");
    HOLDS(s, asked(s, "mutex_acquire") > sent && a->event.holder_age_ms < 5000); /* asked again: younger */
}

WITH_CLIENT(of_our_own_holder_WAITING_knows_all)
{
    held(p, "a", "stock", NULL);
    struct handle *b = asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.wait_report_ms = 300));
    TELLS_IN(s, 700, "b:WAITING b:WAITING b:WAITING");
    SAME(s, b->event.holder_age_ms, 0);
}

/* ---- tries ---- */

/* Nobody waits who would hear of the release. */
WITH_CLIENT(a_try_is_not_refused_by_an_answer_that_has_aged)
{
    struct handle *t[3];
    for (int i = 0; i < 3; i++)
        t[i] = handle_new(p, formatted("t%d", i), "stock", NULL);
    store_take(&s->store, "stock", "another", 60000);
    PLAN(s, .on = "mutex_acquire", .after = 1, .fate.back_us = 20000);
    acquire(t[0], HILOCK_TRY);
    acquire(t[1], HILOCK_TRY);
    TELLS_IN(s, 5, "t0:TIMED_OUT");
    store_delete(&s->store, "stock");
    acquire(t[2], HILOCK_TRY);
    TELLS_IN(s, 50, "t1:TIMED_OUT t2:OK");
}

/* It waits for the answer to a release, which comes after the push. Of the holder nothing is known: the latest answer
 * was a fault. */
WITH_CLIENT(the_grant_of_a_sibling_answers_a_try)
{
    struct handle *a = held(p, "a", "stock", NULL), *t = handle_new(p, "t", "stock", NULL);
    asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    run_ms(s, 10);
    struct plan *refused = PLAN(s, .on = "mutex_acquire", .error = "OOM command not allowed");
    while (!refused->met)
        run_us(s, 100);
    run_ms(s, 1);
    PLAN(s, .on = "mutex_release", .fate.back_us = 20000);
    release_quietly(a);
    acquire(t, HILOCK_TRY);
    TELLS_IN(s, 5, "b:WAITING t:TIMED_OUT b:OK");
}

/* Both asked at the same time, so the waiter has a place in the queue, and the hold of the try does not end for it. */
WITH_CLIENT(behind_a_try_of_its_client_a_waiter_keeps_its_place)
{
    struct handle *t = handle_new(p, "t", "stock", NULL);
    acquire(t, HILOCK_TRY);
    asking(p, "b", "stock", NULL);
    run_ms(s, 10);
    asking(fixture_connect(s, NULL), "c", "stock", NULL);
    TELLS_IN(s, 20000, "t:OK b:WAITING c:WAITING");
    release_quietly(t);
    TELLS_IN(s, 10, "b:OK");
}

/* A multi stood in the queue of "a" before others came to "b", and a release that carried it would put it behind all of them. */
WITH_CLIENT(a_name_behind_a_handle_of_its_client_is_waited_for_in_its_turn)
{
    static const char *const ab[] = {"a", "b", NULL};
    struct handle *x = held(fixture_connect(s, NULL), "x", "a", NULL), *y = held(fixture_connect(s, NULL), "y", "b", NULL), *d;
    acquiring(multi_new(p, "m", ab, NULL), HILOCK_FOREVER);
    run_ms(s, 10);
    release_quietly(y);
    struct handle *h = held(p, "h", "b", HILOCK_LOCK_OPTIONS(.lease_ms = 10000));
    d = asking(fixture_connect(s, NULL), "d", "b", NULL);
    run_ms(s, 10);
    asking(fixture_connect(s, NULL), "e", "b", NULL);
    run_ms(s, 10);
    release_quietly(x);
    run_ms(s, 10);
    release_quietly(h);
    TELLS_IN(s, 10, "d:WAITING e:WAITING d:OK");
    release_quietly(d);
    TELLS_IN(s, 10, "m:OK");
}

/* ---- masters: who waits stands in the queue of the first ---- */

static struct handle *beside;
static void drop_beside_and_acquire_it(struct handle *handle)
{
    handle_drop(beside);
    acquire(handle, HILOCK_FOREVER);
}

A_PLAY(others_get_their_turn_though_nobody_of_us_waited_for_a_moment)
{
    struct client *p = quorum_with(s, 3, alone), *q = quorum(s, 3);
    struct handle *a = held(p, "a", "stock", NULL);
    beside = asking(p, "b", "stock", NULL);
    asking(q, "c", "stock", NULL);
    unheard_ms(s, 10);
    when(a, "released", drop_beside_and_acquire_it);
    release(a);
    TELLS_IN(s, 10, "a:released c:OK a:WAITING");
}

/* ---- the subscription ---- */

WITH_CLIENT(who_waits_no_more_is_no_listener_any_more)
{
    store_take(&s->store, "stock", "another", 60000);
    acquiring(handle_new(p, "a", "stock", NULL), 100);
    TELLS_IN(s, 1000, "a:WAITING a:TIMED_OUT");
    run_ms(s, 250);
    SAME(s, store_listeners(&s->store, CHANNEL), 0);
}

static void nothing(const struct hilock_result *result, void *user) { (void)result, (void)user; }

static hilock_lock *lock_of(struct fixture *s, struct client *p, unsigned i)
{
    hilock_lock *lock = NULL;
    const char *name = formatted("order:%05u", i);
    SAME(s, hilock_lock_create(&lock, p->client, name, HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_OK);
    SAME(s, hilock_acquire(lock, HILOCK_FOREVER, nothing, NULL), HILOCK_OK);
    return lock;
}

/* Each is held, waited for, handed on and waited for in vain; every tenth by another client too. */
A_PLAY(names_that_nobody_wants_any_more_leave_nothing)
{
    enum { NAMES = 2000 };
    struct client *p = fixture_connect(s, NULL);
    size_t blocks = 0, bytes = 0;
    run_ms(s, 10);
    s->store.is_unrecorded = 1;
    for (unsigned i = 0; i < 2 * NAMES; i++) {
        if (i == NAMES) {
            run_ms(s, 2000);
            blocks = s->memory.blocks;
            bytes = s->memory.bytes;
        }
        if (i % 10 == 0) {
            store_take(&s->store, formatted("order:%05u", i), "another", 50);
        }
        hilock_lock *first = lock_of(s, p, i);
        hilock_lock *second = lock_of(s, p, i);
        hilock_lock *third = lock_of(s, p, i);
        run_ms(s, i % 10 == 0 ? 60 : 1);
        hilock_lock_free(first);
        run_ms(s, 1);
        hilock_lock_free(third);
        hilock_lock_free(second);
    }
    run_ms(s, 2000);
    SAME(s, s->memory.blocks, blocks);
    HOLDS(s, s->memory.bytes <= bytes + 8192); /* the table of names may double once more: it keeps those that were released lately */
}

/* It died in front of the other one, and the holder's release looks at no queue. */
A_PLAY(behind_another_program_a_dead_place_in_front_is_taken_out)
{
    store_take(&s->store, "stock", "another", 600000);
    struct client *p = fixture_connect(s, NULL);
    asking(p, "dead", "stock", NULL);
    run_ms(s, 5);
    asking(fixture_connect(s, NULL), "a", "stock", NULL);
    run_ms(s, 5);
    client_abandon(p);
    unheard_ms(s, 41000);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 5, "a:OK");
}

/* It slept until a message would come, and none can: it looks at once what it missed. */
WITH_CLIENT(who_is_refused_the_unlock_channel_asks_again_at_once)
{
    handle_new(p, "x", "other", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)); /* for its grants it listens from here on */
    run_ms(s, 5);
    PLAN(s, .on = "SUBSCRIBE", .error = "NOPERM No permissions to access a channel", .times = PLAN_ALWAYS);
    store_take(&s->store, "stock", "another", 60000);
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 5, "a:WAITING");
    SAME(s, asked(s, "mutex_acquire"), 2);
}

/* The first in the queue at the store is not the first that began: its first request was refused for a moment. */
WITH_CLIENT(the_first_of_the_queue_hears_of_a_release_though_it_began_later)
{
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)), *b = handle_new(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    store_take(&s->store, "stock", "another", 600000);
    PLAN(s, .on = "mutex_acquire", .error = "LOADING Redis is loading the dataset in memory");
    acquire(a, HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    TELLS_IN(s, 1000, "b:WAITING a:WAITING");
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 5, "b:OK");
    SAME(s, counts_of(p).wakeups, 1);
}

/* Its messages come by a channel of their own, to which it listens from the first answer on. */
WITH_CLIENT(behind_a_fair_lock_of_Redisson_it_asks_no_more_often)
{
    static const char *const push[] = {"RPUSH", "redisson_lock_queue:{stock}", "java:2"};
    static const size_t lengths[] = {5, 27, 6};
    struct store_peer *java = store_connect(&s->store, NULL, NULL);
    say_free(store_execute(java, 3, push, lengths));
    store_disconnect(java);
    store_take(&s->store, "stock", "java:1", 60000);
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 1000, "a:WAITING");
    HOLDS(s, asked(s, "mutex_acquire") <= 1000 / 80 + 5); /* every 80 ms in the end */
}

/* A try does not wait, so its answer changes nothing for those that wait. */
WITH_CLIENT(a_try_does_not_end_what_another_listens_to)
{
    asking(p, "a", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .error = "NOPERM this user has no permissions to run the 'zadd' command", .times = 1);
    store_grant(&s->store, "stock", "x:9", 60000);
    unheard_ms(s, 1000);
    HOLDS(s, strstr(p->log, "the wait queue is refused"));
    struct handle *t = acquiring(handle_new(p, "t", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)), HILOCK_TRY);
    store_forget(&s->store);
    TELLS_IN(s, 1000, "t:TIMED_OUT");
    SAME(s, t->result.attempts, 1);
    uint64_t last_us = 0;
    for (size_t i = 0; i < s->store.lines_count; i++) {
        const struct store_line *line = &s->store.lines[i];
        if (strcmp(line->word, "mutex_acquire") != 0 || !strstr(line->text, formatted("%s:1 ", p->uuid)))
            continue;
        HOLDS(s, line->at_us - last_us >= 50000);
        last_us = line->at_us;
    }
    HOLDS(s, last_us != 0);
}

static void another_waits_and_the_loop_stands(struct handle *handle)
{
    asking(handle->client, "c", "stock", NULL);
    world_jump_us(&handle->fixture->world, 600000);
}

/* Both answers came at once. When the first was told, the second was granted, and so the next in line was told that it waits. */
WITH_CLIENT(the_head_whose_grant_was_told_too_late_is_told_that_it_waits)
{
    struct handle *e = handle_new(p, "e", "free", NULL), *b = handle_new(p, "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
    struct plan *late = PLAN(s, .on = "mutex_acquire", .holds = 1, .times = 2);
    acquire(e, HILOCK_FOREVER);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 1);
    asking(fixture_connect(s, NULL), "d", "stock", NULL);
    unheard_ms(s, 10);
    when(e, "OK", another_waits_and_the_loop_stands);
    plan_let_go(&s->plans, late);
    TELLS_IN(s, 700, "e:OK c:WAITING d:OK b:WAITING");
}

/* A program whose release told nobody is expected to do so again for a minute, and no microsecond longer. */
WITH_CLIENT(silent_releases_are_looked_for_for_a_minute)
{
    enum { POLL_US = 80000 + 200, MINUTE_US = 60000000 };
    static const char *const push[] = {"RPUSH", "redisson_lock_queue:{stock}", "java:2"};
    static const size_t lengths[] = {5, 27, 6};
    struct store_peer *java = store_connect(&s->store, NULL, NULL);
    say_free(store_execute(java, 3, push, lengths));
    store_disconnect(java);
    store_take(&s->store, "stock", "java:1", 600000);
    asking(p, "a", "stock", NULL);
    unheard_ms(s, 1000);
    store_delete(&s->store, "redisson_lock_queue:{stock}");
    uint64_t seen_us = asked_at_us(s, "mutex_acquire", -1) + s->net.back_us; /* the latest answer that showed it */
    PLAN(s, .on = "mutex_acquire", .fate.back_us = MINUTE_US % POLL_US);
    run_to(s, seen_us + MINUTE_US);
    SAME(s, asked_at_us(s, "mutex_acquire", -1) + s->net.back_us, seen_us + MINUTE_US);
    size_t before = asked(s, "mutex_acquire");
    run_ms(s, 2000);
    SAME(s, asked(s, "mutex_acquire"), before);
}

/* That program is known by the answers to the first in line. It could wait for what the multi keeps. */
WITH_CLIENT(behind_a_handle_that_waits_for_another_program_a_multi_keeps_nothing)
{
    gathering(p, NULL, "b", store_grant);
    store_take(&s->store, "c", "another", 600000);
    asking(p, "x", "c", NULL);
    run_ms(s, 10);
    HOLDS(s, is_ours(s, "a"));
    store_delete(&s->store, "b");
    unheard_ms(s, 200);
    HOLDS(s, !is_ours(s, "a") && !is_ours(s, "b"));
}

/* The one before listened, and its subscription is not ended yet: what came between the two was heard by nobody. */
WITH_CLIENT(who_listens_where_another_did_a_moment_ago_asks_again)
{
    store_take(&s->store, "stock", "another", 600000);
    struct handle *a = asking(p, "a", "stock", NULL);
    run_ms(s, 500);
    cancel(a);
    unheard_ms(s, 20);
    size_t before = asked(s, "mutex_acquire"), subscribed = asked(s, "SUBSCRIBE");
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 10, "a:WAITING");
    SAME(s, asked(s, "SUBSCRIBE"), subscribed);
    SAME(s, asked(s, "mutex_acquire"), before + 2);
}

/* A listener makes each release leave the name free for a moment. */
WITH_CLIENT(who_waits_behind_clients_of_ours_again_listens_no_more)
{
    store_take(&s->store, "stock", "another", 600000);
    asking(p, "a", "stock", NULL);
    run_ms(s, 100);
    SAME(s, store_listeners(&s->store, CHANNEL), 1);
    store_delete(&s->store, "stock");
    store_grant(&s->store, "stock", "x:9", 600000);
    unheard_ms(s, 8000);
    SAME(s, store_listeners(&s->store, CHANNEL), 0);
}

/* One of kind FAIR is the first, and asks thrice as often. */
WITH_CLIENT(of_two_kinds_in_one_client_each_asks_when_it_is_due)
{
    store_grant(&s->store, "stock", "x:9", 600000);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    run_ms(s, 10);
    asking(p, "b", "stock", NULL);
    unheard_ms(s, 10);
    store_forget(&s->store);
    run_ms(s, 30000);
    HOLDS(s, asked_for(s, formatted("mutex_acquire 3 stock hilock:queue:{stock} hilock:token:{stock} %s:1 ", p->uuid)) >= 11);
    HOLDS(s, asked_for(s, formatted("mutex_acquire 3 stock hilock:queue:{stock} hilock:token:{stock} %s:2 ", p->uuid)) <= 4);
}
