/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that was stopped for longer than its leases learns of every loss before anything else happens in it. Its
 * twin, in a build with planted bugs: it is not so once R6_LOSS_IN_LINE is planted. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

#ifdef HL_PLANTS
#include "base/plant.h"
#endif
#include "support/child.h"
#include "support/fixture.h"
#include "support/ledger.h"

/* ---- past its leases ----
 *
 *   child    holds, waits, asks  READY       asks once more  SIGSTOP ....................... goes on: answers and timers at once
 *   parent                       server stopped  ASK                 server goes on, leases run out  SIGCONT */

enum { READY, ASK, OTHERS_FIRST };

struct sleeper {
    const char *url;
    struct ledger *ledger;
    struct client client;
    struct handle renewed, fixed, wanted, asked;
    unsigned told, lost, disconnected;
};

static void note_loss(struct handle *handle)
{
    struct sleeper *s = handle->user;
    s->lost++;
    if (s->told > 0 || s->client.disconnected > s->disconnected)
        atomic_fetch_add(ledger_word(s->ledger, OTHERS_FIRST), 1);
}

static void note_other(struct handle *handle) { ((struct sleeper *)handle->user)->told++; }

static int is_set(void *word) { return atomic_load((_Atomic uint64_t *)word) != 0; }

static void fall_asleep(struct sleeper *s)
{
    client_open_with(&s->client, HILOCK_CLIENT_OPTIONS(.url = s->url, .command_timeout_ms = 30000));
    handle_open(&s->renewed, &s->client, "renewed", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    handle_open(&s->fixed, &s->client, "fixed", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    handle_open(&s->wanted, &s->client, "wanted", NULL);
    handle_open(&s->asked, &s->client, "asked", NULL);
    handle_ask(&s->wanted, 4000);
    handle_until(&s->wanted, &s->wanted.waiting, 1, "WAITING");
    CHECK(handle_acquire(&s->renewed, 20000) == HILOCK_OK);
    CHECK(handle_acquire(&s->fixed, 20000) == HILOCK_OK);
    atomic_store(ledger_word(s->ledger, READY), 1);
    client_until(&s->client, is_set, ledger_word(s->ledger, ASK), "the parent");
    handle_ask(&s->asked, 20000);
    client_turn(&s->client);
    s->disconnected = s->client.disconnected;
    s->renewed.user = s->fixed.user = s->wanted.user = s->asked.user = s;
    s->renewed.on_lost = s->fixed.on_lost = note_loss;
    s->wanted.on_acquired = s->asked.on_acquired = note_other;
    CHECK(s->renewed.lost.count + s->fixed.lost.count + s->wanted.acquired.count + s->asked.acquired.count == 0);
    raise(SIGSTOP);
}

static void wake_up(struct sleeper *s)
{
    CHECK(hilock_lock_remaining_ms(s->renewed.lock) == 0 && hilock_lock_remaining_ms(s->fixed.lock) == 0);
    CHECK(hilock_lock_state(s->renewed.lock) == HILOCK_STATE_HELD && hilock_lock_token(s->fixed.lock) != 0);
    handle_until(&s->renewed, &s->renewed.lost, 1, "the first loss");
    handle_until(&s->fixed, &s->fixed.lost, 1, "the second loss");
    handle_until(&s->asked, &s->asked.acquired, 1, "an answer that came in the pause");
    handle_until(&s->wanted, &s->wanted.acquired, 1, "the end of a wait that was over in the pause");
    CHECK(s->lost == 2 && s->told == 2);
    CHECK(s->renewed.lost.reason == HILOCK_REASON_SUSPENDED && s->fixed.lost.reason == HILOCK_REASON_SUSPENDED);
    CHECK(s->asked.acquired.status == HILOCK_OK);
    CHECK(s->wanted.acquired.status == HILOCK_TIMED_OUT || s->wanted.acquired.status == HILOCK_UNREACHABLE);
    CHECK(client_stats(&s->client).lost_suspended == 2);
}

static void sleep_past_the_leases(void *arg)
{
    struct sleeper *s = arg;
    fall_asleep(s);
    wake_up(s);
    client_end(&s->client);
}

static int is_marked(void *redis) { return redis_integer(redis, "EXISTS asked") == 1; }

static int is_over(void *redis) { return redis_integer(redis, "EXISTS renewed fixed pause") == 0; }

/* How many losses came behind something else. */
static uint64_t others_first(struct fixture *fixture)
{
    static struct sleeper sleeper;
    int status;
    memset(&sleeper, 0, sizeof sleeper);
    sleeper.url = fixture->server->url;
    sleeper.ledger = ledger_new(1, 1);
    redis_do(fixture->redis, "HSET wanted another:1 1");
    pid_t child = child_start(sleep_past_the_leases, &sleeper);
    check_until(is_set, ledger_word(sleeper.ledger, READY), "the child to hold");
    server_suspend(fixture->server);
    atomic_store(ledger_word(sleeper.ledger, ASK), 1);
    while (waitpid(child, &status, WUNTRACED) < 0)
        CHECK(errno == EINTR);
    CHECK(WIFSTOPPED(status));
    server_resume(fixture->server);
    check_until(is_marked, fixture->redis, "what was asked for last to be granted");
    redis_do(fixture->redis, "SET pause 1 PX 5000");
    check_until(is_over, fixture->redis, "the leases to run out");
    child_resume(child);
    child_join(child);
    redis_do(fixture->redis, "DEL wanted");
    uint64_t count = atomic_load(ledger_word(sleeper.ledger, OTHERS_FIRST));
    ledger_free(sleeper.ledger);
    return count;
}

#ifdef HL_PLANTS
LIVE(with_the_bug_losses_come_later)
{
    hl_plant_switch(hl_plant_find("R6_LOSS_IN_LINE"));
    assert_true(others_first(fixture) > 0);
}
#else
LIVE(losses_are_told_before_all_else) { assert_int_equal(others_first(fixture), 0); }
#endif
