/* SPDX-License-Identifier: BSD-3-Clause */
/* Extends whose hold ends before their answer; what is refused; what is legal inside; what an extend leaves behind. */
#include <stdio.h>
#include <string.h>

#include "play.h"

static const struct hilock_lock_options short_lease = {.size = sizeof short_lease, .lease_ms = 3000};

A_PLAY(released_meanwhile_is_LOST_and_the_release_OK)
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    extend(a, 60000);
    extend(a, 0);
    release(a);
    TELLS(s, "");
    run_us(s, 100);
    TELLS(s, "a:extend LOST a:extend LOST");
    TEXT(s, a->detail, hilock_status_text(HILOCK_LOST));
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    run_ms(s, 2);
    TELLS(s, "a:released");
    HOLDS(s, !is_ours(s, "stock"));
    acquire(a, HILOCK_TRY);
    run_ms(s, 2);
    TELLS(s, "a:OK");
}

A_PLAY(dropped_or_freed_meanwhile_it_is_silent)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "one", &short_lease), *b = held(p, "b", "two", &short_lease);
    extend(a, 60000);
    extend(b, 60000);
    handle_drop(a);
    handle_free(b);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 5);
    TELLS(s, "a:OK");
    HOLDS(s, !is_ours(s, "two"));
}

static void extend_b(struct handle *handle)
{
    struct handle *b = TAILQ_NEXT(handle, entry);
    SAME(handle->fixture, hilock_lock_state(b->lock), HILOCK_STATE_HELD);
    SAME(handle->fixture, hilock_lock_remaining_ms(b->lock), 0);
    SAME(handle->fixture, extend(b, 0), HILOCK_OK);
}

A_PLAY(asked_when_the_loss_is_about_to_be_told_it_is_told_instead)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "one", &short_lease), *b = held(p, "b", "two", &short_lease);
    when(a, "LOST SUSPENDED", extend_b);
    world_jump_us(&s->world, 9000000);
    run_ms(s, 10);
    TELLS(s, "a:LOST SUSPENDED b:extend LOST");
    HOLDS(s, strncmp(b->detail, "SUSPENDED: ", 11) == 0);
    SAME(s, asked(s, "renew"), 0);
    SAME(s, asked(s, "mutex_release"), 2);
}

static void block_for_five_seconds(struct handle *handle) { world_jump_us(&handle->fixture->world, 5000000); }

static void block_and_extend(struct handle *handle)
{
    block_for_five_seconds(handle);
    SAME(handle->fixture, extend(TAILQ_FIRST(&handle->fixture->handles), 60000), HILOCK_OK);
}

/* The deadline passed while somebody blocked, and nobody has looked yet. */
A_PLAY(asked_after_the_deadline_it_revives_nothing)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *b;
    held(p, "a", "one", &short_lease);
    b = handle_new(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    acquire(b, HILOCK_FOREVER);
    when(b, "OK", block_and_extend);
    run_ms(s, 1);
    run_ms(s, 10);
    TELLS(s, "b:OK a:extend LOST");
    HOLDS(s, !is_ours(s, "one"));
}

/* Its answer, yes, stands in the queue behind a callback that takes too long. */
A_PLAY(a_yes_that_aged_in_the_queue_is_LOST)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    struct handle *b = asking(p, "b", "two", HILOCK_LOCK_OPTIONS(.lease_ms = 60000));
    extend(a, 3000);
    when(b, "OK", block_for_five_seconds);
    run_ms(s, 1);
    run_ms(s, 10);
    TELLS(s, "b:OK a:extend LOST");
}

A_PLAY(a_loss_for_any_reason_is_told_by_the_extend)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .hold_max_ms = 31000)), *b = held(p, "b", "two", &short_lease);
    run_ms(s, 30000);
    PLAN(s, .on = "renew", .act = PLAN_LOSE_REQUEST, .times = PLAN_ALWAYS);
    extend(a, 60000);
    run_ms(s, 2000);
    TELLS(s, "a:extend LOST");
    TEXT(s, a->detail, "HOLD_MAX: \"one\" was held for 31000 ms; is a release missing?");
    extend(b, 60000);
    SAME(s, client_close(p, 10), HILOCK_OK);
    run_ms(s, 3100);
    TELLS(s, "b:extend LOST closed");
    HOLDS(s, strncmp(b->detail, "CLOSING: ", 9) == 0);
}

A_PLAY(it_works_while_the_client_drains)
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    client_close(the_client(s), HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, extend(a, 60000), HILOCK_OK);
    run_ms(s, 10);
    TELLS(s, "a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 59000);
    release(a);
    run_ms(s, 10);
    TELLS(s, "a:released closed");
}

A_PLAY(an_abandoned_client_answers_nothing)
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    s->is_tampered = 1;
    extend(a, 60000);
    extend(a, 60000);
    client_abandon(the_client(s));
    run_ms(s, 100);
    TELLS(s, "");
    SAME(s, extend(a, 0), HILOCK_CLOSED);
}

A_PLAY(refusals_say_why)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = handle_new(p, "a", "stock", NULL);
    SAME(s, hilock_extend(NULL, 0, NULL, NULL), HILOCK_INVALID);
    SAME(s, extend(a, 0), HILOCK_NOT_HELD);
    TEXT(s, hilock_client_refusal(p->client), "handle of \"stock\" does not hold: never acquired, released before, or lost");
    acquire(a, HILOCK_FOREVER);
    SAME(s, extend(a, 0), HILOCK_NOT_HELD);
    run_ms(s, 1);
    SAME(s, hilock_extend(a->lock, 0, NULL, NULL), HILOCK_INVALID);
    TEXT(s, hilock_client_refusal(p->client), "on_result is NULL: an extend is answered by it");
    SAME(s, extend(a, 99), HILOCK_INVALID);
    TEXT(s, hilock_client_refusal(p->client), "bad lease_ms 99: must be 100..86400000, or 0 for the lock's");
    SAME(s, extend(a, 86400001), HILOCK_INVALID);
    SAME(s, extend(a, HILOCK_FOREVER), HILOCK_INVALID);
    TEXT(s, hilock_client_refusal(p->client), "lease_ms 4294967295: a negative number by mistake? at most 2147483647");
    s->memory.is_out = s->memory.spares_links = 1;
    SAME(s, extend(a, 100), HILOCK_NO_MEMORY);
    TEXT(s, hilock_client_refusal(p->client), "out of memory for an extend");
    s->memory.is_out = 0;
    run_ms(s, 10);
    TELLS(s, "a:OK");
    SAME(s, asked(s, "renew"), 0);
    SAME(s, extend(a, 100), HILOCK_OK);
    SAME(s, extend(a, 86400000), HILOCK_OK);
    run_ms(s, 10);
    TELLS(s, "a:extended a:extended");
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 85000000);
}

/* Else a restarted store would grant again while the extended lease still counts. */
A_PLAY(a_lease_above_the_restart_guard_is_refused)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 30000));
    struct handle *a = handle_new(p, "a", "stock", &short_lease);
    s->is_tampered = 1;
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 60000);
    SAME(s, hilock_lock_state(a->lock), HILOCK_STATE_HELD);
    SAME(s, extend(a, 30001), HILOCK_INVALID);
    TEXT(s, hilock_client_refusal(p->client),
         "lease_ms 30001 is longer than restart_guard_ms 30000: a restarted store could grant the lock to others too early; raise the guard or lower the lease");
    SAME(s, extend(a, 30000), HILOCK_OK);
    fixture_hush(s);
}

A_PLAY(the_words_of_an_answer_are_told_without_memory_too)
{
    struct handle *a = held(the_client(s), "a", "stock", &short_lease);
    PLAN(s, .on = "renew", .act = PLAN_REFUSE, .error = "READONLY You can't write against a read only replica.");
    extend(a, 0);
    s->memory.is_out = s->memory.spares_links = 1;
    run_ms(s, 1);
    s->memory.is_out = 0;
    TELLS(s, "a:extend UNWRITABLE");
    TEXT(s, a->detail, hilock_status_text(HILOCK_UNWRITABLE));
}

A_PLAY(after_an_extend_a_release_is_repeated_for_that_lease)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    extend(a, 60000);
    run_ms(s, 1);
    cut_off(s);
    release(a);
    run_ms(s, 50000);
    TELLS(s, "a:extended a:release UNKNOWN");
    HOLDS(s, is_ours(s, "stock"));
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
    TELLS(s, "a:SETTLED");
    HOLDS(s, !is_ours(s, "stock"));
}

/* ---- inside its callback ---- */

static void free_it(struct handle *handle) { handle_free(handle); }
static void drop_it(struct handle *handle) { handle_drop(handle); }
static void release_it(struct handle *handle) { release_quietly(handle); }
static void extend_again(struct handle *handle) { extend(handle, 0); }
static void acquire_again(struct handle *handle) { (void)!acquire(handle, HILOCK_FOREVER); }
static void abandon(struct handle *handle) { client_abandon(handle->client); }
static void close_now(struct handle *handle) { client_close(handle->client, 0); }
static void abandon_and_free(struct handle *handle)
{
    client_abandon(handle->client);
    handle_free(handle);
}

A_PLAY(everything_is_legal_inside)
{
    static void (*const steps[])(struct handle *handle) = {free_it, drop_it, release_it, extend_again, acquire_again, abandon, close_now, abandon_and_free};
    static const char *const told[] = {"extended", "extend LOST"};
    s->is_tampered = 1;
    for (size_t i = 0; i < 2 * sizeof steps / sizeof *steps; i++) {
        struct client *p = fixture_connect(s, NULL);
        struct handle *a;
        char name[16];
        snprintf(name, sizeof name, "stock%zu", i);
        a = held(p, "a", name, &short_lease);
        extend(a, 0);
        extend(a, 0);
        if (i % 2)
            store_delete(&s->store, name);
        when(a, told[i % 2], steps[i / 2]);
        run_ms(s, 5000);
        HOLDS(s, !a->then);
        if (a->lock)
            handle_drop(a);
        fixture_hush(s);
    }
}
