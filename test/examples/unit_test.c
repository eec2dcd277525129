/* SPDX-License-Identifier: BSD-3-Clause */
/* unit_test - a program's own code, tested on a store in memory: no server, no other process, and the lock is lost on purpose.
 *
 *   unit_test
 *
 * The code under test is a copier that moves pages under a lock: it begins when the lock is granted, moves a page in each turn of a timer, and must not
 * move another once it has lost the lock. Each test opens a store, breaks it, and looks at what the copier did. "ok <test>" for each; status 1 and what
 * was wrong at the first that fails. The lease is as long as in earnest: the clock jumps where a test would have to wait for it.
 * Build: cc unit_test.c $(pkg-config --cflags --libs hilock-libevent hilock-memory) */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hilock/loop.h>
#include <hilock/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the code under test: nothing in it knows that it is tested ------------------------------------------------------- */

enum { PAGE_MS = 5, LEASE_MS = 30000 };

struct copier {
    hilock_lock *lock;
    struct event *timer;
    int pages, moved; /* so many there are, so many have gone */
    enum { WAITS, MOVES, DONE, STOPPED } state;
};

static void copier_stop(struct copier *copier, int state)
{
    evtimer_del(copier->timer);
    hilock_lock_drop(copier->lock);
    copier->state = state;
}

static void on_page(evutil_socket_t fd, short what, void *arg)
{
    struct copier *copier = arg;
    (void)fd, (void)what;
    if (hilock_lock_remaining_ms(copier->lock) == 0)
        return; /* on_lost is about to run */
    if (++copier->moved == copier->pages)
        copier_stop(copier, DONE);
}

static void on_copier_lost(const struct hilock_event *event, void *user)
{
    (void)event;
    copier_stop(user, STOPPED);
}

static void on_granted(const struct hilock_result *result, void *user)
{
    static const struct timeval page = {0, PAGE_MS * 1000};
    struct copier *copier = user;
    if (result->status != HILOCK_OK) {
        copier_stop(copier, STOPPED);
        return;
    }
    copier->state = MOVES;
    event_add(copier->timer, &page);
}

static int copier_begin(struct copier *copier, struct event_base *base, hilock_client *client, int pages)
{
    memset(copier, 0, sizeof *copier);
    copier->pages = pages;
    copier->timer = event_new(base, -1, EV_PERSIST, on_page, copier);
    return copier->timer &&
           hilock_lock_create(&copier->lock, client, "pages",
                              HILOCK_LOCK_OPTIONS(.on_lost = on_copier_lost, .user = copier, .lease_ms = LEASE_MS)) == HILOCK_OK &&
           hilock_acquire(copier->lock, HILOCK_FOREVER, on_granted, copier) == HILOCK_OK;
}

static void copier_end(struct copier *copier)
{
    hilock_lock_free(copier->lock);
    if (copier->timer)
        event_free(copier->timer);
}

/* ---- what every test has ------------------------------------------------------------------------------------------------ */

struct bench {
    struct event_base *base;
    hilock_memory_clock *clock;
    hilock_memory *store;
    hilock_client *client;
    struct copier copier;
    int is_closed;
};

#define CHECK(claim) ((claim) ? (void)0 : broken(__LINE__, #claim))

static void broken(int line, const char *claim)
{
    fprintf(stderr, "line %d, not so: %s\n", line, claim);
    exit(1);
}

/* The base's, in a time that jumps. */
static void loop_of(const struct bench *bench, struct hilock_loop *ret_loop)
{
    CHECK(bench->base && hilock_libevent_loop(ret_loop, bench->base) == HILOCK_OK);
    CHECK(hilock_memory_clock_wrap(bench->clock, ret_loop) == HILOCK_OK);
}

static void set_up(struct bench *bench)
{
    struct hilock_loop loop;
    memset(bench, 0, sizeof *bench);
    bench->base = event_base_new();
    bench->clock = hilock_memory_clock_new();
    loop_of(bench, &loop);
    CHECK(hilock_memory_open(&bench->store, &loop, NULL, NULL) == HILOCK_OK);
    loop_of(bench, &loop);
    CHECK(hilock_client_open(&bench->client, &loop, HILOCK_CLIENT_OPTIONS(.url = hilock_memory_url(bench->store), .on_log = hilock_log_nothing), NULL) == HILOCK_OK);
}

static void turn(const struct bench *bench) { CHECK(event_base_loop(bench->base, EVLOOP_ONCE) >= 0); }

static void on_closed(void *user) { *(int *)user = 1; }

/* The client first: it speaks with the store until it is closed. */
static void tear_down(struct bench *bench)
{
    copier_end(&bench->copier);
    CHECK(hilock_client_close(bench->client, 0, on_closed, &bench->is_closed) == HILOCK_OK);
    while (!bench->is_closed)
        turn(bench);
    hilock_memory_close(bench->store);
    hilock_memory_clock_free(bench->clock);
    event_base_free(bench->base);
}

static void begin(struct bench *bench, int pages) { CHECK(copier_begin(&bench->copier, bench->base, bench->client, pages)); }

static void until_moved(const struct bench *bench, int pages)
{
    while (bench->copier.moved < pages && bench->copier.state <= MOVES)
        turn(bench);
}

/* ---- the tests ---------------------------------------------------------------------------------------------------------- */

enum { FEW = 20, ENDLESS = 1000000 };

/* Another program has the lock: nothing is moved before its lease is over. */
static void waits_for_the_lock(struct bench *bench)
{
    CHECK(hilock_memory_take(bench->store, HILOCK_MUTEX, "pages", "somebody", HILOCK_FOREVER) == HILOCK_OK);
    begin(bench, FEW);
    for (int turns = 0; turns < 5; turns++)
        turn(bench);
    CHECK(bench->copier.state == WAITS);
    CHECK(hilock_memory_expire(bench->store, "pages") == HILOCK_OK);
    until_moved(bench, FEW);
    CHECK(bench->copier.state == DONE);
}

/* Somebody else takes the lock: the copier stops, and long before it would have renewed. */
static void stops_when_the_lock_is_taken(struct bench *bench)
{
    begin(bench, ENDLESS);
    until_moved(bench, 3);
    CHECK(hilock_memory_take(bench->store, HILOCK_MUTEX, "pages", "somebody", HILOCK_FOREVER) == HILOCK_OK);
    hilock_memory_verify(bench->store);
    until_moved(bench, ENDLESS);
    CHECK(bench->copier.state == STOPPED && bench->copier.moved < LEASE_MS / 3 / PAGE_MS);
    CHECK(strcmp(hilock_memory_holder(bench->store, "pages"), "somebody:1") == 0); /* it has not touched what is his */
}

/* Nobody tells the copier that it has lost: it stops when its lease may be over. */
static void stops_alone_when_the_store_hangs(struct bench *bench)
{
    begin(bench, ENDLESS);
    until_moved(bench, 1);
    hilock_memory_hang(bench->store, 1);
    hilock_memory_clock_jump(bench->clock, LEASE_MS);
    until_moved(bench, ENDLESS);
    CHECK(bench->copier.state == STOPPED && bench->copier.moved < LEASE_MS / 3 / PAGE_MS);
    hilock_memory_hang(bench->store, 0);
}

/* A short outage is no loss. */
static void goes_on_when_its_links_break(struct bench *bench)
{
    begin(bench, FEW);
    until_moved(bench, 1);
    hilock_memory_disconnect(bench->store);
    until_moved(bench, FEW);
    CHECK(bench->copier.state == DONE);
}

int main(void)
{
    static const struct { const char *name; void (*run)(struct bench *bench); } tests[] = {
        {"waits for the lock", waits_for_the_lock},
        {"stops when the lock is taken", stops_when_the_lock_is_taken},
        {"stops alone when the store hangs", stops_alone_when_the_store_hangs},
        {"goes on when its links break", goes_on_when_its_links_break},
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        struct bench bench;
        set_up(&bench);
        tests[i].run(&bench);
        tear_down(&bench);
        printf("ok %s\n", tests[i].name);
    }
    return 0;
}
