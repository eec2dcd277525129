/* SPDX-License-Identifier: BSD-3-Clause */
/* topology - see topology.h. */
#include "node/topology.h"

#include "base/plant.h"

enum { AWAY_US = 10000000 };

#define LOSS ": if two servers claim a slot, the later one is unknown"

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

/* A server that is busy or loading may answer later. If the user may not ask, or the server lacks the command, only the
 * slots are asked for. */
static int is_for_now(const struct hl_reply *reply)
{
    return reply->type == HL_REPLY_ERROR && !hl_missing_is_right(reply) && !hl_reply_has_code(reply, "ERR");
}

static void on_epochs(struct hl_topology *topology, const struct hl_reply *reply)
{
    if (hl_missing_is_right(reply))
        (void)hl_missing_hear(&topology->asked->node, HL_MISSING_EPOCH, "CLUSTER NODES", reply, LOSS);
    hl_epochs_read(&topology->epochs, reply);
    if (is_for_now(reply))
        topology->on_answered(topology->arg, reply, 0);
    else
        ask(topology, 1);
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
    int has_slots;
    memset(topology->slots, 0, sizeof topology->slots);
    for (unsigned i = 0; i < members->count; i++)
        members->list[i]->is_named = 0;
    has_slots = hl_slots_read(reply, on_range, topology) > 0;
    if (has_slots)
        hl_missing_report(&topology->asked->node, HL_MISSING_EPOCH,
                      topology->epochs.count ? NULL : "CLUSTER NODES gives no config-epochs" LOSS);
    topology->on_answered(topology->arg, reply, has_slots);
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
    if (!owner)
        return 1;
    if (to->answered_epoch) {
        int is_newest = to->answered_epoch >= epoch_of(topology, owner) && !is_undated(topology, owner);
        return is_newest || HL_PLANTED(OLD_EPOCH_BELIEVED);
    }
    if (HL_PLANTED(STALE_OWNER_BELIEVED))
        return 1;
    return to != topology->asked || is_away(topology, owner);
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
