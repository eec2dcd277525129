/* SPDX-License-Identifier: BSD-3-Clause */
/* walks SOCKET - what one lock passes through, for counts.py: a line "walk NAME", then for each call in lib/ the addresses
 * of the function and of its caller. lib/ is compiled with -finstrument-functions here; the server is a real one. Another
 * holder is played by hand: it holds as Redisson does, so that all that is recorded is the waiter's. */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEASE_MS = 1500 };

static struct event_base *base;
static hilock_lock *lock;
static redisContext *store;
static int is_recorded, answers, losses, renewals, waits;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
void __cyg_profile_func_enter(void *function, void *site)
{
    if (is_recorded)
        printf("%p %p\n", function, site);
}
void __cyg_profile_func_exit(void *function, void *site) { (void)function, (void)site; }

static void on_lost(const struct hilock_event *event, void *user) { (void)event, (void)user, losses++; }

static void on_trace(const struct hilock_trace *step, void *user)
{
    (void)user;
    renewals += step->step == HILOCK_TRACE_RENEW;
    waits += step->step == HILOCK_TRACE_PLACE;
}

static void on_result(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status != HILOCK_OK)
        exit(1);
    answers++;
}

static void until(const int *count)
{
    const int before = *count;
    while (*count == before)
        event_base_loop(base, EVLOOP_ONCE);
}

static void must(int is_so)
{
    if (!is_so)
        exit(1);
}

static void acquire(void) { must(hilock_acquire(lock, HILOCK_FOREVER, on_result, NULL) == HILOCK_OK); }
static void release(void) { must(hilock_release(lock, on_result, NULL) == HILOCK_OK); }
static void ask(const char *command) { freeReplyObject(redisCommand(store, command)); }

static void acquire_what_is_freed(void)
{
    acquire();
    until(&waits);
    ask("DEL stock");
    ask("PUBLISH redisson_lock__channel:{stock} 0");
}

static void walk(const char *name, void (*begin)(void), const int *end)
{
    printf("walk %s\n", name);
    is_recorded = 1;
    if (begin)
        begin();
    until(end);
    is_recorded = 0;
}

int main(int argc, char **argv)
{
    char url[300];
    hilock_client *client;
    must(argc == 2);
    snprintf(url, sizeof url, "unix://%s", argv[1]);
    base = event_base_new();
    store = redisConnectUnix(argv[1]);
    must(hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = url, .on_trace = on_trace), NULL) ==
         HILOCK_OK);
    must(hilock_lock_create(&lock, client, "stock", HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .lease_ms = LEASE_MS)) ==
         HILOCK_OK);
    acquire(); /* the link is opened and the scripts are loaded */
    until(&answers);
    release();
    until(&answers);
    walk("free acquire", acquire, &answers);
    walk("renewal", NULL, &renewals);
    walk("release", release, &answers);
    ask("HSET stock somebody 1 mode mutex");
    walk("contended acquire", acquire_what_is_freed, &answers);
    ask("DEL stock");
    walk("loss", NULL, &losses);
    hilock_client_abandon(client);
    hilock_lock_free(lock);
    redisFree(store);
    event_base_free(base);
    return 0;
}
