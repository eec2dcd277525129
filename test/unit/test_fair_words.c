/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kinds MUTEX and FAIR say, word by word, and what they make of any answer and of any push. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/queued.h"
#include "wire/keys.h"
#include "wire/scripts.h"
#include "world/say.h"
#include "suite.h"

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"
#define KEYS3 "|3|stock|hilock:wait:{stock}|hilock:token:{stock}|"
#define RELEASED KEYS3 UUID ":7|"

static const struct hl_target words = {"stock", 5, UUID, 7, NULL};

static void assert_script(const struct hl_command *command, const struct hl_script *script, const char *arguments)
{
    char expected[512];
    snprintf(expected, sizeof expected, "EVALSHA|%s%s", script->sha1, arguments);
    assert_string_equal(say_request(command), expected);
    assert_ptr_equal(command->script, script);
}

TEST(requests_are_said_so)
{
    struct hl_command command;
    struct hl_params params = {.lease_ms = 30000, .not_after_ms = 1700000000123, .token_ttl_ms = 600000, .number = 3, .ticket = 99, .channel = "hilock:grant:x"};
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire,
                  KEYS3 UUID ":7|30000|1700000000123000 99 hilock:grant:x 3000 0 3|600000000");
    params.ticket = HL_TICKET_UNKNOWN;
    params.lease_ms = 100;
    params.channel = "";
    params.reserved = 15;
    params.not_after_ms = 12;
    hl_queued_acquire(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|100|0000000000012000 ? - 100 15 3|600000015");
    hl_queued_acquire(&command, &words, &(struct hl_params){.lease_ms = 100, .token_ttl_ms = 1000, .number = 1, .channel = "", .is_try = 1});
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|100|9999999999999999|1000000");
    hl_queued_renew(&command, &words, &(struct hl_params){.lease_ms = 30000, .token = 17});
    assert_script(&command, &hl_script_renew, "|1|stock|30000|" UUID ":7|17");
    hl_queued_release(&command, &words, &(struct hl_params){.token_ttl_ms = 600000});
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 0 600000");
    hl_queued_release(&command, &words, &(struct hl_params){.token_ttl_ms = 600000, .ticket = 99, .own = 1});
    assert_script(&command, &hl_script_mutex_release, RELEASED "1 99 600000");
    hl_queued_release(&command, &words, &(struct hl_params){.token_ttl_ms = 600000, .ticket = HL_TICKET_UNKNOWN, .own = HL_OWN_ALL, .is_sharded = 1});
    assert_script(&command, &hl_script_mutex_release, RELEASED "S1000000 ? 600000");
    /* Two rows over the same words: a MUTEX waits by messages, and stands in no queue. */
    hl_queued_mutex.acquire(&command, &words, &(struct hl_params){.lease_ms = 30000, .reserved = 15, .token_ttl_ms = 600000});
    assert_script(&command, &hl_script_mutex_acquire, KEYS3 UUID ":7|30000|9999999999999999 *|600000015");
    hl_queued_mutex.release(&command, &words, &(struct hl_params){.token_ttl_ms = 600000});
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 0 600000");
}

TEST(a_release_asks_for_the_next_or_for_one_key)
{
    struct hl_command command;
    struct hl_params params = {.lease_ms = 30000, .token_ttl_ms = 600000, .reserved = 15, .next_id = 8, .number = 3, .channel = "hilock:grant:x"};
    assert_int_equal(hl_queued_release(&command, &words, &params), HL_FORM_NEXT);
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 0 600000 30000|" UUID ":8 hilock:grant:x 3000 15 3");
    params.channel = "";
    params.lease_ms = 100;
    hl_queued_release(&command, &words, &params);
    assert_script(&command, &hl_script_mutex_release, RELEASED "0 0 600000 100|" UUID ":8 - 100 15 3");
    params.is_second = 1;
    assert_int_equal(hl_queued_release(&command, &words, &params), HL_FORM_NARROW); /* which asks for nothing */
    /* For a slot that moves: one key only. */
    hl_queued_release(&command, &words, &(struct hl_params){.is_second = 1});
    assert_script(&command, &hl_script_free, "|1|stock|" UUID ":7|redisson_lock__channel:{stock}|PUBLISH");
}

TEST(other_requests_are_said_so)
{
    struct hl_command command;
    const struct hl_params params = {.token_ttl_ms = 1000, .holder = "another:5", .holder_length = 9};
    assert_int_equal(hl_queued_fair.release(&command, &words, &params), HL_FORM_FORCED);
    assert_script(&command, &hl_script_mutex_force, "|2|stock|hilock:wait:{stock}|another:5|redisson_lock__channel:{stock}|PUBLISH");
    hl_queued_mutex.release(&command, &words, &(struct hl_params){.is_second = 1, .is_sharded = 1, .holder = "another:5", .holder_length = 9});
    assert_script(&command, &hl_script_mutex_force, "|1|stock|another:5|redisson_lock__channel:{stock}|SPUBLISH");
    hl_queued_peek(&command, &words, &(struct hl_params){.ticket = 99});
    assert_script(&command, &hl_script_mutex_peek, "|2|stock|hilock:wait:{stock}|99");
}

TEST(the_longest_name_fits)
{
    char name[HILOCK_NAME_MAX], channel[HL_FAIR_CHANNEL_MAX];
    const struct hl_target longest = {name, sizeof name, UUID, UINT64_MAX, "0123456789012345678901234567890123456789012345678901234567890123"};
    struct hl_command command;
    memset(name, 'x', sizeof name);
    hl_queued_channel(channel, UUID, "@CAN", 1);
    hl_queued_acquire(&command, &longest, &(struct hl_params){UINT64_MAX, UINT64_MAX, UINT64_MAX, .number = UINT64_MAX, .ticket = UINT64_MAX - 1, .channel = channel});
    assert_int_equal(command.argc, 10);
    hl_queued_release(&command, &longest, &(struct hl_params){.token_ttl_ms = UINT64_MAX, .ticket = UINT64_MAX - 1});
    assert_int_equal(command.argc, 8);
    hl_queued_release(&command, &longest, &(struct hl_params){.lease_ms = UINT64_MAX, .token_ttl_ms = UINT64_MAX, .reserved = UINT32_MAX, .next_id = UINT64_MAX,
                                                             .number = UINT64_MAX, .ticket = UINT64_MAX - 1, .channel = channel});
    assert_int_equal(command.argc, 9);
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
        snprintf(text, sizeof text, "YES%s", answer.was_unheard ? " unheard" : "");
    else if (answer.result == HL_NO && hear == hl_queued_acquired)
        snprintf(text, sizeof text, "NO \"%.*s\" left %" PRIu64 "%s, %u of %u, ticket %" PRIu64 "%s%s%.*s", (int)answer.holder_length, answer.holder,
                 answer.left_ms, answer.has_no_ttl ? " for ever" : "", answer.position, answer.waiters, answer.ticket, answer.hands_over ? ", handed over" : "",
                 answer.heir ? ", wakes " : "", answer.heir ? (int)answer.heir_length : 0, answer.heir ? answer.heir : "");
    else if (answer.result == HL_LATE)
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

static struct hl_reply *waits_beside(struct hl_reply *heir)
{
    return say_array(7, say_integer(-5), say_string("java:1"), say_integer(0), say_integer(1), say_integer(9), say_integer(1), heir);
}

TEST(answers_to_acquire_and_their_heirs)
{
    char name[HL_HEIR_MAX + 2] = "";
    ACQUIRE(say_integer(1700000000000001), "YES 1700000000000001");
    ACQUIRE(waits(-30001, "x:1", 1, 2, 1700000000000001, 5), "NO \"x:1\" left 30000, 2 of 5, ticket 1700000000000001, handed over");
    ACQUIRE(waits(0, "java:1", 0, 1, 9, 1), "NO \"java:1\" left 0 for ever, 1 of 1, ticket 9");
    ACQUIRE(waits(-1, "", 1, 0, 0, 3), "NO \"\" left 0, 0 of 3, ticket 0, handed over");
    ACQUIRE(waits(1, "", 5, 1, 9, 3), "NO \"\" left 5, 1 of 3, ticket 9, handed over"); /* kept free */
    ACQUIRE(waits(1, "", 0, 1, 9, 3), "NO \"\" left 0, 1 of 3, ticket 9, handed over");
    ACQUIRE(say_error("LATE 1700000000 123456"), "LATE 1700000000123456");
    ACQUIRE(say_error("BADTOKEN x"), "SERVER \"BADTOKEN x\"");
    ACQUIRE(say_error("WRONGTYPE x"), "WRONG_KIND \"WRONGTYPE x\"");
    ACQUIRE(say_error("TRYAGAIN x"), "UNWRITABLE \"TRYAGAIN x\"");
    ACQUIRE(waits_beside(say_string("java:2")), "NO \"java:1\" left 4, 1 of 1, ticket 9, wakes java:2");
    ACQUIRE(waits_beside(say_nil()), "NO \"java:1\" left 4, 1 of 1, ticket 9");
    memset(name, 'x', sizeof name - 1);
    ACQUIRE(waits_beside(say_string(name)), "NO \"java:1\" left 4, 1 of 1, ticket 9");
}

TEST(nonsense_about_acquire_is_no_grant)
{
    struct hl_reply *const nonsense[] = {
        say_nil(), say_integer(0), say_integer(-1), say_integer(INT64_MAX), say_string("17"), say_status("OK"),
        say_array(0), say_array(1, say_integer(1)), say_array(2, say_integer(1), say_integer(17)), waits(2, "x", 1, 1, 9, 1),
        waits(INT64_MIN, "x", 1, 1, 9, 1), waits(-5, "x", 1, -1, 9, 1), waits(-5, "x", -1, 1, 9, 1),
        waits(-5, "x", 1, (int64_t)1 << 40, 9, 1), waits(-5, "x", 1, 1, -9, 1), waits(-5, "x", 1, 1, 9, -1),
        say_array(5, say_integer(-1), say_string("x"), say_integer(1), say_integer(1), say_integer(1)),
    };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        ACQUIRE(nonsense[i], "PROTOCOL \"\"");
}

TEST(answers_to_release_and_renew)
{
    RELEASE(say_integer(0), "NO");
    RELEASE(say_integer(1), "YES");
    RELEASE(say_integer(3), "YES");
    RELEASE(say_integer(-1), "YES unheard");
    RELEASE(say_integer(-2), "YES");
    RELEASE(say_integer(-7), "YES");
    RELEASE(say_error("TRYAGAIN x"), "AGAIN");
    RELEASE(say_error("WRONGTYPE x"), "AGAIN"); /* whose key? */
    assert_string_equal(said(hl_queued_released, HL_FORM_FORCED, say_error("TRYAGAIN x")), "AGAIN");
    assert_string_equal(said(hl_queued_released, HL_FORM_FORCED, say_error("WRONGTYPE x")), "WRONG_KIND \"WRONGTYPE x\"");
    RELEASE(say_error("READONLY x"), "UNWRITABLE \"READONLY x\"");
    RELEASE(say_nil(), "PROTOCOL \"\"");
    RELEASE(say_integer(INT64_MIN), "PROTOCOL \"\"");
    RELEASE(say_integer(INT64_MAX), "PROTOCOL \"\"");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(0)), "NO");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(30001)), "YES left 30000");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(1)), "YES left 0");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(-1)), "PROTOCOL \"\"");
    assert_string_equal(said(hl_response_renewed, HL_FORM_SCRIPT, say_integer(INT64_MAX)), "PROTOCOL \"\"");
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
    assert_string_equal(both(say_array(2, say_string("1"), say_integer(17))), "4, YES 17 ");
    assert_string_equal(both(say_array(2, say_integer(1), say_integer(0))), "0, FAULT 0 ");
    assert_string_equal(both(say_array(3, say_integer(1), say_integer(17), say_integer(17))), "0, FAULT 0 ");
    RELEASE(say_array(2, say_integer(-2), say_integer(17)), "PROTOCOL \"\""); /* none was asked for */
}

static const char *heard_bytes(const char *bytes, size_t length)
{
    static char text[256];
    const struct hl_reply message = {.type = HL_REPLY_STRING, .bytes = bytes, .length = length};
    const struct hl_push push = hl_queued_heard(&message, UUID);
    snprintf(text, sizeof text, "nonsense");
    if (push.what == HL_PUSH_GRANT)
        snprintf(text, sizeof text, "grant of \"%.*s\" to %" PRIu64 ", %" PRIu64 " us after %" PRIu64 ", for %" PRIu64 " us, token %" PRIu64, (int)push.name_length,
                 push.name, push.id, push.since_us, push.number, push.lease_us, push.token);
    else if (push.what == HL_PUSH_YIELD)
        snprintf(text, sizeof text, "%" PRIu64 " yields %" PRIu64 " us", push.id, push.pause_us);
    return text;
}

static const char *heard(const char *text) { return heard_bytes(text, strlen(text)); }

#define MEMBER UUID ":7 hilock:grant:x 3000 15 3 1700000000000000 "

TEST(pushes)
{
    static const char odd[] = "G " MEMBER "17 1700000000 5 a\0b c";
    assert_string_equal(heard("G " MEMBER "1700000000000001 1700000001 500000 stock"),
                        "grant of \"stock\" to 7, 1500000 us after 3, for 3000000 us, token 1700000000000001");
    assert_string_equal(heard("G " MEMBER "17 1700000000 7 a b"), "grant of \"a b\" to 7, 7 us after 3, for 3000000 us, token 17");
    assert_string_equal(heard("G " UUID ":7 !hilock:grant:{@CAN}:x 100 0 9 1700000000000000 17 1700000000 0 a"),
                        "grant of \"a\" to 7, 0 us after 9, for 100000 us, token 17");
    assert_string_equal(heard("G " MEMBER "17 1699999999 999999 a"), /* the server's clock was set back */
                        "grant of \"a\" to 7, 18446744073709551615 us after 3, for 3000000 us, token 17");
    assert_int_equal(strncmp(heard_bytes(odd, sizeof odd - 1), "grant of \"a", 11), 0);
    assert_string_equal(heard("F " UUID ":7 5"), "7 yields 5000 us");
    assert_string_equal(heard("F " UUID ":7 0"), "7 yields 0 us");
    assert_string_equal(heard("F " UUID ":7:sh@db1/4711 5"), "7 yields 5000 us"); /* a holder with its label */
    assert_string_equal(heard("G " UUID ":7:sh@db1/4711 - 100 0 9 1700000000000000 17 1700000000 0 a"),
                        "grant of \"a\" to 7, 0 us after 9, for 100000 us, token 17");
}

TEST(any_other_push_is_nonsense)
{
    static const char *const texts[] = {
        "", "G", "G ", "0", "G 5f0c1a2b-0000-4000-8000-00000000000b:7 x 3000 15 3 1700000000000000 17 1700000000 5 stock",
        "G " UUID ":7: x 3000 15 3 1700000000000000 17 1700000000 5 stock", "G " UUID ":: x 3000 15 3 1700000000000000 17 1700000000 5 stock",
        "G " UUID ":7  3000 15 3 1700000000000000 17 1700000000 5 stock", "G " UUID ":7 x 3001 15 3 1700000000000000 17 1700000000 5 stock",
        "G " UUID ":7 x -1 15 3 1700000000000000 17 1700000000 5 stock", "G " UUID ":7 x 3000 3 1700000000000000 17 1700000000 5 stock",
        "G " UUID ":99999999999999999999 x 3000 15 3 1700000000000000 17 1700000000 5 stock",
        "G " UUID ":7 x 3000 15 99999999999999999999 1700000000000000 17 1700000000 5 stock", "G " MEMBER "0 1700000000 5 stock",
        "G " MEMBER "17 1700000000 5 ", "G " MEMBER "17 1700000000 5", "G " MEMBER "17 1700000000 -5 stock",
        "G " MEMBER "17 1700000000 1000000 stock", "G " MEMBER "17 17000000000 5 stock", "G " MEMBER "99999999999999999 1700000000 5 stock",
        "F " UUID ":7 1001", "F " UUID ":7 5x", "F " UUID ":7 ", "F " UUID ":7: 5", "H " UUID ":7 5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(heard(texts[i]), "nonsense");
}

/* Cut anywhere, it is read within its bytes (the sanitizers look), and a part of the numbers is no grant. */
TEST(a_push_that_is_cut_is_read_within_its_bytes)
{
    static const char whole[] = "G " MEMBER "1700000000000001 1700000001 500000 stock";
    for (size_t length = 0; length < sizeof whole - sizeof "stock"; length++) {
        char *bytes = test_malloc(length + 1);
        memcpy(bytes, whole, length);
        assert_string_equal(heard_bytes(bytes, length), "nonsense");
        test_free(bytes);
    }
}
