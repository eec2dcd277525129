/* SPDX-License-Identifier: BSD-3-Clause */
/* INFO, read: the start is never believed to be later than it can be true, another run is another, and any bytes will do. */
#include <string.h>

#include "node/server_info.h"
#include "suite.h"

#define RUN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define RUN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const uint64_t now_us = 500000000;

static struct hl_reply said(const char *text) { return (struct hl_reply){.type = HL_REPLY_STRING, .bytes = text, .length = strlen(text)}; }

static enum hl_server_info_news server(struct hl_server_info *server_info, const char *text, uint64_t at_us, uint64_t earlier_us)
{
    struct hl_reply reply = said(text);
    return hl_server_info_read_server(server_info, &reply, at_us, earlier_us);
}

static enum hl_server_info_news memory(struct hl_server_info *server_info, const char *text)
{
    struct hl_reply reply = said(text);
    return hl_server_info_read_memory(server_info, &reply);
}

TEST(an_uptime_counts_a_second_less)
{
    struct hl_server_info server_info = {.run_id = ""};
    assert_int_equal(server(&server_info, "# Server\r\nrun_id:" RUN_A "\r\nuptime_in_seconds:40\r\nuptime_in_days:0\r\n", now_us, 0), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(server_info.started_us, now_us - 39000000);
    assert_string_equal(server_info.run_id, RUN_A);
    server_info = (struct hl_server_info){.run_id = ""};
    server(&server_info, "uptime_in_seconds:1\n", now_us, 0);
    assert_int_equal(server_info.started_us, now_us);
    server(&server_info, "uptime_in_seconds:0", now_us, 0);
    assert_int_equal(server_info.started_us, now_us);
    server(&server_info, "uptime_in_seconds:999999999999\r\n", now_us, 0);
    assert_true(server_info.started_us < 0);
}

/* A host that has just booted, and a server elsewhere that is up for long: its guard is over. */
TEST(it_may_have_started_before_our_clock)
{
    struct hl_server_info server_info = {.run_id = ""};
    server(&server_info, "run_id:" RUN_A "\r\nuptime_in_seconds:3601\r\n", 5000000, 0);
    assert_int_equal(server_info.started_us, 5000000 - (int64_t)3600000000);
}

TEST(another_run_id_is_another_run)
{
    struct hl_server_info server_info = {.run_id = ""};
    server(&server_info, "run_id:" RUN_A "\r\nuptime_in_seconds:40\r\n", now_us, 0);
    assert_int_equal(server(&server_info, "run_id:" RUN_A "\r\nuptime_in_seconds:45\r\n", now_us + 5000000, now_us), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(server(&server_info, "run_id:" RUN_B "\r\nuptime_in_seconds:3\r\n", now_us + 9000000, now_us), HL_SERVER_INFO_NEWS);
    assert_int_equal(server_info.started_us, now_us + 7000000);
}

/* The wall clock of the server was set forward: what had answered as another run has not been up for so long. */
TEST(a_run_began_after_the_latest_answer_of_the_one_before)
{
    struct hl_server_info server_info = {.run_id = ""};
    server(&server_info, "run_id:" RUN_A "\r\nuptime_in_seconds:40\r\n", now_us, 0);
    assert_int_equal(server(&server_info, "run_id:" RUN_B "\r\nuptime_in_seconds:3600\r\n", now_us + 9000000, now_us + 4000000), HL_SERVER_INFO_NEWS);
    assert_int_equal(server_info.started_us, now_us + 4000000);
}

TEST(a_run_that_was_read_keeps_its_start)
{
    struct hl_server_info server_info = {.run_id = ""};
    server(&server_info, "run_id:" RUN_A "\r\nuptime_in_seconds:40\r\n", now_us, 0);
    assert_int_equal(server(&server_info, "run_id:" RUN_A "\r\nuptime_in_seconds:4000\r\n", now_us + 1000000, 0), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(server_info.started_us, now_us - 39000000);
    assert_int_equal(server(&server_info, "run_id:" RUN_A "\r\nuptime_in_seconds:0\r\n", now_us + 1000000, 0), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(server_info.started_us, now_us - 39000000);
}

TEST(without_run_ids_the_uptime_tells)
{
    struct hl_server_info server_info = {.run_id = ""};
    assert_int_equal(server(&server_info, "uptime_in_seconds:40\r\n", now_us, 0), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(server(&server_info, "uptime_in_seconds:44\r\n", now_us + 5000000, 0), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(server(&server_info, "uptime_in_seconds:4\r\n", now_us + 10000000, 0), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(server(&server_info, "uptime_in_seconds:2\r\n", now_us + 14000000, now_us + 10500000), HL_SERVER_INFO_NEWS);
    assert_int_equal(server_info.started_us, now_us + 13000000);
}

TEST(what_cannot_be_read_counts_as_just_started)
{
    static const char *const texts[] = {"", "uptime_in_seconds", "uptime_in_seconds:", "uptime_in_seconds:-5\r\n", "uptime_in_seconds:4x\r\n",
                                        "xuptime_in_seconds:40\r\n", "uptime_in_seconds:1234567890123\r\n", "\r\n\n\n:\n", "uptime_in_seconds:\r\n40"};
    const struct hl_reply error = {.type = HL_REPLY_ERROR, .bytes = "NOPERM", .length = 6}, list = {.type = HL_REPLY_ARRAY};
    struct hl_server_info server_info = {.run_id = ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        server(&server_info, "uptime_in_seconds:40\r\n", now_us, 0);
        assert_int_equal(server(&server_info, texts[i], now_us + 1000000, 0), HL_SERVER_INFO_UNREADABLE);
        assert_int_equal(server_info.started_us, now_us + 1000000);
    }
    assert_int_equal(hl_server_info_read_server(&server_info, &error, now_us, 0), HL_SERVER_INFO_UNREADABLE);
    assert_int_equal(hl_server_info_read_server(&server_info, &list, now_us, 0), HL_SERVER_INFO_UNREADABLE);
    assert_int_equal(hl_server_info_read_memory(&server_info, &error), HL_SERVER_INFO_UNREADABLE);
}

/* Its bytes end where they end, and a value that is no run id is none. */
TEST(hostile_values_are_not_kept)
{
    struct hl_server_info server_info = {.run_id = ""};
    const char cut[] = {'r', 'u', 'n', '_', 'i', 'd', ':', 'x'};
    struct hl_reply reply = {.type = HL_REPLY_STRING, .bytes = cut, .length = sizeof cut};
    assert_int_equal(hl_server_info_read_server(&server_info, &reply, now_us, 0), HL_SERVER_INFO_UNREADABLE);
    server(&server_info, "run_id:" RUN_A RUN_A "\r\nuptime_in_seconds:40\r\n", now_us, 0);
    assert_string_equal(server_info.run_id, "");
    assert_int_equal(memory(&server_info, "maxmemory:1\r\nmaxmemory_policy:volatile-" RUN_A "\r\n"), HL_SERVER_INFO_AS_BEFORE);
    assert_string_equal(server_info.policy, "");
}

TEST(a_policy_that_evicts_is_news_once)
{
    struct hl_server_info server_info = {.run_id = ""};
    assert_int_equal(memory(&server_info, "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n"), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(memory(&server_info, "# Memory\r\nmaxmemory:5\r\nmaxmemory_policy:noeviction\r\n"), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(memory(&server_info, "# Memory\r\nmaxmemory:5\r\nmaxmemory_human:5B\r\nmaxmemory_policy:volatile-ttl\r\n"), HL_SERVER_INFO_NEWS);
    assert_string_equal(server_info.policy, "volatile-ttl");
    assert_int_equal(memory(&server_info, "maxmemory:5\r\nmaxmemory_policy:volatile-ttl\r\n"), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(memory(&server_info, "maxmemory_policy:allkeys-lru\r\n"), HL_SERVER_INFO_NEWS); /* no limit told: it may have one */
    assert_int_equal(memory(&server_info, "maxmemory:1099511627776000\r\nmaxmemory_policy:noeviction\r\n"), HL_SERVER_INFO_AS_BEFORE);
    assert_int_equal(memory(&server_info, "maxmemory:1099511627776000\r\nmaxmemory_policy:allkeys-lru\r\n"), HL_SERVER_INFO_NEWS);
}
