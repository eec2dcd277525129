/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and channels of a name lie in its slot, holders are told apart, and a bad name is told from a good one. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "wire/keys.h"

#include <cmocka.h>

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"

static const char *tagged(const char *prefix, const char *name)
{
    static char text[256];
    text[hl_key_tagged(text, prefix, name, strlen(name))] = '\0';
    return text;
}

static void a_name_without_a_tag_becomes_the_tag(void **state)
{
    (void)state;
    assert_string_equal(tagged(hl_key_token, "stock:7"), "hilock:token:{stock:7}");
    assert_string_equal(tagged(hl_key_channel, "stock:7"), "redisson_lock__channel:{stock:7}");
}

static void a_name_with_a_tag_keeps_it(void **state)
{
    (void)state;
    assert_string_equal(tagged(hl_key_token, "a{b}c"), "hilock:token:a{b}c");
    assert_string_equal(tagged(hl_key_channel, "{b}{c}"), "redisson_lock__channel:{b}{c}");
}

static void names_are_any_bytes(void **state)
{
    (void)state;
    char to[64];
    assert_int_equal(hl_key_tagged(to, "p", "a\0\xff", 3), 7);
    assert_memory_equal(to, "p:{a\0\xff}", 7);
}

static void braces_are_none_or_open_a_tag_first(void **state)
{
    static const struct { const char *name; int is_good; } cases[] = {
        {"a", 1}, {"a{b}", 1}, {"{b}", 1}, {"a{b}c{}", 1}, {"a{b}c}", 1}, {"a{{b}", 1}, {"a{b", 0}, {"a}b", 0}, {"a{}b{c}", 0},
        {"{}", 0}, {"{", 0}, {"}", 0}, {"}{a}", 1}, {"", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (hl_key_has_good_braces(cases[i].name, strlen(cases[i].name)) != cases[i].is_good)
            fail_msg("\"%s\" is taken for %s", cases[i].name, cases[i].is_good ? "bad" : "good");
    assert_true(hl_key_has_good_braces("a\0{b}", 5));
    assert_false(hl_key_has_good_braces("a\0{b", 4));
}

static void the_longest_name_fits(void **state)
{
    char name[1024], to[1024 + HL_KEY_PREFIX_MAX];
    (void)state;
    memset(name, 'n', sizeof name);
    assert_int_equal(hl_key_tagged(to, hl_key_channel, name, sizeof name), strlen(hl_key_channel) + 2 + 1024 + 1);
    assert_true(strlen(hl_key_channel) + 3 <= HL_KEY_PREFIX_MAX && strlen(hl_key_token) + 3 <= HL_KEY_PREFIX_MAX);
}

static void a_holder_is_uuid_and_number(void **state)
{
    char to[HL_HOLDER_MAX];
    size_t length = hl_holder_write(to, UUID, UINT64_MAX);
    (void)state;
    assert_int_equal(length, HL_HOLDER_MAX - 5);
    assert_memory_equal(to, UUID ":18446744073709551615", length);
    assert_int_equal(hl_holder_write(to, UUID, 1), 38);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_without_a_tag_becomes_the_tag), cmocka_unit_test(a_name_with_a_tag_keeps_it),
        cmocka_unit_test(names_are_any_bytes),                  cmocka_unit_test(braces_are_none_or_open_a_tag_first),
        cmocka_unit_test(the_longest_name_fits),                cmocka_unit_test(a_holder_is_uuid_and_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
