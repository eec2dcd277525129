/* SPDX-License-Identifier: BSD-3-Clause */
/* rules - see rules.h. */
#include "rules.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HL_PLANTS
#include "base/plant.h"
#endif
#include "support/child.h"
#include "support/ledger.h"
#include "support/proxy.h"
#include "support/fixture.h"

struct play {
    struct fixture *fixture;
    const char *plant;
    child_fn *run;
    struct ledger *ledger;
    struct redis *redis; /* here, in the parent's frame, a play that is left by check_fail leaks it to nobody */
    int words; /* a pipe to the parent */
};

static void plant(const char *name)
{
#ifdef HL_PLANTS
    hl_plant = name ? hl_plant_find(name) : HL_PLANT_NONE;
    CHECK(!name || hl_plant != HL_PLANT_NONE);
#else
    CHECK(!name);
#endif
}

static void run_planted(void *arg)
{
    struct play *it = arg;
    CHECK(dup2(it->words, STDERR_FILENO) >= 0);
    plant(it->plant);
    it->run(it);
}

/* What the child writes until it has ended; a sanitizer's report is longer than what is kept of it. */
static const char *listen_to(int words)
{
    static char text[4096];
    char rest[512];
    size_t length = 0;
    ssize_t got;
    while ((got = read(words, rest, sizeof rest)) != 0) {
        CHECK(got > 0 || errno == EINTR);
        if (got > 0 && length + (size_t)got < sizeof text) {
            memcpy(text + length, rest, (size_t)got);
            length += (size_t)got;
        }
    }
    text[length] = '\0';
    return text;
}

static const char *verdict(pid_t child, int words)
{
    const char *text = listen_to(words);
    int status;
    close(words);
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        check_fail("the play ended with wait status 0x%x: %s", (unsigned)status, text);
    fputs(text, stderr);
    return WEXITSTATUS(status) == 0 ? "" : text;
}

/* Returns the child; ret_words is for verdict. */
static pid_t begin(struct play *it, int *ret_words)
{
    int ends[2];
    pid_t child;
    CHECK(pipe(ends) == 0);
    it->words = ends[1];
    child = child_start(run_planted, it);
    close(ends[1]);
    *ret_words = ends[0];
    return child;
}

static const char *play(struct fixture *fixture, const char *plant_name, child_fn *run)
{
    struct play it = {.fixture = fixture, .plant = plant_name, .run = run};
    int words;
    pid_t child = begin(&it, &words);
    return verdict(child, words);
}

/* ---- R3: a grant whose answer was lost, wanted no more, is taken back before this client's next try ---- */

static void unknown_grant(void *arg)
{
    struct play *it = arg;
    struct redis *redis = it->redis = redis_open(it->fixture->server);
    struct proxy *proxy = proxy_start(it->fixture->server);
    struct client client;
    struct handle first, second;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = proxy_url(proxy), .command_timeout_ms = 8000));
    client_connect(&client);
    handle_open(&first, &client, "stock:42", NULL);
    handle_open(&second, &client, "stock:42", NULL);
    proxy_refuse(proxy, 1);
    proxy_lose_reply(proxy, "stock:42");
    CHECK(handle_acquire(&first, 1000) == HILOCK_UNREACHABLE);
    CHECK(redis_integer(redis, "EXISTS stock:42") == 1);
    proxy_refuse(proxy, 0);
    CHECK(handle_acquire(&second, HILOCK_TRY) == HILOCK_OK);
    CHECK(redis_integer(redis, "HLEN stock:42") == 2);
    handle_free(&second);
    handle_free(&first);
    client_close(&client);
    proxy_end(proxy);
    redis_close(redis);
}

const char *rule_unknown_grant_is_undone(struct fixture *fixture, const char *plant_name) { return play(fixture, plant_name, unknown_grant); }

/* ---- R5: what the server cannot do now is not the loss of what was done before ---- */

static int is_told_of_it(void *arg)
{
    const struct handle *stock = arg;
    return stock->lost.count || stock->renewal_failed.count;
}

static void error_reply(void *arg)
{
    struct play *it = arg;
    struct redis *redis = it->redis = redis_open(it->fixture->server);
    struct client client;
    struct handle stock;
    client_open(&client, it->fixture->server->url);
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 9000));
    CHECK(handle_acquire(&stock, 20000) == HILOCK_OK);
    redis_do(redis, "REPLICAOF 127.0.0.1 1");
    client_until(&client, is_told_of_it, &stock, "RENEWAL_FAILED");
    redis_do(redis, "REPLICAOF NO ONE");
    CHECK(stock.lost.count == 0 && client_stats(&client).renewals_failed >= 2);
    handle_until(&stock, &stock.renewed, 1, "RENEWED");
    CHECK(stock.lost.count == 0);
    CHECK(handle_give(&stock) == HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
    redis_close(redis);
}

const char *rule_error_is_no_loss(struct fixture *fixture, const char *plant_name) { return play(fixture, plant_name, error_reply); }

/* ---- R6: on waking from a pause, what expired in it is reported before anything else ----
 *
 *   child    holds, waits, asks  READY       asks once more  SIGSTOP ....................... goes on: answers and timers at once
 *   parent                       server stopped  ASK                 server goes on, leases run out  SIGCONT */

enum { READY, ASK };

struct order { unsigned told, lost, others_first, disconnected; struct client *client; };

static void note_loss(struct handle *handle)
{
    struct order *order = handle->user;
    order->lost++;
    order->others_first += order->told > 0 || order->client->disconnected > order->disconnected;
}

static void note_other(struct handle *handle) { ((struct order *)handle->user)->told++; }

static int may_ask(void *arg) { return atomic_load((_Atomic uint64_t *)arg) != 0; }

struct sleeper {
    struct client client;
    struct handle renewed, fixed, wanted, asked;
    struct order order;
};

static void fall_asleep(struct sleeper *s, const struct play *it)
{
    client_open_with(&s->client, HILOCK_CLIENT_OPTIONS(.url = it->fixture->server->url, .command_timeout_ms = 30000));
    handle_open(&s->renewed, &s->client, "renewed", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    handle_open(&s->fixed, &s->client, "fixed", HILOCK_LOCK_OPTIONS(.lease_ms = 3000, .renew = HILOCK_RENEW_NEVER));
    handle_open(&s->wanted, &s->client, "wanted", NULL);
    handle_open(&s->asked, &s->client, "asked", NULL);
    handle_ask(&s->wanted, 4000);
    handle_until(&s->wanted, &s->wanted.waiting, 1, "WAITING");
    CHECK(handle_acquire(&s->renewed, 20000) == HILOCK_OK);
    CHECK(handle_acquire(&s->fixed, 20000) == HILOCK_OK);
    atomic_store(ledger_word(it->ledger, READY), 1);
    client_until(&s->client, may_ask, ledger_word(it->ledger, ASK), "the parent");
    handle_ask(&s->asked, 20000);
    client_turn(&s->client);
    s->order = (struct order){.client = &s->client, .disconnected = s->client.disconnected};
    s->renewed.user = s->fixed.user = s->wanted.user = s->asked.user = &s->order;
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
    CHECK(s->order.lost == 2 && s->order.told == 2);
    CHECK(s->order.others_first == 0);
    CHECK(s->renewed.lost.reason == HILOCK_REASON_SUSPENDED && s->fixed.lost.reason == HILOCK_REASON_SUSPENDED);
    CHECK(s->asked.acquired.status == HILOCK_OK);
    CHECK(s->wanted.acquired.status == HILOCK_TIMED_OUT || s->wanted.acquired.status == HILOCK_UNREACHABLE);
    CHECK(client_stats(&s->client).lost_suspended == 2);
}

static void sleeper(void *arg)
{
    const struct play *it = arg;
    struct sleeper s;
    fall_asleep(&s, it);
    wake_up(&s);
    handle_free(&s.renewed);
    handle_free(&s.fixed);
    handle_free(&s.wanted);
    handle_free(&s.asked);
    client_close(&s.client);
}

static int is_marked(void *arg) { return redis_integer(arg, "EXISTS asked") == 1; }

static int is_over(void *arg) { return redis_integer(arg, "EXISTS renewed fixed pause") == 0; }

static int has_come(void *arg) { return atomic_load((_Atomic uint64_t *)arg) != 0; }

const char *rule_loss_is_told_first(struct fixture *fixture, const char *plant_name)
{
    struct play it = {.fixture = fixture, .plant = plant_name, .run = sleeper, .ledger = ledger_new(1, 1)};
    const char *text;
    int status, words;
    pid_t child;
    redis_do(fixture->redis, "HSET wanted another 1");
    child = begin(&it, &words);
    check_until(has_come, ledger_word(it.ledger, READY), "the child to hold");
    server_suspend(fixture->server);
    atomic_store(ledger_word(it.ledger, ASK), 1);
    while (waitpid(child, &status, WUNTRACED) < 0)
        CHECK(errno == EINTR);
    CHECK(WIFSTOPPED(status));
    server_resume(fixture->server);
    check_until(is_marked, fixture->redis, "what was asked for last to be granted");
    redis_do(fixture->redis, "SET pause 1 PX 5000");
    check_until(is_over, fixture->redis, "the leases to run out");
    CHECK(kill(child, SIGCONT) == 0);
    text = verdict(child, words);
    redis_do(fixture->redis, "DEL wanted");
    ledger_free(it.ledger);
    return text;
}

/* ---- R10: a refused login ends the link; nothing runs as the default user, who may do everything here ---- */

static void refused_login(void *arg)
{
    struct play *it = arg;
    struct redis *redis = it->redis = redis_open(it->fixture->server);
    struct client client;
    struct handle stock;
    redis_do(redis, "ACL SETUSER locks on >right ~* &* +@all");
    redis_do(redis, "CONFIG RESETSTAT");
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = it->fixture->server->url, .username = "locks", .password = "wrong"));
    handle_open(&stock, &client, "stock:42", NULL);
    CHECK(handle_acquire(&stock, HILOCK_TRY) == HILOCK_DENIED);
    CHECK(redis_calls(redis, "auth") > 0);
    CHECK(redis_calls(redis, "evalsha") == 0 && redis_calls(redis, "script|load") == 0 && redis_calls(redis, "subscribe") == 0);
    CHECK(!hilock_client_is_connected(client.hilock));
    handle_free(&stock);
    client_close(&client);
    redis_close(redis);
}

const char *rule_refused_login_is_the_end(struct fixture *fixture, const char *plant_name) { return play(fixture, plant_name, refused_login); }

/* ---- the password: in no log line, event, result or statistic ---- */

static void secret(void *arg)
{
    struct play *it = arg;
    struct client client;
    client_open(&client, it->fixture->server->url);
    client_connect(&client);
    client_close(&client);
}

const char *rule_password_is_told_nowhere(struct fixture *fixture, const char *plant_name) { return play(fixture, plant_name, secret); }
