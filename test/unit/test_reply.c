/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a reply whose shape is the server's choice: an answer to each, and never past its end. */
#include <stdlib.h>
#include <string.h>

#include "base/reply.h"
#include "suite.h"

static const struct hl_reply items[] = {
    {.type = HL_REPLY_NIL},
    {.type = HL_REPLY_INTEGER, .integer = 7},
    {.type = HL_REPLY_STRING, .bytes = "message", .length = 7},
    {.type = HL_REPLY_STATUS, .bytes = "OK", .length = 2},
    {.type = HL_REPLY_ERROR, .bytes = "NOSCRIPT No matching script", .length = 27},
    {.type = HL_REPLY_ARRAY},
};
enum { COUNT = sizeof items / sizeof *items };

TEST(test_item)
{
    const struct hl_reply array = {.type = HL_REPLY_ARRAY, .items = items, .count = COUNT};
    for (size_t i = 0; i < COUNT; i++)
        for (int type = HL_REPLY_NIL; type <= HL_REPLY_ARRAY; type++) {
            const struct hl_reply *item = hl_reply_item(&array, i, (enum hl_reply_type)type);
            assert_ptr_equal(item, items[i].type == (enum hl_reply_type)type ? &items[i] : NULL);
            assert_null(hl_reply_item(&array, COUNT + i, (enum hl_reply_type)type));
            assert_null(hl_reply_item(&items[i], 0, (enum hl_reply_type)type)); /* not an array, or an empty one */
        }
    assert_null(hl_reply_item(&array, SIZE_MAX, HL_REPLY_NIL));
}

TEST(test_is)
{
    const struct hl_reply binary = {.type = HL_REPLY_STRING, .bytes = "OK\0", .length = 3};
    const struct hl_reply part = {.type = HL_REPLY_STRING, .bytes = "OK and more", .length = 2};
    const struct hl_reply empty = {.type = HL_REPLY_STRING, .bytes = "", .length = 0};
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(hl_reply_is(&items[i], "message"), i == 2);
        assert_int_equal(hl_reply_is(&items[i], "OK"), i == 3);
        assert_false(hl_reply_is(&items[i], "NOSCRIPT No matching script")); /* an error is no answer */
        assert_false(hl_reply_is(&items[i], ""));
    }
    assert_false(hl_reply_is(&binary, "OK"));
    assert_true(hl_reply_is(&part, "OK"));
    assert_true(hl_reply_is(&empty, ""));
}

TEST(test_starts)
{
    const struct hl_reply part = {.type = HL_REPLY_ERROR, .bytes = "NOSCRIPT", .length = 2};
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(hl_reply_starts(&items[i], "NOSCRIPT "), i == 4);
        assert_int_equal(hl_reply_starts(&items[i], "mess"), i == 2);
        assert_int_equal(hl_reply_starts(&items[i], ""), i >= 2 && i <= 4);
        assert_false(hl_reply_starts(&items[i], "messages"));
    }
    assert_false(hl_reply_starts(&part, "NOSCRIPT"));
    assert_true(hl_reply_starts(&part, "NO"));
}

TEST(a_number_has_twelve_digits_at_most)
{
    static const struct { const char *text; size_t digits; uint64_t number; } cases[] = {
        {"", 0, 0}, {"x", 0, 0}, {"-1", 0, 0}, {"0", 1, 0}, {"09/", 2, 9}, {"7:8", 1, 7}, {"999999999999", 12, 999999999999}, {"999999999999x", 12, 999999999999},
    };
    uint64_t number;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(hl_reply_decimal(cases[i].text, strlen(cases[i].text), &number), cases[i].digits);
        assert_int_equal(number, cases[i].number);
    }
    assert_int_equal(hl_reply_decimal("1999", 2, &number), 2); /* no more than it has */
    assert_int_equal(number, 19);
    assert_int_equal(hl_reply_decimal("9999999999999", 13, &number), 0);
    assert_int_equal(hl_reply_decimal("99999999999999", 14, &number), 0);
}

/* The code is the first word, or that of an error that a script has wrapped, and nothing that begins or ends like it. */
TEST(an_error_has_the_code_that_it_begins_with_or_wraps)
{
    static const struct { const char *error; int has; } cases[] = {
        {"OOM", 1}, {"OOM command not allowed", 1}, {"OOMs are rare", 0}, {"XOOM", 0}, {"OO", 0}, {"", 0}, {"ERR", 0}, {"ERR OOM", 0},
        {"ERR Error running script (call to f_1): @user_script:3: -OOM command not allowed", 1},
        {"ERR Error running script (call to f_1): @user_script:3: -BUSY", 0}, {"ERR: -OO", 0}, {"WRONG: -OOM", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hl_reply error = {.type = HL_REPLY_ERROR, .bytes = cases[i].error, .length = strlen(cases[i].error)};
        if (hl_reply_has_code(&error, "OOM") != cases[i].has)
            fail_msg("\"%s\"", cases[i].error);
    }
}
