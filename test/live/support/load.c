/* SPDX-License-Identifier: BSD-3-Clause */
/* load - see load.h. */
#include "load.h"

#include <stdatomic.h>
#include <stdio.h>

#include "check.h"
#include "child.h"
#include "client.h"

enum { HANDLES = 2 * LOAD_NAMES, LEASE_MS = 6000 };
enum { READY, STOP, LOST, UNCLEAR, LONGEST, GRANTS };

struct worker {
    struct handle handle;
    struct load *load;
    unsigned lock;
    size_t grant;
    struct event *timer;
    int is_counted, is_over;
};

static _Atomic uint64_t *word(const struct load *load, unsigned index) { return ledger_word(load->ledger, index); }

static void go_on(struct worker *worker)
{
    if (atomic_load(word(worker->load, STOP)))
        worker->is_over = 1;
    else
        handle_ask(&worker->handle, LOAD_WAIT_MS);
}

static void give(evutil_socket_t fd, short what, void *arg)
{
    struct worker *worker = arg;
    (void)fd, (void)what;
    ledger_end(worker->load->ledger, worker->grant);
    handle_release(&worker->handle);
}

static void on_acquired(struct handle *handle)
{
    struct worker *worker = handle->user;
    struct timeval hold = {0, LOAD_HOLD_MS * 1000};
    uint64_t longest = atomic_load(word(worker->load, LONGEST));
    if (handle->acquired.status != HILOCK_OK)
        check_fail("acquire ended %s after %u ms: %s", hilock_status_name(handle->acquired.status), handle->acquired.waited_ms, handle->acquired.detail);
    while (handle->acquired.waited_ms > longest && !atomic_compare_exchange_weak(word(worker->load, LONGEST), &longest, handle->acquired.waited_ms))
        ;
    worker->grant = ledger_begin(worker->load->ledger, worker->lock, handle->acquired.token);
    atomic_fetch_add(word(worker->load, GRANTS), 1);
    if (!worker->is_counted)
        atomic_fetch_add(word(worker->load, READY), 1);
    worker->is_counted = 1;
    event_add(worker->timer, &hold);
}

static void on_released(struct handle *handle)
{
    struct worker *worker = handle->user;
    if (handle->released.status != HILOCK_OK)
        atomic_fetch_add(word(worker->load, UNCLEAR), 1);
    if (handle->released.status != HILOCK_OK && handle->released.status != HILOCK_LOST && handle->released.status != HILOCK_UNKNOWN)
        check_fail("release ended %s: %s", hilock_status_name(handle->released.status), handle->released.detail);
    go_on(worker);
}

static void on_lost(struct handle *handle)
{
    struct worker *worker = handle->user;
    event_del(worker->timer);
    ledger_end(worker->load->ledger, worker->grant);
    atomic_fetch_add(word(worker->load, LOST), 1);
    go_on(worker);
}

static int all_are_over(void *arg)
{
    const struct worker *workers = arg;
    for (unsigned i = 0; i < HANDLES; i++)
        if (!workers[i].is_over)
            return 0;
    return 1;
}

static void work(void *arg)
{
    static struct worker workers[HANDLES];
    struct load *load = arg;
    struct client client;
    char name[32];
    client_open(&client, load->url);
    for (unsigned i = 0; i < HANDLES; i++) {
        struct worker *worker = &workers[i];
        worker->load = load;
        worker->lock = i % LOAD_NAMES;
        snprintf(name, sizeof name, "stock:%u", worker->lock);
        worker->timer = event_new(client.base, -1, 0, give, worker);
        handle_open(&worker->handle, &client, name,
                    HILOCK_LOCK_OPTIONS(.kind = load->is_fair ? HILOCK_FAIR : HILOCK_MUTEX, .lease_ms = LEASE_MS, .replicas = load->replicas));
        worker->handle.on_acquired = on_acquired;
        worker->handle.on_released = on_released;
        worker->handle.on_lost = on_lost;
        worker->handle.user = worker;
        handle_ask(&worker->handle, LOAD_WAIT_MS);
    }
    while (!atomic_load(word(load, STOP))) /* the test may take its time */
        client_for_ms(&client, 1000);
    client_until(&client, all_are_over, workers, "the last rounds");
    for (unsigned i = 0; i < HANDLES; i++) {
        handle_free(&workers[i].handle);
        event_free(workers[i].timer);
    }
    client_close(&client);
}

static int all_are_ready(void *arg) { return atomic_load(word(arg, READY)) == LOAD_PROCESSES * HANDLES; }

void load_start(struct load *load, size_t grants_max)
{
    load->ledger = ledger_new(LOAD_NAMES, grants_max);
    for (int i = 0; i < LOAD_PROCESSES; i++)
        load->pids[i] = child_start(work, load);
    check_until(all_are_ready, load, "every handle's first grant");
}

void load_stop(struct load *load)
{
    atomic_store(word(load, STOP), 1);
    for (int i = 0; i < LOAD_PROCESSES; i++)
        child_join(load->pids[i]);
}

struct load_counts load_counts(const struct load *load)
{
    return (struct load_counts){atomic_load(word(load, LOST)), atomic_load(word(load, UNCLEAR)), atomic_load(word(load, LONGEST)),
                                atomic_load(word(load, GRANTS))};
}
