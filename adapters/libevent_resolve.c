/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves host names to addresses without blocking: this file reads /etc/hosts, and evdns asks the nameservers of
 * /etc/resolv.conf for A and AAAA records at the same time. Each query reads both files anew, so a change of them
 * counts at once. A query always ends within BOUND_S.
 *
 * Each query has an evdns_base of its own, which is freed at the end of the query, because an evdns_base that is
 * left behind would keep event_base_dispatch() running.
 *
 * Freeing the evdns_base is the hard part (libevent 2.1.12). A deferred callback in the queue of the event base
 * delivers an evdns answer. That callback cannot be taken back, and evdns has no call that tells whether one is
 * queued. evdns_getaddrinfo() cannot be used at all: its deferred callback touches the evdns_base, which would have
 * to outlive its query by a turn. So each question has a small struct of its own, which its callback frees and which
 * points to the query as long as the query exists. While the queue of the event base is empty, no callback can be in
 * it: then the questions are dropped, and nothing calls back. Otherwise evdns is made to fail them, and each then
 * has exactly one callback to come, in the next turn. The callback of a nameserver *probe* would use freed memory in
 * that case; but a probe begins only after twice BOUND_S, and those options of resolv.conf that could change this
 * time are not read (timeouts and the like are ignored; search, domain and ndots are read). */
#include "libevent_resolve.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    ADDRESSES_MAX = 16,
    BOUND_S = 5,
    SECOND_FAMILY_MS = 500,
    FAMILIES = 2,
    NAME_MAX_BYTES = 253,
    LABEL_MAX_BYTES = 63
};

struct name {
    char text[NAME_MAX_BYTES + 1];
    int flags; /* DNS_QUERY_... flags for evdns */
};

struct question {
    struct query *query; /* NULL: the query is over */
};

struct query {
    struct event event; /* a timer that delivers the result as it is by then */
    struct evdns_base *dns;
    struct question *questions[FAMILIES]; /* NULL: no question of that family is under way */
    hilock_resolved_fn *done;             /* the caller's callback; NULL: it is running */
    void *arg;
    const char *error; /* why there is no address; NULL: no answer yet */
    size_t v4_count, v6_count;
    struct sockaddr_in v4[ADDRESSES_MAX];
    struct sockaddr_in6 v6[ADDRESSES_MAX];
};

static void address_add(struct query *query, int family, const void *bytes)
{
    if (family == AF_INET && query->v4_count < ADDRESSES_MAX) {
        struct sockaddr_in *address = &query->v4[query->v4_count++];
        address->sin_family = AF_INET;
        memcpy(&address->sin_addr, bytes, sizeof address->sin_addr);
    } else if (family == AF_INET6 && query->v6_count < ADDRESSES_MAX) {
        struct sockaddr_in6 *address = &query->v6[query->v6_count++];
        address->sin6_family = AF_INET6;
        memcpy(&address->sin6_addr, bytes, sizeof address->sin6_addr);
    }
}

static void address_parse(struct query *query, const char *text)
{
    struct in6_addr bytes;
    if (inet_pton(AF_INET, text, &bytes) == 1)
        address_add(query, AF_INET, &bytes);
    else if (inet_pton(AF_INET6, text, &bytes) == 1)
        address_add(query, AF_INET6, &bytes);
}

static size_t address_count(const struct query *query) { return query->v4_count + query->v6_count; }

static void hosts_line(struct query *query, const char *host, char *line)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    const char *address, *name;
    line[strcspn(line, "#")] = '\0';
    address = strtok_r(line, blanks, &rest);
    while (address && (name = strtok_r(NULL, blanks, &rest)))
        if (strcasecmp(name, host) == 0) {
            address_parse(query, address);
            return;
        }
}

/* The name localhost is known without /etc/hosts, because a container may have no such file. */
static void hosts_find(struct query *query, const char *host)
{
    FILE *file = fopen("/etc/hosts", "re");
    char *line = NULL;
    size_t room = 0;
    while (file && getline(&line, &room, file) >= 0)
        hosts_line(query, host, line);
    free(line);
    if (file)
        fclose(file);
    if (address_count(query) == 0 && strcasecmp(host, "localhost") == 0) {
        address_parse(query, "127.0.0.1");
        address_parse(query, "::1");
    }
}

/* Ends the questions of a query; the head of this file explains why in this way. */
static void dns_end(struct query *query)
{
    const int quiet = event_base_get_num_events(event_get_base(&query->event), EVENT_BASE_COUNT_ACTIVE) == 0;
    if (!query->dns)
        return;
    evdns_base_free(query->dns, !quiet);
    query->dns = NULL;
    for (size_t i = 0; i < FAMILIES; i++) {
        if (query->questions[i] && !quiet)
            query->questions[i]->query = NULL;
        else
            free(query->questions[i]);
        query->questions[i] = NULL;
    }
}

static void query_free(struct query *query)
{
    event_debug_unassign(&query->event);
    free(query);
}

static void query_end(struct query *query)
{
    event_del(&query->event);
    dns_end(query);
}

static const char *dns_error_text(int result)
{
    switch (result) {
    case DNS_ERR_NOTEXIST:
    case DNS_ERR_NODATA:
        return "no such host in /etc/hosts or DNS: check the name";
    case DNS_ERR_TIMEOUT:
        return "no answer from the nameservers in /etc/resolv.conf: check them and the way to them, or give a numeric "
               "address";
    case DNS_ERR_TRUNCATED: /* evdns cannot ask again over TCP */
        return "its answer is cut off: it is too long for UDP, and libevent asks by nothing else; give the name fewer "
               "addresses, put it into /etc/hosts, or give a numeric address";
    case DNS_ERR_REFUSED:
        return "the nameservers in /etc/resolv.conf refuse to answer: check them, or give a numeric address";
    default:
        return "the nameservers in /etc/resolv.conf cannot answer: check them, or give a numeric address";
    }
}

/* IPv4 addresses come first, because a server that listens on only one family usually listens on IPv4. */
static void query_deliver(struct query *query)
{
    const struct sockaddr *addresses[FAMILIES * ADDRESSES_MAX];
    hilock_resolved_fn *done = query->done;
    size_t count = 0;
    const char *error = query->error ? query->error : dns_error_text(DNS_ERR_TIMEOUT);
    query_end(query);
    for (size_t i = 0; i < query->v4_count; i++)
        addresses[count++] = (const struct sockaddr *)&query->v4[i];
    for (size_t i = 0; i < query->v6_count; i++)
        addresses[count++] = (const struct sockaddr *)&query->v6[i];
    query->done = NULL;
    done(count ? addresses : NULL, count, count ? NULL : error, query->arg);
    query_free(query);
}

static void on_time(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    query_deliver(user);
}

/* That one family has no addresses must not hide the error of the other family. */
static void answer_take(struct query *query, int result, char type, int count, const void *addresses)
{
    const unsigned char *bytes = addresses;
    if (result != DNS_ERR_NONE && (result != DNS_ERR_NODATA || !query->error))
        query->error = dns_error_text(result);
    for (int i = 0; result == DNS_ERR_NONE && i < count; i++)
        if (type == DNS_IPv4_A)
            address_add(query, AF_INET, bytes + 4 * (size_t)i);
        else if (type == DNS_IPv6_AAAA)
            address_add(query, AF_INET6, bytes + 16 * (size_t)i);
}

static void on_answer(int result, char type, int count, int ttl, void *addresses, void *user)
{
    const struct timeval soon = {0, SECOND_FAMILY_MS * 1000};
    struct question *question = user;
    struct query *query = question->query;
    size_t under_way = 0;
    (void)ttl;
    for (size_t i = 0; query && i < FAMILIES; i++) {
        if (query->questions[i] == question)
            query->questions[i] = NULL;
        under_way += query->questions[i] != NULL;
    }
    free(question);
    if (!query)
        return;
    answer_take(query, result, type, count, addresses);
    if (under_way == 0)
        query_deliver(query);
    else if (address_count(query) > 0)
        event_add(&query->event, &soon);
}

typedef struct evdns_request *ask_fn(struct evdns_base *dns, const char *host, int flags, evdns_callback_type callback,
                                     void *user);

/* Checks for empty labels, because evdns would ask for "a" instead of "a..b". One dot at the end is legal, and marks a
 * complete name. */
static int name_take(struct name *ret_name, const char *host)
{
    const size_t length = strlen(host), is_whole = length > 0 && host[length - 1] == '.';
    if (length - is_whole > NAME_MAX_BYTES)
        return -1;
    memcpy(ret_name->text, host, length - is_whole);
    ret_name->text[length - is_whole] = '\0';
    ret_name->flags = is_whole ? DNS_QUERY_NO_SEARCH : 0;
    for (const char *label = ret_name->text;; label += strcspn(label, ".") + 1) {
        const size_t label_length = strcspn(label, ".");
        if (label_length == 0 || label_length > LABEL_MAX_BYTES)
            return -1;
        if (label[label_length] == '\0')
            return 0;
    }
}

static struct question *dns_ask(struct query *query, ask_fn *ask, const struct name *name)
{
    struct question *question = calloc(1, sizeof *question);
    if (!question)
        return NULL;
    question->query = query;
    if (ask(query->dns, name->text, name->flags, on_answer, question))
        return question;
    free(question);
    return NULL;
}

/* Asks the nameservers, with up to three tries of one second: that ends before a connect gives up, and within BOUND_S.
 * Returns 1 if a question is under way. */
static int dns_start(struct query *query, struct event_base *base, const char *host)
{
    struct name name;
    if (name_take(&name, host) != 0) {
        query->error = "this is not a host name: it has an empty part, or one too long; check it";
        return 0;
    }
    query->dns = evdns_base_new(base, 0);
    if (!query->dns) {
        query->error = "evdns cannot start: no memory or no random numbers";
        return 0;
    }
    evdns_base_set_option(query->dns, "timeout", "1");
    evdns_base_set_option(query->dns, "attempts", "3");
    evdns_base_resolv_conf_parse(query->dns, DNS_OPTION_SEARCH | DNS_OPTION_NAMESERVERS, "/etc/resolv.conf");
    query->questions[0] = dns_ask(query, evdns_base_resolve_ipv4, &name);
    query->questions[1] = dns_ask(query, evdns_base_resolve_ipv6, &name);
    if (query->questions[0] || query->questions[1])
        return 1;
    query->error = "DNS cannot be asked: no memory";
    return 0;
}

void *hl_libevent_resolve(struct event_base *base, const char *host, hilock_resolved_fn *done, void *arg)
{
    struct timeval delay = {0, 0};
    struct query *query = calloc(1, sizeof *query);
    if (!query)
        return NULL;
    event_assign(&query->event, base, -1, 0, on_time, query);
    event_priority_set(&query->event, 0);
    query->done = done;
    query->arg = arg;
    hosts_find(query, host);
    if (address_count(query) == 0 && dns_start(query, base, host))
        delay.tv_sec = BOUND_S;
    if (event_add(&query->event, &delay) == 0)
        return query;
    query_end(query);
    query_free(query);
    return NULL;
}

/* While its own callback runs, the query is over already, and is freed when the callback returns. */
void hl_libevent_resolve_cancel(void *handle)
{
    struct query *query = handle;
    if (!query->done)
        return;
    query_end(query);
    query_free(query);
}
