/* SPDX-License-Identifier: BSD-3-Clause */
/* members - see members.h. */
#include "node/members.h"

#include "base/plant.h"
#include "node/wait_link.h"

enum { UNUSED_US = 60000000, AWAY_US = 10000000 };

static struct hl_member *member_new(struct hl_members *members, const struct hl_address *address)
{
    struct hl_endpoint *endpoint = &members->options.session.endpoint;
    struct hl_member *member = hl_memory_new(&members->host->memory, sizeof *member);
    endpoint->address = *address;
    hl_address_write(endpoint->name, address);
    if (!member || hl_node_init(&member->node, members->host, &members->options, members->events, members->arg) != 0) {
        hl_memory_free(&members->host->memory, member);
        return NULL;
    }
    member->index = members->count;
    member->node.subscription.is_sharded = members->is_sharded;
    member->node.subscription.on_misplaced = members->on_misplaced;
    member->node.subscription.misplaced_arg = members->arg;
    return members->list[members->count++] = member;
}

/* Not the teller: what its answer says is about the server that it is. */
static struct hl_member *member_turned(struct hl_members *members, const struct hl_address *address,
                                       const struct hl_member *teller)
{
    for (unsigned i = members->seeds; i < members->count; i++) {
        struct hl_member *member = members->list[i];
        if (member == teller || member->slots || member->is_named || !hl_node_is_idle(&member->node))
            continue;
        hl_node_rest(&member->node);
        member->lost_us = member->epoch = member->seen_epoch = 0;
        hl_node_move(&member->node, address, "another server");
        return member;
    }
    return NULL;
}

struct hl_member *hl_members_find(struct hl_members *members, const struct hl_address *told,
                                  const struct hl_member *teller)
{
    struct hl_address address = *told;
    if (!*address.host && teller)
        memcpy(address.host, hl_node_address(&teller->node)->host, sizeof address.host);
    unsigned hash = hl_table_hash(&members->keyed, address.host, strlen(address.host)) + (unsigned)address.port;
    for (unsigned i = 0; i < members->count; i++)
        if (members->hashes[i] == hash && hl_address_is_same(hl_node_address(&members->list[i]->node), &address))
            return members->list[i];
    struct hl_member *member = members->count < HL_MEMBERS_MAX ? member_new(members, &address)
                                                               : member_turned(members, &address, teller);
    if (member)
        members->hashes[member->index] = hash;
    return member;
}

static unsigned is_up(const struct hl_member *member)
{
    return member->node.is_up && hl_session_is_open(&member->node.session);
}

struct hl_member *hl_members_up(struct hl_members *members, const struct hl_member *last)
{
    unsigned from = last ? last->index + 1 : (unsigned)hl_random_below(&members->host->random, members->count);
    for (unsigned i = 0; i < members->count; i++) {
        struct hl_member *member = members->list[(from + i) % members->count];
        if (is_up(member) && !member->node.is_silent)
            return member;
    }
    return NULL;
}

void hl_members_rest(struct hl_members *members)
{
    uint64_t now_us = hl_now_us(members->host);
    unsigned up = 0;
    for (unsigned i = 0; i < members->count; i++)
        up += is_up(members->list[i]);
    for (unsigned i = 0; i < members->count; i++) {
        struct hl_member *member = members->list[i];
        struct hl_node *node = &member->node;
        int is_heard = up || HL_PLANTED(RESTS_UNHEARD); /* else the member being linked may be the one that answered */
        int is_used = member->slots && now_us - node->used_us <= UNUSED_US;
        int is_last = is_up(member) && up == 1;
        hl_wait_link_rest(node, UNUSED_US);
        if (!is_heard || is_used || is_last || !hl_node_is_idle(node))
            continue;
        up -= is_up(member);
        hl_node_rest(node);
    }
}

/* So long that perhaps no other server can be asked. */
static int is_away(const struct hl_member *owner)
{
    return owner->lost_us && hl_now_us(owner->node.host) - owner->lost_us > AWAY_US;
}

void hl_members_give(struct hl_members *members, unsigned slot, struct hl_member *to)
{
    struct hl_member *from = members->owners[slot];
    if (from) {
        if (from->epoch > to->epoch && !is_away(from))
            to->epoch = from->epoch;
        from->slots--;
        from->is_losing = 1;
        /* in use: a request that goes there now has not been submitted yet */
        to->node.moved_us = to->node.used_us = hl_now_us(members->host);
    }
    to->slots++;
    to->seen_epoch = 0;
    members->owners[slot] = to;
}

static void on_range(void *arg, unsigned from, unsigned to, const struct hl_slots_master *master)
{
    struct hl_members *members = arg;
    struct hl_member *member = hl_members_find(members, &master->address, members->asked);
    if (!member)
        return;
    if (!member->is_named)
        member->answered_epoch = hl_slots_epoch_of(&members->epochs, master->id, master->id_length);
    member->is_named = 1;
    for (unsigned slot = from; slot <= to; slot++)
        members->answered[slot] = member;
}

/* May the answer move one of owner's slots to `to`? */
static int is_believed(const struct hl_members *members, const struct hl_member *owner, const struct hl_member *to)
{
    int is_undated, is_free = !owner || is_away(owner);
    if (is_free || HL_PLANTED(OLD_EPOCH_BELIEVED))
        return 1;
    /* It got the slot by MOVED, which has no epoch, and this answer does not name it as a master. It is asked first. */
    is_undated = !owner->seen_epoch && !owner->is_named && owner != members->asked;
    if (is_undated && !HL_PLANTED(UNDATED_OWNER_OUSTED))
        return 0;
    return to->answered_epoch >= owner->epoch;
}

int hl_members_adopt(struct hl_members *members, const struct hl_reply *reply, unsigned *changes, unsigned *doubts)
{
    memset(members->answered, 0, sizeof members->answered);
    for (unsigned i = 0; i < members->count; i++)
        members->list[i]->is_named = 0;
    if (!hl_slots_read(reply, on_range, members))
        return 0;
    for (unsigned slot = 0; slot < HL_SLOTS; slot++) {
        struct hl_member *told = members->answered[slot];
        if (!told || told == members->owners[slot])
            continue;
        if (is_believed(members, members->owners[slot], told)) {
            hl_members_give(members, slot, told);
            ++*changes;
        } else
            ++*doubts;
    }
    for (unsigned i = 0; i < members->count; i++) {
        struct hl_member *member = members->list[i];
        uint64_t epoch = member->answered_epoch, seen_epoch = member->seen_epoch;
        int is_back = seen_epoch && epoch > seen_epoch;
        if (!member->is_named || !epoch)
            continue;
        if (epoch > member->epoch || member == members->asked) /* true about itself: it may be set up from scratch */
            member->epoch = epoch;
        if (epoch > seen_epoch)
            member->seen_epoch = epoch;
        if (!is_back || HL_PLANTED(SLOTS_BACK_UNNOTICED))
            continue;
        member->is_back = 1;
        member->node.moved_us = hl_now_us(members->host);
        ++*changes;
    }
    return 1;
}
