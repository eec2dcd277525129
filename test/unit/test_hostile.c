/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers that say anything (R9), in every deployment: a seed decides who asks for what, which answers are exchanged for others and what is
 * said unasked. In any case nothing crashes, each accepted call is answered once, no request goes round for ever, and when the servers
 * are well again everybody is served and the client closes in its time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stage.h"
#include "wanted.h"
#include "suite.h"

enum { HANDLES = 8, NAMES = 3, CALLS_MAX = 4000, STEPS = 400, SEEDS = 12, REQUESTS_MAX = 60000 };
enum deployment { SINGLE, SENTINEL, CLUSTER, QUORUM, DEPLOYMENTS };

struct call { struct actor *actor; int is_over; }; /* is_over: answered, or silenced with its handle */

struct actor {
    struct hostile *hostile;
    struct handle *handle;
};

struct hostile {
    struct fixture s;
    struct hl_random random;
    struct client *client;
    struct actor actors[HANDLES];
    struct call calls[CALLS_MAX];
    unsigned calls_count, evil; /* of a hundred answers */
    int is_healed, is_of_locks; /* of_locks: what is said may name our holders */
    char names[NAMES][16];
};

/* At most one argument of a call draws: compilers evaluate arguments in different orders, and a seed is to be the
 * same run with each of them. */
static uint64_t below(struct hostile *h, uint64_t bound) { return hl_random_below(&h->random, bound); }

/* ---- what they say ---- */

static const char *const texts[] = {
    "", "0", "1", "-1", "OK", "PONG", "master", "slave", "message", "smessage", "subscribe", "unsubscribe", "ssubscribe", "sunsubscribe", "mode", "mutex", "hilock:probe",
    "hilock:probe", "stock0", "stock1", "redisson_lock__channel:{stock0}", "hilock:token:{stock0}", "+switch-master", "config-epoch", "9223372036854775807",
    "999999999999", "18446744073709551615", "10.0.0.2", "127.0.0.1", "nowhere", "?", "6379", "65536", "G", "G x 1 2 3 4 stock0", "F", "LATE", "YES", "NO", "HELD",
    "run_id:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nuptime_in_seconds:1\r\n", "uptime_in_seconds:999999999999\r\nrun_id:\r\n", "uptime_in_seconds:\r\n",
    "maxmemory:1\nmaxmemory_policy:allkeys-lru", "mymaster 127.0.0.1 6379 10.0.0.2 6379", "\x1b[2J\"\\\xff%s%n"};
static const char *const errors[] = {
    "ERR", "NOSCRIPT No matching script. Please use EVAL.", "READONLY You can't write against a read only replica.", "LOADING Redis is loading", "MASTERDOWN Link",
    "BUSY Redis is busy running a script", "OOM command not allowed", "NOREPLICAS Not enough", "MISCONF Redis is configured", "CLUSTERDOWN The cluster is down",
    "TRYAGAIN Multiple keys", "NOAUTH Authentication required.", "WRONGPASS invalid", "NOPERM this user has no permissions", "WRONGTYPE Operation against",
    "ERR unknown command", "ERR unknown command 'AUTH', with args beginning with: '" FIXTURE_SECRET "'", FIXTURE_SECRET,
    "ERR Error running script: -NOPERM", "GUARD", "MOVED", "MOVED 1", "MOVED 1 :", "MOVED 99999 10.0.0.2:6379",
    "MOVED 1 :6379",
    "MOVED 12182 10.0.0.2:6379", "MOVED 12182 10.0.0.3:6379", "MOVED 12182 127.0.0.1:6379", "MOVED 1 nowhere:7", "ASK 12182 10.0.0.2:6379", "ASK 12182 10.0.0.3:6379", "ASK 1 10.9.9.9:1",
    "ASK", "UNBLOCKED force", "EXECABORT", "", "LATE 5", "CROSSSLOT Keys"};

static int64_t number(struct hostile *h)
{
    static const int64_t numbers[] = {0, 1, -1, -2, 2, 3, 100, 3000, 16383, 16384, 65535, 65536, INT32_MAX, (int64_t)UINT32_MAX + 1, INT64_MAX, INT64_MIN, 1000000000000000};
    return below(h, 4) ? numbers[below(h, sizeof numbers / sizeof *numbers)] : (int64_t)hl_random_next(&h->random);
}

static struct hl_reply *string(struct hostile *h)
{
    uint64_t kind = below(h, 4), id;
    char text[128];
    if (kind > 1)
        return say_string(texts[below(h, sizeof texts / sizeof *texts)]);
    if (kind == 1) {
        id = below(h, 20);
        snprintf(text, sizeof text, "%s:%u%s", h->is_of_locks ? h->client->uuid : "", (unsigned)id,
                 below(h, 2) ? ":x" : "");
    } else
        snprintf(text, sizeof text, "%lld", (long long)number(h));
    return say_string(text);
}

static struct hl_reply *anything(struct hostile *h, int depth)
{
    uint64_t kind = below(h, depth < 4 ? 8 : 5);
    if (kind == 0)
        return say_nil();
    if (kind == 1)
        return say_integer(number(h));
    if (kind == 2)
        return string(h);
    if (kind == 3)
        return say_status(texts[below(h, sizeof texts / sizeof *texts)]);
    if (kind == 4)
        return say_error("%s", errors[below(h, sizeof errors / sizeof *errors)]);
    struct hl_reply *array = say_array(0);
    for (uint64_t count = below(h, 8); count; count--)
        array = say_longer(array, anything(h, depth + 1));
    return array;
}

/* Of the right shape, here and there another value. */
static struct hl_reply *slots(struct hostile *h)
{
    static const char *const ids[] = {"0000000000000000000000000000000000000001",
                                      "0000000000000000000000000000000000000002", ""};
    struct hl_reply *all = say_array(0);
    for (uint64_t count = below(h, 5); count; count--) {
        int64_t from = (int64_t)below(h, 16384), to = below(h, 4) ? from + (int64_t)below(h, 9000) : number(h);
        struct hl_reply *host = below(h, 3) ? say_string(below(h, 2) ? "10.0.0.2" : "127.0.0.1") : anything(h, 3);
        struct hl_reply *port = say_integer(below(h, 5) ? 6379 : number(h));
        struct hl_reply *id = say_string(ids[below(h, 3)]);
        all = say_longer(all, say_array(3, say_integer(from), say_integer(to), say_array(3, host, port, id)));
    }
    return all;
}

/* Which server has which id is what they tell, too (map.c). */
static struct hl_reply *nodes(struct hostile *h)
{
    char text[2048] = "", line[128];
    for (uint64_t count = below(h, 8); count; count--) {
        unsigned id = (unsigned)below(h, 5), host = (unsigned)below(h, 4);
        const char *flags = below(h, 3) ? "myself,master" : "slave";
        snprintf(line, sizeof line, "%040x 10.0.0.%u:6379@16379 %s - 0 0 %lld connected\n", id, host, flags,
                 (long long)number(h));
        strcat(text, line);
    }
    return say_string(text);
}

static struct hl_reply *bad_answer(struct hostile *h, const char *word, int is_of_locks)
{
    h->is_of_locks = is_of_locks;
    if (strcmp(word, "CLUSTER SLOTS") == 0 && below(h, 2))
        return slots(h);
    if (strcmp(word, "CLUSTER NODES") == 0 && below(h, 2))
        return nodes(h);
    if (below(h, 3) == 0)
        return say_error("%s", errors[below(h, sizeof errors / sizeof *errors)]);
    if (below(h, 3) == 0) {
        struct hl_reply *array = say_array(0);
        for (uint64_t count = below(h, 6); count; count--)
            array = say_longer(array, below(h, 2) ? say_integer(number(h)) : string(h));
        return array;
    }
    return anything(h, 0);
}

static void decide(void *arg, const struct hl_link *link, struct message *request)
{
    struct hostile *h = arg;
    struct net_fate *fate = &request->fate;
    const char *word = store_word(request->argc, request->argv, request->lengths);
    int is_of_locks = strcmp(request->argv[0], "EVALSHA") == 0 && request->argc > 3 && request->lengths[3] > 0;
    int is_login = strcmp(word, "AUTH") == 0; /* is always run: a link with a false OK would never be well */
    (void)link;
    if (h->is_healed || below(h, 100) >= h->evil)
        return;
    switch (below(h, 12)) {
    case 0: fate->resets_after = 1; break;
    case 1: fate->answer_is_lost = 1; break;
    case 2: fate->back_us = below(h, 2000000); break;
    case 3: fate->there_us = below(h, 2000000); break;
    case 4:
    case 5:
    case 6:
    case 7: fate->answer = bad_answer(h, word, is_of_locks); break;
    default: *(is_login ? &fate->answer : &fate->refusal) = bad_answer(h, word, is_of_locks); break;
    }
}

/* "G1 <holder> <number> <asked> <window> <token> <seconds> <microseconds>: <name>", or
 * "F1 <holder> <pause> <seconds> <microseconds>: <name>", more or less. */
static struct hl_reply *push(struct hostile *h)
{
    uint64_t asked_us = below(h, 4) ? 1700000000000000 : (uint64_t)number(h), since_us = below(h, 5000000);
    unsigned id = (unsigned)below(h, 30);
    int64_t window = below(h, 2) ? 400 : number(h), heartbeat = (int64_t)below(h, 9), token = number(h);
    const char *colon = below(h, 9) ? ":" : "";
    char text[400];
    int length;
    if (below(h, 5))
        length = snprintf(text, sizeof text, "G1 %s:%u %lld %lld %lld %lld %lld %lld%s %s", h->client->uuid, id,
                          (long long)heartbeat, (long long)asked_us, (long long)window, (long long)token,
                          (long long)(1700000000 + since_us / 1000000), (long long)(since_us % 1000000), colon, h->names[1]);
    else
        length = snprintf(text, sizeof text, "F1 %s:%u %lld %lld %lld%s %s", h->client->uuid, id, (long long)(below(h, 2) ? 0 : token),
                          (long long)(1700000000 + since_us / 1000000), (long long)(since_us % 1000000), colon, h->names[1]);
    return say_bytes(text, below(h, 4) ? (size_t)length : (size_t)below(h, (uint64_t)length));
}

static void say_unasked(struct hostile *h)
{
    struct hl_reply *reply;
    h->is_of_locks = 1;
    if (below(h, 2))
        reply = say_array(3, say_string("message"), say_string(formatted("hilock:grant:%s", h->client->uuid)), push(h));
    else if (below(h, 2)) {
        reply = say_array(1, say_string(below(h, 2) ? "message" : "smessage"));
        for (int i = 0; i < 2; i++)
            reply = say_longer(reply, string(h));
    } else {
        h->is_of_locks = 0;
        reply = anything(h, 0);
    }
    net_say(&h->s.net, &h->client->loop, below(h, 8) ? NET_STREAMS : NET_COMMANDS, reply);
    say_free(reply);
}

/* ---- who asks ---- */

static void act(struct actor *actor);

static void on_answer(const struct hilock_result *result, void *user)
{
    (void)result;
    struct call *call = user;
    struct actor *actor = call->actor;
    struct hostile *h = actor->hostile;
    fixture_claim(&h->s, !call->is_over, "a call is answered once, and never when its handle was freed", __FILE__, __LINE__);
    call->is_over = 1;
    if (!h->is_healed && below(h, 3) == 0)
        act(actor);
}

static void make(struct actor *actor)
{
    struct hostile *h = actor->hostile;
    struct hilock_lock_options options = hilock_lock_options_default();
    int is_quorum = h->s.masters_count > 1;
    options.lease_ms = 1000 + (uint32_t)below(h, 4000);
    options.kind = (hilock_kind)below(h, 3);
    if (is_quorum && options.kind == HILOCK_FAIR)
        options.kind = HILOCK_MUTEX;
    options.wake = below(h, 4) ? HILOCK_WAKE_SUBSCRIBE : HILOCK_WAKE_POLL;
    options.reentrant = below(h, 3) == 0;
    if (!is_quorum && options.kind != HILOCK_SIMPLE && below(h, 3) == 0)
        options.holders_max = HILOCK_ANY_NUMBER;
    if (options.holders_max && below(h, 2)) { /* readers that may join each other's share */
        options.lease_ms = 2000;
        options.share_local_ms = 600;
    }
    options.replicas = !is_quorum && below(h, 4) == 0;
    actor->handle = handle_new(h->client, "h", h->names[below(h, 2) ? (unsigned)options.kind : below(h, NAMES)], &options);
}

static void on_holder(const struct hilock_holder_info *info, void *user)
{
    struct call *call = user;
    HOLDS(&call->actor->hostile->s, !call->is_over && info->holder && info->holder_label);
}

static void begin(struct actor *actor, unsigned what)
{
    struct hostile *h = actor->hostile;
    struct call *call = &h->calls[h->calls_count];
    hilock_lock *lock = actor->handle->lock;
    if (h->calls_count == CALLS_MAX)
        return;
    *call = (struct call){actor, 0};
    if ((what == 0 ? hilock_acquire(lock, below(h, 3) ? (uint32_t)below(h, 5000) : HILOCK_FOREVER, on_answer, call)
         : what == 1 ? hilock_release(lock, on_answer, call)
         : what == 2 ? hilock_extend(lock, 0, on_answer, call)
         : what == 3 ? hilock_peek(lock, on_answer, call)
         : what == 4 ? hilock_downgrade(lock, on_answer, call)
         : what == 5 ? hilock_holders(lock, on_holder, on_answer, call)
                     : hilock_force_release(lock, NULL, on_answer, call)) == HILOCK_OK)
        h->calls_count++;
}

static void act(struct actor *actor)
{
    struct hostile *h = actor->hostile;
    unsigned what = (unsigned)below(h, 16);
    if (what < 6)
        begin(actor, 0);
    else if (what < 10)
        begin(actor, 1);
    else if (what < 13)
        begin(actor, 2 + (unsigned)below(h, 5));
    else if (what == 13)
        (void)hilock_cancel(actor->handle->lock);
    else {
        for (unsigned i = 0; i < h->calls_count; i++)
            h->calls[i].is_over |= h->calls[i].actor == actor;
        if (what == 14)
            handle_drop(actor->handle);
        else {
            handle_free(actor->handle);
            make(actor);
        }
    }
}

/* ---- one run ---- */

static void set(struct hostile *h, enum deployment deployment)
{
    struct fixture *s = &h->s;
    const char *url = NULL;
    s->store.replicas = 1;
    s->store.replica_us = 1000;
    switch (deployment) {
    case SINGLE: break;
    case SENTINEL: sentinels_set(s), url = SENTINEL_URL; break;
    case CLUSTER: cluster_set(s), url = CLUSTER_URL; break;
    case QUORUM: fixture_masters(s, 3); break;
    case DEPLOYMENTS: break;
    }
    s->net.decide = decide;
    s->net.arg = h;
    for (unsigned i = 0; i <= s->more_count; i++)
        sim_store_set_password(store_at(s, i)->core, FIXTURE_SECRET);
    for (unsigned i = 0; i < NAMES; i++)
        snprintf(h->names[i], sizeof h->names[i], "stock%u", i);
    h->client = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = url, .quorum_urls = deployment == QUORUM ? urls_of(3) : NULL, .command_timeout_ms = 1000,
                                                   .password = FIXTURE_SECRET,
                                                   .sentinel_password = deployment == SENTINEL ? FIXTURE_SECRET : NULL,
                                                   .keepalive_ms = 2000, .restart_guard_ms = deployment == QUORUM ? HILOCK_GUARD_OFF : 0));
    for (unsigned i = 0; i < HANDLES; i++) {
        h->actors[i].hostile = h;
        make(&h->actors[i]);
    }
}

/* What waits is cancelled, what is asked has its time. Then a new handle is served at once. */
static void end(struct hostile *h)
{
    struct fixture *s = &h->s;
    struct handle *last = handle_new(h->client, "last", "last", NULL);
    unsigned left = 0;
    h->is_healed = 1;
    run_ms(s, 30000);
    acquire(last, 5000);
    for (unsigned i = 0; i < HANDLES; i++)
        while (hilock_cancel(h->actors[i].handle->lock) == HILOCK_OK)
            run_ms(s, 1);
    run_ms(s, 5000);
    SAME(s, hilock_lock_state(last->lock), HILOCK_STATE_HELD);
    for (unsigned i = 0; i < h->calls_count; i++)
        left += !h->calls[i].is_over;
    SAME(s, left, 0);
    HOLDS(s, s->net.requests < REQUESTS_MAX);
}

static void run(enum deployment deployment, uint64_t seed, const char *name)
{
    struct hostile *h = calloc(1, sizeof *h);
    assert_non_null(h);
    fixture_begin(&h->s);
    h->random.state = seed;
    h->evil = (unsigned)(5 + 40 * below(h, 2));
    set(h, deployment);
    h->s.is_untold = h->s.is_tampered = 1;
    for (unsigned step = 0; step < STEPS; step++) {
        act(&h->actors[below(h, HANDLES)]);
        if (below(h, 10) == 0)
            say_unasked(h);
        run_us(&h->s, below(h, 8) ? below(h, 3000) : below(h, 400000));
    }
    end(h);
    if (!fixture_end(&h->s))
        fail_msg("%s: HOSTILE_SEED=%llu", name, (unsigned long long)seed);
    free(h);
}

static void run_all(enum deployment deployment, const char *name)
{
    const char *given = getenv("HOSTILE_SEEDS"), *one = getenv("HOSTILE_SEED");
    uint64_t seeds = given ? strtoull(given, NULL, 10) : SEEDS;
    if (one)
        run(deployment, strtoull(one, NULL, 10), name);
    for (uint64_t seed = 1; !one && seed <= seeds; seed++)
        run(deployment, wanted("HILOCK_SEED", 0) + seed, name);
}

TEST(one_server) { run_all(SINGLE, "one server"); }
TEST(sentinels) { run_all(SENTINEL, "sentinels"); }
TEST(a_cluster) { run_all(CLUSTER, "a cluster"); }
TEST(a_quorum) { run_all(QUORUM, "a quorum"); }
