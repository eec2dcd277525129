/* SPDX-License-Identifier: BSD-3-Clause */
/* A day with everything in it, played once for every allocation, timer, link, command and query that may fail in it: nothing crashes,
 * nothing leaks, refusals say NO_MEMORY, every accepted call is answered, and nothing of ours stays at the store for longer than a lease. */
#include <stdlib.h>

#include "played.h"
#include "wanted.h"

struct seat { /* a handle, and the calls it owes an answer to */
    struct fixture *fixture;
    hilock_lock *lock;
    int owed;
};

static int is_refused_well(struct fixture *s, hilock_status status)
{
    HOLDS(s, status == HILOCK_OK || status == HILOCK_NO_MEMORY);
    return status != HILOCK_OK;
}

static void answered(const struct hilock_result *result, void *user)
{
    struct seat *seat = user;
    HOLDS(seat->fixture, result->lock == seat->lock && seat->owed-- > 0);
}

static void lost(const struct hilock_event *event, void *user) { (void)event, (void)user; }

static struct seat make(struct fixture *s, hilock_client *client, const char *name)
{
    struct seat seat = {s, NULL, 0};
    is_refused_well(s, hilock_lock_create(&seat.lock, client, name, HILOCK_LOCK_OPTIONS(.on_lost = lost, .on_event = lost, .lease_ms = 3000, .reentrant = 1)));
    return seat;
}

static void ask(struct seat *seat, uint32_t wait_ms)
{
    if (seat->lock && hilock_lock_state(seat->lock) == HILOCK_STATE_IDLE && !is_refused_well(seat->fixture, hilock_acquire(seat->lock, wait_ms, answered, seat)))
        seat->owed++;
}

static void let_go(struct seat *seat)
{
    if (seat->lock && hilock_release(seat->lock, answered, seat) == HILOCK_OK)
        seat->owed++;
}

/* Longer, deeper, seen from outside; as many releases as it was entered. */
static void use(struct seat *seat)
{
    struct fixture *s = seat->fixture;
    hilock_validity *validity = NULL;
    int entered = 0;
    if (!seat->lock || hilock_lock_state(seat->lock) != HILOCK_STATE_HELD)
        return;
    if (!is_refused_well(s, hilock_extend(seat->lock, 5000, answered, seat)))
        seat->owed++;
    for (int i = 0; i < 2; i++)
        entered += !is_refused_well(s, hilock_acquire(seat->lock, HILOCK_TRY, answered, seat));
    seat->owed += entered;
    if (!is_refused_well(s, hilock_lock_validity(seat->lock, &validity)))
        HOLDS(s, hilock_validity_remaining_ms(validity) == hilock_lock_remaining_ms(seat->lock));
    hilock_validity_unref(validity);
    run_ms(s, 10);
    while (entered--)
        let_go(seat);
}

static void leave(struct seat *seat)
{
    hilock_lock_free(seat->lock);
    seat->owed = 0; /* silenced */
    seat->lock = NULL;
}

/* One hold, two turns; a grant that is cancelled before its report goes on to the next one. */
static void take_turns(struct fixture *s, hilock_client *client)
{
    struct seat seats[] = {make(s, client, "fourth"), make(s, client, "fourth"), make(s, client, "fourth"), make(s, client, "fourth")};
    hilock_validity *validity = NULL;
    for (size_t i = 0; i < sizeof seats / sizeof *seats; i++)
        ask(&seats[i], 3000);
    run_ms(s, 500);
    let_go(&seats[0]);
    run_ms(s, 10);
    if (seats[1].lock && hilock_lock_state(seats[1].lock) == HILOCK_STATE_HELD && !is_refused_well(s, hilock_lock_validity(seats[1].lock, &validity)))
        HOLDS(s, hilock_validity_remaining_ms(validity) == hilock_lock_remaining_ms(seats[1].lock));
    let_go(&seats[1]);
    HOLDS(s, hilock_validity_remaining_ms(validity) == 0);
    hilock_validity_unref(validity);
    if (seats[2].lock)
        (void)hilock_cancel(seats[2].lock);
    run_ms(s, 10);
    let_go(&seats[3]);
    run_ms(s, 4000);
    for (size_t i = 0; i < sizeof seats / sizeof *seats; i++) {
        SAME(s, seats[i].owed, 0);
        leave(&seats[i]);
    }
}

/* Grant, wait, wake, time out, try, extend, enter again, renew, lose a link, release. */
static void live(struct fixture *s, hilock_client *client)
{
    struct seat a = make(s, client, "stock"), b = make(s, client, "stock"), c = make(s, client, "other"), d = make(s, client, "third");
    store_take(&s->store, "shop:other", "another", 20000);
    ask(&a, HILOCK_FOREVER);
    ask(&b, 5000);
    ask(&c, 2000);
    run_ms(s, 200);
    ask(&d, HILOCK_TRY);
    use(&a);
    run_ms(s, 2500);
    let_go(&a);
    run_ms(s, 2600);
    net_reset(&s->net, NULL, NET_ALL);
    ask(&d, HILOCK_FOREVER);
    store_free_name(&s->store, "shop:other");
    run_ms(s, 4000);
    ask(&c, 1000);
    run_ms(s, 1100);
    let_go(&b);
    let_go(&c);
    run_ms(s, 2000);
    SAME(s, a.owed + b.owed + c.owed, 0);
    leave(&a);
    leave(&b);
    leave(&c);
    run_ms(s, 20);
    leave(&d);
}

/* A host name, so that it is resolved, and all that is said at login. How often memory was asked for, or 0 when a claim broke. */
static uint64_t play_day(uint64_t fail_at, uint64_t fails)
{
    struct fixture fixture, *s = &fixture;
    struct client *p;
    fixture_begin(s);
    s->is_untold = s->is_tampered = 1;
    s->memory.fail_at = fail_at;
    s->memory.fails = fails;
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    net_listen(&s->net, "127.0.0.1:6380", &s->store);
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://:" FIXTURE_SECRET "@localhost:6380/1", .name_prefix = "shop:", .command_timeout_ms = 1000));
    p->loop.name.addresses[0] = "127.0.0.1";
    if (!is_refused_well(s, p->status)) {
        take_turns(s, p->client);
        live(s, p->client);
        client_close(p, 0);
        run_ms(s, 10000);
        HOLDS(s, p->is_closed);
        HOLDS(s, !is_ours(s, "shop:stock") && !is_ours(s, "shop:other") && !is_ours(s, "shop:third") && !is_ours(s, "shop:fourth"));
    } else
        TEXT(s, p->error.text, "out of memory");
    uint64_t asked_for = s->memory.asked;
    HOLDS(s, fail_at == 0 || fail_at > asked_for || s->memory.refused > 0);
    return fixture_end(s) ? asked_for : 0;
}

TEST(a_good_day_is_good)
{
    assert_true(play_day(0, 0) > 100);
}

TEST(each_in_turn_may_fail)
{
    uint64_t most = play_day(0, 0);
    for (uint64_t at = wanted_first(); at <= most; at += wanted_stride())
        if (!play_day(at, 1))
            fail_msg("when allocation %llu of %llu fails", (unsigned long long)at, (unsigned long long)most);
}

TEST(ten_in_a_row_may_fail)
{
    uint64_t most = play_day(0, 0);
    for (uint64_t at = wanted_first(); at <= most; at += wanted_stride())
        if (!play_day(at, 10))
            fail_msg("when allocations %llu to %llu fail", (unsigned long long)at, (unsigned long long)at + 9);
}

/* Release, close and free need no memory. A command that cannot be sent is another matter. */
WITH_CLIENT(the_end_needs_no_memory)
{
    struct handle *a = held(p, "a", "one", NULL), *b = held(p, "b", "two", NULL), *w = asking(p, "w", "one", NULL);
    run_ms(s, 5);
    s->memory.is_out = s->memory.spares_links = 1;
    release(a);
    TELLS_AFTER(s, 5, "w:WAITING a:released w:OK");
    SAME(s, acquire(a, HILOCK_FOREVER), HILOCK_NO_MEMORY);
    TEXT(s, hilock_client_refusal(p->client), "out of memory for an acquire");
    handle_free(w);
    SAME(s, client_close(p, 10), HILOCK_OK);
    TELLS_AFTER(s, 50, "b:LOST CLOSING closed");
    HOLDS(s, !is_ours(s, "one") && !is_ours(s, "two"));
    handle_free(b);
}
