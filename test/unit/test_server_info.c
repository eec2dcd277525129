/* SPDX-License-Identifier: BSD-3-Clause */
/* INFO, read: the start is never believed to be later than it can be true, another run is another, and any bytes will do. */
#include <string.h>

#include "node/server_info.h"
#include "suite.h"

#define RUN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define RUN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const uint64_t now_us = 500000000;

static struct hl_reply said(const char *text) { return (struct hl_reply){.type = HL_REPLY_STRING, .bytes = text, .length = strlen(text)}; }

static enum hl_server_info_news server(struct hl_server_info *server_info, const char *text, uint64_t at_us, uint64_t old_link_reply_at_us)
{
    struct hl_reply reply = said(text);
    return hl_server_info_read_server(server_info, &reply, at_us, old_link_reply_at_us);
}

static enum hl_server_info_news memory(struct hl_server_info *server_info, const char *text)
{
    struct hl_reply reply = said(text);
    return hl_server_info_read_memory(server_info, &reply);
}

enum { S = 1000000 };
#define AS_BEFORE HL_SERVER_INFO_AS_BEFORE
#define NEWS HL_SERVER_INFO_NEWS
#define ANOTHER HL_SERVER_INFO_ANOTHER
#define OF_A "run_id:" RUN_A "\r\n"
#define OF_B "run_id:" RUN_B "\r\n"
#define UP(seconds) "uptime_in_seconds:" #seconds "\r\n"

/* What a server says in a row, when, and when it had answered before; and what is known of its start then. */
static const struct {
    int is_first;
    const char *text;
    uint64_t at_us, old_link_reply_at_us;
    enum hl_server_info_news news;
    int64_t started_us;
} answers[] = {
    /* an uptime counts a second less */
    {1, "# Server\r\n" OF_A UP(40) "uptime_in_days:0\r\n", 500 * S, 0, AS_BEFORE, 461 * S},
    {1, "uptime_in_seconds:1\n", 500 * S, 0, AS_BEFORE, 500 * S},
    {1, "uptime_in_seconds:0", 500 * S, 0, AS_BEFORE, 500 * S},
    {1, UP(999999999999), 500 * S, 0, AS_BEFORE, (int64_t)(500 - 1000000000) * S},
    /* a host that has just booted, and a server elsewhere that is up for long: its guard is over */
    {1, OF_A UP(3601), 5 * S, 0, AS_BEFORE, (int64_t)-3595 * S},
    /* a run that was read keeps its start, another run id is another run */
    {1, OF_A UP(40), 500 * S, 0, AS_BEFORE, 461 * S},
    {0, OF_A UP(4000), 501 * S, 500 * S, AS_BEFORE, 461 * S},
    {0, OF_A UP(0), 501 * S, 500 * S, AS_BEFORE, 461 * S},
    {0, OF_B UP(3), 509 * S, 500 * S, NEWS, 507 * S},
    /* another server, or the wall clock was set forward: what had answered as another run has not been up for so long */
    {0, OF_A UP(3600), 519 * S, 514 * S, ANOTHER, 514 * S},
    {0, OF_B UP(9), 525 * S, 519 * S, ANOTHER, 519 * S},
    {0, OF_A UP(8), 532 * S, 526 * S, NEWS, 526 * S},
    /* without run ids the uptime tells */
    {1, UP(40), 500 * S, 0, AS_BEFORE, 461 * S},
    {0, UP(44), 505 * S, 0, AS_BEFORE, 462 * S},
    {0, UP(4), 510 * S, 0, AS_BEFORE, 507 * S},
    {0, UP(2), 514 * S, 510 * S + S / 2, NEWS, 513 * S},
};

/* It is the last that fits, and a longer one is none. */
TEST(a_run_id_has_forty_letters)
{
    char run_id[HL_RUN_ID_MAX + 1];
    struct hl_reply reply = said(OF_A);
    hl_server_info_read_run(run_id, &reply);
    assert_string_equal(run_id, RUN_A);
    reply = said("run_id:" RUN_A "a\r\n");
    hl_server_info_read_run(run_id, &reply);
    assert_string_equal(run_id, "");
}

TEST(a_replica_is_a_slave_to_the_letter)
{
    static const struct { const char *text; int is_replica; } rows[] = {
        {"# Replication\r\nrole:slave\r\n", 1}, {"role:master\r\n", 0}, {"role:slaves\r\n", 0}, {"role:slate\r\n", 0}, {"role:\r\n", 0}, {"", 0},
        {"role:\nrole:slave\r\n", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hl_reply reply = said(rows[i].text);
        assert_int_equal(hl_server_info_is_replica(&reply), rows[i].is_replica);
    }
}

TEST(the_start_is_never_believed_to_be_later_than_it_can_be_true)
{
    struct hl_server_info server_info;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (answers[i].is_first)
            server_info = (struct hl_server_info){.run_id = ""};
        assert_int_equal(server(&server_info, answers[i].text, answers[i].at_us, answers[i].old_link_reply_at_us),
                         answers[i].news);
        if (server_info.started_us != answers[i].started_us)
            fail_msg("row %zu started at %lld", i, (long long)server_info.started_us);
        const char *run = strstr(answers[i].text, "run_id:");
        assert_string_equal(server_info.run_id, !run ? "" : strncmp(run, OF_A, strlen(OF_A)) == 0 ? RUN_A : RUN_B);
    }
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
