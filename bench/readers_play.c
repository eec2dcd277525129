/* SPDX-License-Identifier: BSD-3-Clause */
/* readers_play.c - a process of scenario readers: the first one has the writer, each of the others `handles` that
 * share the name.
 *
 * Invariant: process->awaited counts what an order waits for in this process, and the order is answered as it becomes
 * 0. */
#include "readers.h"

#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <stdlib.h>

struct contender {
    struct crowd_member *member;
    hilock_client *client;
    hilock_lock *lock;
    struct event *timer;
    struct readers_grant *grant; /* the one that is held; NULL: it is not recorded */
    uint64_t asked_ns;
    bool is_holding;
};

struct party { /* one client */
    struct crowd_member *member;
    hilock_client *client;
    bool is_connected;
};

struct process {
    struct party *clients;
    struct contender *contenders;
    struct news *news;
    unsigned clients_count, clients_open, count, awaited;
    bool is_busy; /* what is granted is given back after a while */
};

static struct readers_board *board_of(const struct contender *contender) { return contender->member->board; }

static bool is_writer(const struct crowd_member *member) { return member->index == 0; }

static void fail(struct crowd_member *member, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    event_base_loopbreak(member->base);
}

static void account(struct crowd_member *member)
{
    struct process *process = member->state;
    if (--process->awaited == 0)
        crowd_answer(member);
}

static void after_us(struct contender *contender, uint32_t us)
{
    const struct timeval span = {us / 1000000, us % 1000000};
    evtimer_add(contender->timer, &span);
}

static void on_acquired(const struct hilock_result *result, void *user);

static void ask(struct contender *contender)
{
    struct process *process = contender->member->state;
    if (process->is_busy && board_of(contender)->is_over) {
        account(contender->member);
        return;
    }
    contender->asked_ns = crowd_now_ns();
    if (hilock_acquire(contender->lock, HILOCK_FOREVER, on_acquired, contender) != HILOCK_OK)
        fail(contender->member, "acquire", hilock_client_refusal(contender->client));
}

static void record(struct contender *contender, uint64_t now_ns)
{
    struct readers_board *board = board_of(contender);
    unsigned at;
    board->grants_all++;
    if (board->is_over || (at = board->grants++) >= READERS_GRANTS_MAX)
        return;
    contender->grant = &board->grant[at];
    *contender->grant = (struct readers_grant){contender->asked_ns, now_ns, 0, is_writer(contender->member)};
}

/* The writer gives the name back at once. */
static void on_acquired(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    struct process *process = contender->member->state;
    struct readers_board *board = board_of(contender);
    uint64_t now_ns = crowd_now_ns(), last_ns = board->last_ns;
    if (result->status != HILOCK_OK) {
        fail(contender->member, "acquire", result->detail);
        return;
    }
    contender->is_holding = true;
    if (process->is_busy) {
        record(contender, now_ns);
        after_us(contender, board->is_over || is_writer(contender->member) ? 0 : board->hold_us);
        return;
    }
    while (now_ns > last_ns && !atomic_compare_exchange_weak(&board->last_ns, &last_ns, now_ns))
        ;
    account(contender->member);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    (void)result;
    account(contender->member);
}

static void let_go(struct contender *contender, hilock_result_fn *on_result)
{
    contender->is_holding = false;
    if (contender->grant)
        contender->grant->releasing_ns = crowd_now_ns();
    contender->grant = NULL;
    if (hilock_release(contender->lock, on_result, contender) != HILOCK_OK)
        fail(contender->member, "release", hilock_client_refusal(contender->client));
}

/* A reader asks again at once; the writer thinks for two holds of a reader. */
static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct contender *contender = user;
    (void)fd, (void)what;
    if (!contender->is_holding) {
        ask(contender);
        return;
    }
    let_go(contender, NULL);
    if (is_writer(contender->member) && !board_of(contender)->is_over)
        after_us(contender, 2 * board_of(contender)->hold_us);
    else
        ask(contender);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    const struct contender *contender = user;
    fail(contender->member, "lost", event->detail);
}

/* ---- orders ---- */

static void let_writer_go(struct crowd_member *member)
{
    struct process *process = member->state;
    struct readers_board *board = member->board;
    if (!is_writer(member))
        return; /* its handles are awaited since READERS_WAIT, and may have the name by now */
    process->awaited = 1;
    board->began_ns = crowd_now_ns();
    let_go(&process->contenders[0], on_released);
}

static void begin_busy(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct readers_board *board = member->board;
    if (is_writer(member) && !board->has_writer) {
        crowd_answer(member);
        return;
    }
    process->awaited = process->count;
    process->is_busy = true;
    for (unsigned i = 0; i < process->count; i++) /* spread over a hold, so that they do not all end together */
        after_us(&process->contenders[i], board->hold_us / process->count * i);
}

static void on_order(struct crowd_member *member, char order)
{
    struct process *process = member->state;
    process->is_busy = false;
    if (order == READERS_MESSAGES) {
        news_begin(process->news);
    } else if (order == READERS_BUSY) {
        begin_busy(member);
    } else if (order == READERS_LET_IN) {
        let_writer_go(member);
    } else if (is_writer(member) != (order == READERS_WRITE)) {
        crowd_answer(member);
    } else {
        process->awaited = process->count;
        for (unsigned i = 0; i < process->count; i++)
            if (order == READERS_LEAVE)
                let_go(&process->contenders[i], on_released);
            else
                ask(&process->contenders[i]);
        if (order == READERS_WAIT)
            crowd_answer(member); /* and once more to READERS_LET_IN, as all are granted */
    }
}

/* ---- a process ---- */

static int open_contender(struct crowd_member *member, struct contender *contender, hilock_client *client)
{
    const struct readers_board *board = member->board;
    uint32_t holders_max = is_writer(member) ? 1 : board->holders_max;
    contender->member = member;
    contender->client = client;
    contender->timer = evtimer_new(member->base, on_timer, contender);
    if (contender->timer &&
        hilock_lock_create(&contender->lock, client, board->name,
                           HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = contender,
                                               .holders_max = holders_max,
                                               .share_local_ms = holders_max == HILOCK_ANY_NUMBER
                                                                     ? board->share_local_ms : 0)) == HILOCK_OK)
        return 0;
    fprintf(stderr, "hilock: %s\n", hilock_client_refusal(client));
    return -1;
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct party *party = user;
    if (event->kind != HILOCK_EVENT_CONNECTED || party->is_connected)
        return;
    party->is_connected = true;
    account(party->member);
}

static int open_client(struct crowd_member *member, struct party *party)
{
    const struct readers_board *board = member->board;
    struct hilock_error error;
    party->member = member;
    if (hilock_client_open_libevent(&party->client, member->base,
                                    HILOCK_CLIENT_OPTIONS(.url = board->url, .log_level = HILOCK_LOG_ERROR,
                                                          .on_event = on_event, .user = party),
                                    &error) == HILOCK_OK)
        return 0;
    fprintf(stderr, "hilock: %s\n", error.text);
    return -1;
}

static int open_process(struct crowd_member *member)
{
    struct process *process = member->state;
    const struct readers_board *board = member->board;
    process->count = is_writer(member) ? 1 : board->handles;
    process->clients_count = is_writer(member) ? 1 : board->clients;
    process->contenders = calloc(process->count, sizeof *process->contenders);
    process->clients = calloc(process->clients_count, sizeof *process->clients);
    if (!process->contenders || !process->clients)
        return -1;
    process->awaited = process->clients_count + 1; /* until all are connected, and listen to the bare messages */
    for (; process->clients_open < process->clients_count; process->clients_open++)
        if (open_client(member, &process->clients[process->clients_open]) != 0)
            return -1;
    for (unsigned i = 0; i < process->count; i++)
        if (open_contender(member, &process->contenders[i], process->clients[i % process->clients_count].client) != 0)
            return -1;
    process->news = news_open(member, account);
    return process->news ? 0 : -1;
}

static void on_closed(void *user)
{
    struct crowd_member *member = user;
    struct process *process = member->state;
    if (--process->clients_open)
        return;
    free(process->clients);
    crowd_leave(member);
}

static void close_process(struct crowd_member *member)
{
    struct process *process = member->state;
    for (unsigned i = 0; i < process->count; i++) {
        hilock_lock_free(process->contenders[i].lock);
        event_free(process->contenders[i].timer);
    }
    free(process->contenders);
    news_close(process->news);
    for (unsigned i = 0; i < process->clients_count; i++)
        hilock_client_close(process->clients[i].client, 0, on_closed, member);
}

const struct crowd_role readers_role = {sizeof(struct process), open_process, on_order, close_process};
