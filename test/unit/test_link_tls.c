/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link does for TLS, whatever speaks it: a handshake comes before on_up, bytes that no event announces are read, and a turn reads
 * a bounded part of them. The TLS here says what it is told to say, and writes plain text; real TLS is in ../tls. */
#include <stdlib.h>
#include <sys/socket.h>

#include "link/tls.h"
#include "link/words.h"
#include "link_suite.h"

static enum hl_tls_step step; /* what the next handshakes come to */
static unsigned shakes, reads, unread; /* unread: how many more reads have something that no event announces */

static void never_free(struct hl_tls *tls) { fail_msg("the test has a reference: %u", tls->refs); }

static enum hl_tls_step shake(struct hl_tls *tls, redisContext *context, struct ssl_st **ssl, const char *host, struct hl_text *why)
{
    (void)context;
    shakes++;
    assert_string_equal(host, "shop.example");
    *ssl = (struct ssl_st *)(void *)tls; /* any pointer: a link only passes it on */
    if (step == HL_TLS_FAILED)
        hl_text_set(why, "refused");
    return step;
}

static void prepare(void)
{
    reads++;
    unread -= unread > 0;
}

static ssize_t write_plain(redisContext *context, struct ssl_st *ssl, struct hl_text *why)
{
    (void)ssl, (void)why;
    return sendto(context->fd, context->obuf, sdslen(context->obuf), MSG_NOSIGNAL, NULL, 0);
}

static int has_more(const struct ssl_st *ssl) { return (void)ssl, unread > 0; }
static int wants_write(const struct ssl_st *ssl) { return (void)ssl, 0; }
static void explain(struct ssl_st *ssl, struct hl_text *why) { (void)ssl, hl_text_set(why, "explained"); }

static const struct hl_tls_ops ops = {.free = never_free, .shake = shake, .prepare = prepare, .write = write_plain,
                                      .has_more = has_more, .wants_write = wants_write, .explain = explain};
static struct hl_tls tls;

static void begin(struct link_trial *trial, enum hl_tls_step first)
{
    tls = (struct hl_tls){.ops = &ops, .refs = 1};
    step = first;
    shakes = reads = unread = 0;
    trial->factory.ctx = &tls;
    trial->tls_host = "shop.example";
    assert_int_equal(link_trial_open(trial), 0);
    trial->peer = accept4(trial->listener, NULL, NULL, SOCK_CLOEXEC);
    link_trial_turns(trial, 2);
}

static void end(struct link_trial *trial)
{
    link_trial_close(trial, 0);
    trial->factory.ctx = NULL;
    assert_int_equal(tls.refs, 1);
}

UNOPENED_TRIAL(it_is_up_when_the_handshake_is_done)
{
    begin(trial, HL_TLS_READS);
    assert_string_equal(trial->told, "");
    assert_int_equal(shakes, 1);
    step = HL_TLS_DONE;
    link_trial_answer(trial, "+"); /* the answer begins behind the handshake */
    link_trial_until(trial, "up");
    link_trial_ask(trial);
    link_trial_answer(trial, "OK\r\n");
    tells(trial, "up +OK");
    end(trial);
}

UNOPENED_TRIAL(a_handshake_that_fails_is_its_end)
{
    begin(trial, HL_TLS_FAILED);
    tells(trial, "down(refused)");
    end(trial);
}

UNOPENED_TRIAL(it_ends_with_the_reason_that_tls_knows)
{
    begin(trial, HL_TLS_DONE);
    link_trial_hang_up(trial);
    tells(trial, "up down(explained)");
    end(trial);
}

/* One event, or none, as behind the handshake. */
UNOPENED_TRIAL(what_no_event_announces_is_read_sixteen_times_a_turn)
{
    begin(trial, HL_TLS_WRITES);
    unread = 40;
    step = HL_TLS_DONE;
    link_trial_until(trial, "up");
    for (unsigned before = 0; reads < 40; before = reads) {
        link_trial_turns(trial, 1);
        assert_in_range(reads - before, before ? 1 : 0, 16);
    }
    link_trial_turns(trial, 3);
    assert_int_equal(reads, 40);
    end(trial);
}

UNOPENED_TRIAL(closed_inside_a_reply_it_reads_no_more)
{
    begin(trial, HL_TLS_DONE);
    trial->at_reply = link_trial_close_it;
    link_trial_ask(trial);
    unread = 40;
    link_trial_answer(trial, "+OK\r\n");
    link_trial_until(trial, "+OK");
    link_trial_turns(trial, 3);
    assert_in_range(reads, 1, 16);
    trial->factory.ctx = NULL;
    assert_int_equal(tls.refs, 1);
}

static ssize_t write_nothing(redisContext *context, struct ssl_st *ssl, struct hl_text *why)
{
    (void)context, (void)ssl;
    hl_text_set(why, "its key was refused");
    return -1;
}

/* And not with what the latest call to the system left. */
UNOPENED_TRIAL(a_write_that_tls_refuses_is_its_end_with_the_reason)
{
    struct hl_tls_ops refusing = ops;
    refusing.write = write_nothing;
    begin(trial, HL_TLS_DONE);
    link_trial_until(trial, "up");
    tls.ops = &refusing;
    link_trial_ask(trial);
    tells(trial, "up down(its key was refused)");
    end(trial);
}

/* ---- a build without it, and its words ---- */

TEST(a_build_without_tls_says_what_it_needs)
{
    const struct hl_tls_options options = {.ca_file = NULL};
    struct hl_link_factory factory = hl_link_hiredis();
    struct hl_memory memory;
    struct hl_text why = {""};
    hl_memory_init(&memory, NULL);
    hilock_status status = factory.secure(&factory, &memory, &options, &why);
    if (status == HILOCK_OK) {
        factory.insecure(&factory);
        return;
    }
    assert_int_equal(status, HILOCK_UNSUPPORTED);
    assert_non_null(strstr(why.bytes, "rediss:// needs hiredis 1.1 or later built with TLS; this is "));
}

TEST(a_file_that_is_refused_is_named_with_its_option_and_the_reason)
{
    struct hl_text text;
    hl_words_bad_file(&text, "tls_ca_file", "/etc/ca.pem", "no certificate");
    assert_string_equal(text.bytes, "tls_ca_file \"/etc/ca.pem\" cannot be used: no certificate");
    hl_words_passphrase(&text, "tls_key_file", "/etc/key.pem");
    assert_non_null(strstr(text.bytes, "tls_key_file \"/etc/key.pem\" has a passphrase"));
    hl_words_plain_port(&text, "wrong version number");
    assert_string_equal(text.bytes, "the server does not speak TLS on this port (wrong version number)");
    hl_words_unreadable_file(&text, "tls_cert_file", "/etc/cert.pem", "Permission denied");
    assert_string_equal(text.bytes, "cannot read tls_cert_file \"/etc/cert.pem\": Permission denied");
}
