/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - see deployment.h. */
#include "client/deployment.h"

#include <stdio.h>
#include <strings.h>

#include "base/contract.h"
#include "client/words.h"
#include "hold/hold.h"
#include "wire/scripts.h"

/* Checks the latest master of a quorum against those before it: a server that is given twice would vote twice. */
static hilock_status check_master(const struct hl_urls *urls, struct hl_text *why)
{
    const struct hl_url *url = &urls->of[urls->count - 1];
    if (url->scheme != HL_URL_REDIS && url->scheme != HL_URL_UNIX)
        return hl_text_refuse(why, HILOCK_UNSUPPORTED, "%s", hl_words_bad_master(urls->count).bytes);
    for (const struct hl_url *other = urls->of; other < url; other++) {
        const char *host = url->hosts[0].host, *taken = other->hosts[0].host;
        int is_same_host = (url->scheme == HL_URL_UNIX ? strcmp(host, taken) : strcasecmp(host, taken)) == 0;
        if (is_same_host && other->scheme == url->scheme && other->hosts[0].port == url->hosts[0].port)
            return hl_text_refuse(why, HILOCK_INVALID, "%s",
                                  hl_words_master_twice((unsigned)(other - urls->of) + 1, urls->count).bytes);
    }
    return HILOCK_OK;
}

static hilock_status check_count(const struct hilock_client_options *options, unsigned count, struct hl_text *why)
{
    unsigned needed = options->quorum_needed;
    if (!options->quorum_urls && needed)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_needed_without_quorum(needed).bytes);
    if (options->quorum_urls && options->url)
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_url_and_quorum);
    if (options->quorum_urls && (count < 2 || count > HL_MASTERS_MAX))
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_master_count(count, HL_MASTERS_MAX).bytes);
    if (needed && (needed < count / 2 + 1 || needed > count))
        return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_needed(needed, count).bytes);
    return HILOCK_OK;
}

hilock_status hl_deployment_read(struct hl_urls *ret_urls, const struct hl_memory *memory,
                                 const struct hilock_client_options *options, struct hl_text *why)
{
    const char *const *texts = options->quorum_urls ? options->quorum_urls : &options->url;
    const char *for_tls = options->tls_ca_file       ? "tls_ca_file"
                          : options->tls_ca_dir      ? "tls_ca_dir"
                          : options->tls_cert_file   ? "tls_cert_file"
                          : options->tls_key_file    ? "tls_key_file"
                          : options->tls_server_name ? "tls_server_name"
                                                     : NULL;
    unsigned count = options->quorum_urls ? 0 : 1;
    while (options->quorum_urls && count <= HL_MASTERS_MAX && texts[count])
        count++;
    hilock_status status = check_count(options, count, why);
    while (status == HILOCK_OK && ret_urls->count < count) {
        struct hl_url *url = &ret_urls->of[ret_urls->count];
        status = hl_url_parse(url, memory, texts[ret_urls->count], why);
        if (status != HILOCK_OK)
            return status;
        ret_urls->count++;
        ret_urls->are_tls |= url->is_tls;
        if ((options->sentinel_username || options->sentinel_password) && url->scheme != HL_URL_SENTINEL)
            return hl_text_refuse(why, HILOCK_INVALID, "%s",
                                  hl_words_login_without_sentinel(options->sentinel_password != NULL).bytes);
        if (options->quorum_urls)
            status = check_master(ret_urls, why);
    }
    if (status == HILOCK_OK && for_tls && !ret_urls->are_tls)
        return hl_text_refuse(why, HILOCK_INVALID, "%s",
                              hl_words_tls_without_rediss(for_tls, options->quorum_urls != NULL).bytes);
    return status;
}

enum { NOT_SECRET = 2, KEPT = NOT_SECRET + 2 * (HL_MASTERS_MAX + 1) };

/* Makes the logins, and copies the texts that the client keeps into one block. Returns -1 without memory. */
static int keep(struct hilock_client *client, const struct hl_urls *urls)
{
    struct hilock_client_options *options = &client->options;
    const char **texts[KEPT] = {&options->name_prefix, &options->tls_server_name}, **secret = client->secrets;
    struct hl_login *login = client->logins;
    unsigned count = NOT_SECRET;
    snprintf(client->name, sizeof client->name, "hilock:%s:%s", client->core.label, client->core.uuid);
    for (const struct hl_url *url = urls->of; url < urls->of + urls->count; url++)
        *login++ = (struct hl_login){options->username ? options->username : url->user,
                                     options->password ? options->password : url->password, client->name, url->db};
    *login = (struct hl_login){options->sentinel_username, options->sentinel_password, client->name, 0};
    for (login = client->logins; login <= client->logins + urls->count; login++) {
        if (login->username && !*login->username)
            login->username = NULL;
        texts[count++] = &login->username;
        texts[count++] = &login->password;
    }
    for (unsigned i = 0; i < count; i++)
        client->strings_size += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    char *next = client->strings = hl_memory_new(&client->core.host.memory, client->strings_size);
    for (unsigned i = 0; next && i < count; i++) {
        size_t size = *texts[i] ? strlen(*texts[i]) + 1 : 0;
        if (size)
            *texts[i] = memcpy(next, *texts[i], size);
        if (size > 1 && i >= NOT_SECRET)
            *secret++ = *texts[i];
        next += size;
    }
    client->core.host.secrets = client->secrets;
    return next ? 0 : -1;
}

struct hl_route *hl_deployment_new(struct hilock_client *client, const struct hl_urls *urls,
                                   const struct hl_route_events *events)
{
    static hl_route_new_fn *const makers[] = {[HL_URL_REDIS] = hl_masters_new,
                                              [HL_URL_UNIX] = hl_masters_new,
                                              [HL_URL_SENTINEL] = hl_sentinel_new,
                                              [HL_URL_CLUSTER] = hl_cluster_new};
    const struct hilock_client_options *options = &client->options;
    struct hl_endpoints endpoints = {.master = urls->of[0].master ? urls->of[0].master : "mymaster",
                                     .needed = options->quorum_needed ? options->quorum_needed : urls->count / 2 + 1};
    if (keep(client, urls) != 0)
        return NULL;
    for (unsigned i = 0; i < urls->count; i++) {
        const struct hl_url *url = &urls->of[i];
        for (unsigned j = 0; j < url->hosts_count; j++) {
            const char *host = url->hosts[j].host;
            HL_REQUIRE(strlen(host) <= HL_ADDRESS_HOST_MAX); /* base/url.c refuses a longer one */
            memcpy(endpoints.list[endpoints.count].host, host, strlen(host));
            endpoints.list[endpoints.count].port = url->hosts[j].port;
            endpoints.logins[endpoints.count] = &client->logins[url->scheme == HL_URL_SENTINEL ? urls->count : i];
            endpoints.are_tls[endpoints.count++] = url->is_tls != 0;
        }
    }
    const struct hl_node_options node = {
        .session = {.links = client->links,
                    .login = &client->logins[0],
                    .connect_timeout_ms = options->connect_timeout_ms,
                    .retry_max_ms = options->retry_max_ms,
                    .is_tls = urls->of[0].is_tls,
                    .tls_server_name = options->tls_server_name},
        .scripts = hl_scripts,
        .command_timeout_ms = options->command_timeout_ms,
        .keepalive_ms = options->keepalive_ms,
        .inflight_max = options->inflight_max,
        .remaining_us = hl_holds_left_us,
        .remaining_arg = &client->core,
        .restart_guard_ms = options->restart_guard_ms,
    };
    return makers[urls->of[0].scheme](&client->core.host, &endpoints, &node, events, client);
}
