/* SPDX-License-Identifier: BSD-3-Clause */
/* traps - what goes wrong with locks in an event loop, and what comes of it here: a refusal with words, or nothing bad. It prints each trap
 * with what the library said, and exits with 0 if each held.
 *
 * Worth to be known before the first line is written: a handle is one would-be holder, not one name; a hold can end without you; freeing is
 * legal in any state and silences; what a client has opened belongs to the thread that turns its loop, and to no forked child.
 * usage: traps [URL]    (uses names traps:...) */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct event_base *base;
static hilock_client *client;
static int failures;

struct answer { int count; hilock_status status; };

static void on_lost(const struct hilock_event *event, void *user) { (void)event, (void)user; }

static void on_result(const struct hilock_result *result, void *user) { *(struct answer *)user = (struct answer){1, result->status}; }

static void on_closed(void *user) { *(int *)user = 1; }

static void holds(const char *trap, int is_so, const char *said)
{
    printf("%s %s%s%s\n", is_so ? "held  " : "FAILED", trap, *said ? "\n         " : "", said);
    failures += !is_so;
}

static void refused(const char *trap, hilock_status is, hilock_status should) { holds(trap, is == should, hilock_client_refusal(client)); }

static hilock_lock *make(const char *name)
{
    hilock_lock *lock = NULL;
    if (hilock_lock_create(&lock, client, name, HILOCK_LOCK_OPTIONS(.on_lost = on_lost)) != HILOCK_OK)
        exit(2);
    return lock;
}

static hilock_status acquire(hilock_lock *lock, uint32_t wait_ms)
{
    struct answer answer = {0, HILOCK_OK};
    hilock_status status = hilock_acquire(lock, wait_ms, on_result, &answer);
    while (status == HILOCK_OK && !answer.count)
        event_base_loop(base, EVLOOP_ONCE);
    return status == HILOCK_OK ? answer.status : status;
}

/* ---- figures and options ---- */

static void with_options(void)
{
    hilock_lock *lock = NULL;
    const struct hilock_lock_options bare = {.on_lost = on_lost};
    refused("nobody to tell of a loss", hilock_lock_create(&lock, client, "traps:a", HILOCK_LOCK_OPTIONS(.lease_ms = 5000)), HILOCK_INVALID);
    refused("a lease meant in seconds", hilock_lock_create(&lock, client, "traps:a", HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .lease_ms = 30)), HILOCK_INVALID);
    refused("options without their size", hilock_lock_create(&lock, client, "traps:a", &bare), HILOCK_INVALID);
    refused("a name from outside, with a brace", hilock_lock_create(&lock, client, "traps:}{", HILOCK_LOCK_OPTIONS(.on_lost = on_lost)), HILOCK_BAD_NAME);
    lock = make("traps:a");
    refused("time left until a deadline that has passed", hilock_acquire(lock, (uint32_t)-20, on_result, NULL), HILOCK_INVALID);
    hilock_lock_free(lock);
}

/* ---- one handle for many ---- */

static void with_handles(void)
{
    hilock_lock *lock = make("traps:a"), *other = make("traps:a");
    holds("the lock is had", acquire(lock, 5000) == HILOCK_OK, "");
    refused("two requests that share a handle: both would be in", hilock_acquire(lock, 5000, on_result, NULL), HILOCK_IN_USE);
    holds("a handle for each: the second is kept out", acquire(other, HILOCK_TRY) == HILOCK_TIMED_OUT, "");
    holds("released", hilock_release(lock, NULL, NULL) == HILOCK_OK && hilock_lock_remaining_ms(lock) == 0, "");
    refused("released twice, when somebody else may have it", hilock_release(lock, NULL, NULL), HILOCK_NOT_HELD);
    refused("cancelled, when it does not wait", hilock_cancel(lock), HILOCK_NOT_PENDING);
    hilock_lock_free(lock);
    hilock_lock_free(other);
}

/* ---- memory that goes while something is under way ---- */

struct request { hilock_lock *lock; int *is_done; };

static void free_all(const struct hilock_result *result, void *user)
{
    struct request *request = user;
    *request->is_done = result->status == HILOCK_OK;
    hilock_lock_free(request->lock); /* held: given back */
    free(request);
}

static void with_memory(void)
{
    hilock_lock *lock = make("traps:a"), *waits = make("traps:a");
    struct request *request = calloc(1, sizeof *request);
    struct answer *gone = calloc(1, sizeof *gone);
    int is_done = 0;
    if (!request || !gone)
        exit(2);
    holds("the lock is had", acquire(lock, 5000) == HILOCK_OK, "");
    holds("whoever waits hangs up,", hilock_acquire(waits, HILOCK_FOREVER, on_result, gone) == HILOCK_OK, "");
    hilock_lock_free(waits);
    free(gone);
    hilock_lock_free(lock);
    *request = (struct request){make("traps:a"), &is_done};
    holds("and the next one frees all there is in its callback", hilock_acquire(request->lock, 5000, free_all, request) == HILOCK_OK, "");
    while (!is_done)
        event_base_loop(base, EVLOOP_ONCE);
    lock = make("traps:a");
    holds("  nothing calls back into what is gone, and the lock is free", acquire(lock, 5000) == HILOCK_OK, "");
    hilock_lock_free(lock);
}

/* ---- threads and children ---- */

static void *other_thread(void *lock)
{
    refused("a worker thread releases", hilock_release(lock, NULL, NULL), HILOCK_WRONG_THREAD);
    holds("  or asks whether it is still ours: no", hilock_lock_remaining_ms(lock) == 0, "");
    hilock_lock_free(lock);
    return NULL;
}

static void with_others(void)
{
    hilock_lock *lock = make("traps:b");
    pthread_t thread;
    pid_t child;
    int status = -1;
    holds("the lock is had", acquire(lock, 5000) == HILOCK_OK, "");
    if (pthread_create(&thread, NULL, other_thread, lock) != 0 || pthread_join(thread, NULL) != 0)
        exit(2);
    holds("  or frees: nothing happens", hilock_lock_state(lock) == HILOCK_STATE_HELD, "");
    fflush(stdout);
    if ((child = fork()) == 0)
        _exit(hilock_release(lock, NULL, NULL) == HILOCK_FORKED && hilock_lock_remaining_ms(lock) == 0 ? 0 : 1);
    holds("a forked child releases its parent's lock: refused", child > 0 && waitpid(child, &status, 0) == child && status == 0, "");
    holds("  the parent holds on", hilock_lock_remaining_ms(lock) > 0, "");
    hilock_lock_free(lock);
}

/* ---- the end ---- */

static void with_the_end(void)
{
    hilock_lock *lock = make("traps:c");
    hilock_status status;
    int is_closed = 0;
    holds("the lock is had", acquire(lock, 5000) == HILOCK_OK, "");
    holds("the client is closed under it", hilock_client_close(client, 0, on_closed, &is_closed) == HILOCK_OK, "");
    while (!is_closed)
        event_base_loop(base, EVLOOP_ONCE);
    client = NULL;
    status = hilock_acquire(lock, 0, on_result, NULL);
    refused("the lock is used afterwards", status, HILOCK_CLOSED);
    hilock_lock_free(lock);
    hilock_lock_free(NULL);
}

int main(int argc, char **argv)
{
    struct hilock_error error;
    base = event_base_new();
    holds("a url with a slip in it", hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = "redis//localhost"), &error) == HILOCK_INVALID, error.text);
    if (hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = argc > 1 ? argv[1] : NULL, .label = "traps"), &error) != HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text), 2;
    with_options();
    with_handles();
    with_memory();
    with_others();
    with_the_end();
    event_base_free(base);
    return failures != 0;
}
