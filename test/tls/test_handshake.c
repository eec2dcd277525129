/* SPDX-License-Identifier: BSD-3-Clause */
/* A handshake succeeds with the server that was asked for and with no other; every other end is reported once, in the right words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "peer.h"

enum { CUTS = 2000, SPOIL_STEP = 7 };

/* ---- who is who ---- */

struct meeting {
    const char *name;
    struct peer_options peer;
    const char *told;
    int trusts_dir, trusts_stranger, trusts_system, has_client, has_both, has_stranger;
};

static const struct meeting meetings[] = {
    {.name = "right name", .told = "up"},
    {.name = "right name in capitals", .peer = {.host = "LOCKS.Example"}, .told = "up"},
    {.name = "right address", .peer = {.host = "127.0.0.1"}, .told = "up"},
    {.name = "right address of IPv6", .peer = {.host = "::1"}, .told = "up"},
    {.name = "right address with a zone", .peer = {.host = "::1%lo"}, .told = "up"},
    {.name = "a folder of authorities", .trusts_dir = 1, .told = "up"},
    {.name = "the system's authorities", .trusts_system = 1, .told = "up"},
    {.name = "TLS 1.2", .peer = {.version = TLS1_2_VERSION}, .told = "up"},
    {.name = "TLS 1.3", .peer = {.version = TLS1_3_VERSION}, .told = "up"},
    {.name = "any name below", .peer = {.host = "one.locks.example", .certificate = CERT_WILD}, .told = "up"},
    {.name = "many names", .peer = {.certificate = CERT_LONG}, .told = "up"},
    {.name = "client certificate", .peer = {.wants_client = 1}, .has_client = 1, .told = "up"},
    {.name = "client certificate, TLS 1.2", .peer = {.wants_client = 1, .version = TLS1_2_VERSION}, .has_client = 1,
     .told = "up"},
    {.name = "certificate and key in one file", .peer = {.wants_client = 1}, .has_both = 1, .told = "up"},
    {.name = "wrong authority", .trusts_stranger = 1,
     .told = "down(the server's certificate is refused: unable to get local issuer certificate; tls_ca_file or tls_ca_dir must have the authority that signed it)"},
    {.name = "wrong name", .peer = {.certificate = CERT_WRONG},
     .told = "down(the server's certificate is not for locks.example: give a name that it is for as tls_server_name, or replace the certificate)"},
    {.name = "wrong address", .peer = {.host = "127.0.0.1", .certificate = CERT_WRONG},
     .told = "down(the server's certificate is not for 127.0.0.1: "},
    {.name = "an address that stands for a name", .peer = {.host = "10.9.9.9", .certificate = CERT_RIGHT},
     .told = "down(the server's certificate is not for 10.9.9.9: "},
    {.name = "part of a name", .peer = {.host = "example"},
     .told = "down(the server's certificate is not for example: "},
    {.name = "half a wild card", .peer = {.host = "one.locks.example", .certificate = CERT_HALF_WILD},
     .told = "down(the server's certificate is not for one.locks.example: "},
    {.name = "signed by itself", .peer = {.certificate = CERT_SELF},
     .told = "down(the server's certificate is refused: self-signed certificate; tls_ca_file or tls_ca_dir must have the authority that signed it)"},
    {.name = "expired", .peer = {.certificate = CERT_EXPIRED},
     .told = "down(the server's certificate is refused: certificate has expired)"},
    {.name = "not yet valid", .peer = {.certificate = CERT_TOMORROW},
     .told = "down(the server's certificate is refused: certificate is not yet valid)"},
    {.name = "no client certificate", .peer = {.wants_client = 1},
     .told = "up down(the server wants a client certificate: give tls_cert_file and tls_key_file)"},
    {.name = "no client certificate, TLS 1.2", .peer = {.wants_client = 1, .version = TLS1_2_VERSION},
     .told = "down(the server refused the TLS handshake: it may want a client certificate (tls_cert_file, tls_key_file))"},
    {.name = "a stranger's client certificate", .peer = {.wants_client = 1}, .has_stranger = 1,
     .told = "up down(TLS: tlsv1 alert unknown ca)"},
    {.name = "TLS 1.1", .peer = {.version = TLS1_1_VERSION}, .told = "down(TLS: "},
};

static struct hl_tls_options options_of(const struct meeting *meeting)
{
    enum certificate_kind trusted = meeting->trusts_stranger ? CERT_STRANGER : CERT_AUTHORITY;
    struct hl_tls_options tls = {.ca_file = certificates.of[trusted].cert_file};
    enum certificate_kind own = meeting->has_stranger ? CERT_STRANGERS : CERT_CLIENT;
    if (meeting->trusts_dir)
        tls = (struct hl_tls_options){.ca_dir = certificates.trusted_dir};
    if (meeting->trusts_system)
        tls.ca_file = NULL;
    if (meeting->has_client || meeting->has_stranger)
        tls.cert_file = certificates.of[own].cert_file, tls.key_file = certificates.of[own].key_file;
    if (meeting->has_both)
        tls.cert_file = certificates.both_file;
    return tls;
}

TEST(who_is_who)
{
    setenv("SSL_CERT_FILE", certificates.of[CERT_AUTHORITY].cert_file, 1); /* OpenSSL's way to tell it who the system trusts */
    for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
        const struct meeting *meeting = &meetings[i];
        const struct hl_tls_options tls = options_of(meeting);
        struct peer_options options = meeting->peer;
        struct link_trial trial;
        struct peer peer;
        options.tls = &tls;
        print_message("%s\n", meeting->name);
        peer_meet(&peer, &trial, &options);
        if (strcmp(meeting->told, "up") == 0) {
            peer_until(&peer, "up");
            link_trial_ask(&trial);
            peer_until_heard(&peer, strlen("*1\r\n$4\r\nPING\r\n"));
            peer_say(&peer, "+PONG\r\n");
            peer_until(&peer, "+PONG");
            assert_string_equal(trial.told, "up +PONG");
        } else
            peer_until(&peer, "down(");
        assert_int_equal(trial.is_down, strstr(meeting->told, "down(") != NULL);
        if (strncmp(trial.told, meeting->told, strlen(meeting->told)) != 0)
            fail_msg("told \"%s\", not \"%s\"", trial.told, meeting->told);
        peer_leave(&peer);
    }
}

/* ---- what is no handshake ---- */

static void meet_long(struct peer *peer, struct link_trial *trial)
{
    peer_meet(peer, trial, &(struct peer_options){.certificate = CERT_LONG});
}

static void is_told(const struct link_trial *trial, const char *expected, size_t at)
{
    if (strcmp(trial->told, expected) != 0)
        fail_msg("cut at %zu: told \"%s\", not \"%s\"", at, trial->told, expected);
}

/* Of the server's bytes, from the first to CUTS. */
static void cut(size_t first, size_t step, enum peer_end end, const char *told)
{
    for (size_t at = first; at <= CUTS; at += step) {
        struct link_trial trial;
        struct peer peer;
        meet_long(&peer, &trial);
        peer.sent_max = at;
        peer.end = end;
        while (!peer.is_over)
            peer_turn(&peer);
        if (*told)
            peer_until(&peer, "down(");
        else
            link_trial_turns(&trial, 20);
        assert_int_equal(peer.sent, at);
        is_told(&trial, told, at);
        peer_leave(&peer);
    }
}

TEST(the_server_closes_at_each_byte)
{
    cut(0, 1, PEER_CLOSES, "down(the server closed the connection in the TLS handshake)");
}

TEST(the_server_resets) { cut(100, 100, PEER_RESETS, "down(Connection reset by peer in the TLS handshake)"); }

/* How long that may last is the session's to know; it is closed without a word. */
TEST(the_server_stops) { cut(0, 100, PEER_STOPS, ""); }

/* What the client says is shorter; from where it is all said on, the handshake is over. */
TEST(cut_at_each_byte_of_the_clients)
{
    size_t at, whole = CUTS;
    for (at = 1; at <= CUTS && at < whole; at++) {
        struct link_trial trial;
        struct peer peer;
        meet_long(&peer, &trial);
        peer.got_max = at;
        peer_until(&peer, "down(");
        if (trial.is_up && peer_is_met(&peer))
            whole = at;
        else if (trial.is_up)
            assert_int_equal(strncmp(trial.told, "up down(", 8), 0);
        else if (!strstr(trial.told, "reset by peer in")) /* what it had not read of the last bytes becomes a reset */
            is_told(&trial, "down(the server closed the connection in the TLS handshake)", at);
        peer_leave(&peer);
    }
    printf("cut at each of the positions 1..%zu of the client's bytes\n", at - 1);
}

TEST(spoiled_bytes)
{
    for (long at = 0; at <= CUTS; at += SPOIL_STEP) {
        struct link_trial trial;
        struct peer peer;
        meet_long(&peer, &trial);
        peer.spoiled = at;
        while (!trial.is_down && !peer.is_over && peer.sent < CUTS)
            peer_turn(&peer);
        for (int i = 0; i < 20 && !trial.is_down; i++)
            peer_turn(&peer);
        assert_false(trial.is_up); /* it may wait for more, where the byte is part of a length */
        peer_leave(&peer);
    }
}

/* ---- other servers ---- */

static void meet_plain(const char *answer, const char *expected)
{
    struct link_trial trial;
    struct peer peer;
    unsigned char heard;
    peer_meet(&peer, &trial, &(struct peer_options){.certificate = CERT_RIGHT});
    link_trial_turns(&trial, 5);
    assert_int_equal(recv(trial.peer, &heard, 1, MSG_PEEK), 1);
    assert_int_equal(heard, SSL3_RT_HANDSHAKE); /* and nothing in plain */
    link_trial_answer(&trial, answer);
    link_trial_until(&trial, "down(");
    if (strncmp(trial.told, expected, strlen(expected)) != 0)
        fail_msg("told \"%s\", not \"%s\"", trial.told, expected);
    peer_leave(&peer);
}

TEST(a_server_without_TLS)
{
    meet_plain("-ERR Protocol error: unbalanced quotes in request\r\n", "down(the server does not speak TLS on this port (");
    meet_plain("+PONG\r\n:1\r\n", "down(the server does not speak TLS on this port (");
    meet_plain("HTTP/1.1 400 Bad Request\r\n\r\n", "down(the server does not speak TLS on this port (");
    meet_plain("\x17\x03\x03\x7f\x7f a record that is longer than any", "down(");
}

TEST(nobody_there)
{
    struct link_trial trial;
    struct peer peer;
    peer_prepare(&peer, &trial, &(struct peer_options){.certificate = CERT_RIGHT});
    shutdown(trial.listener, SHUT_RDWR);
    assert_int_equal(link_trial_open(&trial), 0);
    link_trial_until(&trial, "down(");
    assert_string_equal(trial.told, "down(Connection refused)");
    peer_leave(&peer);
}

/* ---- files ---- */

static void is_refused(const struct hl_tls_options *tls, const char *option, const char *path, const char *reason)
{
    struct hl_link_factory factory = hl_link_hiredis();
    struct hl_memory memory;
    struct hl_text why = {""}, expected;
    hl_memory_init(&memory, NULL);
    assert_int_equal(factory.secure(&factory, &memory, tls, &why), HILOCK_INVALID);
    snprintf(expected.bytes, sizeof expected.bytes, "%s \"%s\"", option, path);
    if (strncmp(why.bytes, expected.bytes, strlen(expected.bytes)) != 0 || !strstr(why.bytes, reason) || strstr(why.bytes, "s3cret"))
        fail_msg("said \"%s\", not \"%s\" and \"%s\"", why.bytes, expected.bytes, reason);
    assert_null(factory.ctx);
}

#define REFUSED(option, path, reason, ...) is_refused(&(struct hl_tls_options){__VA_ARGS__}, option, path, reason)

TEST(files_that_cannot_be_used)
{
    const char *cert = certificates.of[CERT_CLIENT].cert_file, *other_key = certificates.of[CERT_RIGHT].key_file;
    const char *nonsense = certificates.nonsense_file, *locked = certificates.locked_file, *missing = "/nonexistent.pem";
    REFUSED("cannot read tls_ca_file", missing, "No such file or directory", .ca_file = missing);
    REFUSED("cannot read tls_ca_file", certificates.folder, "", .ca_file = certificates.folder);
    REFUSED("tls_ca_file", nonsense, "", .ca_file = nonsense);
    REFUSED("cannot read tls_ca_dir", missing, "", .ca_dir = missing);
    REFUSED("cannot read tls_ca_dir", nonsense, "", .ca_dir = nonsense);
    REFUSED("cannot read tls_cert_file", missing, "", .cert_file = missing);
    REFUSED("tls_cert_file", nonsense, "", .cert_file = nonsense);
    REFUSED("tls_cert_file", cert, "", .cert_file = cert); /* no key in it */
    REFUSED("cannot read tls_key_file", missing, "", .cert_file = cert, .key_file = missing);
    REFUSED("tls_key_file", nonsense, "", .cert_file = cert, .key_file = nonsense);
    REFUSED("tls_key_file", other_key, "", .cert_file = cert, .key_file = other_key);
    REFUSED("tls_key_file", locked, "has a passphrase, which hilock cannot ask for: give a key without one", .cert_file = cert, .key_file = locked);
}
