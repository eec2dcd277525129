/* SPDX-License-Identifier: BSD-3-Clause */
/* Names: every sentence of loop.h about them. Only localhost and .invalid are asked for, so no test needs a network; what a nameserver
 * says to .invalid, if there is one, is not ours. */
#include "conformance.h"

#include <netinet/in.h>
#include <sys/socket.h>

struct answer {
    struct fixture *fixture;
    struct seen seen;
    int has_loopback, has_error;
};

static void on_resolved(const struct sockaddr *const *addresses, size_t count, const char *error, void *arg)
{
    struct answer *answer = arg;
    on_fire_count(&answer->seen);
    answer->has_error = addresses == NULL;
    assert_int_equal(addresses == NULL, count == 0);
    assert_int_equal(addresses == NULL, error != NULL && *error != '\0');
    for (size_t i = 0; i < count; i++) {
        assert_true(addresses[i]->sa_family == AF_INET || addresses[i]->sa_family == AF_INET6);
        if (addresses[i]->sa_family == AF_INET)
            answer->has_loopback |= ((const struct sockaddr_in *)(const void *)addresses[i])->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    }
}

static void *ask(struct answer *answer, const char *host)
{
    void *query;
    answer->seen.is_inside_call = 1;
    query = answer->fixture->loop.resolve(answer->fixture->loop.ctx, host, on_resolved, answer);
    answer->seen.is_inside_call = 0;
    assert_non_null(query);
    return query;
}

static void localhost_is_known(void **state)
{
    struct answer answer = {.fixture = *state};
    ask(&answer, "localhost");
    turn_until(answer.fixture, &answer.seen, 1);
    turn_past(answer.fixture, 1000);
    assert_int_equal(answer.seen.count, 1);
    assert_true(answer.has_loopback);
}

static void unknown_name_ends(void **state)
{
    struct answer answer = {.fixture = *state};
    ask(&answer, "no-such-host.hilock.invalid");
    turn_until(answer.fixture, &answer.seen, 1);
    turn_past(answer.fixture, 1000);
    assert_int_equal(answer.seen.count, 1);
}

static void impossible_name_is_an_error(void **state)
{
    static const char *const names[] = {"a..b", "0123456789012345678901234567890123456789012345678901234567890123456789.invalid"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct answer answer = {.fixture = fixture};
        ask(&answer, names[i]);
        turn_until(fixture, &answer.seen, 1);
        assert_true(answer.has_error);
    }
}

static void cancel_silences(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {"localhost", "no-such-host.hilock.invalid"};
    for (size_t i = 0; i < 2; i++) {
        struct answer answer = {.fixture = fixture};
        fixture->loop.resolve_cancel(ask(&answer, names[i]));
        turn_past(fixture, 5000);
        assert_int_equal(answer.seen.count, 0);
    }
}

struct race {
    struct fixture *fixture;
    void *queries[4];
    struct seen seen;
};

static void on_resolved_cancel_all(const struct sockaddr *const *addresses, size_t count, const char *error, void *arg)
{
    struct race *race = arg;
    (void)addresses, (void)count, (void)error;
    on_fire_count(&race->seen);
    for (size_t i = 0; i < 4; i++)
        race->fixture->loop.resolve_cancel(race->queries[i]);
}

/* The first one cancels all, itself too: no other one is reported. */
static void cancel_inside_done(void **state)
{
    static const char *const names[] = {"localhost", "no-such-host.hilock.invalid", "localhost", "a..b"};
    struct race race = {.fixture = *state};
    for (size_t i = 0; i < 4; i++) {
        race.queries[i] = race.fixture->loop.resolve(race.fixture->loop.ctx, names[i], on_resolved_cancel_all, &race);
        assert_non_null(race.queries[i]);
    }
    turn_until(race.fixture, &race.seen, 1);
    turn_past(race.fixture, 5000);
    assert_int_equal(race.seen.count, 1);
}

static void many_at_once(void **state)
{
    struct fixture *fixture = *state;
    struct answer answers[50];
    for (size_t i = 0; i < 50; i++) {
        answers[i] = (struct answer){.fixture = fixture};
        ask(&answers[i], "localhost");
    }
    for (size_t i = 0; i < 50; i++) {
        turn_until(fixture, &answers[i].seen, 1);
        assert_true(answers[i].has_loopback);
    }
}

int conformance_resolve(void)
{
    const struct CMUnitTest resolve[] = {
        FIXTURE_TEST(localhost_is_known),
        FIXTURE_TEST(unknown_name_ends),
        FIXTURE_TEST(impossible_name_is_an_error),
        FIXTURE_TEST(cancel_silences),
        FIXTURE_TEST(cancel_inside_done),
        FIXTURE_TEST(many_at_once),
    };
    return cmocka_run_group_tests(resolve, NULL, NULL);
}
