/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kinds MUTEX and FAIR say, word by word, and what they make of any answer and of any push. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "wire/push.h"
#include "wire/queued.h"
#include "wire/keys.h"
#include "wire/scripts.h"
#include "world/say.h"
#include "suite.h"

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"
#define KEYS3 "|3|stock|hilock:queue:{stock}|hilock:token:{stock}|"
#define RELEASED KEYS3 UUID ":7|"

static const struct hl_target words = {"stock", 5, UUID, 7, NULL};

static void assert_script(const struct hl_command *command, const struct hl_script *script, const char *arguments)
{
    char expected[512];
    snprintf(expected, sizeof expected, "EVALSHA|%s%s", script->sha1, arguments);
    assert_string_equal(say_request(command), expected);
    assert_ptr_equal(command->script, script);
}

#define CHANNEL "hilock:grant:x"

TEST(requests_are_said_so)
{
    struct hl_command command;
    struct hl_acquire_params params = {.lease_ms = 30000, .not_after_ms = 1700000000123, .token_ttl_ms = 600000, .queue_max = HL_QUEUE_MAX,
                                       .entry = {.due_s = 1700000003, .window_ms = 400, .holders_max = 1, .channel = CHANNEL}};
    /* the first question */
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|30000|1700000000123000 0 1 " CHANNEL " 1700000003 400 0 1|600000000");
    params.queue_max = 50;
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|30000|1700000000123000 -50 1 " CHANNEL " 1700000003 400 0 1|600000000");
    params.queue_max = HL_QUEUE_MAX;
    /* its heartbeat keeps the text of its place */
    params.ticket = 99;
    params.heartbeat = (struct hl_heartbeat){.number = 3, .due_s = 1700000013, .window_ms = 800, .channel = "!" CHANNEL};
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire,
                  KEYS3 UUID ":7|30000|1700000000123000 99 1 " CHANNEL " 1700000003 400 0 1; 3 1700000013 !" CHANNEL " 800|600000000");
    /* pollers, the first one and others */
    params.lease_ms = 100;
    params.reserved = params.entry.reserved = 15;
    params.not_after_ms = 12;
    *params.entry.channel = '\0';
    params.heartbeat.listening = HL_POLLS_FIRST;
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|100|0000000000012000 99 1 - 1700000003 400 15 1; 3 1700000013 ~ 800|600000015");
    params.heartbeat.listening = HL_POLLS_FAR;
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|100|0000000000012000 99 1 - 1700000003 400 15 1; 3 1700000013 - 800|600000015");
    /* a try, and a guest */
    hl_queued_acquire(&command, &words, &(struct hl_acquire_params){.lease_ms = 100, .token_ttl_ms = 1000});
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|100|9999999999999999|1000000");
    hl_queued_mutex.acquire(&command, &words, &(struct hl_acquire_params){.lease_ms = 30000, .reserved = 15, .token_ttl_ms = 600000, .may_take_left = 1});
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|30000|9999999999999999 *|600000015");
    hl_queued_renew(&command, &words, &(struct hl_renew_params){.lease_ms = 30000, .token = 17});
    assert_script(&command, &hl_script_renew, "|1|stock|30000|" UUID ":7|17");
}

/* Sixteen digits are the latest time that a script compares. */
TEST(a_request_that_may_be_late_for_ever_says_so)
{
    struct hl_command command;
    struct hl_acquire_params params = {.lease_ms = 100, .not_after_ms = 9999999999998, .token_ttl_ms = 1000};
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|100|9999999999998000|1000000");
    params.not_after_ms++;
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|100|9999999999999999|1000000");
}

/* The places of the queue have a key of their own, which a cluster must see where a heartbeat may make it. */
TEST(in_a_cluster_a_heartbeat_names_the_places_too)
{
    struct hl_command command;
    for (int is_share = 0; is_share < 2; is_share++)
        for (unsigned number = 0; number < 2; number++)
            for (int names_all = 0; names_all < 2; names_all++) {
                const struct hl_kind *kind = is_share ? &hl_queued_mutex_share : &hl_queued_mutex;
                struct hl_acquire_params params = {.lease_ms = 100, .token_ttl_ms = 1000, .names_all_keys = names_all, .holders_max = 5,
                                                   .entry = {.due_s = 1700000003, .window_ms = 400, .holders_max = 5, .channel = CHANNEL},
                                                   .heartbeat = {.number = number, .due_s = 1700000013, .window_ms = 800, .channel = CHANNEL}};
                kind->acquire(&command, &words, &params);
                assert_int_equal(strstr(say_request(&command), "|hilock:place:{stock}|") != NULL, names_all && number);
            }
}

TEST(a_renewal_may_shorten_a_lease)
{
    struct hl_command command;
    hl_queued_renew(&command, &words, &(struct hl_renew_params){.lease_ms = 30000, .token = 17, .most_ms = 40000, .not_after_ms = 1700000000123});
    assert_script(&command, &hl_script_renew, "|1|stock|30000|" UUID ":7|17|40000|1700000000123");
}

TEST(a_release_names_its_place_or_the_next_one)
{
    struct hl_command command;
    struct hl_release_params params = {.token_ttl_ms = 600000};
    assert_int_equal(hl_queued_release(&command, &words, &params), HL_FORM_SCRIPT);
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 600000");
    params.is_sharded = 1;
    params.own = HL_OWN_ALL;
    params.entry = (struct hl_queue_entry){.due_s = 1700000003, .window_ms = 400, .holders_max = 1, .channel = CHANNEL};
    hl_queued_release(&command, &words, &params); /* the end of a wait */
    assert_script(&command, &hl_script_mutex_release, RELEASED "S1000000 600000| 1 " CHANNEL " 1700000003 400 0 1");
    params = (struct hl_release_params){.token_ttl_ms = 600000, .next = {.id = 8, .lease_ms = 30000, .queue_max = 50, .entry = params.entry}};
    params.next.entry.reserved = 15;
    assert_int_equal(hl_queued_release(&command, &words, &params), HL_FORM_NEXT);
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 600000 30000|" UUID ":8 1 " CHANNEL " 1700000003 400 15 1||50");
    params.next.queue_max = HL_QUEUE_MAX;
    hl_queued_release(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 600000 30000|" UUID ":8 1 " CHANNEL " 1700000003 400 15 1");
    params.next.entry.due_s = 0; /* the next handle does not wait any longer */
    assert_int_equal(hl_queued_release(&command, &words, &params), HL_FORM_SCRIPT);
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 600000");
    params.is_second = 1;
    assert_int_equal(hl_queued_release(&command, &words, &params), HL_FORM_NARROW); /* which asks for nothing */
    /* For a slot that moves: one key only. */
    hl_queued_release(&command, &words, &(struct hl_release_params){.is_second = 1});
    assert_script(&command, &hl_script_free, "|1|stock|" UUID ":7|redisson_lock__channel:{stock}|PUBLISH");
}

TEST(a_look_names_the_grant_that_lapsed)
{
    struct hl_command command;
    struct hl_lapsed lapsed = {.count = 2, .window_ms = 400, .holder = "another:5", .of = {{1700000000000001, "another"}, {1700000000000000, "one"}}};
    assert_int_equal(hl_queued_recheck(&command, &words, &(struct hl_recheck_params){.token_ttl_ms = 600000, .own = 1, .lapsed = &lapsed}), HL_FORM_SCRIPT);
    assert_script(&command, &hl_script_mutex_release, RELEASED "1 600000||400 another:5 1700000000000001 one 1700000000000000");
    lapsed.count = 0; /* the name was left to others: nobody's grant lapsed */
    hl_queued_fair.recheck(&command, &words, &(struct hl_recheck_params){.is_sharded = 1, .token_ttl_ms = 600000, .lapsed = &lapsed});
    assert_script(&command, &hl_script_mutex_release, RELEASED "S0 600000|");
}

TEST(other_requests_are_said_so)
{
    struct hl_command command;
    const struct hl_force_params params = {.holder = "another:5", .holder_length = 9};
    const struct hl_force_params second = {.is_second = 1, .is_sharded = 1, .holder = "another:5", .holder_length = 9};
    assert_int_equal(hl_queued_fair.force(&command, &words, &params), HL_FORM_FORCED);
    assert_script(&command, &hl_script_mutex_force, "|2|stock|hilock:queue:{stock}|another:5|redisson_lock__channel:{stock}|PUBLISH");
    hl_queued_mutex.force(&command, &words, &second);
    assert_script(&command, &hl_script_mutex_force, "|1|stock|another:5|redisson_lock__channel:{stock}|SPUBLISH");
    hl_queued_peek(&command, &words, &(struct hl_queue_entry){.due_s = 1700000003, .window_ms = 400, .holders_max = 1}, 0);
    assert_script(&command, &hl_script_mutex_peek, "|2|stock|hilock:queue:{stock}|" UUID ":7 1 - 1700000003 400 0 1");
    hl_queued_peek(&command, &words, &(struct hl_queue_entry){.due_s = 0}, 0);
    assert_script(&command, &hl_script_mutex_peek, "|2|stock|hilock:queue:{stock}|");
}

TEST(the_longest_name_fits)
{
    char name[HILOCK_NAME_MAX];
    const struct hl_target longest = {name, sizeof name, UUID, UINT64_MAX, "0123456789012345678901234567890123456789012345678901234567890123"};
    struct hl_command command;
    struct hl_acquire_params acquire = {.lease_ms = UINT64_MAX, .not_after_ms = UINT64_MAX, .token_ttl_ms = UINT64_MAX, .ticket = UINT64_MAX,
                                        .entry = {UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, ""}, .heartbeat = {UINT64_MAX, UINT64_MAX, UINT32_MAX, HL_LISTENS, ""}};
    struct hl_release_params release = {.token_ttl_ms = UINT64_MAX};
    memset(name, 'x', sizeof name);
    hl_record_channel(acquire.entry.channel, UUID, "@CAN", 1);
    hl_record_channel(acquire.heartbeat.channel, UUID, "@CAN", 1);
    hl_queued_acquire(&command, &longest, &acquire);
    assert_int_equal(command.argc, 10);
    release.entry = acquire.entry;
    hl_queued_release(&command, &longest, &release);
    assert_int_equal(command.argc, 9);
    release.next.id = release.next.lease_ms = UINT64_MAX;
    release.next.queue_max = UINT32_MAX;
    release.next.entry = acquire.entry;
    hl_queued_release(&command, &longest, &release);
    assert_int_equal(command.argc, 11);
}

/* ---- answers ---- */

static const char *said(hl_parse_fn *hear, enum hl_form form, struct hl_reply *reply)
{
    static char text[256];
    static const char *const verdicts[] = {"YES", "NO", "AGAIN", "LATE", "FAULT"};
    struct hl_response answer = hear(reply, form);
    snprintf(text, sizeof text, "%s", verdicts[answer.result]);
    if (answer.result == HL_YES && hear == hl_queued_acquired)
        snprintf(text, sizeof text, "YES %" PRIu64, answer.token);
    else if (answer.result == HL_YES && hear == hl_response_renewed)
        snprintf(text, sizeof text, "YES left %" PRIu64, answer.left_ms);
    else if (answer.result == HL_YES)
        snprintf(text, sizeof text, "YES%s", answer.was_publish_denied ? " unheard" : "");
    else if (answer.result == HL_NO && hear == hl_queued_released)
        snprintf(text, sizeof text, "NO");
    if (answer.result == HL_NO && hear == hl_queued_acquired)
        snprintf(text, sizeof text, "NO \"%.*s\" left %" PRIu64 "%s, %u of %u, ticket %" PRIu64 "%s%s%.*s", (int)answer.holder_length, answer.holder,
                 answer.left_ms, answer.has_no_ttl ? " for ever" : "", answer.position, answer.waiters, answer.ticket, answer.holder_grants_next ? ", handed over" : "",
                 answer.java_waiter ? ", wakes " : "", answer.java_waiter ? (int)answer.java_waiter_length : 0, answer.java_waiter ? answer.java_waiter : "");
    if (answer.has_more)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", more");
    if (answer.handover.window_ms)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", granted to \"%.*s\" for %" PRIu64 " at %" PRIu64, (int)answer.handover.holder_length,
                 answer.handover.holder ? answer.handover.holder : "", answer.handover.window_ms, answer.handover.at_us);
    if ((answer.result == HL_YES || answer.result == HL_NO) && (answer.removed.unheard || answer.removed.overdue || answer.removed.lapsed))
        snprintf(text + strlen(text), sizeof text - strlen(text), ", removed %u %u %u", answer.removed.unheard, answer.removed.overdue, answer.removed.lapsed);
    if (answer.result == HL_LATE)
        snprintf(text, sizeof text, "LATE %" PRIu64, answer.server_us);
    else if (answer.result == HL_FAULT)
        snprintf(text, sizeof text, "%s \"%.*s\"", hilock_status_name(answer.fault.status), (int)answer.quote_length, answer.quote);
    say_free(reply);
    return text;
}

#define ACQUIRE(reply, meaning) assert_string_equal(said(hl_queued_acquired, HL_FORM_SCRIPT, (reply)), (meaning))
#define RELEASE(reply, meaning) assert_string_equal(said(hl_queued_released, HL_FORM_SCRIPT, (reply)), (meaning))

static struct hl_reply *waits(int64_t code, const char *holder, int64_t hands_over, int64_t place, int64_t ticket, int64_t length)
{
    return say_array(6, say_integer(code), say_string(holder), say_integer(hands_over), say_integer(place), say_integer(ticket), say_integer(length));
}

static struct hl_reply *waits_beside(struct hl_reply *java_waiter)
{
    return say_array(7, say_integer(-5), say_string("java:1"), say_integer(0), say_integer(1), say_integer(9), say_integer(1), java_waiter);
}

TEST(answers_to_acquire_and_their_heirs)
{
    char name[HL_JAVA_WAITER_MAX + 2] = "", longest[HL_JAVA_WAITER_MAX + 80];
    ACQUIRE(say_integer(1700000000000001), "YES 1700000000000001");
    ACQUIRE(waits(-30001, "x:1", 1, 2, 1700000000000001, 5), "NO \"x:1\" left 30000, 2 of 5, ticket 1700000000000001, handed over");
    ACQUIRE(waits(0, "java:1", 0, 1, 9, 1), "NO \"java:1\" left 0 for ever, 1 of 1, ticket 9");
    ACQUIRE(waits(-1, "", 1, 0, 0, 3), "NO \"\" left 0, 0 of 3, ticket 0, handed over");
    ACQUIRE(waits(1, "", 5, 1, 9, 3), "NO \"\" left 5, 1 of 3, ticket 9, handed over"); /* kept free */
    ACQUIRE(waits(1, "", 0, 1, 9, 3), "NO \"\" left 0, 1 of 3, ticket 9, handed over");
    ACQUIRE(say_integer(HL_NUMBER_MAX), "YES 9007199254740992");
    ACQUIRE(waits(-5, "x:1", 1, UINT32_MAX, HL_NUMBER_MAX, UINT32_MAX),
            "NO \"x:1\" left 4, 4294967295 of 4294967295, ticket 9007199254740992, handed over");
    ACQUIRE(say_error("LATE 1700000000 123456"), "LATE 1700000000123456");
    ACQUIRE(say_error("%s", hl_words_http), "PROTOCOL \"it answers as an HTTP server: give the host and port of a Redis or Valkey server\"");
    ACQUIRE(say_error("OOM! 1700000000 5"), "SERVER \"OOM! 1700000000 5\"");
    ACQUIRE(say_error("LATE  123456"), "SERVER \"LATE  123456\"");
    ACQUIRE(say_error("LATE 1700000000"), "SERVER \"LATE 1700000000\"");
    ACQUIRE(say_error("BADTOKEN x"), "SERVER \"BADTOKEN x\"");
    ACQUIRE(say_error("WRONGTYPE x"), "WRONG_KIND \"WRONGTYPE x\"");
    ACQUIRE(say_error("TRYAGAIN x"), "UNWRITABLE \"TRYAGAIN x\"");
    ACQUIRE(waits_beside(say_string("java:2")), "NO \"java:1\" left 4, 1 of 1, ticket 9, wakes java:2");
    ACQUIRE(waits_beside(say_nil()), "NO \"java:1\" left 4, 1 of 1, ticket 9");
    ACQUIRE(waits_beside(say_string("")), "NO \"java:1\" left 4, 1 of 1, ticket 9");
    memset(name, 'x', sizeof name - 1);
    ACQUIRE(waits_beside(say_string(name)), "NO \"java:1\" left 4, 1 of 1, ticket 9");
    name[HL_JAVA_WAITER_MAX] = '\0'; /* the longest */
    snprintf(longest, sizeof longest, "NO \"java:1\" left 4, 1 of 1, ticket 9, wakes %s", name);
    ACQUIRE(waits_beside(say_string(name)), longest);
}

static struct hl_reply *waits_and_more(int64_t hands, const char *now, struct hl_reply *removed)
{
    return say_array(9, say_integer(-401), say_string("x:1"), say_integer(hands), say_integer(2), say_integer(9), say_integer(5), say_string(""), say_string(now), removed);
}

TEST(answers_to_acquire_show_what_it_did_besides)
{
    ACQUIRE(say_array(2, say_integer(17), say_integer(2003001)), "YES 17, removed 1 3 2");
    ACQUIRE(waits_and_more(5, "1700000000000001", say_nil()),
            "NO \"x:1\" left 400, 2 of 5, ticket 9, handed over, granted to \"x:1\" for 400 at 1700000000000001");
    ACQUIRE(waits_and_more(5, "1700000000000001", say_integer(64)),
            "NO \"x:1\" left 400, 2 of 5, ticket 9, handed over, granted to \"x:1\" for 400 at 1700000000000001, removed 64 0 0");
    ACQUIRE(waits_and_more(3, "1700000000000001", say_integer(64)), "NO \"x:1\" left 400, 2 of 5, ticket 9, handed over, more, removed 64 0 0");
    ACQUIRE(waits_and_more(5, "soon", say_nil()), "NO \"x:1\" left 400, 2 of 5, ticket 9, handed over"); /* no time: it cannot look again */
    ACQUIRE(waits(-1, "", 2, 0, 0, 70), "NO \"\" left 0, 0 of 70, ticket 0, more");
}

TEST(nonsense_about_acquire_is_no_grant)
{
    struct hl_reply *const nonsense[] = {
        say_nil(), say_integer(0), say_integer(-1), say_integer(INT64_MAX), say_integer(HL_NUMBER_MAX + 1), say_string("17"), say_status("OK"),
        say_array(0), say_array(1, say_integer(1)), say_array(2, say_integer(0), say_integer(17)), say_array(2, say_integer(17), say_string("x")), waits(2, "x", 1, 1, 9, 1),
        waits(INT64_MIN, "x", 1, 1, 9, 1), waits(-5, "x", 1, -1, 9, 1), waits(-5, "x", -1, 1, 9, 1),
        waits(-5, "x", 1, (int64_t)1 << 32, 9, 1), waits(-5, "x", 1, 1, 9, (int64_t)1 << 32), waits(-5, "x", 1, 1, HL_NUMBER_MAX + 1, 1),
        waits(-5, "x", 1, 1, -9, 1), waits(-5, "x", 1, 1, 9, -1),
        say_array(5, say_integer(-1), say_string("x"), say_integer(1), say_integer(1), say_integer(1)),
    };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        ACQUIRE(nonsense[i], "PROTOCOL \"\"");
}

TEST(answers_to_release_and_renew)
{
    char most[40];
    RELEASE(say_integer(0), "NO");
    RELEASE(say_integer(1), "YES");
    RELEASE(say_integer(3), "YES");
    RELEASE(say_integer(-1), "YES unheard");
    RELEASE(say_integer(-3), "YES, more");
    RELEASE(say_integer(-4), "YES, granted to \"\" for 10 at 0"); /* to nobody: left to others, and looked at after 10 ms */
    RELEASE(say_integer(-7), "YES");
    RELEASE(say_string("-2 400 1700000000000001 x:1"), "YES, granted to \"x:1\" for 400 at 1700000000000001");
    RELEASE(say_string("-2 400 1700000000000001 x:1 1000"), "YES, granted to \"x:1\" for 400 at 1700000000000001, removed 0 1 0");
    RELEASE(say_string("0 400 1700000000000001 x:1"), "NO, granted to \"x:1\" for 400 at 1700000000000001");
    RELEASE(say_string("1 3"), "YES, removed 3 0 0");
    RELEASE(say_string("-3 64"), "YES, more, removed 64 0 0");
    RELEASE(say_string("0 3"), "NO, removed 3 0 0");
    RELEASE(say_string("-2 400 x x:1"), "PROTOCOL \"\"");
    RELEASE(say_string("-2 400 1700000000000001 "), "PROTOCOL \"\"");
    RELEASE(say_string("-2 0 1700000000000001 x:1"), "PROTOCOL \"\"");
    RELEASE(say_string("-2 400 1700000000000001 x:1 3 4"), "PROTOCOL \"\"");
    RELEASE(say_string("x"), "PROTOCOL \"\"");
    RELEASE(say_string(""), "PROTOCOL \"\"");
    RELEASE(say_string("--2 3"), "PROTOCOL \"\"");
    RELEASE(say_string("99999999999999999999"), "PROTOCOL \"\"");
    RELEASE(say_error("TRYAGAIN x"), "AGAIN");
    RELEASE(say_error("WRONGTYPE x"), "AGAIN"); /* whose key? */
    assert_string_equal(said(hl_queued_released, HL_FORM_FORCED, say_error("TRYAGAIN x")), "AGAIN");
    assert_string_equal(said(hl_queued_released, HL_FORM_FORCED, say_error("WRONGTYPE x")), "WRONG_KIND \"WRONGTYPE x\"");
    RELEASE(say_error("READONLY x"), "UNWRITABLE \"READONLY x\"");
    RELEASE(say_nil(), "PROTOCOL \"\"");
    RELEASE(say_integer(INT64_MIN), "PROTOCOL \"\"");
    RELEASE(say_integer(INT64_MAX), "PROTOCOL \"\"");
    RELEASE(say_integer(HL_NUMBER_MAX), "YES");
    RELEASE(say_integer(-HL_NUMBER_MAX), "YES");
    RELEASE(say_integer(HL_NUMBER_MAX + 1), "PROTOCOL \"\"");
    RELEASE(say_integer(-HL_NUMBER_MAX - 1), "PROTOCOL \"\"");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(0)), "NO");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(30001)), "YES left 30000");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(1)), "YES left 0");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(-1)), "PROTOCOL \"\"");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(INT64_MAX)), "PROTOCOL \"\"");
    snprintf(most, sizeof most, "YES left %" PRId64, (int64_t)HL_NUMBER_MAX - 1);
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(HL_NUMBER_MAX)), most);
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer((int64_t)HL_NUMBER_MAX + 1)), "PROTOCOL \"\"");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_nil()), "PROTOCOL \"\"");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_string("5")), "PROTOCOL \"\"");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_error("WRONGTYPE x")), "NO");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_error("READONLY x")), "UNWRITABLE \"READONLY x\"");
}

/* Of the release, and of what it asked for besides. */
static const char *both(struct hl_reply *reply)
{
    static char text[256];
    struct hl_reply next;
    struct hl_response release = hl_queued_released(reply, HL_FORM_NEXT), asked = {.result = HL_FAULT};
    int has_next = hl_queued_next(reply, &next);
    if (has_next)
        asked = hl_queued_acquired(&next, HL_FORM_SCRIPT);
    snprintf(text, sizeof text, "%d, %s %" PRIu64 " %.*s", (int)release.result, !has_next ? "nothing" : asked.result == HL_YES ? "YES" : asked.result == HL_NO ? "NO" : "FAULT",
             asked.result == HL_YES ? asked.token : asked.ticket, (int)asked.holder_length, asked.holder_length ? asked.holder : "");
    say_free(reply);
    return text;
}

TEST(answers_to_release_with_the_next)
{
    assert_string_equal(both(say_array(2, say_integer(-2), say_integer(17))), "0, YES 17 ");
    assert_string_equal(both(say_array(7, say_integer(-2), say_integer(-3001), say_string("x"), say_integer(1), say_integer(2), say_integer(9), say_integer(2))),
                        "0, NO 9 x");
    assert_string_equal(both(say_integer(0)), "1, nothing 0 ");
    assert_string_equal(both(say_error("TRYAGAIN x")), "2, nothing 0 ");
    assert_string_equal(both(say_error("READONLY x")), "4, nothing 0 ");
    assert_string_equal(both(say_array(1, say_integer(1))), "4, nothing 0 ");
    assert_string_equal(both(say_array(2, say_nil(), say_integer(17))), "4, YES 17 ");
    assert_string_equal(both(say_array(2, say_integer(1), say_integer(0))), "0, FAULT 0 ");
    assert_string_equal(both(say_array(3, say_integer(1), say_integer(17), say_integer(3))), "0, YES 17 ");
    assert_string_equal(both(say_array(4, say_integer(1), say_integer(17), say_integer(3), say_integer(3))), "0, FAULT 0 ");
    RELEASE(say_array(2, say_integer(-2), say_integer(17)), "PROTOCOL \"\""); /* none was asked for */
}

static const char *heard_bytes(const char *bytes, size_t length)
{
    static char text[256];
    const struct hl_reply message = {.type = HL_REPLY_STRING, .bytes = bytes, .length = length};
    const struct hl_push push = hl_push_read(&message, UUID);
    snprintf(text, sizeof text, "nonsense");
    if (push.what == HL_PUSH_GRANT)
        snprintf(text, sizeof text, "grant of \"%.*s\" to %" PRIu64 ", at %" PRIu64 " after %" PRIu64 " of %" PRIu64 ", for %" PRIu64 " ms, token %" PRIu64,
                 (int)push.name_length, push.name, push.id, push.granted_us, push.number, push.asked_us, push.window_ms, push.token);
    else if (push.what == HL_PUSH_ASK)
        snprintf(text, sizeof text, "%" PRIu64 " may ask for \"%.*s\" after %" PRIu64 " us, at %" PRIu64, push.id, (int)push.name_length, push.name,
                 push.pause_us, push.server_us);
    return text;
}

static const char *heard(const char *text) { return heard_bytes(text, strlen(text)); }

#define HEAD UUID ":7 3 1700000000000000 400 "

TEST(pushes)
{
    static const char odd[] = "G1 " HEAD "17 1700000000 5: a\0b c";
    assert_string_equal(heard("G1 " HEAD "1700000000000001 1700000001 500000: stock"),
                        "grant of \"stock\" to 7, at 1700000001500000 after 3 of 1700000000000000, for 400 ms, token 1700000000000001");
    assert_string_equal(heard("G1 " HEAD "17 1700000000 7: a b: c"), "grant of \"a b: c\" to 7, at 1700000000000007 after 3 of 1700000000000000, for 400 ms, token 17");
    assert_string_equal(heard("G1 " HEAD "9007199254740992 9007199254 999999: a"), /* the largest numbers */
                        "grant of \"a\" to 7, at 9007199254999999 after 3 of 1700000000000000, for 400 ms, token 9007199254740992");
    assert_string_equal(heard("G1 " UUID ":7 3 1700000000000000 3000 17 1700000000 5: a"), "grant of \"a\" to 7, at 1700000000000005 after 3 of 1700000000000000, for 3000 ms, token 17");
    /* words of a later build */
    assert_string_equal(heard("G1 " HEAD "17 1700000000 7 more x: a"), "grant of \"a\" to 7, at 1700000000000007 after 3 of 1700000000000000, for 400 ms, token 17");
    assert_string_equal(heard("G1 " UUID ":7:sh@db1/4711 1 0 3000 17 1700000000 0: a"), "grant of \"a\" to 7, at 1700000000000000 after 1 of 0, for 3000 ms, token 17");
    assert_int_equal(strncmp(heard_bytes(odd, sizeof odd - 1), "grant of \"a", 11), 0);
    assert_string_equal(heard("F1 " UUID ":7 1000: a"), "7 may ask for \"a\" after 1000000 us, at 0");
    assert_string_equal(heard("F1 " UUID ":7 5: a"), "7 may ask for \"a\" after 5000 us, at 0");
    assert_string_equal(heard("F1 " UUID ":7 0 1700000000 7: a"), "7 may ask for \"a\" after 0 us, at 1700000000000007");
    assert_string_equal(heard("F1 " UUID ":7:sh@db1/4711 0 1700000000 7 more: a"), "7 may ask for \"a\" after 0 us, at 1700000000000007");
    assert_string_equal(heard("F1 " UUID ":7 0 more: a"), "7 may ask for \"a\" after 0 us, at 0");
}

TEST(any_other_push_is_nonsense)
{
    static const char *const texts[] = {
        "", "G", "G1", "G1 ", "0", "G " HEAD "17 1700000000 5: stock", "G2 " HEAD "17 1700000000 5: stock", "G11 " HEAD "17 1700000000 5: stock",
        "G1 5f0c1a2b-0000-4000-8000-00000000000b:7 3 1700000000000000 400 17 1700000000 5: stock",
        "G1 " UUID ":7: 3 1700000000000000 400 17 1700000000 5: stock", "G1 " UUID ":: 3 1700000000000000 400 17 1700000000 5: stock",
        "G1 " UUID ":7  3 1700000000000000 400 17 1700000000 5: stock", "G1 " UUID ":7 3 1700000000000000 3001 17 1700000000 5: stock",
        "G1 " UUID ":7 3 1700000000000000 -1 17 1700000000 5: stock", "G1 " UUID ":7 1700000000000000 400 17 1700000000 5: stock",
        "G1 " UUID ":99999999999999999999 3 1700000000000000 400 17 1700000000 5: stock",
        "G1 " UUID ":7 99999999999999999999 1700000000000000 400 17 1700000000 5: stock", "G1 " HEAD "0 1700000000 5: stock",
        "G1 " HEAD "17 1700000000 5: ", "G1 " HEAD "17 1700000000 5 stock", "G1 " HEAD "17 1700000000 -5: stock",
        "G1 " HEAD "17 1700000000 1000000: stock", "G1 " HEAD "17 17000000000 5: stock", "G1 " HEAD "17 9007199255 5: stock",
        "G1 " HEAD "9007199254740993 1700000000 5: stock", "G1 " HEAD "99999999999999999 1700000000 5: stock",
        "F1 " UUID ":7 1001: a", "F1 " UUID ":7 5x: a", "F1 " UUID ":7 1-5: a", "F1 " UUID ":7 : a", "F1 " UUID ":7: 5: a", "F1 " UUID ":7 5", "F " UUID ":7 5: a", "H1 " UUID ":7 5: a"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(heard(texts[i]), "nonsense");
}

/* Cut anywhere, it is read within its bytes (the sanitizers look), and a part of the numbers is no grant. */
TEST(a_push_that_is_cut_is_read_within_its_bytes)
{
    static const char whole[] = "G1 " HEAD "1700000000000001 1700000001 500000: stock";
    for (size_t length = 0; length < sizeof whole - sizeof "stock"; length++) {
        char *bytes = test_malloc(length + 1);
        memcpy(bytes, whole, length);
        assert_string_equal(heard_bytes(bytes, length), "nonsense");
        test_free(bytes);
    }
}
