/* SPDX-License-Identifier: BSD-3-Clause */
/* peer - see peer.h. */
#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>

#include "base/plant.h"

enum { CHUNK = 1 << 16, TURNS_MAX = 200000 };

static SSL_CTX *settings_of(const struct peer_options *options)
{
    const struct certificate *own = &certificates.of[options->certificate ? options->certificate : CERT_RIGHT];
    SSL_CTX *settings = SSL_CTX_new(TLS_server_method());
    assert_non_null(settings);
    SSL_CTX_set_security_level(settings, options->version && options->version < TLS1_2_VERSION ? 0 : 1);
    assert_int_equal(SSL_CTX_set_min_proto_version(settings, options->version), 1);
    assert_int_equal(SSL_CTX_set_max_proto_version(settings, options->version), 1);
    assert_int_equal(SSL_CTX_use_certificate(settings, own->x509), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(settings, own->key), 1);
    if (options->greeting)
        SSL_CTX_set_max_early_data(settings, 1024);
    if (options->wants_client) {
        assert_int_equal(SSL_CTX_load_verify_file(settings, certificates.of[CERT_AUTHORITY].cert_file), 1);
        SSL_CTX_set_verify(settings, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return settings;
}

void peer_prepare(struct peer *peer, struct link_trial *trial, const struct peer_options *options)
{
    const struct hl_tls_options trusting = {.ca_file = certificates.of[CERT_AUTHORITY].cert_file};
    struct hl_text why = {""};
    link_trial_begin(trial, "tcp");
    memset(peer, 0, sizeof *peer);
    peer->trial = trial;
    peer->spoiled = -1;
    peer->sent_max = peer->got_max = SIZE_MAX;
    peer->greeting = options->greeting;
    peer->settings = settings_of(options);
    peer->ssl = SSL_new(peer->settings);
    peer->in = BIO_new(BIO_s_mem());
    peer->out = BIO_new(BIO_s_mem());
    assert_true(peer->ssl && peer->in && peer->out);
    SSL_set_bio(peer->ssl, peer->in, peer->out);
    SSL_set_accept_state(peer->ssl);
    trial->tls_host = options->host ? options->host : "locks.example";
    const struct hl_tls_options *tls = options->tls ? options->tls : &trusting;
    if (trial->factory.secure(&trial->factory, &trial->host.memory, tls, &why) != HILOCK_OK)
        fail_msg("%s", why.bytes);
}

void peer_meet(struct peer *peer, struct link_trial *trial, const struct peer_options *options)
{
    peer_prepare(peer, trial, options);
    assert_int_equal(link_trial_open(trial), 0);
    trial->peer = accept4(trial->listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(trial->peer >= 0);
}

void peer_leave(struct peer *peer)
{
    if (peer->trial->link)
        link_trial_close(peer->trial, 0);
    link_trial_turns(peer->trial, 2);
    peer->trial->factory.insecure(&peer->trial->factory);
    SSL_free(peer->ssl);
    SSL_CTX_free(peer->settings);
    free(peer->heard);
    ERR_clear_error();
    link_trial_end(peer->trial);
}

#ifdef HL_PLANTS
/* What twins.py names; a name that is none plants nothing, and the twin is not found. */
__attribute__((constructor)) static void plant(void)
{
    const char *name = getenv("PLANT");
    hl_plant_switch(name ? hl_plant_find(name) : HL_PLANT_NONE);
}
#endif

/* ---- its turn ---- */

static void end(struct peer *peer)
{
    static const struct linger none = {1, 0};
    peer->is_over = 1;
    if (peer->end == PEER_STOPS)
        return;
    if (peer->end == PEER_RESETS)
        setsockopt(peer->trial->peer, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    link_trial_hang_up(peer->trial);
}

static void take_in(struct peer *peer)
{
    static char chunk[CHUNK];
    size_t room = peer->got_max - peer->got < sizeof chunk ? peer->got_max - peer->got : sizeof chunk;
    ssize_t got = peer->is_deaf || !room ? 0 : recv(peer->trial->peer, chunk, room, MSG_DONTWAIT);
    if (got <= 0)
        return;
    peer->got += (size_t)got;
    assert_int_equal(BIO_write(peer->in, chunk, (int)got), got);
}

static void hear(struct peer *peer)
{
    int got;
    do {
        if (peer->heard_room - peer->heard_length < CHUNK)
            peer->heard = realloc(peer->heard, peer->heard_room = 2 * peer->heard_room + CHUNK + 1);
        got = SSL_read(peer->ssl, peer->heard + peer->heard_length, CHUNK);
        peer->heard_length += got > 0 ? (size_t)got : 0;
    } while (got > 0);
}

static void greet(struct peer *peer)
{
    size_t said = 0;
    char nothing[16];
    if (SSL_read_early_data(peer->ssl, nothing, sizeof nothing, &said) != SSL_READ_EARLY_DATA_ERROR)
        assert_int_equal(SSL_write_early_data(peer->ssl, peer->greeting, strlen(peer->greeting), &said), 1);
    if (said)
        peer->greeting = NULL;
}

static void give_out(struct peer *peer)
{
    char *bytes;
    long length = BIO_get_mem_data(peer->out, &bytes);
    size_t left = peer->sent_max - peer->sent, now = (size_t)length < left ? (size_t)length : left;
    ssize_t sent;
    if (peer->spoiled >= (long)peer->sent && peer->spoiled < (long)(peer->sent + now)) {
        bytes[(size_t)peer->spoiled - peer->sent] ^= 0x55;
        peer->spoiled = -1;
    }
    sent = now ? send(peer->trial->peer, bytes, now, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    if (sent > 0) {
        static char dropped[CHUNK];
        peer->sent += (size_t)sent;
        while (sent > 0)
            sent -= BIO_read(peer->out, dropped, sent < CHUNK ? (int)sent : CHUNK);
    }
}

int peer_is_met(const struct peer *peer) { return SSL_is_init_finished(peer->ssl); }

void peer_turn(struct peer *peer)
{
    poll_loop_turn(peer->trial->loop, 0);
    if (peer->is_over)
        return;
    ERR_clear_error();
    take_in(peer);
    if (peer->greeting)
        greet(peer);
    else if (!SSL_is_init_finished(peer->ssl))
        SSL_do_handshake(peer->ssl);
    if (SSL_is_init_finished(peer->ssl))
        hear(peer);
    give_out(peer);
    if (peer->sent >= peer->sent_max || peer->got >= peer->got_max)
        end(peer);
}

void peer_until(struct peer *peer, const char *told)
{
    for (int turns = 0; !strstr(peer->trial->told, told); turns++) {
        if (turns == TURNS_MAX)
            fail_msg("waited for \"%s\", but was told \"%s\"", told, peer->trial->told);
        peer_turn(peer);
    }
}

void peer_until_heard(struct peer *peer, size_t length)
{
    for (int turns = 0; peer->heard_length < length; turns++) {
        if (turns == TURNS_MAX)
            fail_msg("waited for %zu bytes, but heard %zu, told \"%s\"", length, peer->heard_length, peer->trial->told);
        peer_turn(peer);
    }
}

void peer_say(struct peer *peer, const char *text) { assert_int_equal(SSL_write(peer->ssl, text, (int)strlen(text)), strlen(text)); }
