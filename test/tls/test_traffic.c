/* SPDX-License-Identifier: BSD-3-Clause */
/* Behind a good handshake a link is as any other: bytes that OpenSSL has read and no socket announces, writes that stop half-way, keys that
 * change, ends of all kinds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../unit/needle.h"
#include "peer.h"

enum { RECORDS = 100, TIMES = 100, COMMANDS = 30000 };

#define PING "*1\r\n$4\r\nPING\r\n"
#define PADDING "................................................................................................................................................................................................................................................"
static const char long_ping[] = "*2\r\n$4\r\nPING\r\n$240\r\n" PADDING "\r\n";

typedef void traffic_fn(struct peer *peer, struct link_trial *trial);

struct traffic { /* a play behind a handshake of each version from this one on */
    traffic_fn *play;
    int oldest;
    const char *told; /* NULL; or the play ends the link, and this is what comes of it */
};

/* TRAFFIC(name, oldest, told) { ... } is such a play, which finds `peer` and `trial`. */
#define TRAFFIC(name, oldest, told)                                                                             \
    static void name(struct peer *peer, struct link_trial *trial);                                              \
    __attribute__((constructor)) static void add_##name(void)                                                   \
    {                                                                                                           \
        static const struct traffic traffic = {name, oldest, told};                                             \
        suite_add(#name, play_traffic, &traffic);                                                               \
    }                                                                                                           \
    static void name(__attribute__((unused)) struct peer *peer, __attribute__((unused)) struct link_trial *trial)

static void meet_end(const struct traffic *traffic, struct peer *peer, struct link_trial *trial);

static void play_traffic(void **state)
{
    const struct traffic *traffic = *state;
    for (int version = traffic->oldest; version <= TLS1_3_VERSION; version++) {
        struct link_trial trial;
        struct peer peer;
        peer_meet(&peer, &trial, &(struct peer_options){.version = version});
        peer_until(&peer, "up");
        while (!peer_is_met(&peer))
            peer_turn(&peer);
        if (traffic->told)
            meet_end(traffic, &peer, &trial);
        else
            traffic->play(&peer, &trial);
        peer_leave(&peer);
    }
}

static void ask(struct link_trial *trial, int times)
{
    while (times-- > 0)
        link_trial_ask(trial);
}

/* ---- reading ---- */

static void say_records(struct peer *peer, int count)
{
    for (int i = 0; i < count; i++)
        peer_say(peer, ":1\r\n");
}

static void until_all_are_read(struct peer *peer, struct link_trial *trial)
{
    say_records(peer, RECORDS);
    for (int turns = 0; trial->replies < RECORDS && turns < 1000; turns++)
        peer_turn(peer);
    assert_int_equal(trial->replies, RECORDS);
    assert_false(trial->is_down);
}

TRAFFIC(many_records_in_one_packet, TLS1_2_VERSION, NULL)
{
    ask(trial, RECORDS);
    peer_until_heard(peer, RECORDS * (sizeof PING - 1));
    until_all_are_read(peer, trial);
}

static void to_stream(struct link_trial *trial)
{
    trial->at_reply = NULL;
    trial->factory.stream(trial->link);
}

TRAFFIC(many_records_in_a_stream, TLS1_2_VERSION, NULL)
{
    trial->at_reply = to_stream;
    ask(trial, 1);
    peer_until_heard(peer, sizeof PING - 1);
    until_all_are_read(peer, trial);
}

TRAFFIC(a_link_closed_between_two_records, TLS1_2_VERSION, NULL)
{
    trial->at_reply = link_trial_close_it;
    ask(trial, 3);
    peer_until_heard(peer, 3 * (sizeof PING - 1));
    say_records(peer, 3);
    for (int i = 0; i < 10; i++)
        peer_turn(peer);
    assert_string_equal(trial->told, "up :1");
}

TRAFFIC(a_record_in_two_packets, TLS1_3_VERSION, NULL)
{
    ask(trial, 2);
    peer_until_heard(peer, 2 * (sizeof PING - 1));
    for (size_t i = 1; i < 40; i++) {
        peer->sent_max = SIZE_MAX;
        peer_say(peer, i == 1 ? ":1\r\n" : "");
        peer->sent_max = peer->sent + i; /* a byte more each time */
        peer->end = PEER_STOPS;
        peer_turn(peer), peer_turn(peer);
        peer->is_over = 0;
    }
    peer->sent_max = SIZE_MAX;
    peer_say(peer, ":2\r\n");
    peer_until(peer, ":2");
    assert_string_equal(trial->told, "up :1 :2");
}

TRAFFIC(an_answer_of_many_records, TLS1_2_VERSION, NULL)
{
    size_t length = 3 << 20;
    char *text = malloc(length + 64), *at = text + sprintf(text, "$%zu\r\n", length);
    memset(at, 'x', length);
    strcpy(at + length, "\r\n:7\r\n");
    ask(trial, 2);
    peer_until_heard(peer, 2 * (sizeof PING - 1));
    peer_say(peer, text);
    peer_until(peer, ":7");
    assert_int_equal(trial->replies, 2);
    free(text);
}

/* Said in the same packets as the end of the server's part of the handshake, before the link is up. */
TEST(a_greeting_within_the_handshake)
{
    struct link_trial trial;
    struct peer peer;
    peer_meet(&peer, &trial, &(struct peer_options){.version = TLS1_3_VERSION,
                                                    .greeting = "-ERR max number of clients reached\r\n"});
    peer_until(&peer, "down(");
    assert_string_equal(trial.told, "up down(ERR max number of clients reached)");
    peer_leave(&peer);
}

/* ---- writing ---- */

/* How many were heard whole; nothing else was. */
static size_t long_pings(const struct peer *peer)
{
    size_t length = sizeof long_ping - 1, count = peer->heard_length / length;
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(peer->heard + i * length, long_ping, length);
    assert_memory_equal(peer->heard + count * length, long_ping, peer->heard_length % length);
    return count;
}

static void hear_long_pings(struct peer *peer, size_t count)
{
    peer->is_deaf = 0;
    peer_until_heard(peer, count * (sizeof long_ping - 1));
    assert_int_equal(long_pings(peer), count);
}

/* More than the sockets take: writes stop in the middle of a record, and more is sent before they go on. */
static void fill(struct peer *peer, struct link_trial *trial)
{
    peer->is_deaf = 1;
    for (int i = 0; i < COMMANDS; i++) {
        assert_int_equal(link_trial_send(trial, "PING " PADDING), 0);
        if (i % (COMMANDS / TIMES) == 0)
            peer_turn(peer);
    }
    peer_turn(peer);
    assert_true(trial->factory.backlog(trial->link) > 0);
}

TRAFFIC(a_burst_to_a_server_that_is_slow, TLS1_2_VERSION, NULL)
{
    fill(peer, trial);
    hear_long_pings(peer, COMMANDS);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
    peer_say(peer, ":1\r\n");
    peer_until(peer, ":1");
}

/* By a peer that does not read: it is of this process too. */
TRAFFIC(what_was_written_is_not_kept, TLS1_2_VERSION, NULL)
{
    peer->is_deaf = 1;
    link_trial_send_needle(trial);
    for (int turns = 0; trial->factory.backlog(trial->link) && turns < 1000; turns++)
        peer_turn(peer);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
    assert_int_equal(needle_count(), 0);
}

TRAFFIC(what_could_not_be_written_is_not_kept, TLS1_2_VERSION, NULL)
{
    fill(peer, trial);
    link_trial_send_needle(trial);
    link_trial_close(trial, 1);
    assert_int_equal(needle_count(), 0);
}

TRAFFIC(keys_change, TLS1_3_VERSION, NULL)
{
    for (int i = 0; i < 10; i++) {
        assert_int_equal(SSL_key_update(peer->ssl, i % 2 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED), 1);
        assert_int_equal(link_trial_send(trial, "PING " PADDING), 0);
        peer_until_heard(peer, ((size_t)i + 1) * (sizeof long_ping - 1));
        peer_say(peer, ":1\r\n");
        while (trial->replies == i)
            peer_turn(peer);
    }
    assert_int_equal(long_pings(peer), 10);
    assert_false(trial->is_down);
}

/* Asked for a key of its own while a write of it waits half-way, OpenSSL gives the connection up. What was heard till then is what was sent. */
TRAFFIC(a_key_is_asked_for_while_writes_wait, TLS1_3_VERSION, NULL)
{
    fill(peer, trial);
    assert_int_equal(SSL_key_update(peer->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    peer_say(peer, ":1\r\n");
    for (int i = 0; i < 20; i++)
        peer_turn(peer);
    if (trial->link && !trial->is_down)
        assert_int_equal(link_trial_send(trial, "PING " PADDING), 0);
    peer->is_deaf = 0;
    while (!trial->is_down && peer->heard_length < (COMMANDS + 1) * (sizeof long_ping - 1))
        peer_turn(peer);
    for (int i = 0; i < 1000; i++)
        peer_turn(peer);
    assert_true(long_pings(peer) <= COMMANDS + 1);
}

/* ---- the end ---- */

TRAFFIC(hang_up, TLS1_2_VERSION, "up :1 down(Server closed the connection)")
{
    link_trial_hang_up(trial); /* without a farewell */
    peer->is_over = 1;
}

TRAFFIC(take_leave, TLS1_2_VERSION, "up :1 down(Server closed the connection)")
{
    SSL_shutdown(peer->ssl);
}

TRAFFIC(reset, TLS1_2_VERSION, "up :1 down(Connection reset by peer)")
{
    static const struct linger none = {1, 0};
    setsockopt(trial->peer, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    hang_up(peer, trial);
}

TRAFFIC(say_it_in_plain, TLS1_2_VERSION, "up :1 down(")
{
    peer->is_over = 1;
    link_trial_answer(trial, "+PONG, said in plain, which anybody on the way may do\r\n");
}

TRAFFIC(spoil_a_record, TLS1_2_VERSION, "up :1 down(TLS: ")
{
    peer->spoiled = (long)peer->sent + 12;
    peer_say(peer, "+PONG\r\n");
}

/* A command has been answered, and another one not, when it happens: nothing is taken for its answer, and nothing can be sent any more. */
static void meet_end(const struct traffic *traffic, struct peer *peer, struct link_trial *trial)
{
    ask(trial, 2);
    peer_until_heard(peer, 2 * (sizeof PING - 1));
    peer_say(peer, ":1\r\n");
    peer_until(peer, ":1");
    while (BIO_pending(peer->out))
        peer_turn(peer);
    traffic->play(peer, trial);
    peer_until(peer, "down(");
    if (strncmp(trial->told, traffic->told, strlen(traffic->told)) != 0)
        fail_msg("told \"%s\", not \"%s\"", trial->told, traffic->told);
    assert_int_equal(link_trial_send(trial, "PING"), -1);
}

/* It would be the end of this process, if a write raised SIGPIPE. */
TRAFFIC(writes_to_a_server_that_is_gone, TLS1_2_VERSION, NULL)
{
    fill(peer, trial);
    reset(peer, trial);
    for (int i = 0; i < 20 && !trial->is_down && link_trial_send(trial, "PING") == 0; i++)
        peer_turn(peer);
    peer_until(peer, "down(");
    assert_string_equal(trial->told, "up down(Connection reset by peer)");
}
