/* SPDX-License-Identifier: BSD-3-Clause */
/* A hold that has its name alone goes on as one that shares it (hilock_downgrade): which waiters the store then lets in, what a missing answer leaves
 * open, and what a refusal proves. */
#include "play.h"

#define SHARES(...) HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .holders_max = __VA_ARGS__)

static const struct hilock_client_options hasty = {.size = sizeof hasty, .command_timeout_ms = 500};

/* Acquires "stock" with that holders_max, and the clients are quiet. */
static struct handle *comes(struct client *p, const char *tag, uint32_t holders_max)
{
    struct handle *handle = acquiring(handle_new(p, tag, "stock", SHARES(holders_max)), HILOCK_FOREVER);
    run_ms(p->fixture, 2);
    return handle;
}

static struct handle *reads(struct client *p, const char *tag) { return comes(p, tag, HILOCK_ANY_NUMBER); }

static struct handle *writes(struct client *p, const char *tag) { return comes(p, tag, 0); }

/* Those that share come in at once, the writer behind them waits for all; the token stays, and the next hold is one alone again. */
A_PLAY(a_writer_goes_on_as_a_reader)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(fixture_connect(s, NULL), "a"), *x = writes(fixture_connect(s, NULL), "x");
    uint64_t token = w->result.fencing_token;
    TELLS(s, "w:OK a:WAITING x:WAITING");
    SAME(s, downgrade(w), HILOCK_OK);
    SAME(s, downgrade(w), HILOCK_UNSUPPORTED);
    TELLS_IN(s, 2, "a:OK w:shares");
    SAME(s, w->result.fencing_token, token);
    HOLDS(s, a->result.fencing_token > token);
    HOLDS(s, w->result.remaining_ms > 29000);
    TELLS_IN(s, 60000, ""); /* both are renewed as shares */
    release(w);
    TELLS_IN(s, 1, "w:released");
    release_quietly(a);
    TELLS_IN(s, 1, "x:OK");
    acquire(w, HILOCK_FOREVER);
    TELLS_IN(s, 1, "w:WAITING");
    release_quietly(x);
    TELLS_IN(s, 1, "w:OK");
    struct handle *b = reads(a->client, "b");
    TELLS(s, "b:WAITING");
    release_quietly(w);
    TELLS_IN(s, 1, "b:OK");
    release_quietly(b);
}

/* Of one client: its reader and its writer relied on the end of that hold, and its try would pass the writer. */
A_PLAY(a_client_downgrades_beside_waiters_of_its_own)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(w->client, "a"), *x = writes(w->client, "x");
    TELLS(s, "w:OK a:WAITING x:WAITING");
    downgrade(w);
    TELLS_IN(s, 2, "a:OK w:shares");
    acquire(handle_new(w->client, "b", "stock", SHARES(2)), HILOCK_TRY);
    TELLS_IN(s, 2, "b:TIMED_OUT");
    struct handle *far = writes(fixture_connect(s, NULL), "far");
    release_quietly(a);
    release_quietly(w);
    TELLS_IN(s, 2, "far:WAITING x:OK");
    release_quietly(x);
    TELLS_IN(s, 2, "far:OK");
    release_quietly(far);
}

/* Its own writer relied on the end of that hold, and takes a place now: a later one of another client waits behind it. */
A_PLAY(a_downgrade_lets_the_writers_of_its_client_take_places)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *x = writes(w->client, "x"), *far;
    downgrade(w);
    run_ms(s, 2);
    far = writes(fixture_connect(s, NULL), "far");
    TELLS(s, "w:OK x:WAITING w:shares far:WAITING");
    release_quietly(w);
    TELLS_IN(s, 2, "x:OK");
    release_quietly(x);
    TELLS_IN(s, 2, "far:OK");
    release_quietly(far);
}

HOLDING(a_downgrade_of_a_hold_that_is_gone_is_LOST, NULL)
{
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    downgrade(a);
    TELLS_IN(s, 1, "a:downgrade LOST");
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    TELLS_IN(s, 10000, "");
    SAME(s, downgrade(a), HILOCK_NOT_HELD);
}

/* It counts as done from the call on, and is asked for again in the same form until the store answers. */
A_PLAY(a_downgrade_without_an_answer_is_UNKNOWN_and_asked_again)
{
    struct handle *w = writes(fixture_connect(s, &hasty), "w"), *a = reads(fixture_connect(s, NULL), "a");
    TELLS(s, "w:OK a:WAITING");
    PLAN(s, .on = "share_downgrade", .fate.is_lost = 1);
    downgrade(w);
    TELLS_IN(s, 499, "");
    TELLS_IN(s, 2, "w:downgrade UNKNOWN");
    TEXT(s, w->detail, "no answer from 127.0.0.1:6379 within 500 ms: others may share \"stock\" by now; the next renewal finds out");
    SAME(s, downgrade(w), HILOCK_UNSUPPORTED);
    TELLS_IN(s, 5000, "a:OK");
    SAME(s, asked(s, "share_downgrade"), 1); /* the first did not arrive */
    TELLS_IN(s, 60000, "");
    release_quietly(w);
    release_quietly(a);
}

/* The store shares the name by then: a renewal or a release of one that holds alone would harm the others. */
A_PLAY(a_downgrade_whose_answer_is_lost_is_done)
{
    struct handle *w = writes(fixture_connect(s, &hasty), "w"), *a = reads(fixture_connect(s, NULL), "a");
    PLAN(s, .on = "share_downgrade", .fate.answer_is_lost = 1, .times = 2);
    TELLS(s, "w:OK a:WAITING");
    downgrade(w);
    run_ms(s, 3000);
    HOLDS(s, strstr(s->story, "w:downgrade UNKNOWN") && is_held(w) && is_held(a));
    SAME(s, asked(s, "renew"), 0);
    fixture_hush(s);
    TELLS_IN(s, 60000, "");
    release(w);
    TELLS_IN(s, 1, "w:released");
    HOLDS(s, is_held(a) && is_ours(s, "stock"));
    release_quietly(a);
}

A_PLAY(a_release_right_after_an_unanswered_downgrade_leaves_others_alone)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(fixture_connect(s, NULL), "a");
    struct plan *held_back = PLAN(s, .on = "share_downgrade", .holds = 1);
    downgrade(w);
    run_ms(s, 2);
    TELLS(s, "w:OK a:WAITING a:OK");
    release(w);
    TELLS(s, "");
    plan_let_go(&s->plans, held_back);
    TELLS_IN(s, 2, "w:downgrade LOST w:released");
    SAME(s, asked(s, "mutex_release"), 0);
    TELLS_IN(s, 60000, "");
    release_quietly(a);
}

/* The answer to that renewal, which was sent before, is none to the downgrade. */
A_PLAY(a_downgrade_follows_the_renewal_under_way)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(fixture_connect(s, NULL), "a");
    PLAN(s, .on = "renew", .fate.back_us = 400000);
    run_ms(s, 10050);
    SAME(s, asked(s, "renew"), 1);
    downgrade(w);
    TELLS_IN(s, 300, "w:OK a:WAITING");
    TELLS_IN(s, 100, "a:OK w:shares");
    SAME(s, asked(s, "share_downgrade"), 1);
    release_quietly(w);
    release_quietly(a);
}

/* That renewal was lost, but no downgrade was. */
A_PLAY(a_downgrade_that_is_refused_behind_a_lost_renewal_leaves_the_hold_as_it_was)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w");
    PLAN(s, .on = "renew", .fate.there_us = 200000);
    PLAN(s, .on = "share_downgrade", .error = "NOPERM ACL failure in script: User x has no permissions to run the 'zscore' command");
    run_ms(s, 10050);
    downgrade(w);
    net_reset(&s->net, NULL, NET_COMMANDS);
    TELLS_IN(s, 1500, "w:OK w:downgrade DENIED w:RENEWAL_FAILED w:RENEWED");
    SAME(s, downgrade(w), HILOCK_OK);
    TELLS_IN(s, 2, "w:shares");
    release_quietly(w);
}

/* A login that is refused answers it before it was sent. */
A_PLAY(a_downgrade_that_finds_no_login_leaves_the_hold_as_it_was)
{
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    struct handle *w = writes(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET)), "w");
    PLAN(s, .on = "AUTH", .error = "WRONGPASS invalid username-password pair or user is disabled.", .times = 2);
    cut_off(s);
    run_ms(s, 2);
    downgrade(w);
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 1500, "w:OK w:downgrade DENIED");
    SAME(s, downgrade(w), HILOCK_OK);
    TELLS_IN(s, 5000, "w:shares");
    release_quietly(w);
}

/* It follows the renewal under way; if none can be sent, nothing has happened. */
A_PLAY(a_downgrade_that_cannot_be_sent_leaves_the_hold_as_it_was)
{
    struct handle *w = writes(fixture_connect(s, &hasty), "w");
    PLAN(s, .on = "renew", .fate.there_us = 400000);
    run_ms(s, 9900);
    downgrade(w);
    TELLS_IN(s, 200, "w:OK w:shares");
    release_quietly(w);
    acquire(w, HILOCK_FOREVER);
    TELLS_IN(s, 2, "w:OK");
    cut_off(s);
    run_ms(s, 2);
    downgrade(w);
    TELLS_IN(s, 600, "w:downgrade UNREACHABLE");
    HOLDS(s, is_held(w));
    SAME(s, asked(s, "share_downgrade"), 1);
    SAME(s, downgrade(w), HILOCK_OK);
    handle_drop(w);
}

/* A refusal by a right that is missing proves that nothing was done: the hold goes on as one that has its name alone. */
A_PLAY(a_downgrade_that_is_refused_leaves_the_hold_as_it_was)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(fixture_connect(s, NULL), "a");
    PLAN(s, .on = "share_downgrade", .error = "NOPERM ACL failure in script: User x has no permissions to run the 'zscore' command");
    downgrade(w);
    TELLS_IN(s, 2, "w:OK a:WAITING w:downgrade DENIED");
    TELLS_IN(s, 60000, "");
    SAME(s, asked(s, "share_renew"), 0);
    HOLDS(s, asked(s, "renew") > 3);
    release_quietly(w);
    TELLS_IN(s, 1, "a:OK");
    release_quietly(a);
}

/* So does one for lack of memory. */
A_PLAY(a_downgrade_without_memory_leaves_the_hold_as_it_was)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w");
    PLAN(s, .on = "share_downgrade", .error = "OOM command not allowed when used memory > 'maxmemory'.");
    downgrade(w);
    TELLS_IN(s, 2, "w:OK w:downgrade UNWRITABLE");
    TELLS_IN(s, 60000, "");
    SAME(s, asked(s, "share_renew"), 0);
    SAME(s, asked(s, "share_downgrade"), 0);
    HOLDS(s, asked(s, "renew") > 3);
    release_quietly(w);
}

/* An error in the middle of the script may have come when the name was shared already: the downgrade is asked for again until that is known. */
A_PLAY(a_downgrade_whose_error_proves_nothing_is_UNKNOWN_and_asked_again)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(fixture_connect(s, NULL), "a");
    PLAN(s, .on = "share_downgrade", .error = "ERR Error running script");
    downgrade(w);
    TELLS_IN(s, 2, "w:OK a:WAITING w:downgrade UNKNOWN");
    TELLS_IN(s, 1000, "a:OK");
    SAME(s, asked(s, "share_downgrade"), 1);
    TELLS_IN(s, 60000, "");
    SAME(s, asked(s, "renew"), 0);
    release_quietly(w);
    release_quietly(a);
}

/* An extend beside it was only refused. */
A_PLAY(an_extend_beside_a_downgrade_has_its_own_answer)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w");
    PLAN(s, .on = "share_downgrade", .error = "ERR Error running script");
    downgrade(w);
    extend(w, 60000);
    TELLS_IN(s, 2, "w:OK w:downgrade UNKNOWN w:extend SERVER");
    run_ms(s, 20000);
    SAME(s, asked(s, "share_downgrade"), 1);
    SAME(s, asked(s, "renew"), 0);
    release_quietly(w);
}

/* The first request shared the name, and its answer was lost: a refusal of the second one proves nothing about the first. */
A_PLAY(a_refusal_after_a_lost_answer_undoes_no_downgrade)
{
    struct handle *w = writes(fixture_connect(s, NULL), "w"), *a = reads(fixture_connect(s, NULL), "a");
    PLAN(s, .on = "share_downgrade", .fate.resets_after = 1);
    PLAN(s, .on = "share_downgrade", .error = "NOPERM ACL failure in script: User x has no permissions to run the 'zscore' command");
    downgrade(w);
    TELLS_IN(s, 1500, "w:OK a:WAITING a:OK w:downgrade UNKNOWN w:RENEWAL_FAILED w:RENEWED");
    TELLS_IN(s, 60000, "");
    SAME(s, asked(s, "share_downgrade"), 2);
    SAME(s, asked(s, "renew"), 0);
    release(w);
    TELLS_IN(s, 1, "w:released");
    HOLDS(s, is_held(a) && is_ours(s, "stock"));
    release_quietly(a);
}

/* So does one behind a renewal that was overdue before it was given up. */
A_PLAY(a_refusal_after_a_long_silence_undoes_no_downgrade)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 2000));
    struct handle *w = held(p, "w", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 4500)), *a = reads(fixture_connect(s, NULL), "a");
    PLAN(s, .on = "share_downgrade", .fate.answer_is_lost = 1);
    PLAN(s, .on = "share_downgrade", .error = "NOPERM ACL failure in script: User x has no permissions to run the 'zscore' command");
    downgrade(w);
    run_ms(s, 20000);
    HOLDS(s, strstr(s->story, "w:downgrade UNKNOWN") && is_held(w) && is_held(a));
    SAME(s, asked(s, "renew"), 0);
    SAME(s, asked(s, "share_downgrade"), 2);
    fixture_hush(s);
    release_quietly(w);
    release_quietly(a);
}

/* Nothing has changed for the waiters of its client: they ask no earlier. */
HOLDING(a_downgrade_that_finds_no_memory_wakes_nobody, HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR))
{
    enum { ALLOCATIONS = 3 };
    asking(p, "b", "stock", NULL);
    TELLS_IN(s, 5, "b:WAITING");
    for (int failing = 1; failing <= ALLOCATIONS; failing++) {
        size_t before = asked(s, "mutex_acquire");
        s->memory.fail_at = s->memory.asked + (uint64_t)failing;
        s->memory.fails = 1;
        SAME(s, downgrade(a), HILOCK_NO_MEMORY);
        s->memory.fail_at = 0;
        TELLS_IN(s, 5, "");
        SAME(s, asked(s, "mutex_acquire"), before);
        run_ms(s, 10000);
    }
    SAME(s, asked(s, "renew"), ALLOCATIONS);
    SAME(s, asked(s, "share_downgrade"), 0);
    SAME(s, downgrade(a), HILOCK_OK);
    TELLS_IN(s, 5, "a:shares");
}

A_PLAY(only_a_plain_handle_that_holds_alone_can_be_downgraded)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "one", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE)), *b = comes(p, "b", 2);
    struct handle *c = held(p, "c", "two", HILOCK_LOCK_OPTIONS(.reentrant = 1));
    SAME(s, downgrade(a), HILOCK_UNSUPPORTED);
    TEXT(s, hilock_client_refusal(p->client), "a handle of SIMPLE, of several names or of a quorum cannot share its name: use one name and MUTEX or FAIR");
    SAME(s, downgrade(multi_new(p, "m", (const char *const[]){"three", "four", NULL}, NULL)), HILOCK_UNSUPPORTED);
    SAME(s, downgrade(b), HILOCK_UNSUPPORTED);
    TEXT(s, hilock_client_refusal(p->client), "handle of \"stock\" shares the name already: there is nothing to downgrade");
    acquire(c, HILOCK_FOREVER);
    run_ms(s, 1);
    SAME(s, downgrade(c), HILOCK_UNSUPPORTED);
    TEXT(s, hilock_client_refusal(p->client), "handle of \"two\" holds with a count of 2: release all but one before the downgrade");
    release_quietly(c);
    SAME(s, downgrade(c), HILOCK_OK);
    run_ms(s, 1);
    TELLS(s, "c:OK c:shares");
}
