/* SPDX-License-Identifier: BSD-3-Clause */
/* A link by TLS is set up and used once for each allocation that may fail in it: ours, hiredis' and OpenSSL's. It comes up, or is reported
 * down, or is not opened; it is never used half-made, and leaves nothing. */
#include <fcntl.h>
#include <hiredis/alloc.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "peer.h"

#include <cmocka.h>

enum { TURNS_MAX = 400 };

static long left = -1; /* allocations until one fails; -1: none does */
static int is_failing, is_ours; /* one has failed; what runs is the link's */

static int fails(void)
{
    if (!is_ours || left < 0)
        return 0;
    is_failing |= left == 0;
    return left-- == 0;
}

static void *allocate(size_t bytes) { return fails() ? NULL : malloc(bytes); }
static void *allocate_array(size_t count, size_t bytes) { return fails() ? NULL : calloc(count, bytes); }
static void *reallocate(void *block, size_t bytes) { return fails() ? NULL : realloc(block, bytes); }
static char *duplicate(const char *text) { return fails() ? NULL : strdup(text); }
static void *allocate_at(size_t bytes, const char *file, int line) { return (void)file, (void)line, allocate(bytes); }
static void *reallocate_at(void *block, size_t bytes, const char *file, int line) { return (void)file, (void)line, reallocate(block, bytes); }
static void release_at(void *block, const char *file, int line) { (void)file, (void)line, free(block); }

static void turn(struct peer *peer)
{
    is_ours = 1;
    poll_loop_turn(peer->trial->loop, 0);
    is_ours = 0;
    peer_turn(peer);
}

/* 1: it did all it was to do. */
static int use(struct peer *peer, struct link_trial *trial)
{
    int is_sent = 0, is_answered = 0;
    for (int i = 0; i < TURNS_MAX && !trial->is_down && !trial->replies; i++) {
        turn(peer);
        if (trial->is_up && !trial->is_down && !is_sent) {
            is_sent = is_ours = 1;
            i = link_trial_send(trial, "PING") == 0 ? i : TURNS_MAX;
            is_ours = 0;
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

static int play(long fails_at)
{
    const struct hl_tls_options tls = with_a_certificate();
    struct link_trial trial;
    struct peer peer;
    int is_done;
    peer_prepare(&peer, &trial, &(struct peer_options){.wants_client = 1, .tls = &tls});
    left = fails_at, is_failing = 0, is_ours = 1;
    is_done = link_trial_open(&trial) == 0;
    is_ours = 0;
    if (is_done) {
        fcntl(trial.listener, F_SETFL, O_NONBLOCK);
        trial.peer = accept4(trial.listener, NULL, NULL, SOCK_CLOEXEC); /* it may not have come so far */
        is_done = use(&peer, &trial);
    }
    left = -1;
    peer_leave(&peer);
    return is_done;
}

static void test_a_link(void **state)
{
    long at = 0;
    int done = 0;
    (void)state;
    for (is_failing = 1; is_failing; at++)
        done += play(at);
    assert_int_equal(play(-1), 1);
    printf("%ld allocations of a link, each refused once; %d times it worked all the same\n", at - 1, done - 1);
    assert_true(at > 50);
}

static void test_the_settings(void **state)
{
    const struct hl_tls_options tls = with_a_certificate();
    struct hl_link_factory factory = hl_link_hiredis();
    struct hl_memory memory;
    long at = 0;
    (void)state;
    hl_memory_init(&memory, NULL);
    for (is_failing = 1; is_failing; at++) {
        struct hl_text why = {""};
        hilock_status status;
        left = at, is_failing = 0, is_ours = 1;
        status = factory.secure(&factory, &memory, &tls, &why);
        is_ours = 0, left = -1;
        if (status == HILOCK_OK)
            factory.insecure(&factory);
        else
            assert_true(why.bytes[0] && !factory.ctx);
    }
    printf("%ld allocations of the settings\n", at - 1);
    assert_true(at > 50);
}

static int begin(void **state)
{
    hiredisAllocFuncs functions = {allocate, allocate_array, reallocate, duplicate, free};
    hiredisSetAllocators(&functions);
    assert_int_equal(CRYPTO_set_mem_functions(allocate_at, reallocate_at, release_at), 1);
    return certificates_begin(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_settings), cmocka_unit_test(test_a_link)};
    return cmocka_run_group_tests(tests, begin, certificates_over);
}
