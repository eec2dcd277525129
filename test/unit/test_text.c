/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences stay within their space, and what comes from outside stays on one line. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "suite.h"

TEST(test_set_and_add)
{
    struct hl_text text;
    hl_text_set(&text, "port %d", 7);
    assert_string_equal(text.bytes, "port 7");
    hl_text_add(&text, " of %s", "h");
    assert_string_equal(text.bytes, "port 7 of h");
    hl_text_set(&text, "%s", "");
    assert_string_equal(text.bytes, "");
}

TEST(test_full)
{
    struct { struct hl_text text; char guard; } space;
    char longer[2 * HL_TEXT_MAX];
    space.guard = '#';
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    hl_text_set(&space.text, "%s", longer);
    assert_int_equal(strlen(space.text.bytes), HL_TEXT_MAX - 1);
    hl_text_add(&space.text, "%s", longer);
    assert_int_equal(strlen(space.text.bytes), HL_TEXT_MAX - 1);
    hl_text_set(&space.text, "%.*s", HL_TEXT_MAX - 3, longer);
    hl_text_add(&space.text, "yz!");
    assert_string_equal(space.text.bytes + HL_TEXT_MAX - 3, "yz");
    assert_int_equal(space.guard, '#');
}

TEST(test_quote)
{
    static const struct { const char *bytes; size_t length; const char *quoted; } cases[] = {
        {"", 0, ""},
        {"stock:42", 8, "stock:42"},
        {"a\0b", 3, "a\\x00b"},
        {"\n\r\t\x1b[2J", 7, "\\x0a\\x0d\\x09\\x1b[2J"},
        {"\"\\", 2, "\\x22\\x5c"},
        {"\x7f\x80\xff ~", 5, "\\x7f\\x80\\xff ~"},
        {"not the end", 3, "not"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(hl_text_quote(cases[i].bytes, cases[i].length).bytes, cases[i].quoted);
}

/* Every length, in letters of one and of four: the cut is marked, and nothing else is. */
TEST(test_quote_cuts)
{
    for (int letter = 'a'; letter >= 0; letter -= 'a') {
        for (size_t length = 0; length < 400; length++) {
            char bytes[400];
            size_t whole = length * (letter ? 1 : 4);
            memset(bytes, letter, sizeof bytes);
            struct hl_quoted quoted = hl_text_quote(bytes, length);
            assert_true(strlen(quoted.bytes) < sizeof quoted.bytes);
            if (whole + 3 <= sizeof quoted.bytes)
                assert_int_equal(strlen(quoted.bytes), whole);
            else
                assert_string_equal(quoted.bytes + strlen(quoted.bytes) - 2, "..");
        }
    }
}

TEST(test_quote_said)
{
    static const char *const secrets[] = {"shop", "shop-hunter2", NULL};
#define NINETY_FIVE "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345"
    static const struct { const char *said, *quoted; } cases[] = {
        {"", ""},
        {"ERR shop: shop-hunter2", "ERR ***: ***"},
        {"shop-hunter2shopsho", "******sho"},
        {"'5f0c1a2b-7d60-4E1C-9a2f-0123456789ab:17' 'NX'", "'5f0c1a2b..:17' 'NX'"},
        {"5f0c1a2b-7d60-4e1c-9a2f-0123456789a", "5f0c1a2b-7d60-4e1c-9a2f-0123456789a"},
        {"5f0c1a2b-7d60-4e1c-9a2f-0123456789abcd", "5f0c1a2b..cd"},
        {"5f0c1a2b-7d60-4e1c-9a2f_0123456789ab", "5f0c1a2b-7d60-4e1c-9a2f_0123456789ab"},
        {NINETY_FIVE "shop", NINETY_FIVE "**.."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(hl_text_quote_server(secrets, cases[i].said, strlen(cases[i].said)).bytes, cases[i].quoted);
}

/* What stands behind the text is not looked at. */
TEST(a_text_ends_where_it_says)
{
    static const char *const none[] = {NULL}, *const secrets[] = {"hunter2", NULL};
    static const char id[] = "5f0c1a2b-7d60-4e1c-9a2f-0123456789ab";
    assert_string_equal(hl_text_quote_server(none, id, 35).bytes, "5f0c1a2b-7d60-4e1c-9a2f-0123456789a");
    assert_string_equal(hl_text_quote_server(none, id, 36).bytes, "5f0c1a2b..");
    assert_string_equal(hl_text_quote_server(secrets, "a hunter2", 8).bytes, "a hunter");
}

TEST(test_quote_holder)
{
    static const struct { const char *holder, *quoted; } cases[] = {
        {"", ""},
        {"me", "me"},
        {"me:17", "me:17"},
        {"12345678", "12345678"},
        {"123456789", "12345678.."},
        {"12345678:17", "12345678.."}, /* only a colon behind what is shown begins a tail */
        {"5f0c1a2b-7d60-4e1c-9a2f-0123456789ab:17", "5f0c1a2b..:17"},
        {"5f0c1a2b-7d60-4e1c-9a2f-0123456789ab:17:fair", "5f0c1a2b..:17:fair"},
        {"5f0c1a2b-7d60-4e1c-9a2f-0123456789ab:17:checkout@checkout-7d9f8b6c5d-x2x4z/4711", "5f0c1a2b..:17:checkout@checkout-7d9f8b6c5d-x2x4z/4711"},
        {"5f0c1a2b-7d60-4e1c-9a2f-0123456789ab:17:5f0c1a2b-7d60-4e1c-9a2f-0123456789ab", "5f0c1a2b..:17:5f0c1a2b.."},
        {"5f0c1a2b-7d60-4e1c-9a2f-0123456789ab:18446744073709551615", "5f0c1a2b..:18446744073709551615"},
        {"machine12:5f0c1a2b-7d60-4e1c-9a2f-0123456789ab", "machine1..:5f0c1a2b-7d60-4e1c-9a2f-012.."},
        {"machine12:123456789012345678901234567", "machine1..:123456789012345678901234567"},
        {"m:5f0c1a2b-7d60-4e1c-9a2f-0123456789ab", "m:5f0c1a.."},
        {"\n\n\n\n\n\n\n\n\n:\n", "\\x0a\\x0a\\x0a\\x0a\\x0a\\x0a\\x0a\\x0a..:\\x0a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(hl_text_holder(cases[i].holder, strlen(cases[i].holder)).bytes, cases[i].quoted);
}

TEST(test_quote_holder_fits)
{
    char holder[300];
    for (int letter = 0; letter < 256; letter += 'a')
        for (size_t length = 0; length < sizeof holder; length++) {
            memset(holder, letter, sizeof holder);
            holder[length / 2] = ':';
            assert_true(strlen(hl_text_holder(holder, length).bytes) < sizeof(struct hl_quoted));
        }
}
