/* SPDX-License-Identifier: BSD-3-Clause */
/* moves - a fleet, while its server is moved: 4 processes with 200 names; each of the first 100 is held by one process all the time, the others
 * are wanted by all processes. MOVES (10) times in each deployment: a single server is demoted and its name leads to the other one; a server of a
 * cluster is replaced behind its address; a Sentinel deployment fails over. Every hold survives where the data does, and every wait is served
 * within 5 s of the move: else it fails. `moves_figures` runs it, and keeps its figures. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/check.h"
#include "support/child.h"
#include "support/names.h"
#include "support/redis.h"
#include "support/relay.h"
#include "support/secret.h"
#include "support/sentinels.h"
#include "support/server.h"

enum { PROCESSES = 4, KEPT = 25, WANTED = 100, LEASE_MS = 10000, HOLD_US = 20000, REST_US = 1000000, SERVED_MS = 5000,
       RELAYS = 3, SERVERS_MAX = 64, MOVES_MAX = 100 };

/* Written by the test, read by its processes; and back. */
struct shared {
    char url[256];
    const char *hosts[2];               /* what the name leads to, one of them; NULL: names are no matter */
    int ports[RELAYS];
    char sockets[SERVERS_MAX][96];
    atomic_uint host, targets[RELAYS];  /* now; 1 + the index of a socket */
    atomic_uint relays_count, ready, stop;
    _Atomic uint64_t moved_us;          /* the latest move was over */
    atomic_uint lost, granted, slowest_ms; /* since then; slowest: of the waits that had begun before it */
    atomic_uint behind[PROCESSES];      /* waits that began before it and are not served */
    atomic_uint connects[PROCESSES], apart[PROCESSES];
};

static struct shared *shared;

/* ---- the processes ---- */

struct worker { struct handle handle; uint64_t asked_us, due_us; enum { RESTS, WAITS, HOLDS, GIVES } state; unsigned seen; };

static void count_wait(const struct worker *worker)
{
    uint64_t moved_us = atomic_load(&shared->moved_us), now_us = check_now_us();
    unsigned span_ms = (unsigned)((now_us - moved_us) / 1000), slowest = atomic_load(&shared->slowest_ms);
    atomic_fetch_add(&shared->granted, 1);
    while (worker->asked_us < moved_us && span_ms > slowest && !atomic_compare_exchange_weak(&shared->slowest_ms, &slowest, span_ms))
        ;
}

static void go_on(struct worker *worker, int is_kept)
{
    struct handle *handle = &worker->handle;
    uint64_t now_us = check_now_us();
    switch (worker->state) {
    case RESTS:
        if (now_us < worker->due_us || atomic_load(&shared->stop))
            return;
        worker->asked_us = now_us;
        worker->seen = handle->acquired.count;
        handle_ask(handle, HILOCK_FOREVER);
        worker->state = WAITS;
        break;
    case WAITS:
        if (handle->acquired.count == worker->seen)
            return;
        if (handle->acquired.status != HILOCK_OK)
            check_fail("a wait without limit ended %s: %s", hilock_status_name(handle->acquired.status), handle->acquired.detail);
        count_wait(worker);
        worker->state = HOLDS;
        worker->due_us = now_us + HOLD_US;
        worker->seen = handle->lost.count;
        break;
    case HOLDS:
        if (handle->lost.count != worker->seen) {
            atomic_fetch_add(&shared->lost, 1);
            worker->state = RESTS;
            worker->due_us = now_us;
        } else if ((!is_kept && now_us >= worker->due_us) || atomic_load(&shared->stop)) {
            worker->seen = handle->released.count;
            handle_release(handle);
            worker->state = GIVES;
        }
        break;
    case GIVES:
        if (handle->released.count == worker->seen)
            return;
        worker->state = RESTS;
        worker->due_us = now_us + REST_US;
        break;
    }
}

static void work(void *arg)
{
    static struct worker workers[KEPT + WANTED];
    const unsigned self = *(const unsigned *)arg;
    struct client client;
    struct names names = {{NULL}, 0};
    char name[32];
    int is_busy = 1, was_ready = 0;
    client_prepare(&client);
    names.addresses[0] = shared->hosts[0] ? shared->hosts[0] : "127.0.0.1";
    names_open(&client, HILOCK_CLIENT_OPTIONS(.url = shared->url), &names);
    for (unsigned i = 0; i < KEPT + WANTED; i++) {
        snprintf(name, sizeof name, i < KEPT ? "kept:%u:%u" : "wanted:%u", i, self);
        if (i >= KEPT)
            snprintf(name, sizeof name, "wanted:%u", i);
        handle_open(&workers[i].handle, &client, name, HILOCK_LOCK_OPTIONS(.lease_ms = LEASE_MS, .kind = i % 2 ? HILOCK_FAIR : HILOCK_MUTEX));
    }
    while (!atomic_load(&shared->stop) || is_busy) {
        unsigned behind = 0, held = 0;
        uint64_t moved_us = atomic_load(&shared->moved_us);
        is_busy = 0;
        if (shared->hosts[0])
            names.addresses[0] = shared->hosts[atomic_load(&shared->host)];
        for (unsigned i = 0; i < KEPT + WANTED; i++) {
            go_on(&workers[i], i < KEPT);
            behind += workers[i].state == WAITS && workers[i].asked_us < moved_us;
            held += i < KEPT && workers[i].state == HOLDS;
            is_busy |= workers[i].state != RESTS;
        }
        atomic_store(&shared->behind[self], behind);
        if (!was_ready && held == KEPT)
            was_ready = 1, atomic_fetch_add(&shared->ready, 1);
        client_for_ms(&client, 1);
    }
    atomic_store(&shared->connects[self], (unsigned)client_stats(&client).connects);
    atomic_store(&shared->apart[self], (unsigned)client_stats(&client).links_apart);
    client_end(&client);
}

/* ---- the addresses ---- */

static void relay_all(void *arg)
{
    static struct server to[SERVERS_MAX];
    static const struct timeval tick = {0, 2000};
    struct event_base *base = event_base_new();
    struct relay *relays[RELAYS] = {NULL};
    unsigned now[RELAYS] = {0}, count = *(const unsigned *)arg;
    for (;;) {
        for (unsigned i = 0; i < count; i++) {
            unsigned target = atomic_load(&shared->targets[i]);
            if (target == now[i])
                continue;
            now[i] = target;
            snprintf(to[target].socket, sizeof to[target].socket, "%s", shared->sockets[target - 1]);
            if (relays[i]) {
                relay_switch(relays[i], &to[target]);
                continue;
            }
            relays[i] = relay_open(base, shared->hosts[0] ? shared->hosts[i] : "127.0.0.1", shared->hosts[0] && i ? shared->ports[0] : 0, &to[target]);
            shared->ports[i] = relay_port(relays[i]);
            atomic_fetch_add(&shared->relays_count, 1);
        }
        event_base_loopexit(base, &tick);
        event_base_dispatch(base);
    }
}

static unsigned known; /* servers that relays may lead to */

static void lead(unsigned relay, const struct server *server)
{
    unsigned i = 0;
    while (i < known && strcmp(shared->sockets[i], server->socket) != 0)
        i++;
    CHECK(i < SERVERS_MAX);
    if (i == known)
        snprintf(shared->sockets[known++], sizeof shared->sockets[0], "%s", server->socket);
    atomic_store(&shared->targets[relay], i + 1);
}

static int relays_listen(void *arg) { return atomic_load(&shared->relays_count) == *(const unsigned *)arg; }

static pid_t relays_start(unsigned *count)
{
    pid_t pid = child_start(relay_all, count);
    check_until(relays_listen, count, "the relays");
    return pid;
}

/* ---- the fleet ---- */

static pid_t pids[PROCESSES];
static unsigned slowest[MOVES_MAX], lost, moves;

static int is_ready(void *arg) { return (void)arg, atomic_load(&shared->ready) == PROCESSES; }

static void fleet_start(void)
{
    static unsigned selves[PROCESSES];
    lost = moves = 0;
    for (unsigned i = 0; i < PROCESSES; i++) {
        selves[i] = i;
        pids[i] = child_start(work, &selves[i]);
    }
    check_until(is_ready, NULL, "every process to have its names");
    check_pause_ms(2000);
}

static int are_served(void *arg)
{
    unsigned behind = 0;
    (void)arg;
    for (unsigned i = 0; i < PROCESSES; i++)
        behind += atomic_load(&shared->behind[i]);
    return behind == 0;
}

/* The move was over at that time. */
static void moved(uint64_t at_us)
{
    atomic_store(&shared->slowest_ms, 0);
    atomic_store(&shared->granted, 0);
    atomic_store(&shared->lost, 0);
    atomic_store(&shared->moved_us, at_us);
    check_pause_ms(100);
    check_until(are_served, NULL, "the waits of before the move");
    check_pause_ms(LEASE_MS); /* a hold that is lost is lost by then */
    slowest[moves++] = atomic_load(&shared->slowest_ms);
    lost += atomic_load(&shared->lost);
    fprintf(stderr, "move %u: the slowest wait was served after %u ms, %u holds lost, %u grants\n", moves, slowest[moves - 1],
            atomic_load(&shared->lost), atomic_load(&shared->granted));
}

static int by_size(const void *a, const void *b) { return *(const unsigned *)a < *(const unsigned *)b ? -1 : *(const unsigned *)a > *(const unsigned *)b; }

static void fleet_end(const char *what, int may_lose)
{
    unsigned connects = 0, apart = 0;
    atomic_store(&shared->stop, 1);
    for (unsigned i = 0; i < PROCESSES; i++)
        child_join(pids[i]);
    for (unsigned i = 0; i < PROCESSES; i++)
        connects += shared->connects[i], apart += shared->apart[i];
    qsort(slowest, moves, sizeof *slowest, by_size);
    printf("figure: %s, %u times: after each the slowest wait was served within %u ms (median) to %u ms; %u of %u holds were lost; "
           "%u connections for commands were made by %u processes; links were apart %u times\n",
           what, moves, slowest[moves / 2], slowest[moves - 1], lost, moves * PROCESSES * KEPT, connects, PROCESSES, apart);
    CHECK(slowest[moves - 1] <= SERVED_MS);
    CHECK(lost == 0 || may_lose);
}

static void begin(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    known = 0;
}

/* ---- one server ---- */

static int follows(void *arg) { return redis_says(arg, "INFO replication", "master_link_status:up"); }
static int is_master(void *arg) { return redis_says(arg, "INFO replication", "role:master"); }
static int is_replica(void *arg) { return redis_says(arg, "INFO replication", "role:slave"); }

TEST(a_server_behind_its_name)
{
    static const char *const soon[] = {"--repl-diskless-sync-delay", "0", NULL};
    struct server *servers[2] = {server_start_with_port(soon)};
    unsigned count = check_count_wanted("MOVES", 10), two = 2;
    char port[8];
    begin();
    snprintf(port, sizeof port, "%d", servers[0]->port);
    const char *const replica[] = {"--replicaof", "127.0.0.1", port, NULL};
    servers[1] = server_start_with_port(server_arguments(soon, replica));
    shared->hosts[0] = "127.0.0.1";
    shared->hosts[1] = "127.0.0.2";
    lead(0, servers[0]);
    lead(1, servers[1]);
    pid_t relays = relays_start(&two);
    snprintf(shared->url, sizeof shared->url, "redis://" LIVE_LOGIN "locks.example:%d", shared->ports[0]);
    fleet_start();
    for (unsigned i = 0; i < count; i++) {
        struct server *old = servers[i % 2], *new = servers[(i + 1) % 2];
        check_until(follows, new, "the replica to follow");
        redis_do(redis_at(old), "FAILOVER TO 127.0.0.1 %d", new->port);
        check_until(is_master, new, "the new master");
        check_until(is_replica, old, "the old one to be a replica");
        check_pause_ms(1000); /* a DNS takes its time */
        atomic_store(&shared->host, (i + 1) % 2);
        moved(check_now_us());
    }
    fleet_end("one server, demoted, and its name led to the other one a second later", 0);
    child_kill(relays);
    server_end(servers[0]);
    server_end(servers[1]);
}

/* ---- a cluster ---- */

static char buses[SERVERS_MAX][8];
static unsigned buses_count;

static struct server *cluster_server(void)
{
    char *bus = buses[buses_count++ % SERVERS_MAX];
    snprintf(bus, sizeof buses[0], "%d", server_port());
    const char *const arguments[] = {"--cluster-enabled", "yes", "--cluster-node-timeout", "3000", "--cluster-port", bus,
                                     "--repl-diskless-sync-delay", "0", NULL};
    return server_start_with_port(server_arguments(arguments, NULL));
}

struct known_by { struct server **servers; unsigned count, knows; };

static int know_all(void *arg)
{
    const struct known_by *by = arg;
    char words[32];
    snprintf(words, sizeof words, "cluster_known_nodes:%u", by->knows);
    for (unsigned i = 0; i < by->count; i++)
        if (!redis_says(by->servers[i], "CLUSTER INFO", words) || !redis_says(by->servers[i], "CLUSTER INFO", "cluster_state:ok") ||
            redis_says(by->servers[i], "CLUSTER NODES", "handshake"))
            return 0;
    return 1;
}

static void meet(struct server *one, struct server *other)
{
    redis_do(redis_at(one), "CLUSTER MEET 127.0.0.1 %d %s", other->port, other->arguments[5]);
}

TEST(servers_of_a_cluster_behind_their_addresses)
{
    struct server *servers[RELAYS + 1] = {NULL};
    unsigned count = check_count_wanted("MOVES", 10), three = RELAYS;
    char ids[2][48];
    begin();
    for (unsigned i = 0; i < RELAYS; i++)
        lead(i, servers[i] = cluster_server());
    pid_t relays = relays_start(&three);
    for (unsigned i = 0; i < RELAYS; i++) {
        redis_do(redis_at(servers[i]), "CONFIG SET cluster-announce-port %d", shared->ports[i]);
        redis_do(redis_at(servers[i]), "CLUSTER SET-CONFIG-EPOCH %u", i + 1);
        redis_do(redis_at(servers[i]), "CLUSTER ADDSLOTSRANGE %u %u", i * 16384 / RELAYS, (i + 1) * 16384 / RELAYS - 1);
    }
    for (unsigned i = 1; i < RELAYS; i++)
        meet(servers[0], servers[i]);
    check_until(know_all, &(struct known_by){servers, RELAYS, RELAYS}, "the cluster");
    snprintf(shared->url, sizeof shared->url, "redis+cluster://" LIVE_LOGIN "127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d", shared->ports[0],
             shared->ports[1], shared->ports[2]);
    fleet_start();
    for (unsigned i = 0; i < count; i++) {
        unsigned at = i % RELAYS;
        struct server *old = servers[at], *new = cluster_server();
        servers[RELAYS] = new;
        redis_do(redis_at(new), "CONFIG SET cluster-announce-port %d", shared->ports[at]);
        meet(servers[(at + 1) % RELAYS], new);
        check_until(know_all, &(struct known_by){servers, RELAYS + 1, RELAYS + 1}, "the new server to be known");
        snprintf(ids[0], sizeof ids[0], "%s", redis_text(redis_at(old), "CLUSTER MYID"));
        redis_do(redis_at(new), "CLUSTER REPLICATE %s", ids[0]);
        check_until(follows, new, "the new server to follow");
        check_pause_ms(500);
        redis_do(redis_at(old), "CLIENT PAUSE 2000 WRITE"); /* as CLUSTER FAILOVER does, which wants votes by address */
        check_pause_ms(200);
        redis_do(redis_at(new), "CLUSTER FAILOVER TAKEOVER");
        check_until(is_master, new, "the new server to take over");
        check_until(is_replica, old, "the old one to be a replica");
        check_pause_ms(200);
        lead(at, new);
        servers[at] = new;
        moved(check_now_us());
        server_end(old);
        for (unsigned j = 0; j < RELAYS; j++)
            redis_do(redis_at(servers[j]), "CLUSTER FORGET %s", ids[0]);
    }
    fleet_end("a server of a cluster of 3, replaced behind its address", 0);
    child_kill(relays);
    for (unsigned i = 0; i < RELAYS; i++)
        server_end(servers[i]);
}

/* ---- Sentinel ---- */

TEST(a_master_behind_sentinel)
{
    struct sentinels set;
    unsigned count = check_count_wanted("MOVES", 10);
    begin();
    sentinels_start(&set, NULL);
    snprintf(shared->url, sizeof shared->url, "%s", set.url);
    fleet_start();
    for (unsigned i = 0; i < count; i++) {
        sentinels_settle(&set);
        moved(sentinels_failover(&set, SERVER_FORCED));
    }
    fleet_end("Sentinel, failed over by command", 1); /* Redis replicates after the answer */
    sentinels_end(&set);
}
