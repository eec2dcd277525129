/* SPDX-License-Identifier: BSD-3-Clause */
/* Which right is missing, read from what servers say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "wire/response.h"
#include "wire/scripts.h"

static void is(const char *words, const char *right) { assert_string_equal(hl_response_right(words, strlen(words)).bytes, right); }

TEST(test_as_servers_say_it)
{
    is("NOPERM this user has no permissions to run the 'evalsha' command", "+evalsha");
    is("NOPERM User shop has no permissions to run the 'script|load' command", "+script|load");
    is("ERR ACL failure in script: User shop has no permissions to run the 'hset' command script: 12, on @user_script:37.", "+hset");
    is("NOPERM this user has no permissions to access one of the keys used as arguments", "~ of a key");
    is("NOPERM No permissions to access a key", "~ of a key");
    is("NOPERM this user has no permissions to access one of the channels used as arguments", "& of a channel");
    is("NOPERM No permissions to access a channel", "& of a channel");
    is("NOAUTH Authentication required.", "");
    is("", "");
}

static void at_line(const struct hl_script *script, const char *code, const char *right)
{
    char words[300];
    const char *at = strstr(script->text, code);
    unsigned line = 1;
    assert_non_null(at);
    for (const char *c = script->text; c < at; c++)
        line += *c == '\n';
    snprintf(words, sizeof words, "ERR The user executing the script can't run this command or subcommand script: %s, on @user_script:%u.",
             script->sha1, line);
    is(words, right);
}

/* Redis 7.0 tells the place alone. */
TEST(test_by_a_scripts_line)
{
    at_line(&hl_script_mutex_acquire, "call('HSET'", "+hset");
    at_line(&hl_script_mutex_acquire, "call('PTTL'", "+pttl");
    at_line(&hl_script_simple_acquire, "call('GET'", "+get or +pttl");
}

TEST(test_nonsense)
{
    static const char head[] = "ERR The user executing the script can't run this command or subcommand script: ";
    char words[700];
    is(head, "");
    snprintf(words, sizeof words, "%s%s, on @user_script:0.", head, hl_script_renew.sha1);
    is(words, "");
    snprintf(words, sizeof words, "%s%s, on @user_script:99999999999999999999.", head, hl_script_renew.sha1);
    is(words, "");
    snprintf(words, sizeof words, "%s%s, on @user_script:1.", head, "0000000000000000000000000000000000000000");
    is(words, "");
    is("NOPERM to run the '", "+");
    memset(words, 'X', sizeof words);
    memcpy(words, "to run the '", 12);
    assert_int_equal(strlen(hl_response_right(words, sizeof words).bytes), 33);
}
