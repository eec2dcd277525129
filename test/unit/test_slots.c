/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash slots as a server counts them (the figures are a Redis 7.0's), and what servers say of slots: also what none would say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/slots.h"
#include "suite.h"
#include "world/say.h"

TEST(test_slots_of_keys)
{
    static const struct { const char *key; unsigned slot; } keys[] = {
        {"123456789", 12739}, {"foo", 12182}, {"bar", 5061}, {"hello", 866}, {"{user1000}.following", 3443}, {"foo{}{bar}", 8363},
        {"foo{{bar}}zap", 4015}, {"foo{bar}{zap}", 5061}, {"{bar", 4015}, {"", 0}, {"a}b{c}", 7365}, {"x{", 3596}, {"stock:42", 2594},
        {"hilock:token:{stock:42}", 2594}, {"}{x", 12645}, {"k0", 8579}, {"\xc3\xbc", 9552},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(hl_slot_of(keys[i].key, strlen(keys[i].key)), keys[i].slot);
    assert_int_equal(hl_slot_of("{a\0b}x", 7), hl_slot_of("a\0b", 3));
}

/* Every slot has a tag of its own, and of letters: no braces, nothing that a pattern would take apart. */
TEST(test_a_tag_for_every_slot)
{
    char tag[HL_SLOT_TAG + 1], key[64];
    for (unsigned slot = 0; slot < HL_SLOTS; slot++) {
        hl_slot_tag(slot, tag);
        assert_int_equal(strlen(tag), HL_SLOT_TAG);
        assert_int_equal(strspn(tag, "@ABCDEFGHIJKLMNO"), HL_SLOT_TAG);
        snprintf(key, sizeof key, "hilock:grant:x:{%s}", tag);
        assert_int_equal(hl_slot_of(tag, HL_SLOT_TAG), slot);
        assert_int_equal(hl_slot_of(key, strlen(key)), slot);
    }
}

/* The address and slot that it names, or "". */
static const char *redirected(const char *text)
{
    static char to[300];
    struct hl_reply *reply = say_error("%s", text);
    struct hl_address address;
    unsigned slot;
    *to = '\0';
    if (hl_slots_redirect(reply, "MOVED", &slot, &address))
        snprintf(to, sizeof to, "%u at %d of %s", slot, address.port, address.host);
    say_free(reply);
    return to;
}

TEST(test_redirects)
{
    static const char *const good[][2] = {
        {"MOVED 3999 127.0.0.1:6381", "3999 at 6381 of 127.0.0.1"},
        {"MOVED 0 host.example:1", "0 at 1 of host.example"},
        {"MOVED 16383 :6381", "16383 at 6381 of "},
        {"MOVED 1 ?:6381", "1 at 6381 of "},
        {"MOVED 1 2001:db8::1:6379", "1 at 6379 of 2001:db8::1"},
        {"MOVED 1 [2001:db8::1]:6379", "1 at 6379 of 2001:db8::1"},
        {"MOVED 1 []:6379", "1 at 6379 of "},
        {"MOVED 1 ::6379", "1 at 6379 of :"}, /* leads nowhere, as any name that is none */
    };
    static const char *const bad[] = {
        "MOVED 16384 h:1", "MOVED -1 h:1", "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED 1 h:123456789012345678901234567890",
        "MOVED 1 h:", "MOVED 1 h", "MOVED 1 ", "MOVED 1", "MOVED ", "MOVED", "MOVED x h:1", "MOVED 1 h h:1",
        "MOVED 1 h\n:1", "MOVEDX 1 h:1", "MOVER 1 h:1", "MOVED 1x h:1", "MOVED 1:h:1", "ASK 1 h:1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_string_equal(redirected(good[i][0]), good[i][1]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(redirected(bad[i]), "");
}

static char told[4096];

static void tell(void *arg, unsigned from, unsigned to, const struct hl_slots_master *master)
{
    (void)arg;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%u-%u %s:%d %.*s ", from, to, master->address.host, master->address.port,
             (int)master->id_length, master->id);
}

static struct hl_reply *range(int from, int to, struct hl_reply *host, struct hl_reply *port)
{
    return say_array(3, say_integer(from), say_integer(to), say_array(3, host, port, say_string("id")));
}

static void reads(struct hl_reply *reply, const char *should)
{
    told[0] = '\0';
    hl_slots_read(reply, tell, NULL);
    assert_string_equal(told, should);
    say_free(reply);
}

TEST(test_tables)
{
    reads(say_array(3, range(0, 5000, say_string("10.0.0.1"), say_integer(1)), range(5001, 16383, say_string("::1"), say_integer(65535)),
                    range(7, 7, say_nil(), say_integer(3))),
          "0-5000 10.0.0.1:1 id 5001-16383 ::1:65535 id 7-7 :3 id ");
    reads(say_array(2, range(0, 1, say_string(""), say_integer(1)), range(2, 3, say_string("?"), say_integer(1))), "0-1 :1 id 2-3 :1 id ");
    reads(say_array(0), "");
    reads(say_nil(), "");
    reads(say_integer(5), "");
    reads(say_error("ERR This instance has cluster support disabled"), "");
    reads(say_array(4, range(-1, 5, say_string("h"), say_integer(1)), range(5, 4, say_string("h"), say_integer(1)),
                    range(0, 16384, say_string("h"), say_integer(1)), range(9, 9, say_string("h"), say_integer(9))), "9-9 h:9 id ");
    reads(say_array(5, range(0, 1, say_string("h"), say_integer(0)), range(0, 1, say_string("h"), say_integer(-1)),
                    range(0, 1, say_string("h"), say_integer(65536)), range(0, 1, say_string("h"), say_string("1")),
                    range(0, 1, say_integer(1), say_integer(1))), "");
    reads(say_array(6, say_nil(), say_integer(1), say_array(0), say_array(1, say_integer(0)), say_array(2, say_integer(0), say_integer(1)),
                    say_array(3, say_integer(0), say_integer(1), say_array(0))), "");
    reads(say_array(1, say_array(3, say_integer(0), say_integer(1), say_array(1, say_array(1, say_array(1, say_nil()))))), "");
}

/* Ranges that are none, and slots that are named more than twice. */
TEST(test_tables_that_no_server_writes)
{
    reads(say_array(2, say_array(3, say_integer(0), say_nil(), say_array(2, say_string("h"), say_integer(1))),
                    say_array(3, say_nil(), say_integer(0), say_array(2, say_string("h"), say_integer(1)))), "");
    reads(say_array(2, range(5, 16384, say_string("h"), say_integer(1)), range(16384, 16384, say_string("h"), say_integer(1))), "");
    reads(say_array(1, say_array(3, say_integer(3), say_integer(3), say_array(2, say_string("h"), say_integer(1)))), "3-3 h:1  ");
    reads(say_array(4, range(0, 16383, say_string("h"), say_integer(1)), range(0, 16382, say_string("h"), say_integer(1)),
                    range(5, 5, say_string("h"), say_integer(1)), range(6, 6, say_string("h"), say_integer(1))),
          "0-16383 h:1 id 0-16382 h:1 id 5-5 h:1 id ");
}

/* No cluster has more ranges than slots; what follows them is not read. */
TEST(test_more_ranges_than_slots)
{
    struct hl_reply *items = calloc(HL_SLOTS + 1, sizeof *items), *last = range(9, 9, say_string("h"), say_integer(9));
    assert_non_null(items);
    for (unsigned at = HL_SLOTS - 1; at <= HL_SLOTS; at++) {
        for (unsigned i = 0; i <= HL_SLOTS; i++)
            items[i].type = HL_REPLY_NIL;
        items[at] = *last;
        told[0] = '\0';
        hl_slots_read(&(struct hl_reply){.type = HL_REPLY_ARRAY, .items = items, .count = at + 1}, tell, NULL);
        assert_string_equal(told, at < HL_SLOTS ? "9-9 h:9 id " : "");
    }
    say_free(last);
    free(items);
}

/* The longest name that a host may have. */
TEST(test_addresses)
{
    char host[256];
    struct hl_address address;
    memset(host, 'h', sizeof host);
    assert_true(hl_address_read(&address, host, HL_ADDRESS_HOST_MAX, 65535));
    assert_int_equal(strlen(address.host), HL_ADDRESS_HOST_MAX);
    assert_int_equal(address.port, 65535);
    assert_false(hl_address_read(&address, host, HL_ADDRESS_HOST_MAX + 1, 1));
    assert_false(hl_address_read(&address, "a b", 3, 1));
    assert_false(hl_address_read(&address, "a\x7f", 2, 1));
    assert_true(hl_address_read(&address, "!~", 2, 1));
}
