/* SPDX-License-Identifier: BSD-3-Clause */
/* members - see members.h. */
#include "node/members.h"

#include "base/plant.h"
#include "node/wait_link.h"

void hl_members_init(struct hl_members *members, struct hl_host *host, const struct hl_node_options *options,
                     const struct hl_node_events *events, void (*on_misplaced)(void *arg), void *arg)
{
    members->host = host;
    members->options = *options;
    members->options.is_lazy = 1;
    members->options.asks_sharded = 1;
    members->events = events;
    members->arg = arg;
    members->on_misplaced = on_misplaced;
    hl_table_init(&members->keyed, &host->memory, hl_random_next(&host->random), hl_random_next(&host->random));
}

void hl_members_done(struct hl_members *members)
{
    for (unsigned i = 0; i < members->count; i++) {
        hl_node_done(&members->list[i]->node);
        hl_memory_free(&members->host->memory, members->list[i]);
    }
}

static unsigned hash_of(const struct hl_members *members, const struct hl_address *address)
{
    return hl_table_hash(&members->keyed, address->host, strlen(address->host)) + (unsigned)address->port;
}

static struct hl_member *member_new(struct hl_members *members, const struct hl_address *address)
{
    struct hl_node_options options = members->options;
    struct hl_member *member = hl_memory_new(&members->host->memory, sizeof *member);
    if (!member)
        return NULL;
    options.session.endpoint.address = *address;
    hl_address_write(options.session.endpoint.name, address);
    if (hl_node_init(&member->node, members->host, &options, members->events, members->arg) != 0) {
        hl_memory_free(&members->host->memory, member);
        return NULL;
    }
    member->index = members->count;
    members->hashes[member->index] = hash_of(members, address);
    member->node.subscription.is_sharded = members->is_sharded;
    member->node.subscription.on_misplaced = members->on_misplaced;
    member->node.subscription.misplaced_arg = members->arg;
    return members->list[members->count++] = member;
}

static struct hl_member *member_turned(struct hl_members *members, const struct hl_address *address)
{
    for (unsigned i = members->seeds; i < members->count; i++) {
        struct hl_member *member = members->list[i];
        if (member->slots || member->is_named || !hl_node_is_idle(&member->node))
            continue;
        hl_node_rest(&member->node);
        member->lost_us = member->epoch = member->seen_epoch = 0;
        members->hashes[i] = hash_of(members, address);
        hl_node_move(&member->node, address, "another server");
        return member;
    }
    return NULL;
}

struct hl_member *hl_members_find(struct hl_members *members, const struct hl_address *told,
                                  const struct hl_member *teller)
{
    struct hl_address address = *told;
    unsigned hash;
    if (!*address.host && teller)
        memcpy(address.host, hl_node_address(&teller->node)->host, sizeof address.host);
    hash = hash_of(members, &address);
    for (unsigned i = 0; i < members->count; i++)
        if (members->hashes[i] == hash && hl_address_is_same(hl_node_address(&members->list[i]->node), &address))
            return members->list[i];
    return members->count < HL_MEMBERS_MAX ? member_new(members, &address) : member_turned(members, &address);
}

void hl_members_shard(struct hl_members *members, int is_sharded)
{
    members->is_sharded = is_sharded;
    for (unsigned i = 0; i < members->count; i++)
        members->list[i]->node.subscription.is_sharded = is_sharded;
}

static unsigned is_up(const struct hl_member *member)
{
    return member->node.is_up && hl_session_is_open(&member->node.session);
}

struct hl_member *hl_members_up(struct hl_members *members, const struct hl_member *last)
{
    unsigned from = last             ? last->index + 1
                    : members->count ? (unsigned)hl_random_below(&members->host->random, members->count)
                                     : 0;
    for (unsigned i = 0; i < members->count; i++) {
        struct hl_member *member = members->list[(from + i) % members->count];
        if (is_up(member) && !member->node.is_silent)
            return member;
    }
    return NULL;
}

void hl_members_rest(struct hl_members *members, uint64_t unused_us)
{
    uint64_t now_us = hl_now_us(members->host);
    unsigned up = 0;
    int is_heard;
    for (unsigned i = 0; i < members->count; i++)
        up += is_up(members->list[i]);
    is_heard = up || HL_PLANTED(RESTS_UNHEARD); /* else the member being linked may be the one that answered */
    for (unsigned i = 0; i < members->count; i++) {
        struct hl_node *node = &members->list[i]->node;
        int is_linked = hl_node_is_started(node) || node->subscription.session.is_started;
        int is_last = is_up(members->list[i]) && up == 1;
        hl_wait_link_rest(node, unused_us);
        if (!is_heard || !is_linked || is_last || !hl_node_is_idle(node) ||
            (members->list[i]->slots && now_us - node->used_us <= unused_us))
            continue;
        up -= is_up(members->list[i]);
        hl_node_rest(node);
    }
}
