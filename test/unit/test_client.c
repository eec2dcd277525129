/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's life: opened, closed in order, abandoned; one thread, one process. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "play.h"
#include "stage.h"

/* ---- closing ---- */

A_PLAY(closing_with_nothing_is_over_on_the_next_turn_connected_or_not)
{
    for (int is_connected = 0; is_connected < 2; is_connected++) {
        s->place->mood = is_connected ? NET_LISTENS : NET_IS_SILENT;
        struct client *p = is_connected ? fixture_connect(s, NULL) : fixture_open(s, NULL);
        uint64_t began_us = fixture_us(s);
        SAME(s, client_close(p, is_connected ? 1000 : HILOCK_FOREVER), HILOCK_OK);
        TELLS(s, "");
        run_us(s, 1);
        TELLS(s, "closed");
        SAME(s, p->closed_at_us, began_us);
        SAME(s, p->loop.ends, 1);
        SAME(s, p->loop.timers, 0);
        SAME(s, s->net.links, 0);
    }
}

WITH_CLIENT(who_waits_is_CLOSED)
{
    store_take(&s->store, "stock", "another", 60000);
    struct handle *a = asking(p, "a", "stock", NULL);
    acquiring(handle_new(p, "b", "stock", NULL), 500);
    run_ms(s, 10);
    acquiring(handle_new(p, "c", "other", NULL), HILOCK_TRY);
    fixture_hush(s);
    client_close(p, 1000);
    SAME(s, acquire(handle_new(p, "d", "more", NULL), HILOCK_TRY), HILOCK_INVALID); /* it could not be made */
    TELLS_IN(s, 10, "b:CLOSED a:CLOSED c:CLOSED closed");
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    TEXT(s, a->detail, "the client is closing or closed");
    HOLDS(s, !is_ours(s, "other"));
}

HOLDING(while_it_drains_holds_live_and_are_renewed, HILOCK_LOCK_OPTIONS(.lease_ms = 3000))
{
    client_close(the_client(s), 20000);
    TELLS_IN(s, 10000, "");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 1900);
    SAME(s, acquire(a, HILOCK_TRY), HILOCK_CLOSED);
    HOLDS(s, strstr(hilock_client_refusal(the_client(s)->client), "closing"));
    SAME(s, extend(a, 60000), HILOCK_OK);
    run_ms(s, 5);
    SAME(s, release(a), HILOCK_OK);
    TELLS_IN(s, 5, "a:extended a:released closed");
    HOLDS(s, !is_ours(s, "stock"));
}

/* What the server does not answer is over after the drain and one command_timeout_ms. */
GIVEN(a_server_that_is_away_delays_the_end_by_one_timeout,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    held(p, "a", "one", NULL);
    struct handle *b = held(p, "b", "two", NULL);
    uint64_t began_us = fixture_us(s);
    cut_off(s);
    release(b);
    client_close(p, 200);
    TELLS_IN(s, 699, "a:LOST CLOSING b:release UNKNOWN");
    TELLS_IN(s, 10, "closed");
    SAME(s, p->closed_at_us, began_us + 700000);
}

/* Also if the loop stood still until all of it was due. */
HOLDING(a_release_is_answered_before_its_client_is_gone, NULL)
{
    cut_off(s);
    release(a);
    client_close(p, 200);
    run_ms(s, 1);
    frozen_ms(p, 5000);
    TELLS_IN(s, 10, "a:release UNKNOWN closed");
}

HOLDING(an_inquiry_is_answered_before_its_client_is_gone, NULL)
{
    cut_off(s);
    peek(a);
    client_close(p, 0);
    run_us(s, 1);
    fixture_hush(s); /* it is lost */
    frozen_ms(p, 5000);
    TELLS_IN(s, 10, "a:peek UNREACHABLE closed");
}

/* A loop may call a timer a little too soon. */
HOLDING(a_drain_is_not_cut_short_by_a_timer_that_is_early, NULL)
{
    uint64_t began_us = fixture_us(s);
    p->loop.early_us = 700;
    client_close(p, 200);
    TELLS_IN(s, 201, "a:LOST CLOSING closed");
    SAME(s, a->at_us, began_us + 200000);
}

static void (*start_timer)(void *timer, uint64_t span_us);
static uint64_t longest_us;

static void start_and_note(void *timer, uint64_t span_us)
{
    longest_us = span_us > longest_us ? span_us : longest_us;
    start_timer(timer, span_us);
}

HOLDING(a_drain_without_an_end_sets_no_timer_for_it, NULL)
{
    start_timer = p->client->core.host.loop.timer_start;
    p->client->core.host.loop.timer_start = start_and_note;
    longest_us = 0;
    client_close(p, HILOCK_FOREVER);
    TELLS_IN(s, 60000, "");
    HOLDS(s, longest_us > 0 && longest_us < 60000000);
    p->client->core.host.loop.timer_start = start_timer;
}

/* A second close only shortens. */
WITH_CLIENT(at_the_end_of_the_drain_holds_are_lost_then_released_then_it_is_closed)
{
    struct handle *a = held(p, "a", "one", NULL), *b = held(p, "b", "two", NULL);
    uint64_t ends_us = fixture_us(s) + 65000000;
    client_close(p, HILOCK_FOREVER);
    run_ms(s, 60000);
    client_close(p, 5000);
    run_ms(s, 1000);
    client_close(p, 60000);
    TELLS_IN(s, 3999, "");
    TELLS_IN(s, 2, "a:LOST CLOSING b:LOST CLOSING closed");
    SAME(s, a->at_us, ends_us);
    SAME(s, p->closed_at_us, ends_us + 200);
    TEXT(s, a->detail, "CLOSING: the client's drain time ran out while \"one\" was held");
    SAME(s, hilock_lock_state(b->lock), HILOCK_STATE_IDLE);
    HOLDS(s, !is_ours(s, "one") && !is_ours(s, "two"));
}

/* It has granted the lock to a waiter that does not answer, and looks again when the grant's window is over. */
A_PLAY(a_client_that_looks_after_a_grant_ends_with_its_drain)
{
    const struct hilock_lock_options *fair = HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR);
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", fair);
    asking(q, "b", "stock", fair);
    unheard_ms(s, 5);
    world_freeze(&q->loop.lane);
    release(a);
    TELLS_IN(s, 1, "a:released");
    client_close(p, 200);
    TELLS_IN(s, 199, "");
    TELLS_IN(s, 2, "closed");
    client_abandon(q);
}

/* Also while it pauses, because most of its masters are away, and none of its members waits. */
A_PLAY(a_quorum_that_waits_is_CLOSED)
{
    struct client *p = quorum(s, 3);
    crash(s, 1);
    crash(s, 2);
    run_ms(s, 1);
    asking(p, "a", "stock", NULL);
    unheard_ms(s, 100);
    client_close(p, 1000);
    TELLS_IN(s, 1, "a:CLOSED closed");
}

/* ---- closed from another thread ---- */

static struct knock { struct client *client; void *timer; uint32_t drain_ms; hilock_status status; atomic_int is_here, may_leave; } knock;

static void wake_slowly(void *timer)
{
    knock.timer = timer;
    atomic_store(&knock.is_here, 1);
    while (!atomic_load(&knock.may_leave))
        usleep(100);
}

static void *close_there(void *nothing)
{
    knock.status = client_close(knock.client, knock.drain_ms);
    atomic_store(&knock.is_here, 1);
    return nothing;
}

/* Another thread asks for the end. It has woken the loop then, and stays in the call until knock.may_leave. */
static pthread_t begin_close_elsewhere(struct client *p, uint32_t drain_ms)
{
    pthread_t thread;
    knock = (struct knock){.client = p, .drain_ms = drain_ms};
    p->client->core.host.loop.timer_wake = wake_slowly;
    HOLDS(p->fixture, pthread_create(&thread, NULL, close_there, NULL) == 0);
    while (!atomic_load(&knock.is_here))
        usleep(100);
    if (knock.timer)
        p->client->core.host.loop.timer_start(knock.timer, 0);
    return thread;
}

static hilock_status end_close_elsewhere(pthread_t thread)
{
    atomic_store(&knock.may_leave, 1);
    pthread_join(thread, NULL);
    return knock.status;
}

static hilock_status close_elsewhere(struct client *p, uint32_t drain_ms)
{
    return end_close_elsewhere(begin_close_elsewhere(p, drain_ms));
}

HOLDING(another_thread_that_can_wake_the_loop_may_close, NULL)
{
    SAME(s, close_elsewhere(p, 5000), HILOCK_OK);
    TELLS_IN(s, 10, "");
    SAME(s, acquire(a, HILOCK_TRY), HILOCK_CLOSED); /* it drains */
    run_ms(s, 4989);
    TELLS(s, "");
    TELLS_IN(s, 2, "a:LOST CLOSING closed");
}

/* Until the thread has left the call, it reads the client. */
HOLDING(a_client_does_not_end_before_who_closes_it_has_left_the_call, NULL)
{
    pthread_t thread = begin_close_elsewhere(p, 5000);
    run_ms(s, 10);
    release(a);
    uint64_t released_us = fixture_us(s);
    for (int i = 0; i < 100; i++) /* it looks again in each turn, and these take no time */
        world_step(&s->world, UINT64_MAX);
    HOLDS(s, fixture_us(s) - released_us < 1000);
    TELLS(s, "a:released");
    SAME(s, end_close_elsewhere(thread), HILOCK_OK);
    TELLS_IN(s, 1, "closed");
}

/* The earlier of the two ends counts, whichever thread asks first. */
A_PLAY(of_two_threads_that_close_the_one_with_less_patience_counts)
{
    for (int is_less_first = 0; is_less_first < 2; is_less_first++) {
        struct client *p = fixture_connect(s, NULL);
        held(p, "a", "stock", NULL);
        SAME(s, close_elsewhere(p, is_less_first ? 1000 : 60000), HILOCK_OK);
        SAME(s, close_elsewhere(p, is_less_first ? 60000 : 1000), HILOCK_OK);
        run_ms(s, 999);
        TELLS(s, "");
        TELLS_IN(s, 2, "a:LOST CLOSING closed");
    }
}

/* ---- abandon ---- */

A_PLAY(abandon_gives_all_back_in_any_state)
{
    for (uint64_t after_us = 0; after_us < 1500; after_us += 50) {
        struct client *p = fixture_open(s, NULL);
        struct handle *a = asking(p, "a", "one", NULL), *b = asking(p, "b", "one", NULL), *c = asking(p, "c", "two", NULL);
        s->is_tampered = 1;
        run_us(s, after_us);
        if (hilock_lock_state(c->lock) == HILOCK_STATE_HELD)
            release(c);
        asking(p, "d", "three", NULL);
        cancel(TAILQ_LAST(&s->handles, handles)); /* has an answer to give */
        size_t requests = s->net.requests;
        fixture_hush(s);
        client_abandon(p);
        SAME(s, p->loop.timers, 0);
        SAME(s, p->loop.ends, 1);
        SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_IDLE);
        SAME(s, release(a), HILOCK_CLOSED);
        TELLS_IN(s, 10, "");
        SAME(s, s->net.requests, requests);
        handle_free(a);
        handle_free(c);
        handle_free(b);
        store_delete(&s->store, "one");
        store_delete(&s->store, "two");
    }
    hilock_client_abandon(NULL);
}

/* A weak reference keeps nothing alive: it names the client for as long as that lives. */
WITH_CLIENT(a_weak_reference_is_null_from_the_end_of_the_client_on)
{
    hilock_weak *weak = hilock_client_weak(p->client), *kept = hilock_client_weak(p->client);
    HOLDS(s, hilock_weak_client(weak) == p->client);
    hilock_weak_unref(weak);
    client_close(p, 0);
    HOLDS(s, hilock_weak_client(kept) == p->client); /* it closes: calls still reach it */
    struct hilock_stats stats = {.size = sizeof stats};
    HOLDS(s, hilock_weak_stats(kept, &stats) == HILOCK_OK && stats.connects > 0);
    HOLDS(s, hilock_weak_stats(NULL, &stats) == HILOCK_INVALID && hilock_weak_stats(kept, NULL) == HILOCK_INVALID);
    run_ms(s, 10000);
    HOLDS(s, hilock_weak_client(kept) == NULL);
    stats.connects = 77;
    HOLDS(s, hilock_weak_stats(kept, &stats) == HILOCK_CLOSED && stats.connects == 77);
    hilock_weak_unref(kept);
    hilock_weak_unref(NULL);
    HOLDS(s, hilock_client_weak(NULL) == NULL && hilock_weak_client(NULL) == NULL);
}

WITH_CLIENT(a_weak_reference_is_null_in_a_forked_child)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_weak *weak = hilock_client_weak(p->client);
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(hilock_weak_client(weak) != NULL || hilock_weak_stats(weak, &stats) != HILOCK_FORKED);
    HOLDS(s, child > 0 && waitpid(child, &status, 0) == child);
    SAME(s, status, 0);
    HOLDS(s, hilock_weak_client(weak) == p->client);
    hilock_weak_unref(weak);
}

static void count(void *closed) { ++*(unsigned *)closed; }

/* Asked by several it tells each, and by one twice it tells it once. */
WITH_CLIENT(each_that_asks_for_the_end_is_told_once)
{
    unsigned told[5] = {0};
    for (int i = 0; i < 4; i++)
        SAME(s, hilock_client_close(p->client, 1000, count, &told[i]), HILOCK_OK);
    SAME(s, hilock_client_close(p->client, 1000, count, &told[2]), HILOCK_OK);
    SAME(s, hilock_client_close(p->client, 1000, count, &told[4]), HILOCK_IN_USE);
    HOLDS(s, strstr(hilock_client_refusal(p->client), "4 on_closed"));
    SAME(s, hilock_client_close(p->client, 1000, NULL, NULL), HILOCK_OK);
    p->client = NULL;
    TELLS_IN(s, 10, "");
    for (int i = 0; i < 5; i++)
        SAME(s, told[i], i < 4);
}

/* ---- its login ---- */

/* An empty name is none: the user "default". */
A_PLAY(an_empty_username_is_none)
{
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.username = "", .password = FIXTURE_SECRET));
    HOLDS(s, hilock_client_is_connected(p->client));
}

/* Also where there is no name: what a server says of a password is hidden, and nothing else is. */
A_PLAY(a_password_is_hidden_where_a_server_repeats_it)
{
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET, .name_prefix = "shop:"));
    PLAN(s, .on = "mutex_acquire", .error = "ERR shop: what is " FIXTURE_SECRET "?");
    struct handle *a = asking(p, "a", "stock", NULL);
    TELLS_IN(s, 5, "a:SERVER");
    HOLDS(s, strstr(a->detail, "ERR shop: what is ***?"));
}

/* ---- whose it is ---- */

struct stranger { struct handle *handle; hilock_weak *weak; int is_refused; };

static void *call_from_elsewhere(void *arg)
{
    struct stranger *stranger = arg;
    hilock_lock *lock = stranger->handle->lock;
    hilock_client *client = stranger->handle->client->client;
    stranger->is_refused = acquire(stranger->handle, 1) == HILOCK_WRONG_THREAD && release(stranger->handle) == HILOCK_WRONG_THREAD &&
                           cancel(stranger->handle) == HILOCK_WRONG_THREAD && hilock_lock_remaining_ms(lock) == 0 && hilock_lock_token(lock) == 0 &&
                           hilock_lock_state(lock) == HILOCK_STATE_IDLE && *hilock_lock_name(lock) == '\0' && hilock_lock_user(lock) == NULL &&
                           hilock_client_close(client, 0, NULL, NULL) == HILOCK_WRONG_THREAD && *hilock_client_uuid(client) == '\0' &&
                           !hilock_client_is_connected(client) && strstr(hilock_client_refusal(client), "another thread") &&
                           hilock_weak_client(stranger->weak) == client;
    hilock_lock_drop(lock);
    hilock_lock_free(lock);
    hilock_client_abandon(client);
    return NULL;
}

/* ---- whose it becomes ---- */

static void *adopt_here(void *arg)
{
    struct stranger *stranger = arg;
    hilock_client *client = stranger->handle->client->client;
    stranger->is_refused = hilock_client_adopt(client) != HILOCK_OK;
    if (!stranger->is_refused) { /* then it is this thread's, until main adopts it again */
        HOLDS(stranger->handle->client->fixture, hilock_lock_remaining_ms(stranger->handle->lock) > 0);
        HOLDS(stranger->handle->client->fixture, hilock_client_adopt(client) == HILOCK_OK);
    }
    return NULL;
}

static int is_adopted_by_another(struct handle *handle)
{
    struct stranger stranger = {handle, NULL, 1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, adopt_here, &stranger) != 0 || pthread_join(thread, NULL) != 0)
        return 0;
    return !stranger.is_refused;
}

HOLDING(a_thread_adopts_and_the_former_is_refused, NULL)
{
    HOLDS(s, is_adopted_by_another(a));
    SAME(s, release(a), HILOCK_WRONG_THREAD);
    HOLDS(s, strstr(hilock_client_refusal(p->client), "hilock_client_adopt"));
    run_ms(s, 11000); /* this thread turns the loop, and a renewal is due: that is refused, with one line */
    SAME(s, client_lines(p, "another thread than before turns"), 1);
    SAME(s, hilock_client_adopt(p->client), HILOCK_OK);
    TELLS_IN(s, 60000, ""); /* and it is renewed again */
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_HELD);
    SAME(s, client_lines(p, "another thread than before turns"), 1);
    SAME(s, hilock_client_adopt(NULL), HILOCK_INVALID);
}

HOLDING(another_thread_is_refused_and_counted_and_nothing_is_written, NULL)
{
    struct stranger stranger = {a, hilock_client_weak(p->client), 0};
    unsigned lines = p->lines;
    pthread_t thread;
    HOLDS(s, pthread_create(&thread, NULL, call_from_elsewhere, &stranger) == 0);
    pthread_join(thread, NULL);
    HOLDS(s, stranger.is_refused);
    hilock_weak_unref(stranger.weak);
    SAME(s, p->lines, lines);
    TEXT(s, hilock_client_refusal(p->client), "");
    SAME(s, counts_of(p).wrong_thread, 15);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_HELD);
}
