/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside callbacks on a real loop, with real links, everything may be called: each kind here meets each act, all acts
 * at once on one loop, a client for each. The strings of a callback stay good through what it does; what was freed or
 * dropped is silent from then on; every client ends, and leaves nothing, but for abandoned ones, whose holds are left
 * to their leases. The kinds that need an outage, a lease or a time are in unit/deliver. */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

enum kind {
    ON_CONNECTED, ON_DISCONNECTED,           /* events of the client */
    ON_GRANT, ON_UNREACHABLE, ON_RELEASED,   /* results */
    ON_LOST_BY_CLOSE, ON_CLOSED,
    KINDS
};

enum act {
    NOTHING, FREE_OWN, DROP_OWN, ACQUIRE_ANEW, RELEASE_AND_CANCEL, CLOSE, CLOSE_AND_DRAIN, FREE_ALL_AND_CLOSE,
    ABANDON, ABANDON_AND_FREE, FREE_AND_ABANDON,
    ACTS
};

struct stage;

struct party { /* one handle */
    struct stage *stage;
    hilock_lock *lock;
    int is_silent;
};

struct stage {
    struct play *play;
    enum act act;
    hilock_client *client; /* NULL: gone */
    struct party own, sibling, other; /* own and sibling have one name, other has another */
    int is_set, has_acted; /* set: what comes now is what the act waits for */
    unsigned closed, calls;
};

struct play {
    struct fixture *fixture;
    enum kind kind;
    struct event_base *base;
    struct stage stages[ACTS];
    unsigned errors;
    char error[256]; /* the first */
};

static void wrong(struct play *play, const struct stage *stage, const char *what)
{
    if (!play->errors++)
        snprintf(play->error, sizeof play->error, "kind %d, act %d: %s", (int)play->kind, (int)stage->act, what);
}

/* ---- acts ---- */

static void on_result(const struct hilock_result *result, void *user);
static void on_closed(void *user);

static void free_party(struct party *party)
{
    hilock_lock_free(party->lock);
    party->lock = NULL;
    party->is_silent = 1;
}

static void drop_party(struct party *party)
{
    hilock_lock_drop(party->lock);
    party->is_silent = 1;
}

static void free_others(struct stage *stage)
{
    free_party(&stage->sibling);
    free_party(&stage->other);
}

static void abandon(struct stage *stage)
{
    if (stage->play->kind != ON_CLOSED)
        hilock_client_abandon(stage->client);
    stage->client = NULL;
    stage->own.is_silent = stage->sibling.is_silent = stage->other.is_silent = 1;
}

static void close_client(struct stage *stage, uint32_t drain_ms)
{
    if (stage->client && hilock_client_close(stage->client, drain_ms, on_closed, stage) != HILOCK_OK)
        wrong(stage->play, stage, "close was refused");
}

/* It may be refused (in use, closed); accepted or not, nothing of it comes inside. */
static void acquire_anew(struct stage *stage)
{
    unsigned calls = stage->calls;
    hilock_lock *fresh = NULL;
    (void)!hilock_acquire(stage->own.lock, 1000, on_result, &stage->own);
    hilock_lock_drop(stage->own.lock);
    (void)!hilock_acquire(stage->own.lock, HILOCK_TRY, on_result, &stage->own);
    if (stage->client && hilock_lock_create(&fresh, stage->client, "fresh", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) == HILOCK_OK)
        (void)!hilock_acquire(fresh, HILOCK_FOREVER, on_result, &stage->own);
    hilock_lock_free(fresh);
    if (stage->calls != calls)
        wrong(stage->play, stage, "called back inside a call");
}

static void release_and_cancel(struct stage *stage)
{
    (void)hilock_release(stage->own.lock, on_result, &stage->own);
    (void)hilock_release(stage->other.lock, NULL, NULL);
    (void)hilock_cancel(stage->own.lock);
    (void)hilock_cancel(stage->sibling.lock);
    (void)hilock_release(stage->own.lock, on_result, &stage->own);
}

static void act(struct stage *stage)
{
    stage->has_acted = 1;
    switch (stage->act) {
    case NOTHING: break;
    case FREE_OWN: free_party(&stage->own); break;
    case DROP_OWN: drop_party(&stage->own); break;
    case ACQUIRE_ANEW: acquire_anew(stage); break;
    case RELEASE_AND_CANCEL: release_and_cancel(stage); break;
    case CLOSE: close_client(stage, 0); break;
    case CLOSE_AND_DRAIN: close_client(stage, HILOCK_FOREVER); break;
    case FREE_ALL_AND_CLOSE: free_party(&stage->own), free_others(stage), close_client(stage, 0); break;
    case ABANDON: abandon(stage); break;
    case ABANDON_AND_FREE: abandon(stage), free_party(&stage->own), free_others(stage); break;
    case FREE_AND_ABANDON: free_party(&stage->own), free_others(stage), abandon(stage); break;
    case ACTS: break;
    }
}

/* ---- callbacks ---- */

static void act_if(struct stage *stage, int is_awaited)
{
    if (is_awaited && stage->is_set && !stage->has_acted)
        act(stage);
}

static void check_call(struct party *party)
{
    party->stage->calls++;
    if (party->is_silent)
        wrong(party->stage->play, party->stage, "a silent handle was called");
}

static int is_awaited_result(enum kind kind, const struct hilock_result *result)
{
    return (kind == ON_GRANT && result->operation == HILOCK_OP_ACQUIRE && result->status == HILOCK_OK) ||
           (kind == ON_RELEASED && result->operation == HILOCK_OP_RELEASE && result->status == HILOCK_OK) ||
           (kind == ON_UNREACHABLE && result->status == HILOCK_UNREACHABLE);
}

/* Read after the act: a string that died with it is found by the sanitizers, or differs. */
static void on_result(const struct hilock_result *result, void *user)
{
    struct party *party = user;
    struct stage *stage = party->stage;
    struct hilock_result before = *result;
    char detail[512];
    snprintf(detail, sizeof detail, "%s%s", result->detail, result->holder);
    check_call(party);
    act_if(stage, party == &stage->own && is_awaited_result(stage->play->kind, result));
    if (before.detail != result->detail || strlen(result->detail) + strlen(result->holder) != strlen(detail))
        wrong(stage->play, stage, "a result changed under its callback");
}

static void check_event(struct stage *stage, const struct hilock_event *event, int is_awaited)
{
    char detail[512];
    snprintf(detail, sizeof detail, "%s%s%s", event->detail, event->holder, event->node);
    act_if(stage, is_awaited);
    if (strlen(event->detail) + strlen(event->holder) + strlen(event->node) != strlen(detail))
        wrong(stage->play, stage, "an event changed under its callback");
}

static void on_lock_event(const struct hilock_event *event, void *user)
{
    struct party *party = user;
    enum kind kind = party->stage->play->kind;
    int is_awaited = event->kind == HILOCK_EVENT_LOST && kind == ON_LOST_BY_CLOSE;
    check_call(party);
    check_event(party->stage, event, party == &party->stage->own && is_awaited);
}

static void on_client_event(const struct hilock_event *event, void *user)
{
    struct stage *stage = user;
    if (!stage->client && stage->has_acted)
        wrong(stage->play, stage, "an abandoned client spoke");
    check_event(stage, event, (event->kind == HILOCK_EVENT_CONNECTED && stage->play->kind == ON_CONNECTED) ||
                                  (event->kind == HILOCK_EVENT_DISCONNECTED && stage->play->kind == ON_DISCONNECTED));
}

static void on_closed(void *user)
{
    struct stage *stage = user;
    if (stage->closed++)
        wrong(stage->play, stage, "on_closed ran twice");
    stage->client = NULL;
    act_if(stage, stage->play->kind == ON_CLOSED);
}

/* ---- a play ---- */

static int all_acted(void *arg)
{
    const struct play *play = arg;
    int acted = 0;
    for (unsigned i = 0; i < ACTS; i++)
        acted += play->stages[i].has_acted;
    return acted == ACTS;
}

static int all_ended(void *arg)
{
    const struct play *play = arg;
    for (unsigned i = 0; i < ACTS; i++)
        if (play->stages[i].client)
            return 0;
    return 1;
}

static int all_hold(void *arg)
{
    const struct play *play = arg;
    for (unsigned i = 0; i < ACTS; i++)
        if (hilock_lock_state(play->stages[i].own.lock) != HILOCK_STATE_HELD ||
            hilock_lock_state(play->stages[i].other.lock) != HILOCK_STATE_HELD)
            return 0;
    return 1;
}

static void until(struct play *play, int (*is_so)(void *arg), const char *what)
{
    static const struct timeval tick = {0, 5000};
    uint64_t begun_us = check_now_us();
    while (!is_so(play)) {
        assert_int_equal(event_base_loopexit(play->base, &tick), 0);
        assert_true(event_base_loop(play->base, 0) >= 0);
        if (check_now_us() - begun_us > (uint64_t)CHECK_PATIENCE_MS * 1000)
            check_fail("kind %d: waited in vain until %s", (int)play->kind, what);
    }
}

static void open_party(struct party *party, struct stage *stage, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "%s:%d%s", what, (int)stage->act, stage->act >= ABANDON ? ":left" : "");
    party->stage = stage;
    assert_int_equal(hilock_lock_create(&party->lock, stage->client, name,
                                        HILOCK_LOCK_OPTIONS(.on_lost = on_lock_event, .on_event = on_lock_event, .user = party,
                                                            .lease_ms = 600000)),
                     HILOCK_OK);
}

static void open_stage(struct play *play, enum act act_of_it)
{
    struct stage *stage = &play->stages[act_of_it];
    const char *url = play->kind == ON_UNREACHABLE ? "unix:///nonexistent/hilock" : play->fixture->server->url;
    struct hilock_error error;
    stage->play = play;
    stage->act = act_of_it;
    stage->is_set = play->kind == ON_CONNECTED;
    if (hilock_client_open_libevent(&stage->client, play->base,
                                    HILOCK_CLIENT_OPTIONS(.url = url, .on_event = on_client_event, .user = stage),
                                    &error) != HILOCK_OK)
        check_fail("open: %s", error.text);
    open_party(&stage->own, stage, "own");
    open_party(&stage->sibling, stage, "own");
    open_party(&stage->other, stage, "other");
}

static void ask(struct party *party, uint32_t wait_ms)
{
    assert_int_equal(hilock_acquire(party->lock, wait_ms, on_result, party), HILOCK_OK);
}

static void each(struct play *play, void (*run)(struct stage *stage))
{
    for (unsigned i = 0; i < ACTS; i++)
        run(&play->stages[i]);
}

static void set(struct stage *stage) { stage->is_set = 1; }
static void ask_other(struct stage *stage) { ask(&stage->other, HILOCK_FOREVER); }
static void ask_own(struct stage *stage) { ask(&stage->own, HILOCK_FOREVER); }
static void ask_own_briefly(struct stage *stage) { ask(&stage->own, 300); }
static void ask_sibling(struct stage *stage) { ask(&stage->sibling, HILOCK_FOREVER); }
static void release_own(struct stage *stage) { assert_int_equal(hilock_release(stage->own.lock, on_result, &stage->own), HILOCK_OK); }
static void close_now(struct stage *stage) { close_client(stage, 0); }

/* Other is held, own held or waiting with its sibling behind it; then comes what the acts wait for. */
static void hold_all(struct play *play)
{
    each(play, ask_other);
    each(play, ask_own);
    until(play, all_hold, "everything is held");
    each(play, ask_sibling);
    each(play, set);
}

static void set_off(struct play *play)
{
    switch (play->kind) {
    case ON_CONNECTED: break;
    case ON_DISCONNECTED: hold_all(play), redis_do(play->fixture->redis, "CLIENT KILL TYPE normal"); break;
    case ON_GRANT: each(play, set), each(play, ask_own), each(play, ask_sibling), each(play, ask_other); break;
    case ON_UNREACHABLE: each(play, set), each(play, ask_own_briefly), each(play, ask_sibling), each(play, ask_other); break;
    case ON_RELEASED: hold_all(play), each(play, release_own); break;
    case ON_LOST_BY_CLOSE: hold_all(play), each(play, close_now); break;
    case ON_CLOSED: hold_all(play), each(play, close_now); break;
    case KINDS: break;
    }
}

static void end_stage(struct stage *stage)
{
    if (stage->client)
        close_client(stage, 0);
}

static void free_rest(struct stage *stage)
{
    free_party(&stage->own);
    free_others(stage);
}

static int is_free(void *arg)
{
    return redis_integer(arg, "EVAL %s 0", "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do "
                                           "if not k:find('token') and not k:find(':left}?$') then n = n + 1 end end return n") == 0;
}

static void play_kind(struct fixture *fixture, enum kind kind)
{
    struct play *play = calloc(1, sizeof *play);
    play->fixture = fixture;
    play->kind = kind;
    play->base = event_base_new();
    for (unsigned i = 0; i < ACTS; i++)
        open_stage(play, (enum act)i);
    set_off(play);
    until(play, all_acted, "everybody was called");
    each(play, end_stage);
    until(play, all_ended, "every client ended");
    each(play, free_rest);
    if (play->errors)
        check_fail("%u errors; %s", play->errors, play->error);
    for (unsigned i = 0; i < ACTS; i++)
        assert_int_equal(play->stages[i].closed, kind == ON_CLOSED || i < ABANDON);
    assert_int_equal(event_base_get_num_events(play->base, EVENT_BASE_COUNT_ADDED), 0);
    event_base_free(play->base);
    check_until(is_free, fixture->redis, "what was not abandoned to be released");
    redis_do(fixture->redis, "FLUSHALL"); /* holds of those that were abandoned, and their places in queues */
    free(play);
}

static void inside_connected(void **state) { play_kind(*state, ON_CONNECTED); }
static void inside_disconnected(void **state) { play_kind(*state, ON_DISCONNECTED); }
static void inside_grant(void **state) { play_kind(*state, ON_GRANT); }
static void inside_unreachable(void **state) { play_kind(*state, ON_UNREACHABLE); }
static void inside_released(void **state) { play_kind(*state, ON_RELEASED); }
static void inside_lost_by_close(void **state) { play_kind(*state, ON_LOST_BY_CLOSE); }
static void inside_closed(void **state) { play_kind(*state, ON_CLOSED); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(inside_connected),
        FIXTURE_TEST(inside_disconnected),
        FIXTURE_TEST(inside_grant),
        FIXTURE_TEST(inside_unreachable),
        FIXTURE_TEST(inside_released),
        FIXTURE_TEST(inside_lost_by_close),
        FIXTURE_TEST(inside_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
