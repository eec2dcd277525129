/* SPDX-License-Identifier: BSD-3-Clause */
/* loops [URL] - a server of four threads, each with its loop and its client, that ends in order at SIGTERM. Each waits for the same lock. */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

enum { THREADS = 4 };
struct worker { pthread_t thread; struct event_base *base; hilock_client *client; hilock_lock *lock; };

static void on_acquired(const struct hilock_result *result, void *user)
{
    (void)user;
    puts(hilock_status_name(result->status)); /* OK for one of them; the others wait, and end CLOSED */
    fflush(stdout);
}
static void on_closed(void *base) { event_base_loopbreak(base); } /* on the loop's thread: the client is gone */
static int begin(struct worker *worker, const char *url)
{
    struct hilock_error error;
    worker->base = event_base_new();
    if (hilock_client_open_libevent(&worker->client, worker->base, HILOCK_CLIENT_OPTIONS(.url = url), &error) != HILOCK_OK)
        return fprintf(stderr, "%s\n", error.text);
    return hilock_lock_create(&worker->lock, worker->client, "leader",
                              HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) != HILOCK_OK ||
           hilock_acquire(worker->lock, HILOCK_FOREVER, on_acquired, NULL) != HILOCK_OK;
}
static void *run(void *arg)
{
    struct worker *worker = arg;
    if (hilock_client_adopt(worker->client) == HILOCK_OK)
        event_base_dispatch(worker->base); /* and whatever else this thread serves */
    hilock_lock_free(worker->lock);
    event_base_free(worker->base);
    return NULL;
}
int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    sigset_t end;
    int signal_number;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL); /* before the threads, which inherit it */
    for (int i = 0; i < THREADS; i++)
        if (begin(&workers[i], argc > 1 ? argv[1] : NULL) || pthread_create(&workers[i].thread, NULL, run, &workers[i]))
            return 1;
    sigwait(&end, &signal_number);
    for (int i = 0; i < THREADS; i++) /* any thread may ask; each loop closes its own client */
        (void)hilock_client_close(workers[i].client, 1000, on_closed, workers[i].base);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    puts("ended");
}
