/* SPDX-License-Identifier: BSD-3-Clause */
/* peek and force_release: the truth about the holder, the end of exactly the one that was named, one answer in time whatever happens, and
 * nothing of the handle's own affairs is touched. */
#include "client/client.h"
#include "play.h"

HAVING(a_free_name_has_no_holder_and_a_lease_may_have_no_end, lone(s))
{
    SAME(s, peek(a), HILOCK_OK);
    SAME(s, a->calls, 0);
    TELLS_IN(s, 1, "a:peek OK");
    TEXT(s, a->result.holder, "");
    TEXT(s, a->result.detail, "nobody holds \"stock\"");
    SAME(s, a->result.holder_remaining_ms, 0);
    SAME(s, a->result.attempts, 1);
    SAME(s, a->result.state, HILOCK_STATE_IDLE);
    store_take(&s->store, "stock", "another:1", 0);
    peek(a);
    TELLS_IN(s, 1, "a:peek OK");
    TEXT(s, a->result.holder, "another:1");
    SAME(s, a->result.holder_remaining_ms, HILOCK_FOREVER);
}

WITH_CLIENT(exactly_the_named_holder_is_released)
{
    struct client *q = fixture_connect(s, NULL);
    struct handle *a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000)), *b = handle_new(q, "b", "stock", NULL);
    asking(q, "w", "stock", NULL);
    s->is_tampered = 1;
    const char *holder = formatted("%s:1", p->uuid);
    TELLS_IN(s, 5, "w:WAITING");
    force(b, "51000001-aaaa-4bbb-8ccc-0123456789ab:2");
    force(b, "x");
    TELLS_IN(s, 1, "b:force LOST b:force LOST");
    TEXT(s, b->detail, "\"stock\" is not held by \"x\", so no hold was ended");
    HOLDS(s, is_ours(s, "stock"));
    force(b, holder);
    TELLS_IN(s, 5, "b:force OK w:OK"); /* the waiter is woken at once, not at the end of the lease */
    TEXT(s, b->result.holder, holder);
    HOLDS(s, strstr(b->detail, "the hold of 51000001..:1 on \"stock\" is ended"));
    HOLDS(s, strstr(q->log, "force_release of \"stock\": OK: "));
    TELLS_IN(s, 1500, "a:LOST TAKEN");
    SAME(s, a->event.reason, HILOCK_REASON_TAKEN);
}

HAVING(whoever_holds_is_peeked_at_first, lone(s))
{
    s->is_tampered = 1;
    force(a, NULL);
    TELLS_IN(s, 1, "a:force LOST");
    TEXT(s, a->detail, "nobody holds \"stock\"");
    SAME(s, a->result.attempts, 1);
    store_take(&s->store, "stock", "another program\x01:1", 60000);
    force(a, NULL);
    TELLS_IN(s, 2, "a:force OK");
    TEXT(s, store_holder(&s->store, "stock"), "");
    TEXT(s, a->result.holder, "another program\x01:1");
    SAME(s, a->result.attempts, 2);
}

/* The link died before the answer, and asked again the store knows of no such hold. */
WITH_CLIENT(what_was_ended_without_an_answer_was_ended)
{
    store_grant(&s->store, "stock", "x:9", 60000);
    PLAN(s, .on = "mutex_force", .fate.resets_after = 1);
    force(handle_new(p, "b", "stock", NULL), "x:9");
    TELLS_IN(s, 500, "b:force OK");
    SAME(s, asked(s, "mutex_force"), 2);
}

GIVEN(silence_ends_them_in_time, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = handle_new(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", NULL), *c = handle_new(p, "c", "stock", NULL);
    uint64_t asked_us = fixture_us(s);
    s->place->mood = NET_IS_SILENT;
    PLAN(s, .on = "mutex_peek", .fate.is_lost = 1, .times = PLAN_ALWAYS);
    PLAN(s, .on = "mutex_force", .fate.is_lost = 1, .times = PLAN_ALWAYS);
    peek(a);
    force(b, "holder");
    force(c, NULL);
    TELLS_IN(s, 600, "a:peek UNREACHABLE c:force UNREACHABLE b:force UNKNOWN");
    SAME(s, a->at_us, asked_us + 500000);
    SAME(s, b->result.waited_ms, 500);
    HOLDS(s, strstr(b->detail, "the hold may have been ended") && !strstr(c->detail, "may have been"));
}

HAVING(an_answer_that_comes_too_late_ends_it, lone(s))
{
    PLAN(s, .on = "mutex_peek", .fate.back_us = 5500000);
    peek(a);
    TELLS_IN(s, 6000, "a:peek UNREACHABLE");
    HOLDS(s, TAILQ_EMPTY(&p->client->core.locks->inquiries));
}

#define SAYS(...) {.fate.answer = __VA_ARGS__}
#define NO_LOCK "\"stock\" is not a lock hash: another program's key, or another kind of lock"

/* Errors are answers; what Redisson's readers hold, and a map of another program, are reported; what is hostile is none. */
A_PLAY(whatever_is_said_to_a_peek_is_told)
{
    const struct { struct plan plan; const char *story, *detail; } answers[] = {
        {{.error = "NOPERM this user"}, "a:peek DENIED", "NOPERM this user"},
        {{.error = "LOADING Redis is"}, "a:peek UNWRITABLE", "LOADING Redis is"},
        {{.error = "ERR something else"}, "a:peek SERVER", "ERR something else"},
        {SAYS(say_array(3, say_integer(5000), say_string("java:57"), say_string("read"))), "a:peek OK",
         "\"stock\" is held by java:57 and perhaps others, for reading (RReadWriteLock); its lease ends in 5000 ms"},
        {SAYS(say_array(3, say_integer(5000), say_string("java:57"), say_string("rlock"))), "a:peek OK",
         "\"stock\" is held by java:57, with an RLock; its lease ends in 5000 ms"},
        {SAYS(say_array(3, say_integer(-1), say_string(""), say_string("other"))), "a:peek WRONG_KIND", NO_LOCK},
        {SAYS(say_integer(1)), "a:peek PROTOCOL", ""},
        {SAYS(say_string("x")), "a:peek PROTOCOL", ""},
        {SAYS(say_array(0)), "a:peek PROTOCOL", ""},
        {SAYS(say_array(1, say_integer(5))), "a:peek PROTOCOL", ""},
        {SAYS(say_array(2, say_integer(-3), say_string("x"))), "a:peek PROTOCOL", ""},
        {SAYS(say_array(2, say_integer((int64_t)1 << 60), say_string("x"))), "a:peek PROTOCOL", ""},
        {SAYS(say_array(2, say_integer(5), say_integer(5))), "a:peek PROTOCOL", ""},
        {SAYS(say_nil()), "a:peek PROTOCOL", ""},
    };
    struct handle *a = lone(s);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct plan *plan = plan_add(&s->plans, answers[i].plan);
        plan->on = "mutex_peek";
        peek(a);
        TELLS_IN(s, 1, answers[i].story);
        HOLDS(s, strstr(a->detail, answers[i].detail));
    }
}

HAVING(what_is_no_lock_is_not_ended, lone(s))
{
    store_set_string(&s->store, "stock", "7");
    peek(a);
    force(a, "x");
    force(a, NULL);
    TELLS_IN(s, 1, "a:peek WRONG_KIND a:force WRONG_KIND a:force WRONG_KIND");
    TEXT(s, a->detail, NO_LOCK " (SIMPLE, or Redisson's for readers and writers)");
    PLAN(s, .on = "mutex_peek", .fate.answer =
         say_array(3, say_integer(5000), say_string("java:57"), say_string("write")));
    force(a, NULL);
    TELLS_IN(s, 2, "a:force WRONG_KIND");
    SAME(s, asked(s, "mutex_force"), 1); /* seen before it is said */
}

HAVING(a_holder_too_long_is_cut_and_cannot_be_forced, lone(s))
{
    char holder[5001];
    memset(holder, 'h', sizeof holder - 1);
    memcpy(holder + 4998, ":1", 3);
    store_take(&s->store, "stock", holder, 60000);
    peek(a);
    force(a, NULL);
    TELLS_IN(s, 2, "a:peek OK a:force PROTOCOL");
    HOLDS(s, strstr(a->detail, "has 5000 bytes; hilock can name at most 1024"));
    TEXT(s, store_holder(&s->store, "stock"), holder);
}

WITH_CLIENT(a_text_too_long_for_a_holder_cannot_be_forced)
{
    char holder[1026];
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    memset(holder, 'h', sizeof holder - 1);
    holder[1025] = '\0';
    store_set_string(&s->store, "stock", holder);
    force(a, NULL);
    TELLS_IN(s, 2, "a:force PROTOCOL");
    holder[1024] = '\0';
    store_set_string(&s->store, "stock", holder);
    s->is_tampered = 1;
    force(a, NULL);
    TELLS_IN(s, 2, "a:force OK");
}

/* What else is refused, test_refusals says. */
HAVING(the_longest_holder_and_no_memory, lone(s))
{
    char holder[1026] = "";
    memset(holder, 'h', 1025);
    SAME(s, force(a, holder), HILOCK_INVALID);
    memcpy(holder + 1022, ":1", 3);
    s->is_tampered = 1;
    store_take(&s->store, "stock", holder, 60000);
    SAME(s, hilock_force_release(a->lock, "x", NULL, NULL), HILOCK_OK);
    SAME(s, force(a, holder), HILOCK_OK);
    TELLS_IN(s, 1, "a:force OK"); /* with each of its bytes */
    s->memory.is_out = 1;
    SAME(s, peek(a), HILOCK_NO_MEMORY);
    SAME(s, force(a, NULL), HILOCK_NO_MEMORY);
    TEXT(s, hilock_client_refusal(p->client), "out of memory for an inquiry");
    s->memory.is_out = 0;
}

GIVEN(close_of_a_dead_link_answers_all, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = handle_new(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", NULL);
    s->place->mood = NET_IS_SILENT;
    PLAN(s, .on = "mutex_peek", .fate.is_lost = 1, .times = PLAN_ALWAYS);
    PLAN(s, .on = "mutex_force", .fate.is_lost = 1, .times = PLAN_ALWAYS);
    peek(a);
    force(b, "another:1");
    client_close(p, 0);
    TELLS_IN(s, 510, "a:peek UNREACHABLE b:force UNKNOWN closed");
}

static void count(void *arg, struct hl_reply *message)
{
    ++*(unsigned *)arg;
    say_free(message);
}

/* The first of Redisson's own fair queue listens to a channel of its own. */
A_PLAY(a_forced_release_wakes_whom_a_fair_lock_of_Redisson_would)
{
    static const char *const subscribe[] = {"SUBSCRIBE", "redisson_lock__channel:{stock}:java:2"},
                      *const push[] = {"RPUSH", "redisson_lock_queue:{stock}", "java:2"};
    static const size_t lengths[] = {9, 37}, push_lengths[] = {5, 27, 6};
    struct handle *a = lone(s);
    unsigned heard = 0;
    struct store_peer *java = store_connect(&s->store, count, &heard);
    store_take(&s->store, "stock", "java:1", 60000);
    say_free(store_execute(java, 3, push, push_lengths));
    say_free(store_execute(java, 2, subscribe, lengths));
    force(a, "java:1");
    TELLS_IN(s, 5, "a:force OK");
    SAME(s, heard, 1);
    store_disconnect(java);
}

/* ---- all who hold ---- */

enum { SEEN_MAX = 1200 };
struct seen {
    struct fixture *fixture;
    unsigned count, ends_at; /* ends_at: inside this callback the handle is freed; 0: never */
    struct handle *handle;
    uint64_t tokens[SEEN_MAX];
    uint32_t left_ms[SEEN_MAX];
    char first[FIXTURE_TEXT];
    struct hilock_result result;
    int results;
};

static void on_seen(const struct hilock_holder_info *info, void *user)
{
    struct seen *seen = user;
    if (!seen->count)
        snprintf(seen->first, sizeof seen->first, "%s", info->holder);
    SAME(seen->fixture, info->size, sizeof *info);
    TEXT(seen->fixture, info->holder_label, "unit");
    seen->tokens[seen->count] = info->fencing_token;
    seen->left_ms[seen->count++] = info->remaining_ms;
    if (seen->count == seen->ends_at)
        handle_free(seen->handle);
}

static void on_all_seen(const struct hilock_result *result, void *user)
{
    struct seen *seen = user;
    seen->result = *result;
    seen->results++;
    if (result->status == HILOCK_NO_MEMORY)
        TEXT(seen->fixture, result->detail, hilock_status_text(HILOCK_NO_MEMORY));
    if (*seen->first)
        TEXT(seen->fixture, result->holder, seen->first);
}

static void look(struct handle *handle, struct seen *seen)
{
    *seen = (struct seen){.fixture = handle->fixture, .handle = handle, .ends_at = seen->ends_at};
    SAME(handle->fixture, hilock_holders(handle->lock, on_seen, on_all_seen, seen), HILOCK_OK);
    run_ms(handle->fixture, 1);
}

/* By name, token and lease; the result is that of a peek, and names the first of them. */
GIVEN(all_who_hold_are_listed, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = "unit")))
{
    struct handle *eye = handle_new(p, "eye", "stock", NULL), *a, *b;
    static struct seen seen;
    look(eye, &seen);
    HOLDS(s, seen.count == 0 && seen.results == 1 && seen.result.status == HILOCK_OK && seen.result.holders == 0);
    a = held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000, .holders_max = HILOCK_ANY_NUMBER));
    b = held(p, "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 30000, .holders_max = HILOCK_ANY_NUMBER));
    look(eye, &seen);
    HOLDS(s, seen.count == 2 && seen.results == 1 && seen.result.holders == 2 && seen.result.operation == HILOCK_OP_HOLDERS);
    SAME(s, seen.tokens[0], hilock_lock_token(b->lock));
    SAME(s, seen.tokens[1], hilock_lock_token(a->lock));
    HOLDS(s, seen.left_ms[0] > 29900 && seen.left_ms[0] <= 30000 && seen.left_ms[1] > 8900 && seen.left_ms[1] <= 9000);
    release_quietly(a);
    release_quietly(b);
    a = held(p, "c", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    look(eye, &seen);
    HOLDS(s, seen.count == 1 && seen.tokens[0] == hilock_lock_token(a->lock) && seen.left_ms[0] > 8900);
    release_quietly(a);
    SAME(s, hilock_holders(multi_new(p, "m", (const char *const[]){"three", "four", NULL}, NULL)->lock, on_seen, on_all_seen, &seen), HILOCK_UNSUPPORTED);
    TEXT(s, hilock_client_refusal(p->client), "a handle of several names or of a quorum lists no holders: make a handle for one name at one deployment");
}

/* So many that more are not listed; the result counts them all. */
GIVEN(a_thousand_holders_are_listed_at_most, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = "unit")))
{
    enum { ALL = HILOCK_HOLDERS_LISTED + 5 };
    static struct handle *all[ALL];
    static struct seen seen;
    s->is_untold = 1;
    for (unsigned i = 0; i < ALL; i++)
        all[i] = acquiring(handle_new(p, "h", "stock", HILOCK_LOCK_OPTIONS(.holders_max = HILOCK_ANY_NUMBER)), HILOCK_FOREVER);
    run_ms(s, 3000);
    look(all[0], &seen);
    SAME(s, seen.count, HILOCK_HOLDERS_LISTED);
    SAME(s, seen.result.holders, ALL);
}

/* Each of its two blocks may be refused. */
GIVEN(without_memory_for_a_list_nobody_is_named, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = "unit")))
{
    static struct seen seen;
    struct handle *eye = handle_new(p, "eye", "stock", NULL);
    run_ms(s, 10);
    for (uint64_t fail = 0; fail <= 2; fail++) { /* of a free name there is nobody to list */
        if (fail == 1)
            held(p, "a", "stock", NULL);
        seen = (struct seen){.fixture = s, .handle = eye};
        SAME(s, hilock_holders(eye->lock, on_seen, on_all_seen, &seen), HILOCK_OK);
        run_us(s, s->net.there_us + s->net.back_us - 1);
        s->memory.fail_at = s->memory.asked + fail + !fail;
        s->memory.fails = 1;
        run_ms(s, 1);
        HOLDS(s, seen.count == 0 && seen.results == 1 && seen.result.status == (fail ? HILOCK_NO_MEMORY : HILOCK_OK));
        s->memory.fail_at = 0;
    }
}

/* A callback that takes long lets it expire. */
static struct handle *expires;
static void on_slow(const struct hilock_holder_info *info, void *user)
{
    struct seen *seen = user;
    (void)info;
    if (seen->count++)
        HOLDS(seen->fixture, hilock_lock_state(expires->lock) == HILOCK_STATE_IDLE);
    else
        world_jump_us(&seen->fixture->world, 5000000);
}

WITH_CLIENT(a_loss_is_told_before_the_next_holder)
{
    static struct seen seen;
    struct client *q = fixture_connect(s, NULL);
    held(q, "a", "stock", HILOCK_LOCK_OPTIONS(.holders_max = 2));
    held(q, "b", "stock", HILOCK_LOCK_OPTIONS(.holders_max = 2));
    expires = held(p, "x", "other", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    seen = (struct seen){.fixture = s};
    SAME(s, hilock_holders(handle_new(p, "eye", "stock", NULL)->lock, on_slow, on_all_seen, &seen), HILOCK_OK);
    run_ms(s, 1);
    TELLS_IN(s, 10, "x:LOST SUSPENDED");
    SAME(s, seen.count, 2);
    SAME(s, seen.results, 1);
}

/* What is freed inside is told nothing more. */
GIVEN(who_frees_its_handle_is_told_no_more, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = "unit")))
{
    static struct seen seen = {.ends_at = 1};
    struct handle *eye = handle_new(p, "eye", "stock", NULL);
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.holders_max = 2));
    held(p, "b", "stock", HILOCK_LOCK_OPTIONS(.holders_max = 2));
    look(eye, &seen);
    HOLDS(s, seen.count == 1 && seen.results == 0);
    static struct seen none;
    eye = handle_new(p, "other", "stock", NULL);
    none = (struct seen){.fixture = s, .handle = eye};
    SAME(s, hilock_holders(eye->lock, on_seen, on_all_seen, &none), HILOCK_OK);
    handle_drop(eye);
    run_ms(s, 5);
    HOLDS(s, none.count == 0 && none.results == 0);
}

/* It is said that it could not be asked: so it is not asked later either. */
WITH_CLIENT(what_ended_UNREACHABLE_is_not_sent_any_more)
{
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", NULL), *a = handle_new(p, "a", "stock", NULL);
    s->place->mood = NET_REFUSES;
    net_reset(&s->net, &p->loop, NET_ALL);
    run_ms(s, 1);
    peek(a);
    force(a, store_holder(&s->store, "stock"));
    TELLS_IN(s, 10000, "a:peek UNREACHABLE a:force UNREACHABLE");
    s->place->mood = NET_LISTENS;
    run_ms(s, 5000);
    HOLDS(s, hilock_client_is_connected(p->client) && is_held(h));
    SAME(s, asked(s, "mutex_peek") + asked(s, "mutex_force"), 0);
}

/* Like a release it ends a hold, and others wait for that. */
WITH_CLIENT(a_forced_release_goes_before_what_else_waits_for_the_link)
{
    struct handle *a = handle_new(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", NULL);
    store_grant(&s->store, "stock", "x:9", 60000);
    s->place->mood = NET_REFUSES;
    net_reset(&s->net, &p->loop, NET_ALL);
    run_ms(s, 1);
    peek(a);
    force(b, "x:9");
    run_ms(s, 10);
    s->place->mood = NET_LISTENS;
    TELLS_IN(s, 3000, "b:force OK a:peek OK");
    TEXT(s, a->holder, "");
}

/* The end of the first peek is looked for behind the end of the close. */
GIVEN(an_inquiry_that_ends_with_its_client_is_answered, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500)))
{
    struct handle *a = handle_new(p, "a", "stock", NULL), *b = handle_new(p, "b", "stock", NULL);
    PLAN(s, .on = "mutex_peek", .fate.is_lost = 1, .times = PLAN_ALWAYS);
    peek(b);
    run_ms(s, 100);
    peek(a);
    client_close(p, 0);
    TELLS_IN(s, 510, "b:peek UNREACHABLE a:peek UNREACHABLE closed");
}
