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
