/* SPDX-License-Identifier: BSD-3-Clause */
/* Names through the libevent adapter, with a nameserver and files in /etc of the test's own. Each way a query can end is tried
 * with answers under way, in the queue, and never to come. */
#include "conformance.h"
#include "etc.h"
#include "nameserver.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEN "0123456789"
#define LABEL_64 TEN TEN TEN TEN TEN TEN "0123"

struct host {
    struct event_base *base;
    struct hilock_loop loop;
    struct nameserver nameserver;
    char resolv[64];
};

static int host_begin(void **state)
{
    struct host *host = calloc(1, sizeof *host);
    if (!host)
        return -1;
    *state = host;
    host->base = event_base_new();
    if (nameserver_open(&host->nameserver, host->base) != 0 || hilock_libevent_loop(&host->loop, host->base) != HILOCK_OK)
        return -1;
    snprintf(host->resolv, sizeof host->resolv, "nameserver 127.0.0.1:%d\nsearch test\n", host->nameserver.port);
    etc_resolv_conf = host->resolv;
    etc_hosts = "";
    return 0;
}

/* No turn in between: what a cancelled query left is gone, or was in the queue, which then needs its turn. */
static int host_end(void **state)
{
    struct host *host = *state;
    host->loop.free_ctx(host->loop.ctx);
    nameserver_close(&host->nameserver);
    if (event_base_get_num_events(host->base, EVENT_BASE_COUNT_ADDED) != 0)
        return -1;
    if (event_base_get_num_events(host->base, EVENT_BASE_COUNT_ACTIVE) != 0)
        event_base_dispatch(host->base);
    event_base_free(host->base);
    free(host);
    return 0;
}

#define IN_BASE(name) STAGED(name, struct host, host, host_begin, host_end)

struct answer {
    char text[2048]; /* "10.0.0.1 fd00::1 " */
    char error[256];
    int count;
};

static void on_resolved(const struct sockaddr *const *addresses, size_t count, const char *error, void *arg)
{
    struct answer *answer = arg;
    answer->count++;
    snprintf(answer->error, sizeof answer->error, "%s", error ? error : "");
    for (size_t i = 0; i < count; i++) {
        const void *address = addresses[i];
        const size_t used = strlen(answer->text);
        char one[INET6_ADDRSTRLEN];
        if (addresses[i]->sa_family == AF_INET)
            inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, one, sizeof one);
        else
            inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, one, sizeof one);
        snprintf(answer->text + used, sizeof answer->text - used, "%s ", one);
    }
}

static void *ask(struct host *host, const char *name, struct answer *ret_answer)
{
    *ret_answer = (struct answer){.count = 0};
    void *query = host->loop.resolve(host->loop.ctx, name, on_resolved, ret_answer);
    assert_non_null(query);
    assert_int_equal(ret_answer->count, 0);
    return query;
}

static struct answer resolved(struct host *host, const char *name)
{
    struct answer answer;
    ask(host, name, &answer);
    while (answer.count == 0)
        event_base_loop(host->base, EVLOOP_ONCE);
    assert_int_equal(answer.count, 1);
    return answer;
}

enum { ANY = -1, NO_FILE = 1, EMPTY }; /* questions; /etc/resolv.conf, which else names the nameserver */

#define BOTH "10.0.0.1 fd00::1 "
#define LONG TEN "." TEN "." TEN "." TEN "." TEN "." TEN "." TEN "." TEN "." TEN "." TEN "." TEN
#define ONE "10.0.0.1 "
#define FOUR ONE ONE ONE ONE

static const char hosts[] = "# both.test in a comment\n"
                            "10.9.9.9 Both.TEST alias # trailing\n"
                            "\n"
                            "fd00::9\tother both.test\r\n"
                            "nonsense bad.both.test\n"
                            "10.8.8.8\n"
                            "10.7.7.7 last";

/* says: all addresses, or part of the error. asked: how many questions, of both families. */
static const struct row { const char *name, *says; int asked; const char *hosts; int resolv; } rows[] = {
    {"both.test", BOTH, ANY, "", 0}, {"BOTH.Test", BOTH, ANY, "", 0}, {"v6.test", "fd00::1 ", ANY, "", 0},
    /* a family that never answers is not waited for as long as it takes to ask it again */
    {"v4.test", ONE, 2, "", 0},
    {"many.test", FOUR FOUR FOUR FOUR, ANY, "", 0},
    {"none.test", "no such host", ANY, "", 0}, {"empty.test", "no such host", ANY, "", 0},
    {"refuse.test", "refuse to answer", ANY, "", 0},
    {"long.test", "its answer is cut off", ANY, "", 0},
    /* search is for names without a dot at the end only */
    {"both", BOTH, ANY, "", 0}, {"both.test.", BOTH, ANY, "", 0},
    {"none.", "no such host", 2, "", 0}, {"none", "no such host", 4, "", 0},
    /* these are no names; evdns would ask for something else */
    {"", "not a host name", 0, "", 0}, {".", "not a host name", 0, "", 0}, {"a..b", "not a host name", 0, "", 0},
    {".a", "not a host name", 0, "", 0}, {"a..", "not a host name", 0, "", 0}, {LABEL_64, "not a host name", 0, "", 0},
    {LABEL_64 ".test", "not a host name", 0, "", 0}, {LONG "." LONG "." TEN ".a", "not a host name", 0, "", 0},
    /* /etc/hosts is read first */
    {"both.test", "10.9.9.9 fd00::9 ", 0, hosts, 0}, {"ALIAS", "10.9.9.9 ", 0, hosts, 0},
    {"other", "fd00::9 ", 0, hosts, 0},
    {"last", "10.7.7.7 ", 0, hosts, 0},
    /* names that are local need no file, and no nameserver */
    {"localhost", "127.0.0.1 ::1 ", 0, NULL, NO_FILE}, {"redis", "10.9.9.9 ", 0, "10.9.9.9 redis", NO_FILE},
    {"redis", "10.9.9.9 ", 0, "10.9.9.9 redis", EMPTY},
};

/* A refusal puts the nameserver off for a while: each row has a host of its own. */
TEST(each_name_has_its_answer)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        void *it = NULL;
        assert_int_equal(host_begin(&it), 0);
        struct host *host = it;
        etc_hosts = row->hosts;
        etc_resolv_conf = row->resolv == NO_FILE ? NULL : row->resolv == EMPTY ? "" : host->resolv;
        struct answer answer = resolved(host, row->name);
        if (strcmp(answer.text, row->says) != 0 && (!*answer.error || !strstr(answer.error, row->says)))
            fail_msg("row %zu, \"%s\": \"%s\" %s", i, row->name, answer.text, answer.error);
        if (row->asked != ANY && host->nameserver.asked != row->asked)
            fail_msg("row %zu, \"%s\": %d questions", i, row->name, host->nameserver.asked);
        assert_int_equal(host_end(&it), 0);
    }
}

IN_BASE(hosts_are_read_each_time)
{
    etc_hosts = hosts;
    assert_string_equal(resolved(host, "both.test").text, "10.9.9.9 fd00::9 ");
    etc_hosts = "";
    assert_string_equal(resolved(host, "both.test").text, BOTH);
}

/* Bounded, even if nothing happens. */
IN_BASE(silence_ends_in_words)
{
    assert_non_null(strstr(resolved(host, "silent.test").error, "no answer from the nameservers"));
    assert_true(host->nameserver.asked >= 4);
}

static void on_turn(evutil_socket_t fd, short what, void *user) { (void)fd, (void)what, (void)user; }

/* Cancelled while the questions are under way; free_ctx at once, with and without other callbacks in the base's queue. */
IN_BASE(cancel_under_way)
{
    struct event *other = event_new(host->base, -1, 0, on_turn, NULL);
    struct answer answers[3];
    host->loop.resolve_cancel(ask(host, "silent.test", &answers[0]));
    event_active(other, EV_TIMEOUT, 1);
    host->loop.resolve_cancel(ask(host, "both.test", &answers[1]));
    event_base_loop(host->base, EVLOOP_ONCE);
    host->loop.resolve_cancel(ask(host, "both.test", &answers[2]));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(answers[i].count, 0);
    event_free(other);
}

struct sniper {
    struct host *host;
    struct event *each_turn, *later_in_turn;
    void *query;
    int is_done;
};

/* When both questions are answered, only both answers in the queue make two active callbacks. */
static void snipe(evutil_socket_t fd, short what, void *user)
{
    struct sniper *sniper = user;
    (void)fd, (void)what;
    if (sniper->is_done || sniper->host->nameserver.answered < 2 ||
        event_base_get_num_events(sniper->host->base, EVENT_BASE_COUNT_ACTIVE) < 2)
        return;
    sniper->host->loop.resolve_cancel(sniper->query);
    sniper->is_done = 1;
}

/* evdns' socket may come before this in a turn, or after: then the second look sees what it has put into the queue. */
static void on_each_turn(evutil_socket_t fd, short what, void *user)
{
    struct sniper *sniper = user;
    snipe(fd, what, user);
    event_active(sniper->later_in_turn, EV_TIMEOUT, 1);
}

/* Cancelled when the answers are already in the base's queue, from where evdns cannot take them back. */
IN_BASE(cancel_with_the_answer_queued)
{
    struct sniper sniper = {.host = host};
    struct answer answer;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    sniper.each_turn = event_new(host->base, fds[0], EV_WRITE | EV_PERSIST, on_each_turn, &sniper);
    sniper.later_in_turn = event_new(host->base, -1, 0, snipe, &sniper);
    event_add(sniper.each_turn, NULL);
    sniper.query = ask(host, "both.test", &answer);
    while (!sniper.is_done)
        event_base_loop(host->base, EVLOOP_ONCE);
    for (int i = 0; i < 3; i++)
        event_base_loop(host->base, EVLOOP_ONCE);
    assert_int_equal(answer.count, 0);
    event_free(sniper.each_turn);
    event_free(sniper.later_in_turn);
    close(fds[0]);
    close(fds[1]);
}

IN_BASE(many_queries)
{
    enum { COUNT = 40 };
    struct answer *answers = calloc(COUNT, sizeof *answers);
    assert_non_null(answers);
    for (size_t i = 0; i < COUNT; i++)
        ask(host, i % 2 ? "both.test" : "none.test", &answers[i]);
    for (size_t i = 0; i < COUNT; i++) {
        while (answers[i].count == 0)
            event_base_loop(host->base, EVLOOP_ONCE);
        assert_string_equal(answers[i].text, i % 2 ? "10.0.0.1 fd00::1 " : "");
    }
    free(answers);
}

/* A child that gives its query back after event_reinit does not disturb the parent's. */
IN_BASE(forked_child_leaves_the_query_alone)
{
    struct answer answer;
    void *query = ask(host, "both.test", &answer);
    int status;
    const pid_t child = fork();
    if (child == 0) {
        const int is_reinit = event_reinit(host->base);
        host->loop.resolve_cancel(query);
        host->loop.free_ctx(host->loop.ctx);
        _exit(is_reinit == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    while (answer.count == 0)
        event_base_loop(host->base, EVLOOP_ONCE);
    assert_string_equal(answer.text, "10.0.0.1 fd00::1 ");
}
