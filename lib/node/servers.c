/* SPDX-License-Identifier: BSD-3-Clause */
/* servers - see servers.h. */
#include "node/servers.h"

#include "node/confirm_link.h"
#include "node/words.h"

enum { UNUSED_US = 60000000, AWAY_US = 10000000 };

static struct hl_server *server_new(struct hl_servers *servers, const struct hl_address *address)
{
    struct hl_endpoint *endpoint = &servers->options.session.endpoint;
    struct hl_server *server = hl_memory_new(&servers->host->memory, sizeof *server);
    endpoint->address = *address;
    hl_address_write(endpoint->name, address);
    if (!server || hl_node_init(&server->node, servers->host, &servers->options, servers->events, servers->arg) != 0) {
        hl_memory_free(&servers->host->memory, server);
        return NULL;
    }
    server->index = servers->count;
    server->node.subscriptions.is_sharded = servers->is_sharded;
    server->node.subscriptions.on_wrong_slot = servers->on_wrong_slot;
    server->node.subscriptions.wrong_slot_arg = servers->arg;
    return servers->list[servers->count++] = server;
}

/* Gives the node of an idle server without slots to another address. The source of the present answer is not reused,
 * because an empty host in the answer means its address. */
static struct hl_server *server_reused(struct hl_servers *servers, const struct hl_address *address,
                                       const struct hl_server *source)
{
    for (unsigned i = servers->seeds; i < servers->count; i++) {
        struct hl_server *server = servers->list[i];
        if (server == source || server->slots || server->is_named || !hl_node_is_idle(&server->node))
            continue;
        hl_node_rest(&server->node);
        server->lost_at_us = server->epoch = server->known_epoch = 0;
        hl_node_move(&server->node, address, hl_words_another_server);
        return server;
    }
    return NULL;
}

struct hl_server *hl_servers_find(struct hl_servers *servers, const struct hl_address *answered,
                                  const struct hl_server *source)
{
    struct hl_address address = *answered;
    if (!*address.host && source)
        memcpy(address.host, hl_node_address(&source->node)->host, sizeof address.host);
    unsigned hash = hl_table_hash(&servers->keyed, address.host, strlen(address.host)) + (unsigned)address.port;
    for (unsigned i = 0; i < servers->count; i++)
        if (servers->hashes[i] == hash && hl_address_is_same(hl_node_address(&servers->list[i]->node), &address))
            return servers->list[i];
    struct hl_server *server = servers->count < HL_SERVERS_MAX ? server_new(servers, &address)
                                                               : server_reused(servers, &address, source);
    if (server)
        servers->hashes[server->index] = hash;
    return server;
}

static unsigned is_up(const struct hl_server *server)
{
    return server->node.is_up && hl_session_is_open(&server->node.session);
}

struct hl_server *hl_servers_up(struct hl_servers *servers, const struct hl_server *last)
{
    unsigned from = last ? last->index + 1 : (unsigned)hl_random_below(&servers->host->random, servers->count);
    for (unsigned i = 0; i < servers->count; i++) {
        struct hl_server *server = servers->list[(from + i) % servers->count];
        if (is_up(server) && !server->node.is_silent)
            return server;
    }
    return NULL;
}

void hl_servers_rest(struct hl_servers *servers)
{
    uint64_t now_us = hl_now_us(servers->host);
    unsigned up = 0;
    for (unsigned i = 0; i < servers->count; i++)
        up += is_up(servers->list[i]);
    for (unsigned i = 0; i < servers->count; i++) {
        struct hl_server *server = servers->list[i];
        struct hl_node *node = &server->node;
        int is_used = server->slots && now_us - node->used_at_us <= UNUSED_US;
        int is_last = is_up(server) && up == 1;
        hl_confirm_link_rest(node, UNUSED_US);
        /* While no server is up, the one that is being connected may be the only one that answers. */
        if (!up || is_used || is_last || !hl_node_is_idle(node))
            continue;
        up -= is_up(server);
        hl_node_rest(node);
    }
}

/* Returns 1 if the owner has been away for so long that perhaps no other server is left to ask. */
static int is_away(const struct hl_server *owner)
{
    return owner->lost_at_us && hl_now_us(owner->node.host) - owner->lost_at_us > AWAY_US;
}

void hl_servers_give_slot(struct hl_servers *servers, unsigned slot, struct hl_server *to)
{
    struct hl_server *from = servers->owners[slot];
    if (from) {
        if (from->epoch > to->epoch && !is_away(from))
            to->epoch = from->epoch;
        from->slots--;
        from->is_losing = 1;
        /* the server counts as used, because the request that goes there now is not submitted yet */
        to->node.moved_at_us = to->node.used_at_us = hl_now_us(servers->host);
    }
    to->slots++;
    to->known_epoch = 0;
    servers->owners[slot] = to;
}

static void on_range(void *arg, unsigned from, unsigned to, const struct hl_slots_master *master)
{
    struct hl_servers *servers = arg;
    struct hl_server *server = hl_servers_find(servers, &master->address, servers->asked);
    if (!server)
        return;
    if (!server->is_named)
        server->answered_epoch = hl_slots_epoch_of(&servers->epochs, master->id, master->id_length);
    server->is_named = 1;
    for (unsigned slot = from; slot <= to; slot++)
        servers->answered[slot] = server;
}

/* Returns 1 if the answer may move a slot from `owner` to `to`. */
static int is_believed(const struct hl_servers *servers, const struct hl_server *owner, const struct hl_server *to)
{
    int is_undated, is_free = !owner || is_away(owner);
    if (is_free)
        return 1;
    /* The owner got the slot by MOVED, which has no epoch, and this answer does not name it as a master. So the owner
     * must be asked first. */
    is_undated = !owner->known_epoch && !owner->is_named && owner != servers->asked;
    if (is_undated)
        return 0;
    return to->answered_epoch >= owner->epoch;
}

int hl_servers_adopt(struct hl_servers *servers, const struct hl_reply *reply, unsigned *changes, unsigned *doubts)
{
    memset(servers->answered, 0, sizeof servers->answered);
    for (unsigned i = 0; i < servers->count; i++)
        servers->list[i]->is_named = 0;
    if (!hl_slots_read(reply, on_range, servers))
        return 0;
    for (unsigned slot = 0; slot < HL_SLOTS; slot++) {
        struct hl_server *answered = servers->answered[slot];
        if (!answered || answered == servers->owners[slot])
            continue;
        if (is_believed(servers, servers->owners[slot], answered)) {
            hl_servers_give_slot(servers, slot, answered);
            ++*changes;
        } else
            ++*doubts;
    }
    for (unsigned i = 0; i < servers->count; i++) {
        struct hl_server *server = servers->list[i];
        uint64_t epoch = server->answered_epoch, known_epoch = server->known_epoch;
        int is_back = known_epoch && epoch > known_epoch;
        if (!server->is_named || !epoch)
            continue;
        /* A server gives its own epoch correctly, even if the cluster was set up from scratch. */
        if (epoch > server->epoch || server == servers->asked)
            server->epoch = epoch;
        if (epoch > known_epoch)
            server->known_epoch = epoch;
        if (!is_back)
            continue;
        server->is_back = 1;
        server->node.moved_at_us = hl_now_us(servers->host);
        ++*changes;
    }
    return 1;
}
