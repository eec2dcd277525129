/* SPDX-License-Identifier: BSD-3-Clause */
/* handover_ring.c - the yardstick of scenario handover: one PUBLISH made by a script, from process to process.
 *
 * The same processes, on bare hiredis and its own libevent adapter, pass a message round in a ring. The receiver
 * waits for as long as a lock would be held, and then publishes to the next process, by a script that does nothing
 * else. So each process sleeps between two messages, and the server between two commands, for as long as in the
 * hand-over of a fair lock. The latency is the time from the call that sends the command to the callback that gets
 * the message. */
#include "handover.h"
#include "messages.h"
#include "store.h"

#include <event2/event.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ring {
    struct crowd_member *member;
    void (*on_ready)(struct crowd_member *member);
    redisAsyncContext *commands, *messages;
    struct event *timer;
    char sha1[41];
    unsigned ready; /* counts up: the process is subscribed, and the script is loaded */
    bool is_playing;
};

static void name_channel(const struct ring *ring, unsigned index, char *ret_channel, size_t size)
{
    snprintf(ret_channel, size, "%s:ring:%u", ((const struct handover_board *)ring->member->board)->name, index);
}

/* The message that ends the stretch also goes round once. */
static void pass_on(struct ring *ring)
{
    const struct handover_board *board = ring->member->board;
    char channel[128], sent_ns[32];
    name_channel(ring, (ring->member->index + 1) % ring->member->count, channel, sizeof channel);
    snprintf(sent_ns, sizeof sent_ns, "%llu", board->is_over ? 0ull : (unsigned long long)crowd_now_ns());
    if (redisAsyncCommand(ring->commands, messages_on_answer, ring->member->base, "EVALSHA %s 0 %s %s", ring->sha1,
                          channel, sent_ns) != REDIS_OK)
        messages_fail(ring->member->base, "cannot send");
}

static void end_stretch(struct ring *ring)
{
    ring->is_playing = false;
    crowd_answer(ring->member);
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    struct ring *ring = user;
    const struct handover_board *board = ring->member->board;
    bool is_over = board->is_over;
    (void)fd, (void)what;
    pass_on(ring);
    if (is_over)
        end_stretch(ring);
}

static void on_sent(struct ring *ring, uint64_t sent_ns)
{
    struct handover_board *board = ring->member->board;
    uint64_t now_ns = crowd_now_ns();
    const struct timeval span = {board->hold_us / 1000000, (suseconds_t)(board->hold_us % 1000000)};
    unsigned place;
    if (sent_ns == 0) {
        if (ring->is_playing) {
            pass_on(ring);
            end_stretch(ring);
        }
        return;
    }
    place = board->latencies++;
    if (place < HANDOVER_LATENCIES_MAX)
        board->latency_ns[place] = now_ns - sent_ns;
    evtimer_add(ring->timer, &span);
}

static void become_ready(struct ring *ring)
{
    if (++ring->ready == 2)
        ring->on_ready(ring->member);
}

static void on_message(redisAsyncContext *store, void *answer, void *user)
{
    struct ring *ring = user;
    const redisReply *reply = answer;
    (void)store;
    if (!reply)
        return;
    if (reply->type == REDIS_REPLY_ERROR)
        messages_fail(ring->member->base, reply->str);
    else if (strcmp(reply->element[0]->str, "subscribe") == 0)
        become_ready(ring);
    else if (reply->element[2]->str)
        on_sent(ring, strtoull(reply->element[2]->str, NULL, 10));
}

static void on_loaded(redisAsyncContext *store, void *answer, void *user)
{
    struct ring *ring = user;
    const redisReply *reply = answer;
    (void)store;
    if (!reply)
        return;
    if (reply->type != REDIS_REPLY_STRING || reply->len >= sizeof ring->sha1) {
        messages_fail(ring->member->base,
                      reply->type == REDIS_REPLY_ERROR ? reply->str : "SCRIPT LOAD was not answered by a digest");
        return;
    }
    memcpy(ring->sha1, reply->str, reply->len + 1);
    become_ready(ring);
}

struct ring *ring_open(struct crowd_member *member, void (*on_ready)(struct crowd_member *member))
{
    struct ring *ring = calloc(1, sizeof *ring);
    const struct handover_board *board = member->board;
    char error[STORE_ERROR_SIZE] = "out of memory", channel[128];
    if (!ring)
        return NULL;
    ring->member = member;
    ring->on_ready = on_ready;
    ring->timer = evtimer_new(member->base, on_timer, ring);
    ring->commands = store_connect_async(board->url, member->base, error);
    ring->messages = ring->commands ? store_connect_async(board->url, member->base, error) : NULL;
    if (!ring->timer || !ring->messages) {
        fprintf(stderr, "bare messages: %s\n", error);
        ring_close(ring);
        return NULL;
    }
    name_channel(ring, member->index, channel, sizeof channel);
    redisAsyncCommand(ring->messages, on_message, ring, "SUBSCRIBE %s", channel);
    redisAsyncCommand(ring->commands, on_loaded, ring, "SCRIPT LOAD %s",
                      "return redis.call('PUBLISH', ARGV[1], ARGV[2])");
    return ring;
}

void ring_begin(struct ring *ring)
{
    ring->is_playing = true;
    if (ring->member->index == 0)
        pass_on(ring);
}

void ring_close(struct ring *ring)
{
    if (!ring)
        return;
    if (ring->commands)
        redisAsyncFree(ring->commands);
    if (ring->messages)
        redisAsyncFree(ring->messages);
    if (ring->timer)
        event_free(ring->timer);
    free(ring);
}
