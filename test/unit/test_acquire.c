/* SPDX-License-Identifier: BSD-3-Clause */
/* One accepted acquire gets one answer: the right one, at its time, with true fields. */
#include <inttypes.h>

#include "play.h"

HAVING(a_free_name_is_granted_after_one_round_trip, lone(s))
{
    uint64_t begun_us = fixture_us(s);
    SAME(s, acquire(a, HILOCK_FOREVER), HILOCK_OK);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_WAITING);
    TELLS(s, "");
    TELLS_IN(s, 1, "a:OK");
    SAME(s, a->at_us, begun_us + 200);
    SAME(s, a->result.size, sizeof a->result);
    SAME(s, a->result.operation, HILOCK_OP_ACQUIRE);
    HOLDS(s, a->result.lock == a->lock);
    SAME(s, a->result.state, HILOCK_STATE_HELD);
    SAME(s, a->result.remaining_ms, 29692); /* 30000 - 307 of margin, less 0.2 on the way, rounded down */
    SAME(s, a->result.attempts, 1);
    SAME(s, a->result.hold_count, 1);
    SAME(s, a->result.waited_ms, 0);
    SAME(s, a->result.votes, 0);
    SAME(s, a->result.fencing_token, store_token(&s->store, "stock", store_holder(&s->store, "stock")));
    SAME(s, hilock_lock_token(a->lock), a->result.fencing_token);
    TEXT(s, a->holder, "");
    SAME(s, a->result.holder_remaining_ms, 0);
    SAME(s, asked(s, "mutex_acquire"), 1);
    SAME(s, asked(s, "SUBSCRIBE"), asked_for(s, "SUBSCRIBE hilock:grant:")); /* for grants alone */
}

GIVEN(the_token_is_kept_for_one_to_two_periods, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.token_ttl_ms = 5000)))
{
    held(p, "a", "stock", NULL);
    int64_t left_ms = store_left_ms(&s->store, "hilock:token:{stock}");
    HOLDS(s, left_ms > 5000 && left_ms <= 10000);
}

WITH_CLIENT(tokens_rise_from_grant_to_grant)
{
    struct client *q = fixture_connect(s, NULL);
    uint64_t last = 0;
    for (int i = 0; i < 6; i++) {
        struct handle *a = held(i % 2 ? p : q, "a", "stock", NULL);
        HOLDS(s, hilock_lock_token(a->lock) > last);
        last = hilock_lock_token(a->lock);
        handle_free(a);
        run_ms(s, 5);
        world_clock_step(&s->store.clock, -1000000);
    }
}

HAVING(a_wait_that_ends_while_another_holds_is_TIMED_OUT, lone(s))
{
    uint64_t begun_us = fixture_us(s);
    store_take(&s->store, "stock", "8cc3a2f0-0000-4000-8000-00000000000a:3", 60000);
    acquire(a, 700);
    TELLS_IN(s, 1000, "a:WAITING a:TIMED_OUT");
    SAME(s, a->at_us, begun_us + 700000);
    SAME(s, a->result.waited_ms, 700);
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    SAME(s, a->result.remaining_ms, 0);
    SAME(s, a->result.fencing_token, 0);
    SAME(s, a->result.hold_count, 0);
    SAME(s, a->result.attempts, 2); /* at once, and when the subscription stood */
    TEXT(s, a->holder, "8cc3a2f0-0000-4000-8000-00000000000a:3");
    SAME(s, a->result.holder_remaining_ms, 59300);
    TEXT(s, a->detail, "\"stock\" was held by 8cc3a2f0..:3 for the whole 700 ms (2 attempts); its lease ends in 59300 ms");
}

HAVING(silence_is_UNREACHABLE_at_the_end_of_the_wait, lone(s))
{
    uint64_t begun_us = fixture_us(s);
    PLAN(s, .on = "mutex_acquire", .fate.is_lost = 1);
    acquire(a, 700);
    TELLS_IN(s, 1000, "a:UNREACHABLE");
    SAME(s, a->at_us, begun_us + 700000);
    TEXT(s, a->detail, "no answer from 127.0.0.1:6379 within 700 ms: it is silent (1 attempt); a late grant will be undone");
}

HAVING(who_had_no_time_to_answer_is_not_said_to_be_silent, lone(s))
{
    PLAN(s, .on = "mutex_acquire", .fate.is_lost = 1);
    acquire(a, 200);
    TELLS_IN(s, 210, "a:UNREACHABLE");
    TEXT(s, a->detail, "no answer from 127.0.0.1:6379 within 200 ms: it has not answered yet (1 attempt); a late grant will be undone");
}

/* Whatever it is, its address is told. */
A_PLAY(what_is_no_server_for_locks_is_named_by_its_address)
{
    PLAN(s, .on = "SCRIPT", .error = "ERR unknown command 'SCRIPT'", .times = PLAN_ALWAYS);
    struct handle *a = asking(fixture_open(s, NULL), "a", "stock", NULL);
    TELLS_IN(s, 50, "a:SERVER");
    TEXT(s, a->detail, "127.0.0.1:6379: it runs no scripts, as a proxy may: give the url of a server that has SCRIPT and EVALSHA");
}

A_PLAY(who_was_not_reached_is_not_said_to_be_silent)
{
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example"));
    p->loop.name.is_silent = 1;
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), 100);
    TELLS_IN(s, 110, "a:UNREACHABLE");
    TEXT(s, a->detail, "locks.example:6379 could not be asked within 100 ms: its name is not resolved yet");
}

/* b has seen another holder. Its next acquire goes with the release of a, and the server does not answer. */
GIVEN(an_acquire_that_is_carried_to_a_silent_server_is_UNREACHABLE, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.turns_max = 1)))
{
    struct handle *other = held(fixture_connect(s, NULL), "other", "stock", NULL), *a = asking(p, "a", "stock", NULL);
    acquiring(handle_new(p, "b", "stock", NULL), 1000);
    run_ms(s, 100);
    release_quietly(other);
    run_ms(s, 200);
    HOLDS(s, is_held(a));
    fixture_hush(s);
    PLAN(s, .on = "mutex_release", .times = PLAN_ALWAYS, .fate.is_lost = 1);
    release_quietly(a);
    TELLS_IN(s, 1000, "b:UNREACHABLE");
}

HAVING(held_before_and_then_silence_is_UNREACHABLE, lone(s))
{
    store_take(&s->store, "stock", "another", 60000);
    acquire(a, 2000);
    run_ms(s, 10);
    cut_off(s);
    TELLS_IN(s, 2000, "a:WAITING a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "Connection refused") != NULL);
}

GIVEN(a_try_takes_no_longer_than_one_command_may, fixture_open(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 400)))
{
    uint64_t begun_us = fixture_us(s);
    struct handle *a = handle_new(p, "a", "stock", NULL);
    s->place->mood = NET_IS_SILENT;
    acquire(a, HILOCK_TRY);
    TELLS_IN(s, 1000, "a:UNREACHABLE");
    SAME(s, a->at_us, begun_us + 400000);
    SAME(s, a->result.attempts, 0);
    HOLDS(s, !strstr(a->detail, "undone"));
}

A_PLAY(a_try_is_denied_without_a_command_while_a_sibling_holds)
{
    struct handle *b = handle_new(the_client(s), "b", "stock", NULL);
    held(the_client(s), "a", "stock", NULL);
    acquire(b, HILOCK_TRY);
    TELLS(s, "");
    run_us(s, 1);
    TELLS(s, "b:TIMED_OUT");
    SAME(s, b->result.attempts, 0);
    TEXT(s, b->detail, "\"stock\" is held by another handle of this client");
    TEXT(s, b->holder, store_holder(&s->store, "stock"));
    SAME(s, b->result.holders, 1);
    SAME(s, b->result.holder_remaining_ms, 29692);
    SAME(s, asked(s, "mutex_acquire"), 1);
}

WITH_CLIENT(a_try_is_denied_without_a_command_while_a_sibling_was_told_held)
{
    struct handle *b = handle_new(p, "b", "stock", NULL);
    asking(p, "a", "stock", NULL);
    store_take(&s->store, "stock", "another", 60000);
    run_ms(s, 10);
    acquire(b, HILOCK_TRY);
    run_us(s, 1);
    TELLS(s, "a:WAITING b:TIMED_OUT");
    SAME(s, b->result.attempts, 0);
    TEXT(s, b->holder, "another:1");
}

A_PLAY(errors_that_last_end_the_wait_at_once)
{
    static const struct { const char *error, *told; int is_released; } cases[] = { /* for safety, if it may have come in the script's midst */
        {"NOPERM this user has no permissions", "a:DENIED", 0}, {"ERR strange", "a:SERVER", 1},
        {"WRONGTYPE Operation", "a:WRONG_KIND", 0},             {"ERR ACL failure in script", "a:DENIED", 1},
    };
    struct client *p = fixture_connect(s, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan *refused = PLAN(s, .on = "mutex_acquire", .error = cases[i].error, .times = PLAN_ALWAYS);
        store_forget(&s->store);
        struct handle *a = asking(p, "a", "stock", NULL);
        run_ms(s, 5);
        plan_end(refused);
        TELLS(s, cases[i].told);
        SAME(s, asked(s, "mutex_release"), cases[i].is_released);
        HOLDS(s, strstr(a->detail, cases[i].error) || strstr(a->detail, "is not a lock hash"));
    }
}

/* The queue is what it promises. */
WITH_CLIENT(a_FAIR_wait_without_the_right_to_the_queue_is_DENIED)
{
    PLAN(s, .on = "mutex_acquire", .error = "NOPERM this user has no permissions to run the 'zadd' command");
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR));
    TELLS_IN(s, 5, "a:DENIED");
}

/* Its user has not the rights for the queue, or not yet. */
WITH_CLIENT(who_is_denied_a_place_polls_without_one)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *h = held(q, "h", "stock", NULL);
    asking(p, "a", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .error = "NOPERM this user has no permissions to run the 'zadd' command");
    TELLS_IN(s, 1000, "a:WAITING");
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{stock}"), 1);
    HOLDS(s, asked(s, "mutex_acquire") > 5);
    HOLDS(s, strstr(p->log, "the wait queue is refused"));
    release_quietly(h);
    TELLS_IN(s, 2, "a:OK");
}

/* Nor does anybody else at that server. */
WITH_CLIENT(where_one_was_denied_a_place_nobody_asks_for_one)
{
    store_take(&s->store, "stock", "another", 60000);
    store_take(&s->store, "other", "another", 60000);
    asking(p, "a", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .error = "NOPERM this user has no permissions to run the 'zadd' command");
    unheard_ms(s, 100);
    struct handle *b = asking(p, "b", "other", NULL);
    unheard_ms(s, 100);
    SAME(s, waiters_of(b), 0);
}

/* The rights may have been given meanwhile: each connection asks for a place once. */
WITH_CLIENT(a_right_that_was_missing_is_asked_for_again_over_the_next_link)
{
    store_take(&s->store, "stock", "another", 60000);
    struct handle *a = asking(p, "a", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .error = "NOPERM this user has no permissions to run the 'zadd' command");
    run_ms(s, 1000);
    HOLDS(s, strstr(p->log, "the wait queue is refused"));
    cancel(a);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 500);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, waiters_of(a), 1);
}

A_PLAY(errors_that_pass_are_sat_out_or_UNWRITABLE_at_the_end_of_the_wait)
{
    struct plan *passing = PLAN(s, .on = "mutex_acquire", .error = "LOADING Redis is loading", .times = 5);
    struct handle *a = asking(the_client(s), "a", "one", NULL), *b = handle_new(the_client(s), "b", "two", NULL);
    TELLS_IN(s, 5000, "a:OK");
    SAME(s, passing->met, 5);
    SAME(s, a->result.attempts, 6);
    release_quietly(a);
    run_ms(s, 10);
    passing = PLAN(s, .on = "mutex_acquire", .error = "READONLY You can't", .times = PLAN_ALWAYS);
    acquire(b, 3000);
    TELLS_IN(s, 4000, "b:UNWRITABLE");
    TEXT(s, b->detail, "127.0.0.1:6379: the store cannot be written now: READONLY You can't");
    HOLDS(s, passing->met > 2 && passing->met < 20);
    acquire(b, HILOCK_TRY);
    TELLS_IN(s, 3000, "b:UNWRITABLE"); /* after one more look */
}

A_PLAY(an_answer_that_is_none_is_PROTOCOL_and_is_undone)
{
    asking(the_client(s), "a", "stock", NULL);
    PLAN(s, .on = "mutex_acquire", .fate.answer = say_string("yes"));
    TELLS_IN(s, 5, "a:PROTOCOL");
    HOLDS(s, !is_ours(s, "stock"));
    SAME(s, asked(s, "mutex_release"), 1);
}

/* ---- what is no lock ---- */

/* Fields of other programs' hashes: none is a holder as hilock or Redisson spells it. */
static const char *const fields[] = {"user:bob", "name", "a:-", "a:1x", ":"};

/* The places of all clients count. */
GIVEN(a_full_queue_ends_a_wait_at_once, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.queue_max = 1)))
{
    store_grant(&s->store, "stock", "x:9", 60000);
    asking(fixture_connect(s, NULL), "a", "stock", NULL);
    unheard_ms(s, 5);
    for (int is_fair = 0; is_fair < 2; is_fair++) {
        struct handle *b = asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = is_fair ? HILOCK_FAIR : HILOCK_MUTEX));
        TELLS_IN(s, 2, "b:QUEUE_FULL");
        TEXT(s, b->detail, "1 wait for \"stock\" at the store, and queue_max is 1: shed load, or raise queue_max");
    }
    acquiring(handle_new(p, "t", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 2, "t:TIMED_OUT");
}

WITH_CLIENT(a_SIMPLE_lock_and_a_MUTEX_do_not_wait_for_each_other)
{
    held(p, "a", "stock", NULL);
    asking(fixture_connect(s, NULL), "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    TELLS_IN(s, 2, "b:WRONG_KIND");
    store_take_simple(&s->store, "lamp", "another", 60000);
    asking(p, "c", "lamp", NULL);
    TELLS_IN(s, 2, "c:WRONG_KIND");
}

/* The release of a share wakes no handle of its client. So the SIMPLE handle does not wait for it, and asks the store. */
WITH_CLIENT(behind_a_share_of_its_own_client_a_SIMPLE_lock_is_WRONG_KIND)
{
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER));
    asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    TELLS_IN(s, 2, "b:WAITING b:WRONG_KIND");
}

WITH_CLIENT(an_ordinary_hash_is_WRONG_KIND_at_once)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (hilock_kind kind = HILOCK_MUTEX; kind <= HILOCK_FAIR; kind++) {
            store_set_hash(&s->store, "stock", fields[i], i % 2 ? 60000 : 0); /* some of them expire */
            struct handle *a = acquiring(handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = kind)), HILOCK_FOREVER);
            TELLS_IN(s, 5, "a:WRONG_KIND");
            HOLDS(s, strstr(a->detail, "\"stock\" is not a lock hash: another program's key"));
            acquire(a, HILOCK_TRY);
            TELLS_IN(s, 5, "a:WRONG_KIND");
            handle_free(a);
            run_ms(s, 5);
            TEXT(s, store_holder(&s->store, "stock"), fields[i]);
            HOLDS(s, store_left_ms(&s->store, "hilock:wait:{stock}") == -2); /* it left its place in the queue */
        }
}

/* Each refusal doubles the pause before the next request, up to some seconds. */
HAVING(a_server_that_goes_on_refusing_is_asked_more_and_more_seldom, lone(s))
{
    struct plan *refused = PLAN(s, .on = "mutex_acquire", .times = PLAN_ALWAYS, .error = "LOADING Redis is loading the dataset in memory");
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 6000);
    HOLDS(s, refused->met >= 5 && refused->met <= 20);
}

HAVING(who_begins_to_wait_is_told_why, handle_new(the_client(s), "a", "stock", NULL))
{
    store_take(&s->store, "stock", "java:57", 60000);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 5, "a:WAITING");
    TEXT(s, a->detail, "found held by another; the acquire waits");
}

/* It is said with its remedy, and told to whoever watches the client. */
WITH_CLIENT(a_node_of_a_cluster_at_the_url_of_one_server_is_named)
{
    PLAN(s, .on = "mutex_acquire", .error = "MOVED 1 10.0.0.1:6379");
    struct handle *a = asking(p, "a", "stock", NULL);
    TELLS_IN(s, 5, "a:SERVER");
    TEXT(s, a->detail, "127.0.0.1:6379: it is a node of a cluster: begin the url with redis+cluster://");
    SAME(s, client_lines(p, "it is a node of a cluster: begin the url with"), 1);
}

WITH_CLIENT(a_holder_of_another_program_is_waited_for)
{
    static const char *const holders[] = {"java:57", "java:-3", "java:40", "8cc3a2f0-0000-4000-8000-00000000000a:3:write"};
    for (size_t i = 0; i < sizeof holders / sizeof *holders; i++) {
        store_take(&s->store, "stock", holders[i], 60000);
        struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), 20);
        TELLS_IN(s, 25, "a:WAITING a:TIMED_OUT");
        TEXT(s, a->holder, holders[i]);
        SAME(s, a->result.holders, 1);
        handle_free(a);
    }
}

WITH_CLIENT(a_key_without_an_expiry_is_said_to_have_none)
{
    static const struct { hilock_kind kind; uint32_t wait_ms; const char *detail; } rows[] = {
        {HILOCK_MUTEX, HILOCK_TRY, "\"stock\" is held by java:57; its lease has no end"},
        {HILOCK_MUTEX, 20, "\"stock\" was held by java:57 for the whole 20 ms (2 attempts); its lease has no end"},
        {HILOCK_FAIR, 20, "\"stock\" was held by java:57 for the whole 20 ms (2 attempts); its lease has no end; place 1 of 1 in its queue"},
        {HILOCK_SIMPLE, HILOCK_TRY, "\"stock\" is held by java:57; its lease has no end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].kind == HILOCK_SIMPLE)
            store_take_simple(&s->store, "stock", "java:57", 0);
        else
            store_take(&s->store, "stock", "java:57", 0);
        struct handle *a = acquiring(handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = rows[i].kind)), rows[i].wait_ms);
        TELLS_IN(s, 25, rows[i].wait_ms ? "a:WAITING a:TIMED_OUT" : "a:TIMED_OUT");
        TEXT(s, a->detail, rows[i].detail);
        SAME(s, a->result.holder_remaining_ms, HILOCK_FOREVER);
        handle_free(a);
        run_ms(s, 5);
    }
}

/* ---- late, and early ---- */

/* Nothing else would make it ask: no channel says that it gave its own grant back. */
A_PLAY(a_grant_that_comes_too_late_is_given_back_and_asked_for_again)
{
    static const struct { hilock_kind kind; uint32_t holders_max, wait_ms; } cases[] = {
        {HILOCK_MUTEX, 0, HILOCK_FOREVER}, {HILOCK_FAIR, 0, HILOCK_FOREVER}, {HILOCK_MUTEX, 2, HILOCK_FOREVER}, {HILOCK_MUTEX, 0, HILOCK_TRY}};
    struct client *p = fixture_connect(s, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct handle *a = handle_new(p, "a", formatted("stock:%zu", i), HILOCK_LOCK_OPTIONS(.kind = cases[i].kind, .holders_max = cases[i].holders_max,
                                                                                             .lease_ms = 3000, .min_validity_ms = 2500));
        PLAN(s, .on = "mutex_acquire", .fate.back_us = 600000);
        acquire(a, cases[i].wait_ms);
        TELLS_IN(s, 600, "");
        TELLS_IN(s, 5, "a:OK");
        SAME(s, a->result.attempts, 2);
    }
    SAME(s, counts_of(p).undone, sizeof cases / sizeof *cases);
}

static void stand_still(struct handle *handle) { world_jump_us(&handle->fixture->world, 150000); }

/* The loop stood still between the grant and its report, beyond the end of the wait. */
WITH_CLIENT(granted_in_time_and_told_later_it_is_OK)
{
    const struct hilock_lock_options *reads = HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER, .share_local_ms = 200, .wait_report_ms = 60);
    held(p, "a", "stock", reads);
    struct handle *b = handle_new(p, "b", "stock", reads), *c = handle_new(p, "c", "stock", reads), *d = handle_new(p, "d", "stock", reads);
    when(b, "OK", stand_still);
    acquire(b, 100);
    acquire(c, 100);
    acquire(d, HILOCK_FOREVER);
    TELLS_IN(s, 200, "b:OK c:OK d:OK");
}

WITH_CLIENT(a_try_that_was_denied_and_not_told_yet_may_be_cancelled)
{
    struct handle *t = handle_new(p, "t", "stock", NULL);
    held(p, "a", "stock", NULL);
    acquire(t, HILOCK_TRY);
    SAME(s, cancel(t), HILOCK_OK);
    TELLS_IN(s, 1, "t:CANCELLED");
    SAME(s, asked(s, "mutex_acquire"), 1);
}

/* The one that asks for replicas asks over another link, where its answer takes longer. */
GIVEN(a_try_that_must_ask_again_is_not_forgotten_behind_another_try, fixture_connect(s, NULL))
{
    s->store.replicas = 1;
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .min_validity_ms = 2500));
    struct handle *b = handle_new(p, "b", "stock", HILOCK_LOCK_OPTIONS(.replicas = 1));
    held(p, "x", "other", HILOCK_LOCK_OPTIONS(.replicas = 1)); /* opens that link */
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 600000);
    acquire(a, HILOCK_TRY);
    run_us(s, 50);
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 1500000);
    acquire(b, HILOCK_TRY);
    TELLS_IN(s, 610, "a:OK");
    TELLS_IN(s, 1000, "b:TIMED_OUT");
}

/* The first name shows when that is: its waiter asks a millisecond later. */
WITH_CLIENT(a_try_at_the_very_end_of_the_lease_that_was_told_asks_the_store)
{
    uint64_t begun_us, ends_us = 0;
    struct handle *a, *t = handle_new(p, "t", "stock:1", NULL);
    for (int i = 0; i < 2; i++) {
        run_to(s, fixture_us(s) / 1000 * 1000 + 1000);
        begun_us = fixture_us(s);
        store_forget(&s->store);
        store_take(&s->store, formatted("stock:%d", i), "another", 1000);
        a = asking(p, "a", formatted("stock:%d", i), NULL);
        if (i == 0) {
            TELLS_IN(s, 1010, "a:WAITING a:OK");
            ends_us = sent_at_us(s, "mutex_acquire", -1) - 1000 - begun_us;
            handle_free(a);
            continue;
        }
        run_to(s, begun_us + ends_us);
        acquire(t, HILOCK_TRY);
        TELLS_IN(s, 10, "a:WAITING t:TIMED_OUT a:OK");
        SAME(s, t->result.attempts, 1);
    }
}

/* The answer to a try was decided, and nobody will hear it. */
WITH_CLIENT(an_answer_that_was_not_told_goes_with_its_client)
{
    held(p, "a", "stock", NULL);
    acquiring(handle_new(p, "t", "stock", NULL), HILOCK_TRY);
    client_abandon(p);
    TELLS_IN(s, 10, "");
    s->is_tampered = 1;
}

/* An answer may take so long before its sender is said to be silent; the name was held as far as was told. */
WITH_CLIENT(who_waits_for_an_answer_for_a_fifth_of_a_second_is_still_told_that_it_was_held)
{
    for (int late_us = 0; late_us <= 1; late_us++) {
        store_take(&s->store, "stock", "another", 60000);
        struct handle *a = handle_new(p, "a", "stock", NULL);
        uint64_t begun_us = fixture_us(s);
        acquire(a, 1000);
        run_to(s, begun_us + 1000000 - 200000 - s->net.back_us - (uint64_t)late_us);
        PLAN(s, .on = "mutex_acquire", .fate.is_lost = 1);
        store_publish(&s->store, "redisson_lock__channel:{stock}", "0"); /* it asks at once */
        TELLS_IN(s, 201, late_us ? "a:WAITING a:UNREACHABLE" : "a:WAITING a:TIMED_OUT");
        SAME(s, a->at_us, begun_us + 1000000);
        handle_free(a);
        run_ms(s, 5000);
    }
}
