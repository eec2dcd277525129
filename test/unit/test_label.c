/* SPDX-License-Identifier: BSD-3-Clause */
/* All clients that ask or wait see the holder in words, which costs no command. A client without a label, such as an older version, excludes and
 * hands over as before. */
#include "play.h"
#include "stage.h"

static const char till[] = "till@shop-7/4711";

/* So many commands for ten acquires of a free name and their releases. */
static size_t pairs_cost(struct fixture *s, const char *label, hilock_kind kind)
{
    struct handle *a = handle_new(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = label)), "a", "stock", HILOCK_LOCK_OPTIONS(.kind = kind));
    size_t commands = 0;
    run_ms(s, 5); /* links and subscriptions */
    for (int i = 0; i < 10; i++) {
        size_t before = store_count(&s->store, NULL);
        acquire(a, HILOCK_TRY);
        run_ms(s, 1);
        release(a);
        run_ms(s, 1);
        commands += store_count(&s->store, NULL) - before;
    }
    fixture_hush(s);
    handle_free(a);
    return commands;
}

A_PLAY(a_label_costs_no_command)
{
    for (hilock_kind kind = HILOCK_MUTEX; kind <= HILOCK_SIMPLE; kind++) {
        SAME(s, pairs_cost(s, NULL, kind), 20);
        SAME(s, pairs_cost(s, till, kind), 20);
    }
}

static void is_seen(struct fixture *s, hilock_kind kind)
{
    const struct hilock_lock_options *options = HILOCK_LOCK_OPTIONS(.kind = kind);
    struct handle *a = held(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = till)), "a", "stock", options);
    struct client *q = fixture_connect(s, NULL);
    struct handle *b = handle_new(q, "b", "stock", options), *c = handle_new(q, "c", "stock", options);
    acquire(b, 1000);
    run_ms(s, 10);
    TEXT(s, b->event.holder_label, till);
    HOLDS(s, strncmp(b->event.holder, a->client->uuid, 36) == 0 && strstr(b->event.holder, ":1:till@"));
    run_ms(s, 1500);
    SAME(s, b->result.status, HILOCK_TIMED_OUT);
    TEXT(s, b->result.holder_label, till);
    HOLDS(s, strstr(b->detail, "was held by 51"));
    HOLDS(s, strstr(b->detail, "..:1:till@shop-7/4711 for the whole "));
    peek(c);
    run_ms(s, 5);
    TEXT(s, c->result.holder_label, till);
    HOLDS(s, strstr(c->detail, "\"stock\" is held by 51"));
    s->is_tampered = 1;
    force(c, "another:1");
    run_ms(s, 5);
    SAME(s, c->result.status, HILOCK_LOST);
    HOLDS(s, is_ours(s, "stock"));
    peek(c);
    run_ms(s, 5);
    force(c, c->holder);
    run_ms(s, 5);
    SAME(s, c->result.status, HILOCK_OK);
    TEXT(s, store_holder(&s->store, "stock"), "");
    handle_drop(a);
}

A_PLAY(who_holds_a_MUTEX_is_seen) { is_seen(s, HILOCK_MUTEX); }
A_PLAY(who_holds_a_FAIR_lock_is_seen) { is_seen(s, HILOCK_FAIR); }
A_PLAY(who_holds_a_SIMPLE_lock_is_seen) { is_seen(s, HILOCK_SIMPLE); }

/* By message, in both directions. */
A_PLAY(with_and_without_one_they_hand_over)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = till)), *q = fixture_connect(s, NULL);
    const struct hilock_lock_options *fair = HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR);
    struct handle *a = held(p, "a", "stock", fair), *b = asking(q, "b", "stock", fair), *c = handle_new(p, "c", "stock", fair);
    run_ms(s, 5);
    acquire(c, HILOCK_FOREVER);
    unheard_ms(s, 5);
    size_t asks = asked(s, "mutex_acquire");
    release(a);
    TELLS_IN(s, 2, "b:OK a:released");
    release(b);
    TELLS_IN(s, 2, "c:OK b:released");
    SAME(s, asked(s, "mutex_acquire"), asks);
    HOLDS(s, strstr(store_holder(&s->store, "stock"), ":2:till@"));
}
