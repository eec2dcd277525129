/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands at an address, by its first bytes, or by what a server answers; each sentence finds its row again. */
#include <string.h>

#include "base/stranger.h"
#include "base/text.h"
#include "suite.h"

static const struct { const char *bytes, *words; } signs[] = {
    {"HTTP/1.1 400 Bad Request\r\n", "an HTTP server"}, {"H", "an HTTP server"}, {"<html>", "an HTTP server"},
    {"\x15\x03\x01", "a TLS port"},                     {"\x15", "a TLS port"},  {"\x15X", "does not speak"},
    {"SSH-2.0", "does not speak"},                       {"HTML", "does not speak"}, {"\r\n", "does not speak"},
    {"+OK", NULL}, {"-ERR", NULL}, {":1", NULL}, {"$1", NULL}, {"*1", NULL},
};

TEST(the_first_bytes_tell_what_speaks)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const struct hl_stranger *stranger = hl_stranger_of_bytes(signs[i].bytes, strlen(signs[i].bytes));
        assert_int_equal(stranger == NULL, signs[i].words == NULL);
        if (stranger && (!strstr(stranger->words, signs[i].words) || stranger->status != HILOCK_PROTOCOL))
            fail_msg("%s: %s", signs[i].bytes, stranger->words);
    }
}

static struct hl_reply info(const char *text)
{
    return (struct hl_reply){.type = HL_REPLY_STRING, .bytes = text, .length = strlen(text)};
}

TEST(a_server_is_known_by_what_it_lacks)
{
    const struct hl_reply server = info("redis_mode:standalone\r\n"), sentinel = info("redis_mode:sentinel\r\n");
    const struct hl_reply refused = hl_stranger_reply("ERR unknown command 'INFO'");
    assert_ptr_equal(hl_stranger_of_server("", &server), NULL);
    assert_ptr_equal(hl_stranger_of_server("NOPERM no right", &server), NULL);
    assert_ptr_equal(hl_stranger_of_server("", &refused), NULL); /* a proxy may hide INFO */
    assert_ptr_equal(hl_stranger_of_server("ERR unknown command 'SCRIPT'", &server), &hl_stranger_scriptless);
    assert_ptr_equal(hl_stranger_of_server("ERR unknown command 'SCRIPT'", &refused), &hl_stranger_scriptless);
    assert_ptr_equal(hl_stranger_of_server("ERR unknown command 'SCRIPT'", &sentinel), &hl_stranger_sentinel);
}

/* A log quotes at most 99 bytes, and a detail has room for a name and such a sentence. */
TEST(a_sentence_finds_its_row)
{
    static const struct hl_stranger *const all[] = {&hl_stranger_scriptless, &hl_stranger_sentinel, &hl_stranger_no_sentinel,
                                                    &hl_stranger_cluster_node, &hl_stranger_no_cluster};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_ptr_equal(hl_stranger_named(all[i]->words, strlen(all[i]->words)), all[i]);
        assert_ptr_equal(hl_stranger_named(all[i]->words, strlen(all[i]->words) - 1), NULL);
        assert_int_equal(all[i]->status, HILOCK_SERVER);
        assert_in_range(strlen(all[i]->words), 1, sizeof(struct hl_quoted) - 1);
    }
    assert_ptr_equal(hl_stranger_named("", 0), NULL);
}
