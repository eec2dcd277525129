/* SPDX-License-Identifier: BSD-3-Clause */
/* What kind SIMPLE says, word by word, and what it makes of any answer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "wire/scripts.h"
#include "wire/simple.h"
#include "world/say.h"

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"

static const struct hl_target words = {"stock", 5, UUID, 7, NULL};

static void assert_said(const struct hl_command *command, const char *expected) { assert_string_equal(say_request(command), expected); }

static void assert_script(const struct hl_command *command, const struct hl_script *script, const char *arguments)
{
    char expected[512];
    snprintf(expected, sizeof expected, "EVALSHA|%s|1|stock%s", script->sha1, arguments);
    assert_said(command, expected);
    assert_ptr_equal(command->script, script);
}

TEST(acquire_is_said_so)
{
    struct hl_command command;
    struct hl_acquire_params params = {.lease_ms = 30000};
    assert_int_equal(hl_simple_acquire(&command, &words, &params), HL_FORM_NATIVE);
    assert_said(&command, "SET|stock|" UUID ":7|NX|PX|30000");
    assert_null(command.script);
    params.is_second = 1;
    assert_int_equal(hl_simple_acquire(&command, &words, &params), HL_FORM_SCRIPT);
    assert_script(&command, &hl_script_simple_acquire, "|" UUID ":7|30000");
}

TEST(renew_is_said_so)
{
    struct hl_command command;
    assert_int_equal(hl_simple_renew(&command, &words, &(struct hl_renew_params){.lease_ms = 30000}), HL_FORM_SCRIPT);
    assert_script(&command, &hl_script_simple_renew, "|" UUID ":7|30000");
}

TEST(release_is_said_so)
{
    struct hl_command command;
    assert_int_equal(hl_simple_release(&command, &words, &(struct hl_release_params){0}), HL_FORM_SCRIPT);
    assert_script(&command, &hl_script_simple_release, "|" UUID ":7");
}

TEST(requests_of_operators_are_said_so)
{
    struct hl_command command;
    const struct hl_force_params params = {.holder = "another:5", .holder_length = 9};
    assert_int_equal(hl_simple_kind.force(&command, &words, &params), HL_FORM_FORCED);
    assert_script(&command, &hl_script_simple_release, "|another:5");
    assert_int_equal(hl_simple_kind.peek(&command, &words, &(struct hl_queue_entry){.due_s = 0}, 0), HL_FORM_SCRIPT);
    assert_script(&command, &hl_script_simple_peek, "");
}

TEST(the_longest_name_fits)
{
    char name[HILOCK_NAME_MAX];
    const struct hl_target longest = {name, sizeof name, UUID, UINT64_MAX, "sh@db1/4711"};
    struct hl_command command;
    memset(name, 0xff, sizeof name);
    hl_simple_renew(&command, &longest, &(struct hl_renew_params){.lease_ms = UINT64_MAX});
    assert_int_equal(command.lengths[3], sizeof name);
    assert_int_equal(command.argc, 6);
}

static const char *said(hl_parse_fn *hear, enum hl_form form, struct hl_reply *reply)
{
    static char text[256];
    static const char *const verdicts[] = {"YES", "NO", "AGAIN", "LATE", "FAULT"};
    struct hl_response answer = hear(reply, form);
    snprintf(text, sizeof text, "%s", verdicts[answer.result]);
    if (answer.result == HL_YES && hear == hl_simple_renewed)
        snprintf(text, sizeof text, "YES left %" PRIu64, answer.left_ms);
    else if (answer.result == HL_NO && hear == hl_simple_acquired)
        snprintf(text, sizeof text, "NO %.*s left %" PRIu64 "%s", (int)answer.holder_length, answer.holder, answer.left_ms,
                 answer.has_no_ttl ? " for ever" : "");
    else if (answer.result == HL_FAULT)
        snprintf(text, sizeof text, "%s \"%.*s\"", hilock_status_name(answer.fault.status), (int)answer.quote_length, answer.quote);
    assert_int_equal(answer.token, 0);
    say_free(reply);
    return text;
}

#define ACQUIRE(form, reply, meaning) assert_string_equal(said(hl_simple_acquired, HL_FORM_##form, (reply)), (meaning))
#define RENEW(form, reply, meaning) assert_string_equal(said(hl_simple_renewed, HL_FORM_##form, (reply)), (meaning))
#define RELEASE(form, reply, meaning) assert_string_equal(said(hl_simple_released, HL_FORM_##form, (reply)), (meaning))

static struct hl_reply *held(int64_t left_ms, const char *value) { return say_array(2, say_integer(left_ms), say_string(value)); }

TEST(answers_to_acquire)
{
    ACQUIRE(NATIVE, say_status("OK"), "YES");
    ACQUIRE(NATIVE, say_nil(), "AGAIN");
    ACQUIRE(NATIVE, say_error("OOM x"), "UNWRITABLE \"OOM x\"");
    ACQUIRE(SCRIPT, say_integer(1), "YES");
    ACQUIRE(SCRIPT, held(0, "other"), "NO other left 0");
    ACQUIRE(SCRIPT, held(30000, "other"), "NO other left 30000");
    ACQUIRE(SCRIPT, held(-1, "other"), "NO other left 0 for ever");
    ACQUIRE(SCRIPT, held(5, ""), "NO  left 5");
    ACQUIRE(SCRIPT, say_error("WRONGTYPE x"), "WRONG_KIND \"WRONGTYPE x\"");
}

/* An endless row of second questions is as bad as a grant that is none. */
TEST(nonsense_about_acquire_is_no_grant)
{
    ACQUIRE(NATIVE, say_string("OK"), "PROTOCOL \"\"");
    ACQUIRE(NATIVE, say_status("OKAY"), "PROTOCOL \"\"");
    ACQUIRE(NATIVE, say_status("QUEUED"), "PROTOCOL \"\"");
    ACQUIRE(NATIVE, say_integer(1), "PROTOCOL \"\"");
    ACQUIRE(NATIVE, held(5, "other"), "PROTOCOL \"\"");
    struct hl_reply *const nonsense[] = {
        say_nil(), say_status("OK"), say_integer(0), say_integer(2), say_array(0), say_array(1, say_integer(5)),
        held(-2, "other"), held(INT64_MIN, "other"), held(INT64_MAX, "other"),
        say_array(2, say_string("5"), say_string("other")), say_array(2, say_integer(5), say_nil()),
        say_array(2, say_integer(5), say_array(1, say_string("other"))),
    };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        ACQUIRE(SCRIPT, nonsense[i], "PROTOCOL \"\"");
}

TEST(answers_to_renew)
{
    RENEW(SCRIPT, say_integer(0), "NO");
    RENEW(SCRIPT, say_integer(1), "YES left 0");
    RENEW(SCRIPT, say_integer(20001), "YES left 20000");
    RENEW(SCRIPT, say_integer(-1), "PROTOCOL \"\"");
    RENEW(SCRIPT, say_integer(INT64_MAX), "PROTOCOL \"\"");
    RENEW(SCRIPT, say_status("OK"), "PROTOCOL \"\"");
    RENEW(SCRIPT, say_nil(), "PROTOCOL \"\"");
    RENEW(SCRIPT, say_error("READONLY x"), "UNWRITABLE \"READONLY x\"");
}

TEST(answers_to_release)
{
    RELEASE(SCRIPT, say_integer(0), "NO");
    RELEASE(SCRIPT, say_integer(1), "YES");
    RELEASE(SCRIPT, say_integer(2), "PROTOCOL \"\"");
    RELEASE(SCRIPT, say_integer(-1), "PROTOCOL \"\"");
    RELEASE(SCRIPT, say_status("OK"), "PROTOCOL \"\"");
    RELEASE(SCRIPT, say_nil(), "PROTOCOL \"\"");
    RELEASE(SCRIPT, say_error("NOPERM x"), "DENIED \"NOPERM x\"");
}
