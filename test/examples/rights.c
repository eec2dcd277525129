/* SPDX-License-Identifier: BSD-3-Clause */
/* rights - says whether a server's user may do all that locks of a kind need: one handle holds, another waits for it, the hold is proved and
 * looked at, given back, and at last ended by force. Two clients, for handles of one stand in line without the server's help.
 * usage: rights URL KIND    mutex, simple or fair; prints "enough", or what was refused, with status 1 */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <string.h>

enum { LONGER_MS = 60000 }; /* than the lease: or else there is nothing to lengthen */

struct hand {
    hilock_client *client;
    hilock_lock *lock;
    hilock_status status; /* of the latest answer */
    int answers, waits;
};

static struct event_base *base;
static int complaints;

static void on_log(hilock_log_level level, const char *line, void *user)
{
    (void)level, (void)user;
    printf("log: %s\n", line);
    complaints++;
}

static void on_result(const struct hilock_result *result, void *user)
{
    struct hand *hand = user;
    hand->status = result->status;
    hand->answers++;
    if (result->status != HILOCK_OK)
        printf("%s: %s\n", hilock_status_name(result->status), result->detail);
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct hand *hand = user;
    hand->waits += event->kind == HILOCK_EVENT_WAITING;
}

static int open_hand(struct hand *hand, const char *url, hilock_kind kind)
{
    struct hilock_error error;
    if (hilock_client_open_libevent(&hand->client, base, HILOCK_CLIENT_OPTIONS(.url = url, .on_log = on_log), &error) == HILOCK_OK &&
        hilock_lock_create(&hand->lock, hand->client, "stock:lamp",
                           HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .on_event = on_event, .user = hand, .kind = kind)) == HILOCK_OK)
        return 1;
    printf("refused: %s\n", hand->client ? hilock_client_refusal(hand->client) : error.text);
    return 0;
}

/* Whether what was asked, in hand's name, was accepted and is answered well. A complaint of the log ends the wait, too: all is told. */
static int is_done(struct hand *hand, hilock_status accepted)
{
    int before = hand->answers;
    if (accepted != HILOCK_OK)
        printf("%s: %s\n", hilock_status_name(accepted), hilock_client_refusal(hand->client));
    while (accepted == HILOCK_OK && hand->answers == before && complaints == 0)
        event_base_loop(base, EVLOOP_ONCE);
    return accepted == HILOCK_OK && hand->status == HILOCK_OK && complaints == 0;
}

static int is_waiting(struct hand *hand)
{
    int before = hand->answers;
    hand->waits = 0;
    if (hilock_acquire(hand->lock, HILOCK_FOREVER, on_result, hand) != HILOCK_OK)
        return 0;
    while (hand->waits == 0 && hand->answers == before && complaints == 0)
        event_base_loop(base, EVLOOP_ONCE);
    return hand->waits > 0;
}

static void on_given_up(const struct hilock_result *result, void *user)
{
    struct hand *hand = user;
    hand->status = result->status;
    hand->answers++;
    if (result->status != HILOCK_CANCELLED)
        printf("%s: %s\n", hilock_status_name(result->status), result->detail);
}

/* A wait that is cancelled is answered before the server is: what comes next shows whether that may be done. */
static int gives_up(struct hand *hand)
{
    int before = hand->answers;
    hand->waits = 0;
    if (hilock_acquire(hand->lock, HILOCK_FOREVER, on_given_up, hand) != HILOCK_OK)
        return 0;
    while (hand->waits == 0 && hand->answers == before && complaints == 0)
        event_base_loop(base, EVLOOP_ONCE);
    (void)hilock_cancel(hand->lock);
    while (hand->answers == before && complaints == 0)
        event_base_loop(base, EVLOOP_ONCE);
    return hand->status == HILOCK_CANCELLED;
}

static int may_all(struct hand *one, struct hand *other)
{
    if (!is_done(one, hilock_acquire(one->lock, HILOCK_FOREVER, on_result, one)) || !gives_up(other) || !is_waiting(other))
        return 0;
    if (!is_done(one, hilock_extend(one->lock, LONGER_MS, on_result, one)) || !is_done(one, hilock_peek(one->lock, on_result, one)))
        return 0;
    if (!is_done(one, hilock_release(one->lock, on_result, one)))
        return 0;
    while (hilock_lock_state(other->lock) == HILOCK_WAITING && complaints == 0)
        event_base_loop(base, EVLOOP_ONCE);
    return other->status == HILOCK_OK && is_done(other, hilock_release(other->lock, on_result, other)) &&
           is_done(one, hilock_acquire(one->lock, HILOCK_FOREVER, on_result, one)) && is_done(other, hilock_force_release(other->lock, NULL, on_result, other));
}

static hilock_kind kind_of(const char *word)
{
    return strcmp(word, "simple") == 0 ? HILOCK_SIMPLE : strcmp(word, "fair") == 0 ? HILOCK_FAIR : HILOCK_MUTEX;
}

int main(int argc, char **argv)
{
    struct hand one = {0}, other = {0};
    hilock_kind kind = kind_of(argc > 2 ? argv[2] : "");
    int is_enough;
    base = event_base_new();
    is_enough = argc > 2 && open_hand(&one, argv[1], kind) && open_hand(&other, argv[1], kind) && may_all(&one, &other) && complaints == 0;
    hilock_lock_free(one.lock);
    hilock_lock_free(other.lock);
    hilock_client_abandon(one.client);
    hilock_client_abandon(other.client);
    event_base_free(base);
    if (is_enough)
        printf("enough\n");
    return !is_enough;
}
