/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and channels of a name lie in its slot, holders differ, and bad names are found. */
#include <string.h>

#include "base/slot.h"
#include "suite.h"
#include "wire/holder.h"
#include "wire/keys.h"

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"

static const char *token_key(const char *name)
{
    static char text[256];
    text[hl_key_write(text, hl_key_token, name, strlen(name))] = '\0';
    return text;
}

static const char *channel(const char *name)
{
    static char text[256];
    text[hl_key_write(text, hl_key_channel, name, strlen(name))] = '\0';
    return text;
}

TEST(a_name_without_a_tag_becomes_the_tag_and_one_with_a_tag_keeps_it)
{
    assert_string_equal(token_key("stock:7"), "hilock:token:{stock:7}");
    assert_string_equal(channel("stock:7"), "redisson_lock__channel:{stock:7}");
    assert_string_equal(token_key("a{b}c"), "hilock:token=a{b}c");
    assert_string_equal(channel("{b}{c}"), "redisson_lock__channel:{b}{c}");
}

TEST(names_are_any_bytes)
{
    char to[64];
    assert_int_equal(hl_key_write(to, "p", "a\0\xff", 3), 7);
    assert_memory_equal(to, "p:{a\0\xff}", 7);
}

/* Of all good names of up to four of these letters no two share a key, and each key lies in the slot of its name. */
TEST(no_two_names_share_a_key)
{
    static const char letters[] = "a{}:=";
    static char keys[5 * 5 * 5 * 5 * 5][32];
    unsigned count = 0;
    for (unsigned i = 1; i < 5 * 5 * 5 * 5 * 5; i++) {
        char name[6] = "";
        size_t length = 0;
        for (unsigned rest = i; rest > 0; rest /= 5)
            name[length++] = letters[rest % 5];
        if (!hl_key_has_good_braces(name, length))
            continue;
        strcpy(keys[count], token_key(name));
        assert_int_equal(hl_slot_of(keys[count], strlen(keys[count])), hl_slot_of(name, length));
        for (unsigned other = 0; other < count; other++)
            assert_string_not_equal(keys[other], keys[count]);
        count++;
    }
    assert_true(count > 500);
}

TEST(names_of_other_keys_are_reserved)
{
    assert_true(hl_key_is_reserved("hilock:token:{x}", 16) && hl_key_is_reserved("hilock:", 7) && hl_key_is_reserved("redisson_lock_queue:{x}", 23));
    assert_false(hl_key_is_reserved("hilock", 6) || hl_key_is_reserved("hilocks", 7) || hl_key_is_reserved("x:hilock:", 9) || hl_key_is_reserved("redisson_loc", 12));
}

TEST(braces_are_none_or_open_a_tag_first)
{
    static const struct { const char *name; int is_good; } cases[] = {
        {"a", 1}, {"a{b}", 1}, {"{b}", 1}, {"a{b}c{}", 1}, {"a{b}c}", 1}, {"a{{b}", 1}, {"a{b", 0}, {"a}b", 0}, {"a{}b{c}", 0},
        {"{}", 0}, {"{", 0}, {"}", 0}, {"}{a}", 1}, {"", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (hl_key_has_good_braces(cases[i].name, strlen(cases[i].name)) != cases[i].is_good)
            fail_msg("\"%s\" is taken for %s", cases[i].name, cases[i].is_good ? "bad" : "good");
    assert_true(hl_key_has_good_braces("a\0{b}", 5));
    assert_false(hl_key_has_good_braces("a\0{b", 4));
}

TEST(the_longest_name_fits)
{
    char name[1024], to[1024 + HL_KEY_PREFIX_MAX];
    memset(name, 'n', sizeof name);
    assert_int_equal(hl_key_write(to, hl_key_channel, name, sizeof name), strlen("redisson_lock__channel:{}") + 1024);
    assert_true(strlen("redisson_lock__channel:{}") <= HL_KEY_PREFIX_MAX && strlen(hl_key_token) + 3 <= HL_KEY_PREFIX_MAX);
}

#define LABEL_20 "0123456789abcdefghij"
#define LABEL_64 LABEL_20 LABEL_20 LABEL_20 "0123"

TEST(a_holder_says_who_it_is)
{
    char to[HL_HOLDER_MAX];
    size_t length = hl_holder_write(to, UUID, UINT64_MAX, "");
    assert_memory_equal(to, UUID ":18446744073709551615", length);
    assert_int_equal(hl_holder_write(to, UUID, 1, NULL), 38);
    length = hl_holder_write(to, UUID, UINT64_MAX, LABEL_64);
    assert_int_equal(length, HL_HOLDER_MAX);
    assert_memory_equal(to, UUID ":18446744073709551615:" LABEL_64, length);
    assert_string_equal(hl_holder_label(UUID ":18446744073709551615:" LABEL_64), LABEL_64);
    assert_string_equal(hl_holder_label(UUID ":1:sh@db1/4711"), "sh@db1/4711");
}

/* Redisson's, an older version's, any program's. */
TEST(who_has_no_label_is_not_given_one)
{
    static const char *const holders[] = {"", UUID, UUID ":", UUID ":1", UUID ":1:", UUID "::x", UUID ":x:y", UUID ":1:two words", UUID ":1:a:b", UUID ":1:a\n",
                                          UUID ":1:" LABEL_64 "x", "a:1:b", "mode"};
    for (size_t i = 0; i < sizeof holders / sizeof *holders; i++)
        assert_string_equal(hl_holder_label(holders[i]), "");
}

TEST(what_is_no_label_is_made_one)
{
    char label[] = "a b:c\n\xc3\xa4_9";
    assert_false(hl_holder_is_label(label));
    hl_holder_mend_label(label);
    assert_string_equal(label, "a-b-c---_9");
    assert_true(hl_holder_is_label(label));
}
