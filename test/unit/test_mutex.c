/* SPDX-License-Identifier: BSD-3-Clause */
/* What kind MUTEX says, word by word, and what it makes of any answer. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wire/mutex.h"
#include "wire/scripts.h"
#include "world/say.h"

#include <cmocka.h>

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"

static const char *text_of(const struct hl_command *command)
{
    static char text[4096];
    size_t used = 0;
    for (int i = 0; i < command->argc; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", i ? "|" : "", (int)command->lengths[i], command->argv[i]);
    return text;
}

static const struct hl_words words = {"stock", 5, UUID, 7};

static void acquire_is_said_so(void **state)
{
    const struct hl_wants wants = {.lease_ms = 30000, .reserved = 15, .not_after_ms = 1700000000123, .token_ttl_ms = 600000};
    struct hl_command command;
    char expected[512];
    (void)state;
    hl_mutex_acquire(&command, &words, &wants);
    snprintf(expected, sizeof expected, "EVALSHA|%s|2|stock|hilock:token:{stock}|30000|" UUID ":7|15|1700000000123|600000", hl_script_mutex_acquire.sha1);
    assert_string_equal(text_of(&command), expected);
    assert_ptr_equal(command.script, &hl_script_mutex_acquire);
}

static void renew_is_said_so(void **state)
{
    struct hl_command command;
    char expected[512];
    (void)state;
    hl_mutex_renew(&command, &words, &(struct hl_wants){.lease_ms = 30000, .token = 9007199254740992});
    snprintf(expected, sizeof expected, "EVALSHA|%s|1|stock|30000|" UUID ":7|9007199254740992", hl_script_renew.sha1);
    assert_string_equal(text_of(&command), expected);
}

static void release_is_said_so(void **state)
{
    struct hl_command command;
    char expected[512];
    (void)state;
    hl_mutex_release(&command, &words, &(struct hl_wants){0});
    snprintf(expected, sizeof expected, "EVALSHA|%s|1|stock|" UUID ":7|redisson_lock__channel:{stock}|PUBLISH", hl_script_mutex_release.sha1);
    assert_string_equal(text_of(&command), expected);
}

static void the_longest_name_and_largest_numbers_fit(void **state)
{
    const struct hl_wants wants = {.lease_ms = UINT64_MAX, .reserved = UINT32_MAX, .not_after_ms = UINT64_MAX, .token_ttl_ms = UINT64_MAX};
    char name[HILOCK_NAME_MAX];
    struct hl_words longest = {name, sizeof name, UUID, UINT64_MAX};
    struct hl_command command;
    (void)state;
    memset(name, 0xff, sizeof name);
    hl_mutex_acquire(&command, &longest, &wants);
    assert_int_equal(command.lengths[3], sizeof name);
    hl_mutex_release(&command, &longest, &(struct hl_wants){0});
    assert_int_equal(command.lengths[5], strlen("redisson_lock__channel:{}") + sizeof name);
}

/* What was made of a reply, which is freed, in words. */

static const char *said(hl_hear_fn *read, struct hl_reply *reply)
{
    static char text[256];
    static const char *const verdicts[] = {"YES", "NO", "AGAIN", "LATE", "FAULT"};
    struct hl_said answer = read(reply, HL_FORM_SCRIPT);
    snprintf(text, sizeof text, "%s", verdicts[answer.verdict]);
    if (answer.verdict == HL_YES && read == hl_mutex_acquired)
        snprintf(text, sizeof text, "YES %" PRIu64, answer.token);
    else if (answer.verdict == HL_YES && read == hl_mutex_renewed)
        snprintf(text, sizeof text, "YES left %" PRIu64, answer.left_ms);
    else if (answer.verdict == HL_YES)
        snprintf(text, sizeof text, "YES %" PRIu64 " heard%s", answer.listeners, answer.was_unheard ? ", unheard" : "");
    else if (answer.verdict == HL_NO && read == hl_mutex_acquired)
        snprintf(text, sizeof text, "NO %.*s left %" PRIu64 "%s", (int)answer.holder_length, answer.holder, answer.left_ms,
                 answer.has_no_ttl ? " for ever" : "");
    else if (answer.verdict == HL_LATE)
        snprintf(text, sizeof text, "LATE %" PRIu64, answer.server_us);
    else if (answer.verdict == HL_FAULT)
        snprintf(text, sizeof text, "%s \"%.*s\"", hilock_status_name(answer.fault.status), (int)answer.quote_length, answer.quote);
    say_free(reply);
    return text;
}

#define ACQUIRE(reply, meaning) assert_string_equal(said(hl_mutex_acquired, (reply)), (meaning))
#define RENEW(reply, meaning) assert_string_equal(said(hl_mutex_renewed, (reply)), (meaning))
#define RELEASE(reply, meaning) assert_string_equal(said(hl_mutex_released, (reply)), (meaning))

static struct hl_reply *held(int64_t code, const char *holder) { return say_array(2, say_integer(code), say_string(holder)); }

static void answers_to_acquire(void **state)
{
    (void)state;
    ACQUIRE(say_integer(1700000000000000), "YES 1700000000000000");
    ACQUIRE(say_integer(1), "YES 1");
    ACQUIRE(say_integer((int64_t)1 << 53), "YES 9007199254740992");
    ACQUIRE(held(-1, "other:1"), "NO other:1 left 0");
    ACQUIRE(held(-30001, "other:1"), "NO other:1 left 30000");
    ACQUIRE(held(0, "other:1"), "NO other:1 left 0 for ever");
    ACQUIRE(held(-5, ""), "NO  left 4");
    ACQUIRE(say_error("LATE 1700000000 123"), "LATE 1700000000000123");
    ACQUIRE(say_error("BADTOKEN x"), "SERVER \"BADTOKEN x\"");
    ACQUIRE(say_error("OOM x"), "UNWRITABLE \"OOM x\"");
}

static void nonsense_about_acquire_is_no_grant(void **state)
{
    (void)state;
    ACQUIRE(say_integer(0), "PROTOCOL \"\"");
    ACQUIRE(say_integer(-1), "PROTOCOL \"\"");
    ACQUIRE(say_integer(((int64_t)1 << 53) + 1), "PROTOCOL \"\"");
    ACQUIRE(say_integer(INT64_MAX), "PROTOCOL \"\"");
    ACQUIRE(say_integer(INT64_MIN), "PROTOCOL \"\"");
    ACQUIRE(say_nil(), "PROTOCOL \"\"");
    ACQUIRE(say_status("OK"), "PROTOCOL \"\"");
    ACQUIRE(say_string("1700000000000000"), "PROTOCOL \"\"");
    ACQUIRE(say_array(0), "PROTOCOL \"\"");
    ACQUIRE(say_array(1, say_integer(-1)), "PROTOCOL \"\"");
    ACQUIRE(held(1, "other"), "PROTOCOL \"\"");
    ACQUIRE(held(INT64_MIN, "other"), "PROTOCOL \"\"");
    ACQUIRE(held(INT64_MAX, "other"), "PROTOCOL \"\"");
    ACQUIRE(say_array(2, say_string("-1"), say_string("other")), "PROTOCOL \"\"");
    ACQUIRE(say_array(2, say_integer(-1), say_nil()), "PROTOCOL \"\"");
    ACQUIRE(say_array(2, say_integer(-1), say_integer(1)), "PROTOCOL \"\"");
    ACQUIRE(say_array(2, say_integer(-1), say_array(1, say_string("other"))), "PROTOCOL \"\"");
    ACQUIRE(say_error("%s", ""), "SERVER \"\"");
}

static void a_late_answer_with_a_bad_time_is_an_error(void **state)
{
    static const char *const bad[] = {"LATE ", "LATE 1", "LATE 1 ", "LATE 1  2", "LATE x 1", "LATE 1 x", "LATE -1 1", "LATE 1234567890123 1",
                                      "LATE 1 1234567890123", "LATE 1-1"};
    char expected[64];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(expected, sizeof expected, "SERVER \"%s\"", bad[i]);
        ACQUIRE(say_error("%s", bad[i]), expected);
    }
}

static void answers_to_renew(void **state)
{
    (void)state;
    RENEW(say_integer(0), "NO");
    RENEW(say_integer(1), "YES left 0");
    RENEW(say_integer(20001), "YES left 20000");
    RENEW(say_integer(-1), "PROTOCOL \"\"");
    RENEW(say_integer(INT64_MAX), "PROTOCOL \"\"");
    RENEW(say_integer(INT64_MIN), "PROTOCOL \"\"");
    RENEW(say_nil(), "PROTOCOL \"\"");
    RENEW(say_string("1"), "PROTOCOL \"\"");
    RENEW(say_array(1, say_integer(1)), "PROTOCOL \"\"");
    RENEW(say_error("READONLY x"), "UNWRITABLE \"READONLY x\"");
    RENEW(say_error("WRONGTYPE x"), "NO");
}

static void answers_to_release(void **state)
{
    (void)state;
    RELEASE(say_integer(0), "NO");
    RELEASE(say_error("WRONGTYPE x"), "NO");
    RELEASE(say_error("ERR Error running script (call to f_1): @user_script:6: -WRONGTYPE Op"), "NO");
    RELEASE(say_integer(1), "YES 0 heard");
    RELEASE(say_integer(5), "YES 4 heard");
    RELEASE(say_integer(-1), "YES 0 heard, unheard");
    RELEASE(say_integer(-2), "PROTOCOL \"\"");
    RELEASE(say_integer(INT64_MAX), "PROTOCOL \"\"");
    RELEASE(say_integer(INT64_MIN), "PROTOCOL \"\"");
    RELEASE(say_nil(), "PROTOCOL \"\"");
    RELEASE(say_status("OK"), "PROTOCOL \"\"");
    RELEASE(say_error("NOPERM x"), "DENIED \"NOPERM x\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acquire_is_said_so),
        cmocka_unit_test(renew_is_said_so),
        cmocka_unit_test(release_is_said_so),
        cmocka_unit_test(the_longest_name_and_largest_numbers_fit),
        cmocka_unit_test(answers_to_acquire),
        cmocka_unit_test(nonsense_about_acquire_is_no_grant),
        cmocka_unit_test(a_late_answer_with_a_bad_time_is_an_error),
        cmocka_unit_test(answers_to_renew),
        cmocka_unit_test(answers_to_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
