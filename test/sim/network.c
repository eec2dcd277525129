/* SPDX-License-Identifier: BSD-3-Clause */
/* network - simulated links at argv level: the library's link door.
 *
 * A link is two rows of messages, each in order, each message with a delay of its own. A reset takes what is on its way with it: a
 * request may be lost, or run with its answer lost, or run much later without a listener (bytes that a stopped server had already
 * received). A cut link loses everything one way or both and says nothing. What comes for a frozen process waits, in order. */
#include <stdlib.h>

#include "sim.h"
#include "wire/scripts.h"
#include "world/message.h"

struct hl_link {
    TAILQ_ENTRY(hl_link) entry;
    struct sim *sim;
    struct sim_process *process;
    struct sim_place *place;
    struct hl_host *host;
    const struct hl_link_events *events;
    void *arg;
    struct messages in, out;           /* towards the process, towards the server */
    struct world_event arrives, leaves; /* the first of each */
    struct world_event waits;          /* a WAIT blocks it: looked at again; until then, and for so many replicas */
    uint64_t wait_ends_us, wait_for;
    uint64_t wrote;                    /* how many writes its server had counted after its own latest; 0: it wrote nothing */
    unsigned connection, epoch;        /* at the store of that server of its place; connection 0: none */
    int is_up, is_down, is_closed, is_cut_in, is_cut_out, is_of_replica, has_waited, has_subscribed, depth; /* of_replica: the one that it was given */
};

/* Least latency plus an exponential tail, rarely a long one. */
static uint64_t delay_us(struct sim *sim)
{
    uint64_t tail = sim->swarm.tail_us, delay = sim->swarm.latency_us;
    while (tail && sim_chance(&sim->world.network, 0.5))
        delay += hl_random_below(&sim->world.network, tail) + 1;
    if (!sim->is_healed && sim->swarm.delays && sim_chance(&sim->world.network, 0.003)) {
        delay += hl_random_below(&sim->world.network, 4000000);
        sim->world.sometimes[SIM_FAULT_DELAY]++;
    }
    return delay;
}

static void push(struct hl_link *link, struct messages *row, struct world_event *first, struct message *message)
{
    struct world *time = &link->sim->world.time;
    messages_append(row, message, time->now_us + delay_us(link->sim));
    if (!first->place)
        world_start(time, first, message->at_us);
}

static void push_in(struct hl_link *link, struct message *message) { push(link, &link->in, &link->arrives, message); }
static void push_out(struct hl_link *link, struct message *message) { push(link, &link->out, &link->leaves, message); }

/* ---- the server's side ---- */

static void disconnect(struct hl_link *link)
{
    const struct sim_server *server = link->connection ? sim_place_server(link->place, link->epoch) : NULL;
    if (server)
        sim_store_disconnect(server->store, link->connection);
    link->connection = 0;
    world_stop(&link->sim->world.time, &link->waits);
}

/* What asks for a lock, keeps it or ends it. */
static int may_haunt(const struct message *sent) { return sent->argc > 2 && (strcmp(sent->argv[0], "EVALSHA") == 0 || strcmp(sent->argv[0], "SET") == 0); }

static void count_execution(struct sim *sim, const struct message *message, const struct sim_reply *reply)
{
    if (!may_haunt(message))
        return;
    if (reply->type == SIM_REPLY_ERROR && sim_reply_starts(reply, "LATE"))
        sim->world.sometimes[SIM_LATE_REFUSED]++;
    else if (reply->type == SIM_REPLY_ERROR && sim_reply_starts(reply, "NOSCRIPT"))
        sim->world.sometimes[SIM_RELOADED]++;
    sim->world.sometimes[SIM_OPERATION]++;
}

static void answer(struct hl_link *link, const struct sim_reply *reply) { push_in(link, message_reply(say_stored(reply))); }

/* Of the holder that it names: from the colon on. "": none. */
static const char *id_in(const struct message *request)
{
    for (int i = 2; i < request->argc; i++)
        if (request->lengths[i] > HL_UUID_LENGTH && request->argv[i][HL_UUID_LENGTH] == ':' && request->argv[i][8] == '-')
            return request->argv[i] + HL_UUID_LENGTH;
    return "";
}

static void trace_execution(struct sim *sim, const char *who, unsigned process, const struct message *request, const struct sim_reply *reply)
{
    const char *key = request->argc > 3 ? request->argv[3] : "", *id = id_in(request), *script = request->argc > 1 ? request->argv[1] : "";
    for (const struct hl_script *const *known = hl_scripts; *known; known++)
        script = request->argc > 1 && strcmp((*known)->sha1, request->argv[1]) == 0 ? (*known)->name : script;
    sim_trace(&sim->world, "%s p%u: %s %.20s %.12s%s -> %d %lld", who, process, request->argv[0], script, key, id, (int)reply->type,
              (long long)(reply->type == SIM_REPLY_ARRAY && reply->count ? reply->items[0].integer : reply->integer));
}

/* What a former master does after another took over has no effect, but is still believed: that is the stated limit. */
static void count_stale(const struct sim_server *server, const struct message *request)
{
    struct sim *sim = server ? server->place->sim : NULL;
    struct sim_name *name = sim && sim->sets.count && sim_is_former(server->place) ? sim_name_in(sim, request) : NULL;
    if (name)
        sim_sets_taint_name(sim, name);
    else if (server && server == &server->place->former)
        sim_taint(server->place);
    else
        return;
    sim->world.sometimes[SIM_STALE_MASTER]++;
}

/* What the server had received over a dead link: lost, or run late, and its answer goes nowhere. */
struct ghost { struct sim *sim; struct sim_place *place; struct message *request; unsigned process, epoch; };

/* A renewal, or the acquire of a SIMPLE lock, which has no time after which it is refused: it stands for a lease. */
static int keeps_unknown(const struct message *request, const struct sim_reply *reply)
{
    const char *sha1 = request->argv[1];
    int is_kept = strcmp(sha1, hl_script_renew.sha1) == 0 || strcmp(sha1, hl_script_simple_renew.sha1) == 0 || strcmp(sha1, hl_script_simple_acquire.sha1) == 0;
    return reply->type == SIM_REPLY_STATUS || (is_kept && reply->type == SIM_REPLY_INTEGER && reply->integer > 0);
}

static void haunt(struct ghost *ghost, struct sim_server *server)
{
    struct sim_world *world = &ghost->sim->world;
    unsigned connection = sim_server_login(server);
    const struct sim_reply *reply = sim_server_execute(server, connection, ghost->request->argc, ghost->request->argv, ghost->request->lengths);
    count_stale(server, ghost->request);
    count_execution(ghost->sim, ghost->request, reply);
    world->sometimes[SIM_LATE_RUN]++;
    if (keeps_unknown(ghost->request, reply))
        ghost->sim->ghost_us = world->time.now_us;
    world->sometimes[SIM_GHOST] += reply->type == SIM_REPLY_INTEGER && reply->integer > 1000000000;
    trace_execution(ghost->sim, "server runs late, of a dead link of", ghost->process, ghost->request, reply);
    sim_store_disconnect(server->store, connection);
}

static void on_ghost(struct sim_world *world, void *arg)
{
    struct ghost *ghost = arg;
    struct sim_server *server = sim_place_server(ghost->place, ghost->epoch);
    (void)world;
    if (!ghost->sim->is_over && server)
        haunt(ghost, server);
    message_free(ghost->request);
    free(ghost);
}

static void lose_requests(struct hl_link *link)
{
    struct sim_world *world = &link->sim->world;
    uint64_t at_us = world->time.now_us;
    struct message *message;
    world_stop(&world->time, &link->leaves);
    while ((message = TAILQ_FIRST(&link->out)) != NULL) {
        struct ghost *ghost = NULL;
        TAILQ_REMOVE(&link->out, message, entry);
        world->sometimes[SIM_FAULT_REQUEST_LOST]++;
        if (!link->sim->is_healed && may_haunt(message) && sim_chance(&world->network, 0.5) && (ghost = malloc(sizeof *ghost)) != NULL) {
            *ghost = (struct ghost){link->sim, link->place, message, link->process->index, link->epoch};
            at_us += hl_random_below(&world->network, sim_chance(&world->network, 0.5) ? 600000 : 3000000);
            sim_at(world, at_us, on_ghost, ghost);
        } else
            message_free(message);
    }
}

static void go_down(struct hl_link *link)
{
    if (link->is_down)
        return;
    link->is_down = 1;
    lose_requests(link);
    disconnect(link);
    if (!TAILQ_EMPTY(&link->in) && sim_chance(&link->sim->world.network, 0.5)) {
        link->sim->world.sometimes[SIM_FAULT_REPLY_LOST]++;
        messages_drop(&link->in);
        world_stop(&link->sim->world.time, &link->arrives);
    }
    push_in(link, message_new(MESSAGE_DOWN));
}

static void go_on(struct hl_link *link)
{
    const struct message *message = TAILQ_FIRST(&link->out);
    if (message && !link->leaves.place)
        world_start(&link->sim->world.time, &link->leaves, message->at_us);
}

static void answer_wait(struct hl_link *link, unsigned count)
{
    const struct sim_reply reply = {.type = SIM_REPLY_INTEGER, .integer = count};
    struct sim_world *world = &link->sim->world;
    sim_trace(world, "place %u answers p%u: %u replicas have it, of %u", link->place->index, link->process->index, count, (unsigned)link->wait_for);
    world->sometimes[SIM_UNCONFIRMED] += count < link->wait_for;
    if (!link->is_cut_in)
        answer(link, &reply);
    go_on(link);
}

/* As a server does to those that block on it when it becomes a replica. */
static void unblock(struct hl_link *link)
{
    static const char words[] = "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";
    const struct sim_reply reply = {.type = SIM_REPLY_ERROR, .bytes = words, .length = sizeof words - 1};
    if (!link->is_cut_in)
        answer(link, &reply);
    go_down(link);
}

static void on_wait(void *arg)
{
    struct hl_link *link = arg;
    struct sim_world *world = &link->sim->world;
    const struct sim_server *server = sim_place_server(link->place, link->epoch);
    unsigned count = sim_replicas_having(link->place, link->wrote);
    uint64_t next_us = world->time.now_us + sim_between(&world->sets, 1000, 10000);
    if (!server)
        return;
    if (server->stalled_until_us > world->time.now_us)
        world_start(&world->time, &link->waits, server->stalled_until_us);
    else if (sim_store_is_replica(server->store))
        unblock(link);
    else if (count >= link->wait_for || world->time.now_us >= link->wait_ends_us)
        answer_wait(link, count);
    else
        world_start(&world->time, &link->waits, next_us < link->wait_ends_us ? next_us : link->wait_ends_us);
}

/* Replicas need a moment to say what they have, more than a moment if it is much. */
static void begin_wait(struct hl_link *link, const struct message *wait)
{
    struct sim *sim = link->sim;
    struct world *time = &sim->world.time;
    uint64_t timeout_us = 1000 * sim_number(wait->argv[2], wait->lengths[2]);
    uint64_t most_us = 2 * (uint64_t)(sim->swarm.latency_us + sim->swarm.tail_us);
    link->has_waited = 1;
    link->wait_for = sim_number(wait->argv[1], wait->lengths[1]);
    link->wait_ends_us = timeout_us ? time->now_us + timeout_us : UINT64_MAX;
    world_start(time, &link->waits, time->now_us + sim_between(&sim->world.sets, 0, most_us));
}

static void execute(struct hl_link *link, const struct message *request)
{
    struct sim_server *server = sim_place_server(link->place, link->epoch);
    uint64_t writes = server ? sim_store_writes(server->store) : 0;
    const struct sim_reply *reply = server ? sim_server_execute(server, link->connection, request->argc, request->argv, request->lengths) : NULL;
    count_stale(server, request);
    if (!reply)
        return;
    link->has_subscribed |= strstr(request->argv[0], "SUBSCRIBE") != NULL;
    if (sim_store_writes(server->store) != writes)
        link->wrote = sim_store_writes(server->store);
    if (link->has_waited && *id_in(request))
        sim_check_waited(link->process, sim_number(id_in(request) + 1, HL_HOLDER_MAX));
    if (reply->type == SIM_REPLY_INTEGER && strcmp(request->argv[0], "WAIT") == 0) {
        begin_wait(link, request);
        return;
    }
    sim_sets_answered(link->process, link->place, &link->is_of_replica, request, reply);
    trace_execution(link->sim, "server runs for", link->process->index, request, reply);
    count_execution(link->sim, request, reply);
    if (!link->is_cut_in && !link->is_down)
        answer(link, reply);
}

static void on_leaving(void *arg)
{
    struct hl_link *link = arg;
    struct world *time = &link->sim->world.time;
    struct sim_server *server = sim_place_server(link->place, link->epoch);
    struct message *message;
    if (server && server->stalled_until_us > time->now_us) {
        world_start(time, &link->leaves, server->stalled_until_us);
        return;
    }
    while (!link->waits.place && (message = TAILQ_FIRST(&link->out)) != NULL && message->at_us <= time->now_us) {
        TAILQ_REMOVE(&link->out, message, entry);
        if (!link->is_cut_out && link->connection)
            execute(link, message);
        message_free(message);
    }
    if (!link->waits.place)
        go_on(link);
}

/* A close that is no reset: what has been written still arrives. */
static void leave_requests(struct hl_link *link)
{
    struct message *message, *next;
    for (message = TAILQ_FIRST(&link->out); message && link->connection && !link->is_cut_out; message = next) {
        struct ghost *ghost = may_haunt(message) ? malloc(sizeof *ghost) : NULL;
        next = TAILQ_NEXT(message, entry);
        if (!ghost)
            continue;
        TAILQ_REMOVE(&link->out, message, entry);
        *ghost = (struct ghost){link->sim, link->place, message, link->process->index, link->epoch};
        sim_at(&link->sim->world, message->at_us, on_ghost, ghost);
    }
}

void sim_network_on_message(void *arg, unsigned connection, const struct sim_reply *push)
{
    const struct sim_ear *ear = arg;
    struct hl_link *link;
    sim_queue_said(ear->place->sim, push);
    ear->place->sim->world.sometimes[SIM_TAKEN_BACK] += sim_reply_is(&push->items[0], "sunsubscribe") != 0;
    TAILQ_FOREACH(link, &ear->place->sim->links, entry)
    {
        if (link->connection == connection && link->place == ear->place && link->epoch == ear->epoch && !link->is_cut_in && !link->is_down)
            answer(link, push);
    }
}

/* ---- the process's side ---- */

static void destroy(struct hl_link *link)
{
    lose_requests(link);
    messages_drop(&link->in);
    world_stop(&link->sim->world.time, &link->arrives);
    disconnect(link);
    TAILQ_REMOVE(&link->sim->links, link, entry);
    free(link);
}

static void give(struct hl_link *link, const struct message *message)
{
    if (message->kind == MESSAGE_REPLY)
        sim_sentinels_told(link->process, link->place, message->reply);
    switch (message->kind) {
    case MESSAGE_UP:
        link->is_up = 1;
        link->events->on_up(link->arg);
        break;
    case MESSAGE_REPLY: link->events->on_reply(link->arg, message->reply); break;
    case MESSAGE_DOWN: link->events->on_down(link->arg, "reset by the simulation"); break;
    case MESSAGE_REQUEST: break;
    }
}

/* The host's leave may end the client, and with it the link: only what was taken from it before is touched after. */
static void on_arrival(void *arg)
{
    struct hl_link *link = arg;
    struct world *time = &link->sim->world.time;
    struct sim_process *process = link->process;
    struct hl_host *host = link->host;
    struct message *message;
    hl_host_enter(host);
    link->depth = 1;
    while (!link->is_closed && (message = TAILQ_FIRST(&link->in)) != NULL && message->at_us <= time->now_us) {
        TAILQ_REMOVE(&link->in, message, entry);
        give(link, message);
        message_free(message);
    }
    link->depth = 0;
    if (link->is_closed)
        destroy(link);
    else if ((message = TAILQ_FIRST(&link->in)) != NULL)
        world_start(time, &link->arrives, message->at_us);
    hl_host_leave(host);
    sim_process_turned(process);
}

/* By the number that its address ends with. NULL: no server answers there. */
static struct sim_place *place_of(struct sim *sim, const struct hl_link_target *target)
{
    const char *number = target->path ? strrchr(target->path, '/') : NULL;
    unsigned long i = number ? strtoul(number + 1, NULL, 10) : target->port >= SIM_PORT ? (unsigned long)(target->port - SIM_PORT) : SIM_PLACES_MAX;
    return i < sim->places_count ? &sim->places[i] : NULL;
}

static struct hl_link *open_link(void *ctx, struct hl_host *host, const struct hl_link_target *target, const struct hl_link_events *events,
                                 void *arg)
{
    struct sim_process *process = ctx;
    struct sim *sim = process->sim;
    struct hl_link *link = world_memory_takes(&process->memory) ? calloc(1, sizeof *link) : NULL;
    struct sim_place *place = place_of(sim, target);
    int is_refused = !place || place->is_away || (!sim->is_healed && sim->swarm.refusals && sim_chance(&sim->world.network, 0.2));
    if (!link)
        return NULL;
    *link = (struct hl_link){.sim = sim, .process = process, .place = place, .host = host, .events = events, .arg = arg, .epoch = place ? place->server.epoch : 0};
    TAILQ_INIT(&link->in);
    TAILQ_INIT(&link->out);
    world_event_init(&link->arrives, &process->loop.lane, on_arrival, link);
    world_event_init(&link->leaves, NULL, on_leaving, link);
    world_event_init(&link->waits, NULL, on_wait, link);
    TAILQ_INSERT_TAIL(&sim->links, link, entry);
    if (is_refused) {
        sim->world.sometimes[SIM_FAULT_REFUSED_CONNECT]++;
        link->is_down = 1;
    } else
        link->connection = sim_store_connect(place->server.store);
    push_in(link, message_new(is_refused ? MESSAGE_DOWN : MESSAGE_UP));
    sim_faults_connecting(process);
    return link;
}

static int send_command(struct hl_link *link, int argc, const char *const *argv, const size_t *lengths)
{
    int is_sent = sim_strain_sends(link->process);
    if (is_sent && !link->is_down) /* else into a socket whose end has not been heard of */
        push_out(link, message_request(argc, argv, lengths));
    return is_sent - 1;
}

static void make_stream(struct hl_link *link) { (void)link; }
static size_t backlog(const struct hl_link *link) { return (void)link, 0; }

static void close_link(struct hl_link *link, int is_reset)
{
    if (!is_reset)
        leave_requests(link);
    link->is_closed = 1;
    if (!link->depth)
        destroy(link);
}

struct hl_link_factory sim_network_links(struct sim_process *process)
{
    return (struct hl_link_factory){.ctx = process, .open = open_link, .send = send_command, .stream = make_stream, .backlog = backlog, .close = close_link};
}

/* ---- faults ---- */

static struct hl_link *some_link(struct sim *sim, struct hl_random *random)
{
    struct hl_link *link, *chosen = NULL;
    unsigned seen = 0;
    TAILQ_FOREACH(link, &sim->links, entry)
    {
        if (!link->is_down && hl_random_below(random, ++seen) == 0)
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
    sim_trace(&sim->world, "fault: a link of p%u is reset", link->process->index);
    go_down(link);
}

int sim_network_is_cut(const struct sim_process *process)
{
    const struct hl_link *link;
    TAILQ_FOREACH(link, &process->sim->links, entry)
        if (link->process == process && (link->is_cut_in || link->is_cut_out))
            return 1;
    return 0;
}

void sim_network_cut_some(struct sim *sim, struct hl_random *random)
{
    struct hl_link *link = some_link(sim, random);
    unsigned ways = (unsigned)hl_random_below(random, 3) + 1;
    if (!link)
        return;
    link->is_cut_in |= (int)ways & 1;
    link->is_cut_out |= (int)ways >> 1;
    sim->world.sometimes[SIM_FAULT_CUT]++;
    sim_trace(&sim->world, "fault: a link of p%u is cut, ways %u", link->process->index, ways);
}

static void reset(const struct sim_server *server, int leaves_subscribers)
{
    struct hl_link *link;
    TAILQ_FOREACH(link, &server->place->sim->links, entry)
    {
        if (link->place == server->place && link->epoch == server->epoch && !(leaves_subscribers && link->has_subscribed))
            go_down(link);
    }
}

void sim_network_reset_all(const struct sim_server *server) { reset(server, 0); }
void sim_network_reset_commands(const struct sim_server *server) { reset(server, 1); }

void sim_network_heal(struct sim *sim)
{
    struct hl_link *link;
    TAILQ_FOREACH(link, &sim->links, entry)
    {
        if (link->is_cut_in || link->is_cut_out)
            go_down(link);
    }
}

void sim_network_done(struct sim *sim)
{
    struct hl_link *link;
    while ((link = TAILQ_FIRST(&sim->links)) != NULL)
        destroy(link);
}
