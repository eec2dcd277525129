/* SPDX-License-Identifier: BSD-3-Clause */
/* network - the dice behind the network of ../world/net.h, and what is looked at as a message passes.
 *
 * Each message has a delay of its own. A reset takes what is on its way with it: a request may be lost, or run with its
 * answer lost, or run much later without a listener (bytes that a stopped server had already received). A cut link
 * loses everything one way or both and says nothing. */
#include <stdlib.h>

#include "sim.h"
#include "wire/scripts.h"

static struct sim_process *process_of(const struct hl_link *link) { return link->process->arg; }

/* Least latency plus an exponential tail, rarely a long one. */
static uint64_t delay_us(void *arg)
{
    struct sim *sim = arg;
    uint64_t tail = sim->swarm.tail_us, delay = sim->swarm.latency_us;
    while (tail && sim_chance(&sim->world.network, 0.5))
        delay += hl_random_below(&sim->world.network, tail) + 1;
    if (!sim->is_healed && sim->swarm.delays && sim_chance(&sim->world.network, 0.003)) {
        delay += hl_random_below(&sim->world.network, 4000000);
        sim->world.sometimes[SIM_FAULT_DELAY]++;
    }
    return delay;
}

static int refuses(void *arg, const struct world_loop *process, const struct net_place *at)
{
    struct sim *sim = arg;
    const struct sim_place *place = at->store->arg;
    int is_refused = place->is_away || (!sim->is_healed && sim->swarm.refusals && sim_chance(&sim->world.network, 0.2));
    sim->world.sometimes[SIM_FAULT_REFUSED_CONNECT] += is_refused != 0;
    sim_faults_connecting(process->arg);
    return is_refused;
}

static int loses_answers(void *arg)
{
    struct sim *sim = arg;
    int is_lost = sim_chance(&sim->world.network, 0.5);
    sim->world.sometimes[SIM_FAULT_REPLY_LOST] += is_lost != 0;
    return is_lost;
}

/* What asks for a lock, keeps it or ends it. */
static int changes_a_lock(const struct message *sent) { return sent->argc > 2 && (strcmp(sent->argv[0], "EVALSHA") == 0 || strcmp(sent->argv[0], "SET") == 0); }

static uint64_t stray_us(void *arg, const struct message *request)
{
    struct sim *sim = arg;
    struct hl_random *random = &sim->world.network;
    sim->world.sometimes[SIM_FAULT_REQUEST_LOST]++;
    if (sim->is_healed || !changes_a_lock(request) || !sim_chance(random, 0.5))
        return 0;
    return 1 + hl_random_below(random, sim_chance(random, 0.5) ? 600000 : 3000000);
}

/* ---- what was executed ---- */

static void count_execution(struct sim *sim, const struct message *message, const struct hl_reply *reply)
{
    if (!changes_a_lock(message))
        return;
    if (reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "LATE"))
        sim->world.sometimes[SIM_LATE_REFUSED]++;
    else if (reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "NOSCRIPT"))
        sim->world.sometimes[SIM_RELOADED]++;
    sim->world.sometimes[SIM_OPERATION]++;
}

/* Of the holder that it names: from the colon on. "": none. */
static const char *id_in(const struct message *request)
{
    for (int i = 2; i < request->argc; i++)
        if (request->lengths[i] > HL_UUID_LENGTH && request->argv[i][HL_UUID_LENGTH] == ':' && request->argv[i][8] == '-')
            return request->argv[i] + HL_UUID_LENGTH;
    return "";
}

static void trace_execution(const struct sim_process *process, const char *who, const struct message *request,
                            const struct hl_reply *reply)
{
    const char *key = request->argc > 3 ? request->argv[3] : "", *id = id_in(request), *script = request->argc > 1 ? request->argv[1] : "";
    for (const struct hl_script *const *known = hl_scripts; *known; known++)
        script = request->argc > 1 && strcmp((*known)->sha1, request->argv[1]) == 0 ? (*known)->name : script;
    sim_trace(&process->sim->world, "%s p%u: %s %.20s %.12s%s -> %d %lld", who, process->index, request->argv[0],
              script, key, id, (int)reply->type,
              (long long)(reply->type == HL_REPLY_ARRAY && reply->count ? reply->items[0].integer : reply->integer));
}

/* What a former master does after another took over has no effect, but is still believed: that is the stated limit. */
static void count_stale(struct sim_place *place, const struct store *store, const struct message *request)
{
    struct sim *sim = place->sim;
    struct sim_name *name = sim->sets.count && sim_is_former(place) ? sim_name_in(sim, request) : NULL;
    if (name)
        sim_sets_taint_name(sim, name);
    else if (store == place->former)
        sim_taint(place);
    else
        return;
    sim->world.sometimes[SIM_STALE_MASTER]++;
}

/* A renewal, or the acquire of a SIMPLE lock, which has no time after which it is refused: it stands for a lease. */
static int keeps_unknown(const struct message *request, const struct hl_reply *reply)
{
    const char *sha1 = request->argv[1];
    int is_kept = strcmp(sha1, hl_script_renew.sha1) == 0 || strcmp(sha1, hl_script_share_renew.sha1) == 0 || strcmp(sha1, hl_script_simple_renew.sha1) == 0 || strcmp(sha1, hl_script_simple_acquire.sha1) == 0;
    return reply->type == HL_REPLY_STATUS || (is_kept && reply->type == HL_REPLY_INTEGER && reply->integer > 0);
}

static void executed(void *arg, struct hl_link *link, const struct message *request, const struct hl_reply *reply)
{
    struct sim *sim = arg;
    struct sim_process *process = process_of(link);
    struct store_peer *peer = link->peer;
    int is_late = link->is_down || link->is_closed;
    count_stale(peer->store->arg, peer->store, request);
    if (!is_late && peer->wait_for && *id_in(request))
        sim_check_waited(process, strtoull(id_in(request) + 1, NULL, 10));
    if (reply->type == HL_REPLY_INTEGER && strcmp(request->argv[0], "WAIT") == 0) {
        sim->world.sometimes[SIM_UNCONFIRMED] += reply->integer < (int64_t)peer->wait_for;
        sim_trace(&sim->world, "place %u answers p%u: %d replicas have it, of %u", ((const struct sim_place *)peer->store->arg)->index,
                  process->index, (int)reply->integer, (unsigned)peer->wait_for);
        return;
    }
    if (is_late) {
        sim->world.sometimes[SIM_LATE_RUN]++;
        if (changes_a_lock(request) && keeps_unknown(request, reply))
            sim->ghost_us = sim->world.time.now_us;
        sim->world.sometimes[SIM_GHOST] += reply->type == HL_REPLY_INTEGER && reply->integer > 1000000000;
    } else
        sim_sets_answered(process, peer, request, reply);
    sim_sharing_executed(sim, peer->store, request, reply);
    trace_execution(process, is_late ? "server runs late, of a dead link of" : "server runs for", request, reply);
    count_execution(sim, request, reply);
}

static void received(void *arg, struct hl_link *link, const struct hl_reply *reply)
{
    (void)arg;
    sim_sentinels_told(process_of(link), link->place->store->arg, reply);
}

void sim_network_init(struct sim *sim)
{
    net_init(&sim->net, &sim->world.time);
    sim->net.arg = sim;
    sim->net.delay_us = delay_us;
    sim->net.refuses = refuses;
    sim->net.loses_answers = loses_answers;
    sim->net.stray_us = stray_us;
    sim->net.executed = executed;
    sim->net.received = received;
}

/* ---- faults ---- */

static struct hl_link *some_link(struct sim *sim, struct hl_random *random)
{
    struct hl_link *link, *chosen = NULL;
    unsigned seen = 0;
    TAILQ_FOREACH(link, &sim->net.links_list, entry)
    {
        if (!link->is_down && !link->is_closed && hl_random_below(random, ++seen) == 0)
            chosen = link;
    }
    return chosen;
}

void sim_network_reset_some(struct sim *sim, struct hl_random *random)
{
    struct hl_link *link = some_link(sim, random);
    if (!link)
        return;
    sim->world.sometimes[SIM_FAULT_RESET]++;
    sim_trace(&sim->world, "fault: a link of p%u is reset", process_of(link)->index);
    net_die(link);
}

int sim_network_is_cut(const struct sim_process *process)
{
    const struct hl_link *link;
    TAILQ_FOREACH(link, &process->sim->net.links_list, entry)
        if (link->process == &process->loop && !link->is_closed && (link->is_cut_there || link->is_cut_back))
            return 1;
    return 0;
}

void sim_network_cut_some(struct sim *sim, struct hl_random *random)
{
    struct hl_link *link = some_link(sim, random);
    unsigned ways = (unsigned)hl_random_below(random, 3) + 1;
    if (!link)
        return;
    net_cut(link, (int)ways >> 1, (int)ways & 1);
    sim->world.sometimes[SIM_FAULT_CUT]++;
    sim_trace(&sim->world, "fault: a link of p%u is cut, ways %u", process_of(link)->index, ways);
}

void sim_network_heal(struct sim *sim)
{
    struct hl_link *link;
    TAILQ_FOREACH(link, &sim->net.links_list, entry)
    {
        if ((link->is_cut_there || link->is_cut_back) && !link->is_down && !link->is_closed)
            net_die(link);
    }
}
