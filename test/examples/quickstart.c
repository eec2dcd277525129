/* SPDX-License-Identifier: BSD-3-Clause */
/* quickstart - takes one lock, prints that, and gives it back: the shortest whole program.
 * usage: quickstart [URL] */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>

static void on_lost(const struct hilock_event *event, void *user)
{
    (void)user;
    fprintf(stderr, "lost: %s\n", event->detail); /* others may hold it now: do no more of the work */
    hilock_client_close(event->client, 0, NULL, NULL);
}
static void on_acquired(const struct hilock_result *result, void *client)
{
    if (result->status == HILOCK_OK) /* the work goes here: raise the fence to the token, then read, then write */
        printf("ours, token %llu\n", (unsigned long long)result->fencing_token);
    else /* TIMED_OUT: another holds it. Any other status: not granted either */
        fprintf(stderr, "%s: %s\n", hilock_status_name(result->status), result->detail);
    hilock_lock_free(result->lock);                          /* releases what is held */
    hilock_client_close(client, HILOCK_FOREVER, NULL, NULL); /* the loop turns until that is done, and ends */
}
static int failed(const char *why) { return fprintf(stderr, "%s\n", why) < 0 ? 2 : 1; }
int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct hilock_error error;
    hilock_client *client;
    hilock_lock *lock;
    if (hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = argc > 1 ? argv[1] : NULL), &error) != HILOCK_OK)
        return failed(error.text);
    if (hilock_lock_create(&lock, client, "report:daily", HILOCK_LOCK_OPTIONS(.on_lost = on_lost)) != HILOCK_OK ||
        hilock_acquire(lock, 1000, on_acquired, client) != HILOCK_OK)
        return failed(hilock_client_refusal(client));
    event_base_dispatch(base);
    event_base_free(base);
}
