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
    answer->seen.is_inside_call = 1;
    void *query = answer->fixture->loop.resolve(answer->fixture->loop.ctx, host, on_resolved, answer);
    answer->seen.is_inside_call = 0;
    assert_non_null(query);
    return query;
}

/* .invalid may be anything that a nameserver makes of it. */
CONFORMS(each_name_ends_once)
{
    static const char label[] = "0123456789012345678901234567890123456789012345678901234567890123456789.invalid";
    static const struct { const char *name; int has_loopback, has_error; } cases[] = {
        {"localhost", 1, 0}, {"no-such-host.hilock.invalid", 0, 0}, {"a..b", 0, 1}, {label, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer answer = {.fixture = fixture};
        ask(&answer, cases[i].name);
        turn_until(answer.fixture, &answer.seen, 1);
        turn_past(answer.fixture, 1000);
        assert_int_equal(answer.seen.count, 1);
        assert_true(answer.has_loopback >= cases[i].has_loopback);
        assert_true(answer.has_error >= cases[i].has_error);
    }
}

CONFORMS(cancel_silences)
{
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
CONFORMS(cancel_inside_done)
{
    static const char *const names[] = {"localhost", "no-such-host.hilock.invalid", "localhost", "a..b"};
    struct race race = {.fixture = fixture};
    for (size_t i = 0; i < 4; i++) {
        race.queries[i] = race.fixture->loop.resolve(race.fixture->loop.ctx, names[i], on_resolved_cancel_all, &race);
        assert_non_null(race.queries[i]);
    }
    turn_until(race.fixture, &race.seen, 1);
    turn_past(race.fixture, 5000);
    assert_int_equal(race.seen.count, 1);
}

CONFORMS(many_at_once)
{
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
