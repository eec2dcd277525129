/* SPDX-License-Identifier: BSD-3-Clause */
/* A link by TLS is set up and used once for each allocation that may fail in it: ours, hiredis' and OpenSSL's. It comes up, or is reported
 * down, or is not opened; it is never used half-made, and leaves nothing. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

#include "../live/famine.h"
#include "peer.h"

enum { TURNS_MAX = 400 };

static void turn(struct peer *peer)
{
    famine_resume();
    poll_loop_turn(peer->trial->loop, 0);
    famine_pause();
    peer_turn(peer);
}

/* 1: it did all it was to do. */
static int use(struct peer *peer, struct link_trial *trial)
{
    int is_sent = 0, is_answered = 0;
    for (int i = 0; i < TURNS_MAX && !trial->is_down && !trial->replies; i++) {
        turn(peer);
        if (trial->is_up && !trial->is_down && !is_sent) {
            is_sent = 1;
            famine_resume();
            i = link_trial_send(trial, "PING") == 0 ? i : TURNS_MAX;
            famine_pause();
        }
        if (peer->heard_length && !is_answered) {
            is_answered = 1;
            peer_say(peer, "+PONG\r\n");
        }
    }
    return trial->replies == 1;
}

static struct hl_tls_options with_a_certificate(void)
{
    const struct certificate *own = &certificates.of[CERT_CLIENT];
    const char *authority = certificates.of[CERT_AUTHORITY].cert_file;
    return (struct hl_tls_options){.ca_file = authority, .cert_file = own->cert_file, .key_file = own->key_file};
}

static int play(uint64_t fails_at)
{
    const struct hl_tls_options tls = with_a_certificate();
    struct link_trial trial;
    struct peer peer;
    int is_done;
    peer_prepare(&peer, &trial, &(struct peer_options){.wants_client = 1, .tls = &tls});
    famine_begin(fails_at);
    is_done = link_trial_open(&trial) == 0;
    famine_pause();
    if (is_done) {
        fcntl(trial.listener, F_SETFL, O_NONBLOCK);
        trial.peer = accept4(trial.listener, NULL, NULL, SOCK_CLOEXEC); /* it may not have come so far */
        is_done = use(&peer, &trial);
    }
    famine_end();
    peer_leave(&peer);
    return is_done;
}

TEST(the_settings)
{
    const struct hl_tls_options tls = with_a_certificate();
    struct hl_link_factory factory = hl_link_hiredis();
    struct hl_memory memory;
    uint64_t at = 0;
    hl_memory_init(&memory, NULL);
    do {
        struct hl_text why = {""};
        famine_begin(++at);
        hilock_status status = factory.secure(&factory, &memory, &tls, &why);
        famine_end();
        if (status == HILOCK_OK)
            factory.insecure(&factory);
        else
            assert_true(why.bytes[0] && !factory.ctx);
    } while (famine_has_struck());
    printf("%" PRIu64 " allocations of the settings\n", at - 1);
    assert_true(at > 50);
}

TEST(a_link)
{
    uint64_t at = 0;
    int done = 0;
    do
        done += play(++at);
    while (famine_has_struck());
    assert_int_equal(play(0), 1);
    printf("%" PRIu64 " allocations of a link, each refused once; %d times it worked all the same\n", at - 1, done - 1);
    assert_true(at > 50);
}
