/* SPDX-License-Identifier: BSD-3-Clause */
/* walks SOCKET - what one lock passes through, for counts.py: a line "walk NAME", then for each call in lib/ the addresses
 * of the function and of its caller. lib/ is compiled with -finstrument-functions here, and the server is a real one.
 *
 * The other holder of a walk is a client in a process of its own, so that all that is recorded is the waiter's. It acts
 * on a letter over a pipe: a (acquire), r (release), and sends the letter back when that is done. */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LEASE_MS = 1500, OTHER_LEASE_MS = 2500 };

static struct event_base *base;
static hilock_client *client;
static hilock_lock *lock, *same, *longer; /* handles of one name: two of the same lease, one of another */
static int is_recorded, answers, attempts, handoffs, losses, renewals, waits;
static int to_other, from_other;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
void __cyg_profile_func_enter(void *function, void *site)
{
    if (is_recorded)
        printf("%p %p\n", function, site);
}
void __cyg_profile_func_exit(void *function, void *site) { (void)function, (void)site; }

static void must(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "walks: %s\n", what);
    _exit(1);
}

static void on_lost(const struct hilock_event *event, void *user) { (void)event, (void)user, losses++; }

static void on_trace(const struct hilock_trace *step, void *user)
{
    (void)user;
    renewals += step->step == HILOCK_TRACE_RENEW;
    waits += step->step == HILOCK_TRACE_PLACE;
    attempts += step->step == HILOCK_TRACE_ATTEMPT;
    handoffs += step->step == HILOCK_TRACE_HANDOFF;
}

static void on_result(const struct hilock_result *result, void *user)
{
    (void)user;
    must(result->status == HILOCK_OK, result->detail);
    answers++;
}

/* Turns the loop until this was counted so often more. */
static void until(const int *count, int more)
{
    const int enough = *count + more;
    while (*count < enough)
        event_base_loop(base, EVLOOP_ONCE);
}

static void acquire_with(hilock_lock *with)
{
    must(hilock_acquire(with, HILOCK_FOREVER, on_result, NULL) == HILOCK_OK, "acquire refused");
}
static void release_of(hilock_lock *of) { must(hilock_release(of, on_result, NULL) == HILOCK_OK, "release refused"); }

/* Of this client until now: commands that were sent, and requests without an answer. */
static struct hilock_stats counted(void)
{
    struct hilock_stats stats = {.size = sizeof stats};
    const int was_recorded = is_recorded;
    is_recorded = 0;
    hilock_client_stats(client, &stats);
    is_recorded = was_recorded;
    return stats;
}
static uint64_t commands(void) { return counted().commands; }

static void acquire(void) { acquire_with(lock); }
static void release(void) { release_of(lock); }

static void open_client(const char *socket)
{
    char url[300];
    snprintf(url, sizeof url, "unix://%s", socket);
    base = event_base_new();
    must(hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = url, .on_trace = on_trace), NULL) ==
         HILOCK_OK, "no client");
}

static hilock_lock *make(uint32_t lease_ms)
{
    hilock_lock *made;
    must(hilock_lock_create(&made, client, "stock", HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .lease_ms = lease_ms)) ==
         HILOCK_OK, "no lock");
    return made;
}

/* ---- the other holder */

static void be_other(const char *socket, int orders, int done)
{
    char order;
    open_client(socket);
    lock = make(30000);
    while (read(orders, &order, 1) == 1) {
        order == 'a' ? acquire() : release();
        until(&answers, 1);
        must(write(done, &order, 1) == 1, "pipe");
    }
    _exit(0);
}

static void start_other(const char *socket)
{
    int orders[2], done[2];
    must(pipe(orders) == 0 && pipe(done) == 0, "pipe");
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        close(orders[1]);
        close(done[0]);
        be_other(socket, orders[0], done[1]);
    }
    close(orders[0]);
    close(done[1]);
    to_other = orders[1];
    from_other = done[0];
}

static void tell_other(char order) { must(write(to_other, &order, 1) == 1, "pipe"); }
static void hear_other(void)
{
    char order;
    must(read(from_other, &order, 1) == 1, "the other holder failed");
}

/* ---- the walks */

/* It ends when `end` was counted so often more since the begin. */
static void walk(const char *name, void (*begin)(void), const int *end, int more)
{
    const int enough = *end + more;
    printf("walk %s\n", name);
    is_recorded = 1;
    if (begin)
        begin();
    until(end, enough - *end);
    is_recorded = 0;
}

static void acquire_behind_other(void)
{
    acquire();
    until(&waits, 1);
    for (int i = 0; i < 20; i++) { /* the subscriptions are answered, and it has asked after that */
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
    attempts = 0;
    tell_other('r');
}

/* No turn of the loop until the lease is over. */
static void stand_still(void) { nanosleep(&(struct timespec){.tv_sec = LEASE_MS / 1000 + 1}, NULL); }

/* The next turn finds the loss and reports it; then the id is released. */
static void lose(void)
{
    until(&losses, 1);
    do
        event_base_loop(base, EVLOOP_NONBLOCK);
    while (counted().inflight > 0);
}

static void wait_behind(hilock_lock *behind)
{
    acquire_with(behind);
    event_base_loop(base, EVLOOP_NONBLOCK);
}

int main(int argc, char **argv)
{
    uint64_t before;
    must(argc == 2, "usage: walks SOCKET");
    start_other(argv[1]);
    open_client(argv[1]);
    lock = make(LEASE_MS);
    same = make(LEASE_MS);
    longer = make(OTHER_LEASE_MS);
    acquire(); /* the link is opened and the scripts are loaded */
    until(&answers, 1);
    release();
    until(&answers, 1);

    walk("free acquire", acquire, &answers, 1);
    wait_behind(same); /* at once: a hold is handed on in the first third of its lease */
    walk("release handed on inside the client", release, &answers, 2);
    must(handoffs == 1, "the hold was not handed on");
    wait_behind(longer);
    lock = same;
    before = commands();
    walk("release that asks for the next handle", release, &answers, 2);
    must(commands() == before + 1, "the release and the next acquire were not one command");
    walk("renewal", NULL, &renewals, 1);
    release_of(longer);
    until(&answers, 1);

    tell_other('a');
    hear_other();
    walk("acquire granted by push", acquire_behind_other, &answers, 1);
    must(attempts == 0, "it asked after the release, so no push granted it");
    hear_other();

    stand_still();
    walk("loss at the deadline, its undo included", lose, &losses, 1);
    hilock_client_abandon(client);
    event_base_free(base);
    close(to_other);
    wait(NULL);
    return 0;
}
