/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening: what is refused with which words, what is left to the caller then, and a client whose program wants to hear nothing. */
#include <unistd.h>

#include "base/platform.h"
#include "client/client.h"
#include "play.h"

/* NULL: the host has no name that can be asked for. Not static: headers of libc may make the function below an inline one. */
extern const char *test_open_host;
const char *test_open_host = "shop-7";

int gethostname(char *name, size_t size)
{
    if (test_open_host)
        snprintf(name, size, "%s", test_open_host);
    return test_open_host ? 0 : -1;
}

struct attempt {
    struct world_loop loop;
    struct hilock_loop table;
    struct hl_doors doors;
    struct hilock_error error;
    hilock_client *client;
};

static void prepare(struct attempt *attempt, struct fixture *s)
{
    memset(attempt, 0, sizeof *attempt);
    world_loop_init(&attempt->loop, &s->world, NULL);
    attempt->table = world_loop_table(&attempt->loop);
    attempt->doors = (struct hl_doors){net_links(&s->net, &attempt->loop), 7, "01234567-aaaa-4bbb-8ccc-0123456789ab",
                                       NULL};
}

static hilock_status open_it(struct attempt *attempt, const struct hilock_client_options *options)
{
    return hl_client_open_with(&attempt->client, &attempt->table, &attempt->doors, options, &attempt->error);
}

static void is_refused(struct fixture *s, const struct hilock_client_options *options, hilock_status status, const char *words)
{
    struct attempt attempt;
    prepare(&attempt, s);
    SAME(s, open_it(&attempt, options), status);
    HOLDS(s, !attempt.client);
    HOLDS(s, !strstr(attempt.error.text, FIXTURE_SECRET));
    if (!strstr(attempt.error.text, words))
        TEXT(s, attempt.error.text, words);
    SAME(s, attempt.loop.ends, 0); /* the loop stays the caller's */
    SAME(s, attempt.loop.timers, 0);
    SAME(s, s->net.secured, 0);
    SAME(s, hl_client_open_with(&attempt.client, &attempt.table, &attempt.doors, options, NULL), status);
}

#define OPTIONS(...) {.size = sizeof(struct hilock_client_options), __VA_ARGS__}
#define NEGATIVE ((uint32_t)-1000)
#define NEGATIVE_WORDS " 4294966296 is out of range: must be at most 2147483647"
static const char *const one_url[] = {"redis://h1", NULL}, *const three_urls[] = {"redis://a", "unix:///b", "redis://c:7000", NULL},
                         *const same_urls[] = {"redis://a", "redis://b", "redis://a:6379/3", NULL},
                         *const spelt_urls[] = {"redis://Store-A", "redis://b", "redis://store-a:6379", NULL},
                         *const sentinel_urls[] = {"redis://a", "redis+sentinel://b", NULL}, *const bad_urls[] = {"redis://a", "redis://b:99999", NULL},
                         *const ten_urls[] = {"redis://a", "redis://b", "redis://c", "redis://d", "redis://e", "redis://f", "redis://g", "redis://h", "redis://i", "redis://j", NULL};
static const struct hilock_allocator half_an_allocator = {.ctx = NULL};

/* Which urls are bad is test_url's to say, which figures test_options's: here is one of each, as the program sees it. */
static const struct { struct hilock_client_options options; hilock_status status; const char *words; } bad[] = {
    {{.size = 0}, HILOCK_INVALID, "options.size is 0: use HILOCK_CLIENT_OPTIONS(...), or set it to sizeof options"},
    {{.size = 3}, HILOCK_INVALID, "options.size is 3: use HILOCK_CLIENT_OPTIONS(...)"},
    {OPTIONS(.url = ""), HILOCK_INVALID, "bad url at character 1: it must begin with redis://, rediss://, unix://, "},
    {OPTIONS(.url = "redis://10.0.0.5:99999"), HILOCK_INVALID, "bad url at character 18: port must be 1..65535"},
    {OPTIONS(.url = "redis://u:" FIXTURE_SECRET "@"), HILOCK_INVALID, "a host must be 1..253 letters"},
    {OPTIONS(.quorum_urls = one_url), HILOCK_INVALID, "bad quorum_urls: 1 given, must be 2..9 and end with NULL; for one server use url"},
    {OPTIONS(.quorum_urls = ten_urls), HILOCK_INVALID, "bad quorum_urls: at least 10 given, must be 2..9"},
    {OPTIONS(.quorum_urls = three_urls, .url = "redis://a"), HILOCK_INVALID, "url and quorum_urls are both set: give one of them"},
    {OPTIONS(.quorum_needed = 2), HILOCK_INVALID, "quorum_needed 2 without quorum_urls: give the masters, or leave it 0"},
    {OPTIONS(.quorum_urls = three_urls, .quorum_needed = 1), HILOCK_INVALID, "bad quorum_needed 1 of 3 masters: must be 2..3, or 0 for the majority; with fewer, two clients could hold at the same time"},
    {OPTIONS(.quorum_urls = three_urls, .quorum_needed = 4), HILOCK_INVALID, "bad quorum_needed 4 of 3 masters: must be 2..3"},
    {OPTIONS(.quorum_urls = same_urls), HILOCK_INVALID, "quorum_urls: number 1 and number 3 are the same server: it would vote twice"},
    {OPTIONS(.quorum_urls = spelt_urls), HILOCK_INVALID, "quorum_urls: number 1 and number 3 are the same server: it would vote twice"},
    {OPTIONS(.quorum_urls = sentinel_urls), HILOCK_UNSUPPORTED, "quorum_urls: number 2 is no redis://, rediss:// or unix:// url: each must be one independent master"},
    {OPTIONS(.quorum_urls = bad_urls), HILOCK_INVALID, "bad url at character 11: port must be 1..65535"},
    {OPTIONS(.sentinel_username = "s"), HILOCK_INVALID, "sentinel_username is set, but the url is not redis+sentinel: no server would get it"},
    {OPTIONS(.url = "redis://x", .sentinel_password = FIXTURE_SECRET), HILOCK_INVALID, "sentinel_password is set, but the url is not redis+sentinel: no server would get it"},
    {OPTIONS(.url = "redis://x", .tls_ca_file = "ca.pem"), HILOCK_INVALID, "tls_ca_file is set, but the url is not rediss: nothing would be encrypted"},
    {OPTIONS(.tls_server_name = "x"), HILOCK_INVALID, "tls_server_name is set, but the url is not rediss: nothing would be encrypted"},
    {OPTIONS(.quorum_urls = three_urls, .tls_ca_dir = "x"), HILOCK_INVALID, "tls_ca_dir is set, but none of quorum_urls is rediss: nothing would be encrypted"},
    {OPTIONS(.url = "rediss://x", .tls_ca_file = "missing.pem"), HILOCK_INVALID, "cannot read tls_ca_file \"missing.pem\""},
    {OPTIONS(.lease_ms = 1), HILOCK_INVALID, "bad lease_ms 1: must be 100..86400000, or 0 for 30000"},
    {OPTIONS(.connect_timeout_ms = NEGATIVE), HILOCK_INVALID, "connect_timeout_ms" NEGATIVE_WORDS},
    {OPTIONS(.waiters_max = UINT32_MAX), HILOCK_INVALID, "waiters_max 4294967295"},
    {OPTIONS(.label = "a b"), HILOCK_INVALID, "bad label \"a b\": must be 1..64 letters, digits or _.-+@/=, because it is part of the holder id"},
    {OPTIONS(.log_level = (hilock_log_level)9), HILOCK_INVALID, "bad log_level 9: must be HILOCK_LOG_ERROR..HILOCK_LOG_DEBUG, or 0 for WARN"},
    {OPTIONS(.allocator = &half_an_allocator), HILOCK_INVALID, "allocator lacks a function: give allocate, reallocate and release, or none"},
};

A_PLAY(bad_options_are_refused_in_words)
{
    struct { struct hilock_client_options known; char unknown[8]; } newer = {{.size = sizeof newer}, {1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_refused(s, &bad[i].options, bad[i].status, bad[i].words);
    is_refused(s, &newer.known, HILOCK_INVALID, "options has unknown members set beyond byte");
}

/* A quorum may have nine masters, and each is asked. */
A_PLAY(nine_masters_are_nine)
{
    static const char *const nine[] = {"redis://a", "redis://b", "redis://c", "redis://d", "redis://e", "redis://f", "redis://g", "redis://h", "redis://i", NULL};
    struct attempt attempt;
    struct hilock_stats stats = {.size = sizeof stats};
    prepare(&attempt, s);
    SAME(s, open_it(&attempt, HILOCK_CLIENT_OPTIONS(.quorum_urls = nine)), HILOCK_OK);
    hilock_client_stats(attempt.client, &stats);
    SAME(s, stats.nodes, 9);
    hilock_client_abandon(attempt.client);
}

/* As many masters as a majority takes are enough, and all of them are not too many. */
A_PLAY(a_majority_up_to_all_may_be_needed)
{
    for (unsigned needed = 2; needed <= 3; needed++) {
        struct attempt attempt;
        prepare(&attempt, s);
        SAME(s, open_it(&attempt, HILOCK_CLIENT_OPTIONS(.quorum_urls = three_urls, .quorum_needed = needed)), HILOCK_OK);
        hilock_client_abandon(attempt.client);
    }
}

A_PLAY(a_bad_loop_is_refused)
{
    struct attempt attempt;
    prepare(&attempt, s);
    attempt.table.resolve = NULL;
    SAME(s, open_it(&attempt, NULL), HILOCK_INVALID);
    HOLDS(s, strstr(attempt.error.text, "lacks a function"));
    prepare(&attempt, s);
    attempt.table.size = offsetof(struct hilock_loop, timer_wake); /* an older header has no more */
    SAME(s, open_it(&attempt, NULL), HILOCK_OK);
    hilock_client_abandon(attempt.client);
    attempt.client = NULL;
    prepare(&attempt, s);
    attempt.table.size = offsetof(struct hilock_loop, timer_wake) - 1;
    SAME(s, open_it(&attempt, NULL), HILOCK_INVALID);
    prepare(&attempt, s);
    attempt.table.size = 8;
    SAME(s, open_it(&attempt, NULL), HILOCK_INVALID);
    SAME(s, hl_client_open_with(&attempt.client, NULL, &attempt.doors, NULL, NULL), HILOCK_INVALID);
    SAME(s, hl_client_open_with(NULL, &attempt.table, &attempt.doors, NULL, &attempt.error), HILOCK_INVALID);
    HOLDS(s, strstr(attempt.error.text, "ret_client is NULL"));
}

A_PLAY(an_open_without_memory_says_so)
{
    const struct hilock_allocator allocator = world_memory_allocator(&s->memory);
    struct attempt attempt;
    prepare(&attempt, s);
    s->memory.fails = 1;
    s->memory.fail_at = s->memory.asked + 2; /* the first is for the url */
    SAME(s, open_it(&attempt, HILOCK_CLIENT_OPTIONS(.allocator = &allocator)), HILOCK_NO_MEMORY);
    TEXT(s, attempt.error.text, "out of memory");
}

/* Of a client that is opened as a program opens it. */
static hilock_client *opened(struct fixture *s, struct world_loop *loop)
{
    hilock_client *client = NULL;
    world_loop_init(loop, &s->world, NULL);
    struct hilock_loop table = world_loop_table(loop);
    SAME(s, hilock_client_open(&client, &table, HILOCK_CLIENT_OPTIONS(.url = "unix:///nowhere/redis.sock", .on_log = hilock_log_nothing), NULL), HILOCK_OK);
    return client;
}

A_PLAY(no_two_clients_have_the_same_id_or_the_same_chances)
{
    struct world_loop loops[2];
    hilock_client *one = opened(s, &loops[0]), *two = opened(s, &loops[1]);
    HOLDS(s, strcmp(hilock_client_uuid(one), hilock_client_uuid(two)) != 0);
    HOLDS(s, hl_random_next(&one->core.host.random) != hl_random_next(&two->core.host.random));
    hilock_client_abandon(one);
    hilock_client_abandon(two);
}

A_PLAY(a_label_names_program_host_and_process)
{
    static const struct { const char *host, *shown; } hosts[] = {
        {"shop-7", "shop-7"}, {"shop 7", "shop-7"}, {"", "unknown"}, {NULL, "unknown"}, {"0123456789012345678901234567890123456789", "01234567890123456789012345678901"},
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct world_loop loop;
        test_open_host = hosts[i].host;
        hilock_client *client = opened(s, &loop);
        TEXT(s, client->core.label, formatted("%.20s@%s/%d", hl_platform_program(), hosts[i].shown, (int)getpid()));
        hilock_client_abandon(client);
    }
    test_open_host = hosts[0].host;
}

static void told_nothing(const struct hilock_result *result, void *user) { *(hilock_status *)user = result->status; }

/* No log, no events, the C library's memory, and a loop that needs no end. */
A_PLAY(a_client_works_whose_program_hears_nothing)
{
    struct attempt attempt;
    hilock_lock *lock = NULL;
    hilock_status status = HILOCK_UNKNOWN;
    prepare(&attempt, s);
    attempt.table.free_ctx = NULL;
    SAME(s, open_it(&attempt, NULL), HILOCK_OK);
    SAME(s, hilock_lock_create(&lock, attempt.client, "stock", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 1000)), HILOCK_OK);
    SAME(s, hilock_lock_create(NULL, attempt.client, "", NULL), HILOCK_INVALID);
    SAME(s, hilock_acquire(lock, HILOCK_FOREVER, told_nothing, &status), HILOCK_OK);
    run_ms(s, 5);
    SAME(s, status, HILOCK_OK);
    store_delete(&s->store, "stock");
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 2000);
    SAME(s, hilock_lock_state(lock), HILOCK_STATE_IDLE); /* lost, and ignored */
    hilock_lock_free(lock);
    SAME(s, hilock_client_close(attempt.client, 0, NULL, NULL), HILOCK_OK);
    run_ms(s, 5);
    SAME(s, attempt.loop.timers, 0);
    SAME(s, s->net.links, 0);
}

A_PLAY(a_loss_that_is_ignored_is_not_looked_at)
{
    struct hilock_event event;
    memset(&event, 0xff, sizeof event);
    hilock_lost_ignored(&event, NULL);
    hilock_lost_ignored(NULL, s);
}
