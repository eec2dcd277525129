/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash slots as a server counts them (the figures are a Redis 7.0's), and what servers say of slots: also what none would say. */
#include <stdio.h>
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

struct redirect_case { const char *text; int is_one; unsigned slot; const char *host; int port; };

TEST(test_redirects)
{
    static const struct redirect_case cases[] = {
        {"MOVED 3999 127.0.0.1:6381", 1, 3999, "127.0.0.1", 6381},
        {"MOVED 0 host.example:1", 1, 0, "host.example", 1},
        {"MOVED 16383 :6381", 1, 16383, "", 6381},
        {"MOVED 1 ?:6381", 1, 1, "", 6381},
        {"MOVED 1 2001:db8::1:6379", 1, 1, "2001:db8::1", 6379},
        {"MOVED 1 [2001:db8::1]:6379", 1, 1, "2001:db8::1", 6379},
        {"MOVED 1 ::6379", 1, 1, ":", 6379}, /* leads nowhere, as any name that is none */
        {"MOVED 16384 h:1", 0, 0, "", 0},
        {"MOVED -1 h:1", 0, 0, "", 0},
        {"MOVED 1 h:0", 0, 0, "", 0},
        {"MOVED 1 h:65536", 0, 0, "", 0},
        {"MOVED 1 h:123456789012345678901234567890", 0, 0, "", 0},
        {"MOVED 1 h:", 0, 0, "", 0},
        {"MOVED 1 h", 0, 0, "", 0},
        {"MOVED 1 ", 0, 0, "", 0},
        {"MOVED 1", 0, 0, "", 0},
        {"MOVED ", 0, 0, "", 0},
        {"MOVED", 0, 0, "", 0},
        {"MOVED x h:1", 0, 0, "", 0},
        {"MOVED 1 h h:1", 0, 0, "", 0},
        {"MOVED 1 h\n:1", 0, 0, "", 0},
        {"MOVEDX 1 h:1", 0, 0, "", 0},
        {"ASK 1 h:1", 0, 0, "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hl_reply *reply = say_error("%s", cases[i].text);
        struct hl_address address = {"untouched", -1};
        unsigned slot = 77;
        int is_one = hl_slots_redirect(reply, "MOVED", &slot, &address);
        if (is_one != cases[i].is_one)
            print_error("%s\n", cases[i].text);
        assert_int_equal(is_one, cases[i].is_one);
        if (is_one) {
            assert_int_equal(slot, cases[i].slot);
            assert_string_equal(address.host, cases[i].host);
            assert_int_equal(address.port, cases[i].port);
        }
        say_free(reply);
    }
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
