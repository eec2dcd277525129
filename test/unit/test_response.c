/* SPDX-License-Identifier: BSD-3-Clause */
/* What answers tell of a name: who holds it and who waits, each holder of a list, and the parts of a holder's id. */
#include <string.h>

#include "wire/holder.h"
#include "wire/protocol.h"
#include "wire/response.h"
#include "world/say.h"
#include "suite.h"

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"

/* ---- a peek ---- */

TEST(a_peek_counts_what_can_be_counted)
{
    struct hl_reply *reply = say_array(7, say_integer(100), say_string("x:1"), say_string("mutex"), say_integer(UINT32_MAX), say_integer((int64_t)1 << 32),
                                       say_integer(-1), say_integer(3));
    struct hl_response peeked = hl_response_peeked(reply, HL_FORM_SCRIPT);
    assert_int_equal(peeked.result, HL_NO);
    assert_int_equal(peeked.waiters, UINT32_MAX);
    assert_int_equal(peeked.position, 0);
    assert_int_equal(peeked.holders, 0);
    assert_int_equal(peeked.ready, 3);
    say_free(reply);
}

/* Of a list of two: the second item of the first holder, or its third, is what it must not be. */
static int is_listed(struct hl_reply *holder, struct hl_reply *value, struct hl_reply *left, struct hl_listed *ret)
{
    static struct hl_reply items[7 + 3];
    const struct hl_reply *given[] = {holder, value, left};
    memset(items, 0, sizeof items);
    items[2] = (struct hl_reply){.type = HL_REPLY_STRING, .bytes = "mutex", .length = 5};
    for (int i = 0; i < 3; i++)
        items[7 + i] = *given[i];
    const struct hl_reply reply = {.type = HL_REPLY_ARRAY, .items = items, .count = 10};
    int is = hl_response_listed(&reply, 0, ret);
    assert_false(hl_response_listed(&reply, 1, &(struct hl_listed){.token = 0}));
    say_free(holder), say_free(value), say_free(left);
    return is;
}

TEST(a_holder_is_listed_whole_or_not_at_all)
{
    struct hl_listed listed;
    assert_true(is_listed(say_string("x:1"), say_string("17"), say_integer(0), &listed));
    assert_int_equal(listed.token, 17);
    assert_int_equal(listed.left_ms, 0);
    assert_false(listed.has_no_ttl); /* it is about to end */
    assert_true(is_listed(say_string("x:1"), say_string("17x"), say_integer(-1), &listed));
    assert_int_equal(listed.token, 0);
    assert_true(listed.has_no_ttl);
    assert_false(is_listed(say_nil(), say_string("17"), say_integer(5), &listed));
    assert_false(is_listed(say_string("x:1"), say_nil(), say_integer(5), &listed));
    assert_false(is_listed(say_string("x:1"), say_string("17"), say_integer(-2), &listed));
    assert_false(is_listed(say_string("x:1"), say_string("17"), say_nil(), &listed));
}

/* Whatever a server sends. */
TEST(no_more_are_listed_than_are_asked_for)
{
    enum { ALL = HL_LISTED_MAX + 1 };
    static struct hl_reply items[7 + 3 * ALL];
    const struct hl_reply reply = {.type = HL_REPLY_ARRAY, .items = items, .count = sizeof items / sizeof *items};
    struct hl_listed listed;
    for (size_t i = 0; i < reply.count; i++)
        items[i] = (struct hl_reply){.type = HL_REPLY_STRING, .bytes = "5", .length = 1};
    for (size_t i = 0; i < ALL; i++)
        items[7 + 3 * i + 2] = (struct hl_reply){.type = HL_REPLY_INTEGER, .integer = 5};
    assert_true(hl_response_listed(&reply, HL_LISTED_MAX - 1, &listed));
    assert_false(hl_response_listed(&reply, HL_LISTED_MAX, &listed));
}

/* ---- a holder ---- */

TEST(a_holder_of_ours_has_a_number_and_may_have_a_label)
{
    static const struct { const char *holder, *label; uint64_t number; } holders[] = {
        {UUID ":7", "", 7}, {UUID ":7:till@shop-7", "till@shop-7", 7}, {UUID ":0:till", "till", 0}, {UUID ":907:x", "x", 907}, {UUID ":x", "", 0}, {UUID ":", "", 0},
        {UUID, "", 0}, {UUID ":/:x", "", 0}, {UUID "::x", "", 0}, {"another:7:x", "", 0}, {"", "", 0}, {UUID "x7:y", "", 0}};
    for (size_t i = 0; i < sizeof holders / sizeof *holders; i++) {
        assert_int_equal(hl_holder_number(holders[i].holder), holders[i].number);
        assert_string_equal(hl_holder_label(holders[i].holder), holders[i].label);
    }
}
