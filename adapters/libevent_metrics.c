/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves the statistics of several clients as one page of an evhttp server. hilock_stats_prometheus makes the text of
 * each client, and this file merges the texts: on a page a metric may have only one heading, and all of its lines must
 * come below that. This file does not need to know the names of the metrics.
 *
 * A client may end while it is on the page, on another thread perhaps in the middle of a scrape. So the page keeps a
 * weak reference to each client, and reads by it alone.
 * Invariant: the page is sent whole, or not at all (503 without memory). */
#include <hilock/adapters/libevent.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>

struct part { /* the text of one client, and how much of the text has been merged */
    char *text;
    const char *at;
};

struct hilock_libevent_page {
    struct evhttp *http;
    char *path;
    size_t count;
    struct served {
        const hilock_client *client; /* only to be compared when a client is dropped; the client may have ended */
        hilock_weak *weak;
        char *label;
    } served[];
};

/* ---- the text ---- */

/* Makes the text of one client. The text is empty for a client that has ended, and in a forked child. */
static char *text_of(const struct served *served)
{
    struct hilock_stats stats = {.size = sizeof stats};
    if (hilock_weak_stats(served->weak, &stats) != HILOCK_OK)
        return strdup("");
    size_t length = hilock_stats_prometheus(&stats, served->label, NULL, 0);
    char *text = malloc(length + 1);
    if (text)
        hilock_stats_prometheus(&stats, served->label, text, length + 1);
    return text;
}

/* Returns the length of the text from one heading to the next one, or to the end. No label contains a line end. */
static const char *end_of(const char *metric)
{
    const char *last = strstr(metric, "\n# HELP ");
    return last ? last + 1 : metric + strlen(metric);
}

/* Returns where the lines of a metric begin, behind its heading of two lines, "# HELP .." and "# TYPE ..". */
static const char *lines_of(const char *metric)
{
    for (int i = 0; i < 2; i++)
        metric += strcspn(metric, "\n") + 1;
    return metric;
}

/* Merges the texts. The same library has made all of them, so they have the same metrics in the same order. */
static int merge(struct evbuffer *page, struct part *parts, size_t count)
{
    for (;;) {
        int is_begun = 0;
        for (size_t i = 0; i < count; i++) {
            const char *metric = parts[i].at, *end = *metric ? end_of(metric) : metric,
                       *from = is_begun && *metric ? lines_of(metric) : metric;
            if (evbuffer_add(page, from, (size_t)(end - from)) != 0)
                return -1;
            is_begun |= *metric != '\0';
            parts[i].at = end;
        }
        if (!is_begun)
            return 0;
    }
}

static int write_page(const struct hilock_libevent_page *page, struct evbuffer *to)
{
    struct part *parts = calloc(page->count + 1, sizeof *parts);
    int status = parts ? 0 : -1;
    for (size_t i = 0; status == 0 && i < page->count; i++) {
        parts[i].at = parts[i].text = text_of(&page->served[i]);
        status = parts[i].text ? 0 : -1;
    }
    if (status == 0)
        status = merge(to, parts, page->count);
    for (size_t i = 0; parts && i < page->count; i++)
        free(parts[i].text);
    free(parts);
    return status;
}

static void on_request(struct evhttp_request *request, void *arg)
{
    enum evhttp_cmd_type command = evhttp_request_get_command(request);
    struct evbuffer *body;
    if (command != EVHTTP_REQ_GET && command != EVHTTP_REQ_HEAD) {
        evhttp_add_header(evhttp_request_get_output_headers(request), "Allow", "GET, HEAD");
        evhttp_send_error(request, 405, NULL);
        return;
    }
    body = evbuffer_new();
    if (body && write_page(arg, body) == 0 &&
        evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                          "text/plain; version=0.0.4; charset=utf-8") == 0)
        evhttp_send_reply(request, 200, "OK", body);
    else
        evhttp_send_error(request, 503, NULL);
    if (body)
        evbuffer_free(body);
}

/* ---- the page ---- */

static size_t count_of(const struct hilock_libevent_served *clients)
{
    size_t count = 0;
    while (clients[count].client)
        count++;
    return count;
}

static const char *label_of(const struct hilock_libevent_served *served) { return served->label ? served->label : ""; }

static int has_twins(const struct hilock_libevent_served *clients, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(label_of(&clients[i]), label_of(&clients[j])) == 0)
                return 1;
    return 0;
}

static struct hilock_libevent_page *make(struct evhttp *http, const char *path,
                                         const struct hilock_libevent_served *clients, size_t count)
{
    struct hilock_libevent_page *page = calloc(1, sizeof *page + count * sizeof *page->served);
    if (!page)
        return NULL;
    page->http = http;
    page->path = strdup(path);
    int is_whole = page->path != NULL;
    for (; is_whole && page->count < count; page->count++) {
        const hilock_client *client = clients[page->count].client;
        page->served[page->count] = (struct served){client, hilock_client_weak(client),
                                                    strdup(label_of(&clients[page->count]))};
        is_whole = page->served[page->count].label != NULL;
    }
    if (is_whole)
        return page;
    page->http = NULL;
    hilock_libevent_metrics_free(page);
    return NULL;
}

hilock_status hilock_libevent_metrics(hilock_libevent_page **ret_page, struct evhttp *http, const char *path,
                                      const struct hilock_libevent_served *clients)
{
    if (!ret_page || !http || !path || *path != '/' || !clients || !clients->client ||
        has_twins(clients, count_of(clients)))
        return HILOCK_INVALID;
    struct hilock_libevent_page *page = make(http, path, clients, count_of(clients));
    if (!page)
        return HILOCK_NO_MEMORY;
    int status = evhttp_set_cb(http, path, on_request, page);
    if (status != 0) {
        page->http = NULL;
        hilock_libevent_metrics_free(page);
        return status == -1 ? HILOCK_IN_USE : HILOCK_NO_MEMORY;
    }
    *ret_page = page;
    return HILOCK_OK;
}

static void forget(struct served *served)
{
    hilock_weak_unref(served->weak);
    free(served->label);
}

void hilock_libevent_metrics_drop(hilock_libevent_page *page, const hilock_client *client)
{
    size_t kept = 0;
    for (size_t i = 0; page && i < page->count; i++)
        if (page->served[i].client == client)
            forget(&page->served[i]);
        else
            page->served[kept++] = page->served[i];
    if (page)
        page->count = kept;
}

void hilock_libevent_metrics_free(hilock_libevent_page *page)
{
    if (!page)
        return;
    if (page->http)
        evhttp_del_cb(page->http, page->path);
    for (size_t i = 0; i < page->count; i++)
        forget(&page->served[i]);
    free(page->path);
    free(page);
}
