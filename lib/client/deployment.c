/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - see deployment.h. */
#include "client/deployment.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/plant.h"
#include "hold/watchdog.h"
#include "node/wait_link.h"
#include "wire/scripts.h"

static int are_one_server(const struct hl_url *a, const struct hl_url *b)
{
    const struct hl_url_host *one = &a->hosts[0], *other = &b->hosts[0];
    return a->scheme == b->scheme && one->port == other->port &&
           (a->scheme == HL_URL_UNIX ? strcmp(one->host, other->host) : strcasecmp(one->host, other->host)) == 0;
}

/* Votes count only if they are independent. */
static hilock_status check_master(const struct hl_urls *urls, struct hl_text *why)
{
    unsigned latest = urls->count - 1;
    const struct hl_url *url = &urls->of[latest];
    if (url->scheme != HL_URL_REDIS && url->scheme != HL_URL_UNIX)
        return hl_text_refuse(why, HILOCK_UNSUPPORTED,
            "quorum_urls: number %u is no redis://, rediss:// or unix:// url: each is one independent master",
            urls->count);
    for (unsigned i = 0; i < latest; i++)
        if (are_one_server(&urls->of[i], url))
            return hl_text_refuse(why, HILOCK_INVALID,
                "quorum_urls: number %u and number %u are the same server: it would vote twice", i + 1, urls->count);
    return HILOCK_OK;
}

static hilock_status check_count(const struct hilock_client_options *options, unsigned count, struct hl_text *why)
{
    unsigned needed = options->quorum_needed;
    if (!options->quorum_urls && needed)
        return hl_text_refuse(why, HILOCK_INVALID,
                              "quorum_needed %u without quorum_urls: give the masters, or leave it 0", needed);
    if (options->quorum_urls && options->url)
        return hl_text_refuse(why, HILOCK_INVALID, "url and quorum_urls are both set: give one of them");
    if (options->quorum_urls && (count < 2 || count > HL_MASTERS_MAX))
        return hl_text_refuse(why, HILOCK_INVALID,
                              "bad quorum_urls: %s%u given, must be 2..%d and end with NULL; for one server use url",
                              count > HL_MASTERS_MAX ? "at least " : "", count, HL_MASTERS_MAX);
    if (needed && (needed < count / 2 + 1 || needed > count))
        return hl_text_refuse(why, HILOCK_INVALID,
            "bad quorum_needed %u of %u masters: must be %u..%u, or 0 for the majority; with fewer two could hold "
            "at a time", needed, count, count / 2 + 1, count);
    return HILOCK_OK;
}

static hilock_status check_tls(const struct hl_urls *urls, const struct hilock_client_options *options,
                               struct hl_text *why)
{
    const char *set = options->tls_ca_file       ? "tls_ca_file"
                      : options->tls_ca_dir      ? "tls_ca_dir"
                      : options->tls_cert_file   ? "tls_cert_file"
                      : options->tls_key_file    ? "tls_key_file"
                      : options->tls_server_name ? "tls_server_name"
                                                 : NULL;
    if (!set || urls->are_tls)
        return HILOCK_OK;
    return hl_text_refuse(why, HILOCK_INVALID, "%s is set, but %s: nothing would be encrypted", set,
                          options->quorum_urls ? "none of quorum_urls is rediss" : "the url is not rediss");
}

hilock_status hl_deployment_read(struct hl_urls *ret_urls, const struct hl_memory *memory,
                                 const struct hilock_client_options *options, struct hl_text *why)
{
    const char *const *texts = options->quorum_urls ? options->quorum_urls : &options->url;
    unsigned count = options->quorum_urls ? 0 : 1;
    hilock_status status;
    while (options->quorum_urls && count <= HL_MASTERS_MAX && texts[count])
        count++;
    status = check_count(options, count, why);
    while (status == HILOCK_OK && ret_urls->count < count) {
        struct hl_url *url = &ret_urls->of[ret_urls->count];
        status = hl_url_parse(url, memory, texts[ret_urls->count], why);
        if (status != HILOCK_OK)
            return status;
        ret_urls->count++;
        ret_urls->are_tls |= url->is_tls;
        if ((options->sentinel_username || options->sentinel_password) && url->scheme != HL_URL_SENTINEL)
            return hl_text_refuse(why, HILOCK_INVALID,
                                  "%s is set, but the url is not redis+sentinel: no server would get it",
                                  options->sentinel_password ? "sentinel_password" : "sentinel_username");
        if (options->quorum_urls)
            status = check_master(ret_urls, why);
    }
    return status == HILOCK_OK ? check_tls(ret_urls, options, why) : status;
}

enum { PREFIX, CLIENT_NAME, TLS_NAME, LOGINS, KEPT = LOGINS + 2 * (HL_MASTERS_MAX + 1) };

/* Into one block. A login is two texts: user, password. The sentinels' is the first, then comes that of each url.
 * -1: no memory. */
static int copy_texts(const char **texts, struct hilock_client *client, const struct hl_urls *urls,
                      const struct hilock_client_options *options)
{
    char name[HL_UUID_LENGTH + HL_LABEL_MAX + 16], *next;
    snprintf(name, sizeof name, "hilock:%s:%s", client->core.label, client->core.uuid);
    texts[PREFIX] = options->name_prefix ? options->name_prefix : "";
    texts[CLIENT_NAME] = name;
    texts[TLS_NAME] = options->tls_server_name;
    texts[LOGINS] = options->sentinel_username;
    texts[LOGINS + 1] = options->sentinel_password;
    for (unsigned i = 0; i < urls->count; i++) {
        const char **login = texts + LOGINS + 2 * (i + 1);
        login[0] = options->username ? options->username : urls->of[i].user;
        login[1] = options->password ? options->password : urls->of[i].password;
    }
    for (unsigned i = 0; i < KEPT; i++)
        client->strings_size += texts[i] ? strlen(texts[i]) + 1 : 0;
    client->strings = next = hl_memory_new(&client->core.host.memory, client->strings_size);
    for (unsigned i = 0; next && i < KEPT; i++) {
        size_t size = texts[i] ? strlen(texts[i]) + 1 : 0;
        texts[i] = texts[i] ? memcpy(next, texts[i], size) : NULL;
        next += size;
    }
    return next ? 0 : -1;
}

/* -1: no memory */
static int keep(struct hilock_client *client, const struct hl_urls *urls, const struct hilock_client_options *options)
{
    const char *texts[KEPT] = {NULL}, **secret = client->secrets;
    if (copy_texts(texts, client, urls, options) != 0)
        return -1;
    client->prefix = texts[PREFIX];
    client->prefix_length = strlen(client->prefix);
    client->tls_server_name = texts[TLS_NAME];
    for (unsigned i = 0; i <= urls->count; i++) {
        struct hl_login *login = i ? &client->logins[i - 1] : &client->sentinel_login;
        const char *user = texts[LOGINS + 2 * i];
        login->username = user && *user ? user : NULL;
        login->password = texts[LOGINS + 2 * i + 1];
        login->client_name = texts[CLIENT_NAME];
        login->database = i ? urls->of[i - 1].db : 0;
    }
    for (unsigned i = LOGINS; i < KEPT; i++)
        if (texts[i] && *texts[i])
            *secret++ = texts[i];
    client->core.host.secrets = client->secrets;
    return 0;
}

void hl_deployment_forget(struct hilock_client *client)
{
    if (client->strings)
        hl_memory_wipe(client->strings, client->strings_size);
    hl_memory_free(&client->core.host.memory, client->strings);
}

static uint64_t left_us(void *client, const struct hl_node *node)
{
    return hl_watchdog_left_us(&((struct hilock_client *)client)->core, node);
}

static struct hl_places places_of(const struct hilock_client *client, const struct hl_urls *urls, unsigned needed)
{
    struct hl_places places = {.master = urls->of[0].master ? urls->of[0].master : "mymaster",
                               .needed = needed ? needed : urls->count / 2 + 1};
    if (HL_PLANTED(QUORUM_OF_HALF))
        places.needed = urls->count / 2;
    for (unsigned i = 0; i < urls->count; i++) {
        const struct hl_url *url = &urls->of[i];
        for (unsigned j = 0; j < url->hosts_count; j++) {
            places.list[places.count] = hl_address_of(url->hosts[j].host, url->hosts[j].port);
            places.logins[places.count] = url->scheme == HL_URL_SENTINEL ? &client->sentinel_login : &client->logins[i];
            places.are_tls[places.count++] = url->is_tls != 0;
        }
    }
    return places;
}

struct hl_route *hl_deployment_new(struct hilock_client *client, const struct hl_urls *urls,
                                   const struct hilock_client_options *options, const struct hl_route_events *events)
{
    static hl_route_new_fn *const makers[] = {[HL_URL_REDIS] = hl_quorum_new,
                                              [HL_URL_UNIX] = hl_quorum_new,
                                              [HL_URL_SENTINEL] = hl_sentinel_new,
                                              [HL_URL_CLUSTER] = hl_cluster_new};
    if (keep(client, urls, options) != 0)
        return NULL;
    const struct hl_places places = places_of(client, urls, options->quorum_needed);
    const struct hl_node_options node = {
        .session = {.links = client->links,
                    .login = &client->logins[0],
                    .connect_timeout_ms = options->connect_timeout_ms,
                    .retry_max_ms = options->retry_max_ms,
                    .is_tls = urls->of[0].is_tls,
                    .tls_server_name = client->tls_server_name},
        .scripts = hl_scripts,
        .wait_link = &hl_wait_link_ops,
        .command_timeout_ms = options->command_timeout_ms,
        .keepalive_ms = options->keepalive_ms,
        .inflight_max = options->inflight_max,
        .left_us = left_us,
        .left_arg = client,
        .restart_guard_ms = client->restart_guard_ms,
    };
    return makers[urls->of[0].scheme](&client->core.host, &places, &node, events, client);
}
