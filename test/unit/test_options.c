/* SPDX-License-Identifier: BSD-3-Clause */
/* Options: defaults, bounds, refusals with words, structs of older and newer headers. */
#include <stdlib.h>
#include <string.h>

#include "client/options.h"
#include "suite.h"

static struct hl_text why;

static void lost(const struct hilock_event *event, void *user) { (void)event, (void)user; }

static hilock_status read_client(struct hilock_client_options *to, const struct hilock_client_options *from)
{
    memset(&why, 0, sizeof why);
    return hl_options_read_client(to, from, &why);
}

static hilock_status read_lock(struct hilock_lock_options *to, const struct hilock_lock_options *from)
{
    memset(&why, 0, sizeof why);
    return hl_options_read_lock(to, from, &(struct hilock_client_options){.lease_ms = 30000}, &why);
}

#define CLIENT(member, number) {offsetof(struct hilock_client_options, member), (number), #member}
static const struct { size_t at; uint32_t number; const char *name; } defaults[] = {
    CLIENT(connect_timeout_ms, 5000), CLIENT(command_timeout_ms, 3000),  CLIENT(retry_max_ms, 2000),
    CLIENT(keepalive_ms, 15000),      CLIENT(lease_ms, 30000),           CLIENT(waiters_max, 65536),
    CLIENT(name_waiters_max, 65536),  CLIENT(inflight_max, 16384),       CLIENT(turns_max, 16),
    CLIENT(token_ttl_ms, 600000),     CLIENT(restart_guard_ms, 0),       CLIENT(stall_report_ms, 1000),
    CLIENT(log_level, HILOCK_LOG_WARN),
}, good_client[] = {
    CLIENT(connect_timeout_ms, 1),   CLIENT(connect_timeout_ms, 0x7fffffff), CLIENT(command_timeout_ms, 10), CLIENT(command_timeout_ms, 86400000),
    CLIENT(retry_max_ms, 1),         CLIENT(keepalive_ms, 100),              CLIENT(lease_ms, 100),          CLIENT(lease_ms, 86400000),
    CLIENT(waiters_max, 1),          CLIENT(inflight_max, 1),                CLIENT(inflight_max, 1 << 20),  CLIENT(turns_max, 1),
    CLIENT(turns_max, 256),          CLIENT(token_ttl_ms, 1000),             CLIENT(token_ttl_ms, 86400000), CLIENT(restart_guard_ms, HILOCK_GUARD_OFF),
    CLIENT(name_waiters_max, 7),     CLIENT(restart_guard_ms, 30000),          CLIENT(restart_guard_ms, 0x7fffffff), CLIENT(stall_report_ms, 1),
}, bad_client[] = {
    CLIENT(connect_timeout_ms, 0x80000000), CLIENT(command_timeout_ms, 9), CLIENT(command_timeout_ms, 86400001), CLIENT(retry_max_ms, UINT32_MAX),
    CLIENT(keepalive_ms, 99), CLIENT(lease_ms, 99), CLIENT(lease_ms, 86400001), CLIENT(lease_ms, UINT32_MAX), CLIENT(waiters_max, UINT32_MAX),
    CLIENT(inflight_max, (1 << 20) + 1), CLIENT(turns_max, 257), CLIENT(token_ttl_ms, 999), CLIENT(token_ttl_ms, 86400001),
    CLIENT(restart_guard_ms, 99), CLIENT(restart_guard_ms, 29999), CLIENT(restart_guard_ms, 0x80000000), CLIENT(restart_guard_ms, HILOCK_FOREVER),
    CLIENT(restart_guard_ms, UINT32_MAX), CLIENT(restart_guard_ms, UINT32_MAX - 1), CLIENT(connect_timeout_ms, HILOCK_GUARD_OFF), CLIENT(stall_report_ms, UINT32_MAX),
};

TEST(defaults_are_those_of_the_header)
{
    struct hilock_client_options options;
    assert_int_equal(read_client(&options, NULL), HILOCK_OK);
    assert_null(options.url);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (memcmp((char *)&options + defaults[i].at, &defaults[i].number, 4) != 0)
            fail_msg("%s is not %u", defaults[i].name, defaults[i].number);
}

TEST(bounds_of_a_client)
{
    struct hilock_client_options from, to;
    for (size_t i = 0; i < sizeof good_client / sizeof *good_client; i++) {
        from = hilock_client_options_default();
        memcpy((char *)&from + good_client[i].at, &good_client[i].number, 4);
        if (read_client(&to, &from) != HILOCK_OK)
            fail_msg("%s %u is refused: %s", good_client[i].name, good_client[i].number, why.bytes);
        assert_memory_equal((char *)&to + good_client[i].at, &good_client[i].number, 4);
    }
    for (size_t i = 0; i < sizeof bad_client / sizeof *bad_client; i++) {
        from = hilock_client_options_default();
        memcpy((char *)&from + bad_client[i].at, &bad_client[i].number, 4);
        if (read_client(&to, &from) != HILOCK_INVALID || !strstr(why.bytes, bad_client[i].name))
            fail_msg("%s %u: \"%s\"", bad_client[i].name, bad_client[i].number, why.bytes);
    }
}

/* Neither -1 nor the start of the negative numbers, where overflows end, is near one. */
TEST(no_constant_is_a_span_or_a_small_negative_number)
{
    static const uint32_t constants[] = {HILOCK_FOREVER, HILOCK_GUARD_OFF, HILOCK_ANY_NUMBER};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        assert_in_range(constants[i], (uint32_t)INT32_MAX + 1000000, (uint32_t)-1000000);
}

TEST(without_a_log_warnings_go_to_standard_error)
{
    struct hilock_client_options to;
    assert_int_equal(read_client(&to, NULL), HILOCK_OK);
    assert_ptr_equal(to.on_log, hilock_log_stderr);
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.on_log = hilock_log_nothing)), HILOCK_OK);
    assert_ptr_equal(to.on_log, NULL); /* silence: no line is made */
    hilock_log_nothing(HILOCK_LOG_ERROR, "not seen", NULL);
}

TEST(a_name_has_no_more_waiters_than_the_client)
{
    struct hilock_client_options to;
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.waiters_max = 10, .name_waiters_max = 20)), HILOCK_OK);
    assert_int_equal(to.name_waiters_max, 10);
}

#define LOCK(member, is, ...)                                                                                   \
    {offsetof(struct hilock_lock_options, member), (uint32_t)(is), #member,                                     \
     {.size = sizeof(struct hilock_lock_options), .on_lost = lost, __VA_ARGS__}}
static const struct { size_t at; uint32_t number; const char *name; struct hilock_lock_options given; } locks[] = {
    LOCK(lease_ms, 30000, .lease_ms = 0),
    LOCK(min_validity_ms, 0, .lease_ms = 0), /* half of what the grant gives */
    LOCK(hold_max_ms, 0, .lease_ms = 0),
    LOCK(hold_max_ms, 0, .hold_max_ms = HILOCK_FOREVER),
    LOCK(hold_max_ms, 100, .lease_ms = 100, .hold_max_ms = 100),
    LOCK(renew, HILOCK_RENEW_AUTO, .lease_ms = 0),
    /* replicas: long enough for one, and short enough for the grant to be worth something */
    LOCK(replica_timeout_ms, 0, .lease_ms = 0),
    LOCK(replica_timeout_ms, 1000, .replicas = 1),
    LOCK(replica_timeout_ms, 250, .replicas = 64, .lease_ms = 500),
    LOCK(replica_timeout_ms, 500, .replicas = 1, .lease_ms = 500, .replica_timeout_ms = 500),
    /* how much must be left of a FAIR grant depends on how it came */
    LOCK(min_validity_ms, 0, .kind = HILOCK_FAIR),
    LOCK(min_validity_ms, 17, .kind = HILOCK_FAIR, .min_validity_ms = 17),
    LOCK(min_validity_ms, 92, .lease_ms = 100, .min_validity_ms = 92),
    LOCK(holders_max, 1, .holders_max = 0),
    LOCK(holders_max, 1000000, .holders_max = 1000000),
    LOCK(holders_max, 1000000, .holders_max = HILOCK_ANY_NUMBER),
    LOCK(share_local_ms, 10000, .holders_max = HILOCK_ANY_NUMBER, .share_local_ms = 10000), /* a third of the lease */
    LOCK(wake, HILOCK_WAKE_SUBSCRIBE, .lease_ms = 0),
    LOCK(wake, HILOCK_WAKE_POLL, .wake = HILOCK_WAKE_POLL),
    LOCK(wake, HILOCK_WAKE_POLL, .kind = HILOCK_SIMPLE), /* it has nothing to subscribe to */
    LOCK(poll_min_ms, 50, .lease_ms = 0),
    LOCK(poll_jitter_ms, 50, .lease_ms = 0),
    LOCK(poll_min_ms, 7, .wake = HILOCK_WAKE_POLL, .poll_min_ms = 7),
    LOCK(poll_jitter_ms, 3, .wake = HILOCK_WAKE_POLL, .poll_jitter_ms = 3),
};

TEST(what_a_lock_is_not_given_it_gets)
{
    struct hilock_lock_options lock;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        if (read_lock(&lock, &locks[i].given) != HILOCK_OK ||
            memcmp((char *)&lock + locks[i].at, &locks[i].number, 4) != 0)
            fail_msg("row %zu: %s is not %u (%s)", i, locks[i].name, locks[i].number, why.bytes);
}

TEST(mistakes_are_named)
{
    struct hilock_client_options to;
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.url = "rediss://x", .tls_key_file = "x")), HILOCK_INVALID);
    assert_non_null(strstr(why.bytes, "tls_key_file is set, but tls_cert_file is not"));
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.url = "rediss://x", .tls_server_name = "")), HILOCK_INVALID);
    assert_non_null(strstr(why.bytes, "bad tls_server_name"));
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.url = "rediss://x", .tls_cert_file = "x", .tls_server_name = "y")), HILOCK_OK);
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 99)), HILOCK_INVALID);
    assert_non_null(strstr(why.bytes, "bad restart_guard_ms 99: must be at least the longest lease, so 100 or more"));
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.label = "")), HILOCK_INVALID);
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.label = "0123456789012345678901234567890123456789012345678901234567890123x")), HILOCK_INVALID);
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.label = "host-1.example:7")), HILOCK_INVALID);
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.label = "a.B_9-+@/=,")), HILOCK_OK);
}

/* A guard may be as short as the shortest lease. */
TEST(a_guard_is_no_shorter_than_any_lease)
{
    struct hilock_client_options to;
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 100, .lease_ms = 100)), HILOCK_OK);
}

static void *allocate(size_t bytes, void *ctx) { (void)ctx; return malloc(bytes); }
static void *reallocate(void *block, size_t bytes, void *ctx) { (void)ctx; return realloc(block, bytes); }
static void release(void *block, void *ctx) { (void)ctx; free(block); }

TEST(an_allocator_has_all_three_functions)
{
    static const struct hilock_allocator whole = {allocate, reallocate, release, NULL},
                                         lacking[] = {{NULL, reallocate, release, NULL}, {allocate, NULL, release, NULL}, {allocate, reallocate, NULL, NULL}};
    struct hilock_client_options to;
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.allocator = &whole)), HILOCK_OK);
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.allocator = &lacking[i])), HILOCK_INVALID);
}

TEST(a_prefix_must_leave_room_for_a_name)
{
    char prefix[1100];
    struct hilock_client_options to;
    memset(prefix, 'p', sizeof prefix);
    prefix[1024] = '\0';
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.name_prefix = prefix)), HILOCK_INVALID);
    prefix[1023] = '\0';
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.name_prefix = prefix)), HILOCK_OK);
}

TEST(a_prefix_must_be_able_to_begin_a_name)
{
    struct hilock_client_options to;
    const char *good[] = {"", "shop:", "{shop}:", "{", "a{b", "hilock", "redisson"};
    const char *bad[] = {"hilock:", "hilock:shop:", "redisson_lock", "}", "x}", "{}", "a{}b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.name_prefix = good[i])), HILOCK_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.name_prefix = bad[i])), HILOCK_INVALID);
}

/* All other mistakes are test_refusals'. */
TEST(a_lock_may_be_as_much_as_it_may)
{
    struct hilock_lock_options to;
    assert_int_equal(read_lock(&to, HILOCK_LOCK_OPTIONS(.on_lost = lost, .min_validity_ms = 29694)), HILOCK_INVALID);
    assert_int_equal(read_lock(&to, HILOCK_LOCK_OPTIONS(.on_lost = lost, .lease_ms = 100, .min_validity_ms = 93)),
                     HILOCK_INVALID);
    assert_int_equal(read_lock(&to, HILOCK_LOCK_OPTIONS(.on_lost = lost, .hold_max_ms = 29999)), HILOCK_INVALID);
}

TEST(an_older_program_gets_the_defaults)
{
    /* exactly as long as it says: reading behind it is found by the sanitizers */
    size_t size = offsetof(struct hilock_lock_options, lease_ms);
    struct hilock_lock_options *old = malloc(size), to;
    assert_non_null(old);
    memset(old, 0, size);
    memcpy((char *)old + offsetof(struct hilock_lock_options, size), &size, sizeof size);
    memcpy((char *)old + offsetof(struct hilock_lock_options, on_lost), &(hilock_event_fn *){lost}, sizeof(hilock_event_fn *));
    assert_int_equal(read_lock(&to, old), HILOCK_OK);
    assert_int_equal(to.lease_ms, 30000);
    free(old);
}

/* It has set nothing but the size. */
TEST(a_size_alone_is_enough)
{
    struct hilock_client_options given = {.size = sizeof given.size, .lease_ms = 5000}, to;
    assert_int_equal(read_client(&to, &given), HILOCK_OK);
    assert_int_equal(to.lease_ms, 30000);
}

TEST(a_name_in_a_certificate_has_253_letters_at_most)
{
    struct hilock_client_options to;
    char name[255];
    memset(name, 'n', sizeof name);
    name[253] = '\0';
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.tls_server_name = name)), HILOCK_OK);
    name[253] = 'n', name[254] = '\0';
    assert_int_equal(read_client(&to, HILOCK_CLIENT_OPTIONS(.tls_server_name = name)), HILOCK_INVALID);
}

TEST(a_newer_program_may_only_say_what_is_known)
{
    struct { struct hilock_client_options known; char unknown[32]; } newer;
    struct hilock_client_options to;
    memset(&newer, 0, sizeof newer);
    newer.known.size = sizeof newer;
    newer.known.lease_ms = 5000;
    assert_int_equal(read_client(&to, &newer.known), HILOCK_OK);
    assert_int_equal(to.lease_ms, 5000);
    newer.unknown[31] = 1;
    assert_int_equal(read_client(&to, &newer.known), HILOCK_INVALID);
    assert_non_null(strstr(why.bytes, "the program was built for a newer one"));
}
