/* SPDX-License-Identifier: BSD-3-Clause */
/* deployment - see deployment.h. */
#include "client/deployment.h"

#include "wire/natives.h"
#include "wire/scripts.h"

hilock_status hl_deployment_check(const struct hl_url *url, const struct hilock_client_options *options, struct hl_text *why)
{
    if ((options->sentinel_username || options->sentinel_password) && url->scheme != HL_URL_SENTINEL) {
        hl_text_set(why, "%s is set, but the url is not redis+sentinel: nobody would be told", options->sentinel_password ? "sentinel_password" : "sentinel_username");
        return HILOCK_INVALID;
    }
    return HILOCK_OK;
}

static struct hl_route *route_new(struct hilock_client *client, const struct hl_url *url, const struct hl_node_options *node,
                                  const struct hl_route_events *events)
{
    const struct hl_place place = {url->path, url->hosts[0].host, url->hosts[0].port};
    struct hl_host *host = &client->core.host;
    struct hl_sentinel_options sentinel = {.count = url->hosts_count, .master = url->master ? url->master : "mymaster", .login = &client->sentinel_login};
    for (unsigned i = 0; i < url->hosts_count; i++)
        sentinel.places[i] = (struct hl_place){NULL, url->hosts[i].host, url->hosts[i].port};
    switch (url->scheme) {
    case HL_URL_REDIS:
    case HL_URL_UNIX: return hl_single_new(host, &place, node, events, client);
    case HL_URL_SENTINEL: return hl_sentinel_new(host, &sentinel, node, events, client);
    case HL_URL_CLUSTER: return hl_cluster_new(host, sentinel.places, sentinel.count, node, events, client);
    }
    return NULL;
}

struct hl_route *hl_deployment_new(struct hilock_client *client, const struct hl_doors *doors, const struct hl_url *url,
                                   const struct hilock_client_options *options, const struct hl_route_events *events)
{
    const struct hl_node_options node = {
        .session = {.links = doors->links, .login = &client->login, .connect_timeout_ms = options->connect_timeout_ms,
                    .retry_max_ms = options->retry_max_ms},
        .scripts = hl_scripts,
        .ask_natives = hl_natives_ask,
        .natives_told = hl_natives_told,
        .command_timeout_ms = options->command_timeout_ms,
        .keepalive_ms = options->keepalive_ms,
        .inflight_max = options->inflight_max,
        .restart_guard_ms = client->restart_guard_ms,
    };
    return route_new(client, url, &node, events);
}
