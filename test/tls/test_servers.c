/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole clients and real servers with TLS: every deployment works, by both of its links; what does not is UNREACHABLE in the right words; and
 * no server gets plain text. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../live/support/fixture.h"
#include "certificates.h"

enum { ARGUMENTS_MAX = 32, CROWD = 2000, WAIT_MS = 2000 };

#define SECRET "s3cret-marker"


struct tls_server { /* plain on its unix socket, for the test's own eyes */
    struct server *server;
    struct redis *redis;
    int port;
    char port_text[8], bus_text[8], url[64];
    const char *arguments[ARGUMENTS_MAX];
};

static void tls_server_start(struct tls_server *at, enum certificate_kind certificate, int wants_client, const char *const *more)
{
    size_t count = 0;
    at->port = server_free_port();
    snprintf(at->port_text, sizeof at->port_text, "%d", at->port);
    snprintf(at->url, sizeof at->url, "rediss://127.0.0.1:%d", at->port);
    const char *const arguments[] = {"--tls-port", at->port_text, "--tls-cert-file", certificates.of[certificate].cert_file, "--tls-key-file",
                                     certificates.of[certificate].key_file, "--tls-ca-cert-file", certificates.of[CERT_AUTHORITY].cert_file, "--tls-auth-clients",
                                     wants_client ? "yes" : "no"};
    for (; count < sizeof arguments / sizeof *arguments; count++)
        at->arguments[count] = arguments[count];
    for (; more && *more; more++) {
        CHECK(count < ARGUMENTS_MAX - 1);
        at->arguments[count++] = *more;
    }
    at->arguments[count] = NULL;
    at->server = server_start(at->arguments);
    at->redis = redis_open(at->server);
}

static void tls_server_end(struct tls_server *at)
{
    fixture_check_clean(at->redis);
    redis_close(at->redis);
    server_end(at->server);
}

static struct hilock_client_options trusting(const char *url)
{
    struct hilock_client_options options = hilock_client_options_default();
    options.url = url;
    options.tls_ca_file = certificates.of[CERT_AUTHORITY].cert_file;
    return options;
}

/* One has it, the other waits, is woken, and has it: commands and subscriptions. */
static void works(const struct hilock_client_options *options, const char *name)
{
    struct client first, second;
    struct handle a, b;
    client_open_with(&first, options);
    client_open_with(&second, options);
    handle_open(&a, &first, name, NULL);
    handle_open(&b, &second, name, NULL);
    assert_int_equal(handle_acquire(&a, HILOCK_FOREVER), HILOCK_OK);
    handle_ask(&b, HILOCK_FOREVER);
    handle_until(&b, &b.waiting, 1, "the second to find it held");
    assert_int_equal(handle_give(&a), HILOCK_OK);
    handle_until(&b, &b.acquired, 1, "the second to be woken");
    assert_int_equal(b.acquired.status, HILOCK_OK);
    assert_int_equal(handle_give(&b), HILOCK_OK);
    handle_free(&a);
    handle_free(&b);
    client_close(&first);
    client_close(&second);
}

static void fails(const struct hilock_client_options *options, const char *words)
{
    struct client client;
    struct handle a;
    uint64_t begun_us;
    int is_told;
    client_open_with(&client, options);
    handle_open(&a, &client, "stock", NULL);
    begun_us = check_now_us();
    do { /* until a handshake came to its end, on however busy a machine */
        assert_int_equal(handle_acquire(&a, WAIT_MS), HILOCK_UNREACHABLE);
        is_told = strstr(a.acquired.detail, words) || strstr(client.log, words);
    } while (!is_told && check_now_us() - begun_us < (uint64_t)CHECK_PATIENCE_MS * 1000);
    if (!is_told)
        check_fail("told \"%s\", logged \"%s\", where \"%s\" was to be", a.acquired.detail, client.log, words);
    assert_null(strstr(a.acquired.detail, SECRET));
    handle_free(&a);
    client_close(&client);
}

/* ---- one server ---- */

static void test_one_server(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    (void)state;
    tls_server_start(&at, CERT_RIGHT, 0, NULL);
    options = trusting(at.url);
    works(&options, "stock");
    options.tls_server_name = "locks.example";
    works(&options, "stock");
    options.tls_server_name = "evil.example";
    fails(&options, "the server's certificate is not for evil.example");
    options.tls_server_name = NULL;
    options.tls_ca_file = certificates.of[CERT_STRANGER].cert_file;
    fails(&options, "; tls_ca_file or tls_ca_dir must have the authority that signed it");
    options.tls_ca_file = NULL;
    options.tls_ca_dir = certificates.trusted_dir;
    works(&options, "stock");
    tls_server_end(&at);
}

static void a_server_with(enum certificate_kind certificate, const char *words)
{
    struct tls_server at;
    struct hilock_client_options options;
    tls_server_start(&at, certificate, 0, NULL);
    options = trusting(at.url);
    options.password = SECRET;
    fails(&options, words);
    assert_int_equal(redis_calls(at.redis, "auth"), 0);
    tls_server_end(&at);
}

static void test_certificates_that_are_not_right(void **state)
{
    (void)state;
    a_server_with(CERT_WRONG, "the server's certificate is not for 127.0.0.1");
    a_server_with(CERT_EXPIRED, "the server's certificate is refused: certificate has expired");
    a_server_with(CERT_STRANGERS, "the server's certificate is refused: unable to get local issuer certificate; tls_ca_file or tls_ca_dir must");
    a_server_with(CERT_SELF, "the server's certificate is refused: self-signed certificate");
}

static void test_a_client_certificate(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    (void)state;
    tls_server_start(&at, CERT_RIGHT, 1, NULL);
    options = trusting(at.url);
    fails(&options, "the server wants a client certificate: give tls_cert_file and tls_key_file");
    options.tls_cert_file = certificates.of[CERT_CLIENT].cert_file;
    options.tls_key_file = certificates.of[CERT_CLIENT].key_file;
    works(&options, "stock");
    options.tls_cert_file = certificates.both_file;
    options.tls_key_file = NULL;
    works(&options, "stock");
    tls_server_end(&at);
}

static void test_options_that_are_refused(void **state)
{
    struct hilock_client_options options = trusting("rediss://127.0.0.1");
    struct hilock_error error;
    struct client client;
    (void)state;
    client_prepare(&client);
    options.tls_ca_file = "/nonexistent.pem";
    assert_int_equal(client_try(&client, &options, &error), HILOCK_INVALID);
    assert_string_equal(error.text, "cannot read tls_ca_file \"/nonexistent.pem\": No such file or directory");
    options = trusting("rediss://127.0.0.1");
    options.tls_cert_file = certificates.of[CERT_CLIENT].cert_file;
    options.tls_key_file = certificates.locked_file;
    assert_int_equal(client_try(&client, &options, &error), HILOCK_INVALID);
    assert_non_null(strstr(error.text, "has a passphrase, and hilock asks for none: give a key without one"));
    assert_null(strstr(error.text, SECRET));
    client_close(&client);
}

/* ---- servers that do not speak TLS ---- */

static void test_a_plain_server_on_the_port(void **state)
{
    struct server *plain = server_start_with_port(NULL);
    struct redis *redis = redis_open(plain);
    struct hilock_client_options options;
    char url[64];
    (void)state;
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d", plain->port);
    options = trusting(url);
    options.password = SECRET;
    options.connect_timeout_ms = 500;
    options.retry_max_ms = 50;
    fails(&options, "TLS");
    assert_int_equal(redis_calls(redis, "auth") + redis_calls(redis, "client|setname") + redis_calls(redis, "evalsha"), 0);
    redis_close(redis);
    server_end(plain);
}

/* It takes the connection, and that is all. */
static void test_a_server_that_stops_in_the_handshake(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct hilock_client_options options;
    char url[64];
    (void)state;
    assert_true(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 100) == 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d", ntohs(address.sin_port));
    options = trusting(url);
    options.connect_timeout_ms = 300;
    fails(&options, "no TLS connection within 300 ms");
    close(listener);
}

/* A server with TLS gives way to one without, at the same place. */
static void test_no_downgrade(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    struct client client;
    struct handle a;
    struct server *plain;
    struct redis *redis;
    const char *arguments[] = {"--port", at.port_text, NULL};
    (void)state;
    tls_server_start(&at, CERT_RIGHT, 0, NULL);
    options = trusting(at.url);
    options.retry_max_ms = 50;
    options.connect_timeout_ms = 500;
    client_open_with(&client, &options);
    handle_open(&a, &client, "stock", NULL);
    assert_int_equal(handle_acquire(&a, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&a), HILOCK_OK);
    redis_close(at.redis);
    server_kill(at.server);
    plain = server_start(arguments);
    redis = redis_open(plain);
    do
        assert_int_equal(handle_acquire(&a, WAIT_MS), HILOCK_UNREACHABLE);
    while (redis_info(redis, "stats", "total_connections_received") <= 2); /* it comes back, and back */
    assert_int_equal(redis_calls(redis, "client|setname") + redis_calls(redis, "evalsha") + redis_calls(redis, "time"), 0);
    redis_close(redis);
    server_end(plain);
    server_restart(at.server);
    at.redis = redis_open(at.server);
    assert_int_equal(handle_acquire(&a, HILOCK_FOREVER), HILOCK_OK);
    assert_int_equal(handle_give(&a), HILOCK_OK);
    handle_free(&a);
    client_close(&client);
    tls_server_end(&at);
}

/* ---- life ---- */

static void test_reconnect(void **state)
{
    struct tls_server at;
    struct hilock_client_options options;
    struct client first, second;
    struct handle a, b;
    (void)state;
    tls_server_start(&at, CERT_RIGHT, 0, NULL);
    options = trusting(at.url);
    options.retry_max_ms = 50;
    client_open_with(&first, &options);
    client_open_with(&second, &options);
    handle_open(&a, &first, "stock", NULL);
    handle_open(&b, &second, "stock", NULL);
    assert_int_equal(handle_acquire(&a, HILOCK_FOREVER), HILOCK_OK);
    handle_ask(&b, HILOCK_FOREVER);
    handle_until(&b, &b.waiting, 1, "the second to find it held");
    for (unsigned i = 1; i <= 5; i++) {
        redis_do(at.redis, "CLIENT KILL TYPE normal SKIPME yes");
        redis_do(at.redis, "CLIENT KILL TYPE pubsub");
        while (first.connected < i + 1 || second.connected < i + 1)
            client_turn(&first), client_turn(&second);
    }
    assert_int_equal(a.lost.count, 0);
    assert_int_equal(handle_give(&a), HILOCK_OK);
    handle_until(&b, &b.acquired, 1, "the second to be woken");
    assert_int_equal(b.acquired.status, HILOCK_OK);
    handle_free(&a);
    handle_free(&b);
    client_close(&first);
    client_close(&second);
    tls_server_end(&at);
}

static int all_answered(void *arg)
{
    const struct handle *handles = arg;
    for (int i = 0; i < CROWD; i++)
        if (handles[i].acquired.count == 0)
            return 0;
    return 1;
}

static void test_a_burst(void **state)
{
    static struct handle handles[CROWD];
    struct tls_server at;
    struct hilock_client_options options;
    struct client client;
    char name[32];
    (void)state;
    tls_server_start(&at, CERT_RIGHT, 0, NULL);
    options = trusting(at.url);
    options.command_timeout_ms = 60000;
    client_open_with(&client, &options);
    client_connect(&client);
    for (int i = 0; i < CROWD; i++) {
        snprintf(name, sizeof name, "stock:%d", i);
        handle_open(&handles[i], &client, name, NULL);
        handle_ask(&handles[i], HILOCK_FOREVER);
    }
    client_until(&client, all_answered, handles, "all of them to be granted");
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(handles[i].acquired.status, HILOCK_OK);
    assert_int_equal(redis_lock_keys(at.redis), CROWD);
    for (int i = 0; i < CROWD; i++)
        handle_free(&handles[i]);
    client_close(&client);
    tls_server_end(&at);
}

/* ---- deployments ---- */

static void test_a_quorum(void **state)
{
    struct tls_server at[3];
    const char *urls[4] = {at[0].url, at[1].url, at[2].url, NULL};
    struct hilock_client_options options;
    (void)state;
    for (int i = 0; i < 3; i++)
        tls_server_start(&at[i], CERT_RIGHT, 0, NULL);
    options = trusting(NULL);
    options.quorum_urls = urls;
    options.quorum_needed = 3;
    options.restart_guard_ms = HILOCK_GUARD_OFF;
    works(&options, "stock");
    for (int i = 0; i < 3; i++) {
        assert_true(redis_calls(at[i].redis, "evalsha") > 0);
        tls_server_end(&at[i]);
    }
}

static void test_behind_a_sentinel(void **state)
{
    static const char *const arguments[] = {"--sentinel", NULL}, *const replicating[] = {"--tls-replication", "yes", NULL};
    struct tls_server at;
    struct server *sentinel;
    struct hilock_client_options options;
    char config[1024], url[96];
    int port = server_free_port();
    (void)state;
    tls_server_start(&at, CERT_RIGHT, 0, replicating);
    snprintf(config, sizeof config,
             "tls-port %d\ntls-replication yes\ntls-auth-clients no\ntls-cert-file %s\ntls-key-file %s\ntls-ca-cert-file %s\n"
             "sentinel monitor mymaster 127.0.0.1 %d 1\n",
             port, certificates.of[CERT_RIGHT].cert_file, certificates.of[CERT_RIGHT].key_file, certificates.of[CERT_AUTHORITY].cert_file, at.port);
    sentinel = server_start_configured(config, arguments);
    snprintf(url, sizeof url, "rediss+sentinel://127.0.0.1:%d/mymaster", port);
    options = trusting(url);
    works(&options, "stock");
    options.tls_server_name = "evil.example";
    fails(&options, "the server's certificate is not for evil.example");
    server_end(sentinel);
    tls_server_end(&at);
}

static int is_whole(void *arg)
{
    struct tls_server *at = arg;
    for (int i = 0; i < 2; i++) {
        redisReply *info = redis_reply(at[i].redis, "CLUSTER INFO");
        int is_so = info->str && strstr(info->str, "cluster_state:ok") && strstr(info->str, "cluster_known_nodes:2");
        freeReplyObject(info);
        if (!is_so)
            return 0;
    }
    return 1;
}

static void test_a_cluster(void **state)
{
    struct tls_server at[2];
    struct hilock_client_options options;
    char url[64];
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(at[i].bus_text, sizeof at[i].bus_text, "%d", server_free_port());
        const char *const more[] = {"--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-port", at[i].bus_text, NULL};
        tls_server_start(&at[i], CERT_RIGHT, 0, more);
        redis_do(at[i].redis, "CLUSTER ADDSLOTSRANGE %d %d", i * 8192, i * 8192 + 8191);
    }
    redis_do(at[0].redis, "CLUSTER MEET 127.0.0.1 %d %s", at[1].port, at[1].bus_text);
    check_until(is_whole, at, "the cluster to be whole");
    snprintf(url, sizeof url, "rediss+cluster://127.0.0.1:%d", at[0].port);
    options = trusting(url);
    works(&options, "a"); /* slot 15495 */
    works(&options, "b"); /* slot 3300 */
    for (int i = 0; i < 2; i++)
        assert_true(redis_calls(at[i].redis, "evalsha") > 0);
    for (int i = 0; i < 2; i++)
        tls_server_end(&at[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_server),
        cmocka_unit_test(test_certificates_that_are_not_right),
        cmocka_unit_test(test_a_client_certificate),
        cmocka_unit_test(test_options_that_are_refused),
        cmocka_unit_test(test_a_plain_server_on_the_port),
        cmocka_unit_test(test_a_server_that_stops_in_the_handshake),
        cmocka_unit_test(test_no_downgrade),
        cmocka_unit_test(test_reconnect),
        cmocka_unit_test(test_a_burst),
        cmocka_unit_test(test_a_quorum),
        cmocka_unit_test(test_behind_a_sentinel),
        cmocka_unit_test(test_a_cluster),
    };
    return cmocka_run_group_tests(tests, certificates_begin, certificates_over);
}
