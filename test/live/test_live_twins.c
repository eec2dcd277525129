/* SPDX-License-Identifier: BSD-3-Clause */
/* The safety twins of live plays: each holds in this build too, and no longer once its bug is planted. */
#include <string.h>

#include "rules.h"
#include "support/fixture.h"

/* wound: the check that it must fail. */
static void check_twins(struct fixture *fixture, rule_play *rule, const char *plant, const char *wound)
{
    const char *text;
    assert_string_equal(rule(fixture, NULL), "");
    fixture_check_clean(fixture->redis);
    text = rule(fixture, plant);
    if (!strstr(text, wound))
        check_fail("%s: \"%s\" where this was to be seen: %s", plant, text, wound);
    redis_do(fixture->redis, "REPLICAOF NO ONE");
    redis_do(fixture->redis, "FLUSHALL");
}

static void unknown_is_failure(void **state)
{
    check_twins(*state, rule_unknown_grant_is_undone, "R3_UNKNOWN_IS_FAILURE", "handle_acquire(&second, HILOCK_TRY) == HILOCK_OK");
}

static void error_is_loss(void **state) { check_twins(*state, rule_error_is_no_loss, "R5_ERROR_IS_LOSS", "stock.lost.count == 0"); }

static void loss_in_line(void **state) { check_twins(*state, rule_loss_is_told_first, "R6_LOSS_IN_LINE", "others_first == 0"); }

static void login_failure_ignored(void **state)
{
    check_twins(*state, rule_refused_login_is_the_end, "R10_AUTH_FAILURE_IGNORED", "handle_acquire(&stock, HILOCK_TRY) == HILOCK_DENIED");
}

static void password_logged(void **state) { check_twins(*state, rule_password_is_told_nowhere, "PASSWORD_LOGGED", "!client->has_told_secret"); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(unknown_is_failure),
        FIXTURE_TEST(error_is_loss),
        FIXTURE_TEST(loss_in_line),
        FIXTURE_TEST(login_failure_ignored),
        FIXTURE_TEST(password_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
