/* SPDX-License-Identifier: BSD-3-Clause */
/* Behind a good handshake a link is as any other: bytes that OpenSSL has read and no socket announces, writes that stop half-way, keys that
 * change, ends of all kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit/needle.h"
#include "peer.h"

#include <cmocka.h>

enum { RECORDS = 100, TIMES = 100, COMMANDS = 30000 };

#define PING "*1\r\n$4\r\nPING\r\n"
#define PADDING "................................................................................................................................................................................................................................................"
static const char long_ping[] = "*2\r\n$4\r\nPING\r\n$240\r\n" PADDING "\r\n";

typedef void traffic_fn(struct peer *peer, struct link_trial *trial);

static void meet(traffic_fn *test, int version)
{
    const struct peer_options options = {.version = version};
    const struct hl_tls_options tls = {.ca_file = certificates.of[CERT_AUTHORITY].cert_file};
    struct link_trial trial;
    struct peer peer;
    link_trial_begin(&trial, "tcp");
    peer_meet(&peer, &trial, &certificates, &options, "locks.example", &tls);
    peer_until(&peer, "up");
    while (!peer_is_met(&peer))
        peer_turn(&peer);
    test(&peer, &trial);
    peer_leave(&peer);
    link_trial_end(&trial);
}

#define TRAFFIC_TEST(name)              \
    static void test_##name(void **state) \
    {                                     \
        (void)state;                      \
        meet(name, TLS1_2_VERSION);       \
        meet(name, TLS1_3_VERSION);       \
    }

static void ask(struct link_trial *trial, int times)
{
    while (times-- > 0)
        link_trial_ask(trial);
}

/* ---- reading ---- */

static void many_records_in_one_packet(struct peer *peer, struct link_trial *trial)
{
    ask(trial, RECORDS);
    peer_until_heard(peer, RECORDS * (sizeof PING - 1));
    for (int i = 0; i < RECORDS; i++)
        peer_say(peer, ":1\r\n");
    for (int turns = 0; trial->replies < RECORDS && turns < 1000; turns++)
        peer_turn(peer);
    assert_int_equal(trial->replies, RECORDS);
    assert_false(trial->is_down);
}
TRAFFIC_TEST(many_records_in_one_packet)

static void to_stream(struct link_trial *trial)
{
    trial->at_reply = NULL;
    trial->factory.stream(trial->link);
}

static void many_records_in_a_stream(struct peer *peer, struct link_trial *trial)
{
    trial->at_reply = to_stream;
    ask(trial, 1);
    peer_until_heard(peer, sizeof PING - 1);
    for (int i = 0; i < RECORDS; i++)
        peer_say(peer, ":1\r\n");
    for (int turns = 0; trial->replies < RECORDS && turns < 1000; turns++)
        peer_turn(peer);
    assert_int_equal(trial->replies, RECORDS);
}
TRAFFIC_TEST(many_records_in_a_stream)

static void a_link_closed_between_two_records(struct peer *peer, struct link_trial *trial)
{
    trial->at_reply = link_trial_close_it;
    ask(trial, 3);
    peer_until_heard(peer, 3 * (sizeof PING - 1));
    for (int i = 0; i < 3; i++)
        peer_say(peer, ":1\r\n");
    for (int i = 0; i < 10; i++)
        peer_turn(peer);
    assert_string_equal(trial->told, "up :1");
}
TRAFFIC_TEST(a_link_closed_between_two_records)

static void a_record_in_two_packets(struct peer *peer, struct link_trial *trial)
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

static void test_a_record_in_two_packets(void **state)
{
    (void)state;
    meet(a_record_in_two_packets, TLS1_3_VERSION);
}

static void an_answer_of_many_records(struct peer *peer, struct link_trial *trial)
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
TRAFFIC_TEST(an_answer_of_many_records)

/* Said in the same packets as the end of the server's part of the handshake, before the link is up. */
static void test_a_greeting_within_the_handshake(void **state)
{
    const struct peer_options options = {.version = TLS1_3_VERSION, .greeting = "-ERR max number of clients reached\r\n"};
    const struct hl_tls_options tls = {.ca_file = certificates.of[CERT_AUTHORITY].cert_file};
    struct link_trial trial;
    struct peer peer;
    (void)state;
    link_trial_begin(&trial, "tcp");
    peer_meet(&peer, &trial, &certificates, &options, "locks.example", &tls);
    peer_until(&peer, "down(");
    assert_string_equal(trial.told, "up down(ERR max number of clients reached)");
    peer_leave(&peer);
    link_trial_end(&trial);
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

static void a_burst_to_a_server_that_is_slow(struct peer *peer, struct link_trial *trial)
{
    fill(peer, trial);
    hear_long_pings(peer, COMMANDS);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
    peer_say(peer, ":1\r\n");
    peer_until(peer, ":1");
}
TRAFFIC_TEST(a_burst_to_a_server_that_is_slow)

/* By a peer that does not read: it is of this process too. */
static void what_was_written_is_not_kept(struct peer *peer, struct link_trial *trial)
{
    peer->is_deaf = 1;
    link_trial_send_needle(trial);
    for (int turns = 0; trial->factory.backlog(trial->link) && turns < 1000; turns++)
        peer_turn(peer);
    assert_int_equal(trial->factory.backlog(trial->link), 0);
    assert_int_equal(needle_count(), 0);
}
TRAFFIC_TEST(what_was_written_is_not_kept)

static void what_could_not_be_written_is_not_kept(struct peer *peer, struct link_trial *trial)
{
    fill(peer, trial);
    link_trial_send_needle(trial);
    link_trial_close(trial, 1);
    assert_int_equal(needle_count(), 0);
}
TRAFFIC_TEST(what_could_not_be_written_is_not_kept)

static void keys_change(struct peer *peer, struct link_trial *trial)
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

static void test_keys_change(void **state)
{
    (void)state;
    meet(keys_change, TLS1_3_VERSION);
}

/* Asked for a key of its own while a write of it waits half-way, OpenSSL gives the connection up. What was heard till then is what was sent. */
static void a_key_is_asked_for_while_writes_wait(struct peer *peer, struct link_trial *trial)
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

static void test_a_key_is_asked_for_while_writes_wait(void **state)
{
    (void)state;
    meet(a_key_is_asked_for_while_writes_wait, TLS1_3_VERSION);
}

/* ---- the end ---- */

static void a_server_that_closes(struct peer *peer, struct link_trial *trial)
{
    ask(trial, 2);
    peer_until_heard(peer, 2 * (sizeof PING - 1));
    peer_say(peer, ":1\r\n");
    peer_until(peer, ":1");
    link_trial_hang_up(trial); /* without a farewell */
    peer->is_over = 1;
    peer_until(peer, "down(");
    assert_string_equal(trial->told, "up :1 down(Server closed the connection)");
}
TRAFFIC_TEST(a_server_that_closes)

static void a_server_that_takes_its_leave(struct peer *peer, struct link_trial *trial)
{
    ask(trial, 1);
    SSL_shutdown(peer->ssl);
    peer_until(peer, "down(");
    assert_string_equal(trial->told, "up down(Server closed the connection)");
}
TRAFFIC_TEST(a_server_that_takes_its_leave)

static void reset(struct peer *peer, struct link_trial *trial)
{
    static const struct linger none = {1, 0};
    setsockopt(trial->peer, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    link_trial_hang_up(trial);
    peer->is_over = 1;
}

/* It would be the end of this process, if a write raised SIGPIPE. */
static void writes_to_a_server_that_is_gone(struct peer *peer, struct link_trial *trial)
{
    fill(peer, trial);
    reset(peer, trial);
    for (int i = 0; i < 20 && !trial->is_down && link_trial_send(trial, "PING") == 0; i++)
        peer_turn(peer);
    peer_until(peer, "down(");
    assert_string_equal(trial->told, "up down(Connection reset by peer)");
}
TRAFFIC_TEST(writes_to_a_server_that_is_gone)

static void a_reset_between_commands(struct peer *peer, struct link_trial *trial)
{
    reset(peer, trial);
    ask(trial, 1);
    peer_until(peer, "down(");
    ask(trial, 0);
    assert_int_equal(link_trial_send(trial, "PING"), -1);
}
TRAFFIC_TEST(a_reset_between_commands)

static void bytes_that_are_no_record(struct peer *peer, struct link_trial *trial)
{
    ask(trial, 1);
    peer_turn(peer);
    peer->is_over = 1;
    link_trial_answer(trial, "+PONG, said in plain, which anybody on the way may do\r\n");
    link_trial_until(trial, "down(");
    assert_int_equal(strncmp(trial->told, "up down(", 8), 0);
    assert_int_equal(trial->replies, 0);
}
TRAFFIC_TEST(bytes_that_are_no_record)

static void a_spoiled_record(struct peer *peer, struct link_trial *trial)
{
    ask(trial, 1);
    peer_until_heard(peer, sizeof PING - 1);
    while (BIO_pending(peer->out))
        peer_turn(peer);
    peer->spoiled = (long)peer->sent + 12;
    peer_say(peer, "+PONG\r\n");
    peer_until(peer, "down(");
    assert_int_equal(trial->replies, 0);
    assert_int_equal(strncmp(trial->told, "up down(TLS: ", 13), 0);
}
TRAFFIC_TEST(a_spoiled_record)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_records_in_one_packet),
        cmocka_unit_test(test_many_records_in_a_stream),
        cmocka_unit_test(test_a_link_closed_between_two_records),
        cmocka_unit_test(test_a_record_in_two_packets),
        cmocka_unit_test(test_an_answer_of_many_records),
        cmocka_unit_test(test_a_greeting_within_the_handshake),
        cmocka_unit_test(test_a_burst_to_a_server_that_is_slow),
        cmocka_unit_test(test_what_was_written_is_not_kept),
        cmocka_unit_test(test_what_could_not_be_written_is_not_kept),
        cmocka_unit_test(test_keys_change),
        cmocka_unit_test(test_a_key_is_asked_for_while_writes_wait),
        cmocka_unit_test(test_a_server_that_closes),
        cmocka_unit_test(test_a_server_that_takes_its_leave),
        cmocka_unit_test(test_writes_to_a_server_that_is_gone),
        cmocka_unit_test(test_a_reset_between_commands),
        cmocka_unit_test(test_bytes_that_are_no_record),
        cmocka_unit_test(test_a_spoiled_record),
    };
    return cmocka_run_group_tests(tests, certificates_begin, certificates_over);
}
