/* SPDX-License-Identifier: BSD-3-Clause */
/* A link's life between two honest ends, on unix sockets and on TCP: what is told, when, and what is left. */
#include <setjmp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link_trial.h"

#include <cmocka.h>

static const char *const families[] = {"unix", "tcp"};

static void on_each_family(link_trial_fn *test)
{
    for (size_t i = 0; i < 2; i++) {
        struct link_trial trial;
        link_trial_begin(&trial, families[i]);
        test(&trial);
        link_trial_end(&trial);
    }
}

static void say(struct link_trial *trial, const char *bytes) { link_trial_say(trial, bytes, strlen(bytes)); }

static void all_types(struct link_trial *trial)
{
    link_trial_connect(trial);
    for (int i = 0; i < 7; i++)
        assert_int_equal(link_trial_send(trial, "PING x"), 0);
    say(trial, ":-5\r\n+OK\r\n-ERR no\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*3\r\n:1\r\n*2\r\n$0\r\n\r\n$-1\r\n*0\r\n");
    link_trial_until(trial, "[:1");
    assert_string_equal(trial->told, "up :-5 +OK -ERR no $a\\x0d\\x0a nil nil [:1 [$ nil] []]");
}
static void test_all_types(void **state) { (void)state; on_each_family(all_types); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
