/* SPDX-License-Identifier: BSD-3-Clause */
/* topology - see topology.h. */
#include "node/topology.h"

#include "base/plant.h"

enum { AWAY_US = 10000000 };

static struct hl_topology *topology_of(struct hl_request *question)
{
    return (struct hl_topology *)(void *)((char *)question - offsetof(struct hl_topology, question));
}

static void encode(struct hl_request *request, struct hl_command *command)
{
    hl_command_begin(command, "CLUSTER");
    hl_command_add_word(command, topology_of(request)->is_half_told ? "SLOTS" : "NODES");
}

static void ask(struct hl_topology *topology, int is_half_told)
{
    topology->is_half_told = is_half_told;
    hl_node_submit(&topology->asked->node, &topology->question, topology->members->options.command_timeout_ms,
                   HL_REQUEST_URGENT);
}

/* ---- the first half ---- */

static void on_epochs(struct hl_topology *topology, const struct hl_reply *reply)
{
    hl_epochs_read(&topology->epochs, reply);
    if (topology->epochs.count)
        ask(topology, 1);
    else
        topology->on_answered(topology->arg, reply, 0);
}

/* ---- the second half ---- */

static void on_range(void *arg, unsigned from, unsigned to, const struct hl_slots_master *master)
{
    struct hl_topology *topology = arg;
    struct hl_member *member = hl_members_find(topology->members, &master->address, topology->asked);
    if (!member)
        return;
    if (!member->is_named)
        member->answered_epoch = hl_epochs_of(&topology->epochs, master->id, master->id_length);
    member->is_named = 1;
    for (unsigned slot = from; slot <= to; slot++)
        topology->slots[slot] = (uint16_t)(member->index + 1);
}

static void on_slots(struct hl_topology *topology, const struct hl_reply *reply)
{
    struct hl_members *members = topology->members;
    memset(topology->slots, 0, sizeof topology->slots);
    for (unsigned i = 0; i < members->count; i++)
        members->list[i]->is_named = 0;
    topology->on_answered(topology->arg, reply, hl_slots_read(reply, on_range, topology) > 0);
}

static void on_answer(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_topology *topology = topology_of(request);
    if (!answer->reply)
        topology->on_answered(topology->arg, NULL, 0);
    else if (topology->is_half_told)
        on_slots(topology, answer->reply);
    else
        on_epochs(topology, answer->reply);
}

/* ---- which answer counts ---- */

static int is_away(const struct hl_topology *topology, const struct hl_member *owner)
{
    return owner->lost_us && hl_now_us(topology->members->host) - owner->lost_us > AWAY_US;
}

/* 0: it has been away so long that perhaps no other server can be asked. */
static uint64_t epoch_of(const struct hl_topology *topology, const struct hl_member *owner)
{
    return is_away(topology, owner) ? 0 : owner->epoch;
}

/* It got the slot by MOVED, which has no epoch, and this answer does not name it as a master. It is asked first. */
static int is_undated(const struct hl_topology *topology, const struct hl_member *owner)
{
    if (HL_PLANTED(UNDATED_OWNER_OUSTED))
        return 0;
    return !owner->seen_epoch && !owner->is_named && owner != topology->asked && !is_away(topology, owner);
}

int hl_topology_believes(const struct hl_topology *topology, const struct hl_member *owner, const struct hl_member *to)
{
    int is_newest = !owner || (to->answered_epoch >= epoch_of(topology, owner) && !is_undated(topology, owner));
    return is_newest || HL_PLANTED(OLD_EPOCH_BELIEVED);
}

void hl_topology_succeed(const struct hl_topology *topology, const struct hl_member *from, struct hl_member *to)
{
    if (epoch_of(topology, from) > to->epoch)
        to->epoch = epoch_of(topology, from);
}

static int note_back(const struct hl_topology *topology, struct hl_member *member)
{
    int is_newer = member->seen_epoch && member->answered_epoch > member->seen_epoch;
    int is_back = is_newer && !HL_PLANTED(SLOTS_BACK_UNNOTICED);
    if (is_back) {
        member->is_back = 1;
        member->node.moved_us = hl_now_us(topology->members->host);
    }
    if (member->answered_epoch > member->seen_epoch)
        member->seen_epoch = member->answered_epoch;
    return is_back;
}

/* A server's answer about itself is true: it may have been set up from scratch. */
unsigned hl_topology_keep_epochs(const struct hl_topology *topology)
{
    unsigned back = 0;
    for (unsigned i = 0; i < topology->members->count; i++) {
        struct hl_member *member = topology->members->list[i];
        int is_news = member == topology->asked || member->answered_epoch > member->epoch;
        if (!member->is_named || !member->answered_epoch)
            continue;
        if (is_news)
            member->epoch = member->answered_epoch;
        back += note_back(topology, member) != 0;
    }
    return back;
}

/* ---- life ---- */

void hl_topology_init(struct hl_topology *topology, struct hl_members *members, hl_topology_fn *on_answered, void *arg)
{
    static const struct hl_request_ops ops = {NULL, encode, on_answer};
    topology->question.ops = &ops;
    topology->members = members;
    topology->on_answered = on_answered;
    topology->arg = arg;
}

int hl_topology_is_asked(const struct hl_topology *topology) { return hl_request_is_busy(&topology->question); }

void hl_topology_ask(struct hl_topology *topology, struct hl_member *member)
{
    topology->asked = member;
    ask(topology, 0);
}

void hl_topology_lose(struct hl_topology *topology, const struct hl_member *member)
{
    if (topology->asked == member)
        (void)hl_node_withdraw(&topology->question);
}
