/* SPDX-License-Identifier: BSD-3-Clause */
/* node - see node.h. The requests between the login and the first request of a lock are in handshake.c. */
#include "node/node.h"

#include "base/contract.h"
#include "base/stranger.h"
#include "link/words.h"
#include "node/clock.h"
#include "node/confirm_link.h"
#include "node/denial.h"
#include "node/words.h"

enum { RELOADS_MAX = 3, SILENCE_US = 500000, LISTENING_US = 1000000, STALL_US = 100000, GRACE_US = 50000,
       GRACES_MAX = 3 };

static int load(struct hl_node *node, const struct hl_script *script);

/* Encodes and sends a request. sent_us is read before the bytes can be sent, so a deadline that counts from it is never
 * too late (R1). It is set before the encoding, because not_after in a request counts from it. */
static int write_request(struct hl_node *node, struct hl_request *request)
{
    struct hl_command command, asking;
    request->sent_us = hl_now_us(node->host);
    request->ops->encode(request, &command);
    if (request->ops->about)
        hl_node_parent(node)->used_at_us = node->used_at_us = request->sent_us;
    if (!command.script)
        request->reloads = RELOADS_MAX; /* without a script nothing is loaded again, even after a NOSCRIPT */
    else if (request->reloads && load(node, command.script) != 0)
        return -1;
    if (request->how & HL_REQUEST_ASKING) { /* counts for the next command only */
        hl_command_begin(&asking, "ASKING");
        request->asking_reply_due = 1;
        if (hl_session_send(&node->session, &asking) != 0)
            return -1;
    }
    return hl_session_send(&node->session, &command);
}

/* Sends a request and queues it as sent. A failed send breaks the session; the request still counts as sent, because a
 * part of it may have been. Requests of the handshake are not reported. */
static int send_request(struct hl_node *node, struct hl_request *request)
{
    int sent = write_request(node, request);
    if (sent == 0 && node->is_up)
        hl_node_report(node, HL_COMMAND_SENT, NULL);
    hl_node_enqueue(node, request, REQUEST_SENT);
    hl_session_wake_at(&node->session, request->sent_us + (uint64_t)request->timeout_ms * 1000);
    if (node->events->on_silence && !node->is_silent)
        hl_session_wake_at(&node->session, request->sent_us + SILENCE_US);
    return sent;
}

static void encode_load(struct hl_request *request, struct hl_command *command)
{
    hl_command_load(command, request->node->options.scripts[request - request->node->loads]);
}

static void on_loaded(struct hl_request *request, const struct hl_answer *answer)
{
    struct hl_node *node = request->node;
    const struct hl_reply *reply = answer->reply;
    int is_refused = reply && reply->type == HL_REPLY_ERROR;
    /* an unknown command is reported after INFO, which shows what kind of server this is (on_server) */
    if (is_refused && !hl_stranger_lacks_command(reply->bytes, reply->length))
        (void)hl_handshake_report_error(node, HL_MISSING_LOAD, "SCRIPT LOAD", reply, "");
    hl_text_set(&node->load_refusal, "%s",
                is_refused ? hl_host_quote(node->host, reply->bytes, reply->length).bytes : "");
}

/* Sends the script again before a request that missed it. One load serves all requests that miss the script meanwhile:
 * a link keeps its order, so they are executed after the load. */
static int load(struct hl_node *node, const struct hl_script *script)
{
    struct hl_request *request = node->loads;
    while (node->options.scripts[request - node->loads] != script)
        request++;
    if (hl_request_is_busy(request))
        return 0;
    return send_request(node, request);
}

/* Answers all requests that are in the queue now. It takes them one by one up to a mark, because an answered request
 * may withdraw others or submit itself again. */
static void answer_all(struct hl_node *node, enum hl_request_queue queue, const struct hl_answer *answer)
{
    struct hl_requests *from = &node->queues[queue];
    struct hl_request *request;
    TAILQ_INSERT_TAIL(from, &node->mark, entry);
    while ((request = TAILQ_FIRST(from)) != &node->mark) {
        hl_node_dequeue(request);
        request->ops->done(request, answer);
    }
    TAILQ_REMOVE(from, &node->mark, entry);
}

/* Returns 1 if the request must go over a third link, but is in this node's own queue, because there was no memory to
 * make that link. */
static int is_for_replicas(const struct hl_node *node, const struct hl_request *request)
{
    return (request->how & HL_REQUEST_CONFIRM) && !node->parent;
}

static void answer_barred(struct hl_node *node)
{
    const struct hl_request *first = TAILQ_FIRST(&node->queues[REQUEST_BARRED]);
    const char *words = first && is_for_replicas(node, first) ? hl_words_no_confirm_link : hl_words_guarded;
    const struct hl_reply reply = hl_stranger_reply(words);
    answer_all(node, REQUEST_BARRED, &(struct hl_answer){&reply, 0});
}

static struct hl_request *next_to_send(struct hl_node *node)
{
    struct hl_request *request = NULL;
    unsigned last = node->is_urgent_only ? REQUEST_URGENT : REQUEST_NORMAL;
    if (!node->is_up || !hl_session_is_open(&node->session) || node->sent_count >= node->options.inflight_max)
        return NULL;
    for (unsigned queue = REQUEST_FIRST; queue <= last && !request; queue++)
        request = TAILQ_FIRST(&node->queues[queue]);
    return request;
}

static void pump(struct hl_node *node)
{
    struct hl_request *request;
    while ((request = next_to_send(node)) != NULL) {
        int heeds_guard = request->how & HL_REQUEST_GRANT;
        hl_node_dequeue(request);
        request->asking_reply_due = 0;
        request->reloads = 0;
        if (is_for_replicas(node, request) || (heeds_guard && hl_node_guard_remaining_us(node))) {
            /* the request is answered on the next turn, never inside the call that submits it */
            hl_node_enqueue(node, request, REQUEST_BARRED);
            hl_session_wake_at(&node->session, hl_now_us(node->host));
        } else
            send_request(node, request);
    }
}

static void on_answer(struct hl_node *node, const struct hl_reply *reply)
{
    struct hl_request *request = TAILQ_FIRST(&node->queues[REQUEST_SENT]);
    struct hl_node *parent = hl_node_parent(node);
    const struct hl_reply refused = hl_stranger_reply(node->load_refusal.bytes);
    const struct hl_reply moved = hl_stranger_reply(hl_stranger_cluster_node.words);
    int is_error = reply->type == HL_REPLY_ERROR, is_script_missing = is_error && hl_reply_starts(reply, "NOSCRIPT");
    struct hl_text what;
    if (!request) {
        hl_session_break(&node->session, hl_words_unexpected);
        return;
    }
    if (request->asking_reply_due) {
        request->asking_reply_due = 0;
        hl_words_refused(&what, "ASKING", hl_host_quote(node->host, reply->bytes, reply->length).bytes, "");
        if (is_error)
            hl_node_report(node, HL_NODE_FAULT, what.bytes);
        return;
    }
    int may_reload = is_script_missing && request->reloads < RELOADS_MAX;
    hl_node_dequeue(request);
    /* After several loads the request is not sent again: the user may lack the right to load. */
    if (may_reload) {
        request->reloads++;
        send_request(node, request); /* loads the script first */
        return;
    }
    if (node->is_up)
        hl_trace(node->host, HL_COMMAND_ANSWERED,
                 &(struct hl_fact){.node = hl_node_name(node), .waited_us = node->active_at_us - request->sent_us});
    if (is_script_missing && refused.length)
        reply = &refused; /* the error of the load has the reason */
    const char *elsewhere = NULL;
    if (request->ops->about) { /* a request about a lock, which is a sample of the round trip */
        elsewhere = hl_wrong_server_check(parent, reply);
        if (is_error && parent->events->on_error && parent->events->on_error(parent->arg, parent, request, reply))
            return; /* the route has submitted it again */
        hl_clock_add_round_trip(node, node->active_at_us - request->sent_us);
        /* The server is in a cluster, but this route is not that of a cluster, so nothing redirects the request. */
        if (is_error && !node->options.is_in_cluster && hl_reply_starts(reply, "MOVED ")) {
            hl_handshake_report(parent, HL_MISSING_CLUSTER, moved.bytes);
            reply = &moved;
        }
    }
    request->ops->done(request, &(struct hl_answer){reply, 1});
    if (elsewhere) /* after the answer, because the link owns the bytes of the reply */
        hl_wrong_server_leave(parent, elsewhere);
}

/* Marks the node as up once its whole handshake is answered, unless an answer ended the link. */
static void come_up(struct hl_node *node)
{
    if (node->is_up || hl_node_oldest(node) || !hl_session_is_open(&node->session))
        return;
    node->is_up = 1;
    hl_denial_learn(node, NULL);
    node->is_at_wrong_server = 0;
    node->has_no_queue = 0;
    hl_session_wake_at(&node->session, node->active_at_us + (uint64_t)node->options.keepalive_ms * 1000);
    if (!node->options.is_sentinel && !node->parent)
        hl_node_report(node, HL_NODE_UP, NULL);
    if (node->events->on_up)
        node->events->on_up(node->arg, node);
}

static void on_reply(void *arg, const struct hl_reply *reply)
{
    struct hl_node *node = arg;
    node->active_at_us = node->host->entered_us;
    node->is_silent = 0;
    on_answer(node, reply);
    come_up(node);
    if (node->parent)
        hl_confirm_link_on_reply(node);
    pump(node);
}

static void on_open(void *arg)
{
    struct hl_node *node = arg;
    unsigned steps = hl_handshake_steps(node);
    int may_send = !node->options.is_sentinel; /* a sentinel has no handshake */
    node->server_us = node->clock_error_us = 0;
    node->old_link_reply_at_us = node->active_at_us;
    node->active_at_us = hl_now_us(node->host);
    (void)hl_node_withdraw(&node->steps[HL_HANDSHAKE_PROBE]); /* it was queued for the previous link */
    node->is_replica = 0;
    for (unsigned i = 0; node->options.scripts[i] && may_send; i++)
        may_send = send_request(node, &node->loads[i]) == 0;
    for (unsigned step = 0; step < HL_HANDSHAKE_STEPS && may_send; step++)
        if (steps & 1u << step)
            may_send = send_request(node, &node->steps[step]) == 0;
    come_up(node);
    hl_wrong_server_compare(hl_node_parent(node)); /* in a cluster the greeting has read which server this is */
}

/* Answers all sent requests without a reply, and reports the loss. The loss is news if it is the first failure in a
 * row, the first one after the node was up, or the first refusal of the login. For a sentinel or a third link only news
 * is reported. */
static void on_close(void *arg, const char *why, const struct hl_reply *refusal, uint64_t retry_us)
{
    struct hl_node *node = arg;
    struct hl_text words;
    const struct hl_reply wrong_server_reply = hl_wrong_server_words(node, why, &words);
    const struct hl_answer refused = {wrong_server_reply.length ? &wrong_server_reply : refusal, 0};
    const struct hl_answer unanswered = {NULL, 1};
    int was_up = node->is_up;
    int is_news = was_up || node->session.failures == 1 || (refusal && !node->is_refused);
    const struct hl_fact fact = {.node = hl_node_name(node), .detail = why, .retry_us = retry_us,
                                 .count = (unsigned)was_up, .is_news = is_news};
    node->is_up = node->is_silent = node->grace_count = 0;
    node->is_at_wrong_server = node->session.is_at_wrong_server;
    /* The whole node is down now. If its subscription link is cut again when the node is back, that is news again. */
    node->subscriptions.is_cut_reported = 0;
    hl_denial_learn(node, refusal);
    node->is_refused = refusal || (node->is_refused && !was_up);
    if (!node->options.is_sentinel && !node->parent)
        hl_trace(node->host, HL_NODE_DOWN, &fact);
    else if (is_news)
        hl_trace(node->host, HL_NODE_FAULT, &fact);
    node->events->on_down(node->arg, node);
    answer_barred(node);
    answer_all(node, REQUEST_SENT, &unanswered);
    for (unsigned queue = REQUEST_FIRST; refused.reply && queue <= REQUEST_NORMAL; queue++)
        answer_all(node, queue, &refused);
}

static void on_fault(void *arg, const char *what) { hl_handshake_report(arg, HL_MISSING_NAME, what); }

/* If this node is a sentinel, all holds count, because each of them needs it to find the master after a failover. */
static uint64_t remaining_us(void *arg)
{
    struct hl_node *node = arg, *parent = hl_node_parent(node);
    return node->options.remaining_us(node->options.remaining_arg, node->options.is_sentinel ? NULL : parent);
}

void hl_node_probe(struct hl_node *node)
{
    struct hl_request *probe = &node->steps[HL_HANDSHAKE_PROBE];
    if (node->is_up && !hl_request_is_busy(probe))
        hl_node_submit(node, probe, node->options.command_timeout_ms, HL_REQUEST_URGENT);
}

/* Finds out whether the server is silent: whether the time since the oldest unanswered request was sent, or since the
 * latest reply if that is later, is too long. An idle node is probed. It is probed more often if it has listeners and
 * another server may take its place, because nothing else would show that it is silent. */
static void detect_silence(struct hl_node *node)
{
    const struct hl_request *oldest = hl_node_oldest(node);
    uint64_t since_us = oldest && oldest->sent_us > node->active_at_us ? oldest->sent_us : node->active_at_us;
    uint64_t keepalive_us = (uint64_t)node->options.keepalive_ms * 1000, until_us;
    int may_move = node->events->on_silence != NULL;
    if (may_move && keepalive_us > LISTENING_US && !hl_subscriptions_is_idle(&node->subscriptions))
        keepalive_us = LISTENING_US;
    if (!node->is_up || (oldest && (!may_move || node->is_silent || (oldest->how & HL_REQUEST_BLOCKS))))
        return;
    until_us = since_us + (oldest ? SILENCE_US : keepalive_us);
    if (until_us > hl_now_us(node->host))
        hl_session_wake_at(&node->session, until_us);
    else if (!oldest)
        hl_node_probe(node);
    else {
        node->is_silent = 1;
        node->events->on_silence(node->arg);
    }
}

/* Runs when the earliest of these is due: the timeout of a request, silence, the next keep-alive, or the answer to
 * barred requests. If the loop stood still, the server's replies may be waiting to be read, so the link gets a moment
 * first. That happens a few times at most, because a loop may be late in every turn. */
static void on_due(void *arg, uint64_t due_us)
{
    struct hl_node *node = arg;
    const struct hl_request *request;
    uint64_t now_us = hl_now_us(node->host), earliest_us = UINT64_MAX;
    hl_host_check_stall(node->host, due_us);
    answer_barred(node);
    TAILQ_FOREACH(request, &node->queues[REQUEST_SENT], entry)
    {
        uint64_t ends_us = request->sent_us + (uint64_t)request->timeout_ms * 1000;
        earliest_us = ends_us < earliest_us ? ends_us : earliest_us;
    }
    if (earliest_us > now_us) {
        node->grace_count = 0;
        if (earliest_us != UINT64_MAX)
            hl_session_wake_at(&node->session, earliest_us);
        detect_silence(node);
    } else if (now_us - due_us > STALL_US && node->grace_count < GRACES_MAX) {
        node->grace_count++;
        hl_session_wake_at(&node->session, now_us + GRACE_US);
    } else
        hl_session_break(&node->session, hl_words_timed_out);
}

int hl_node_init(struct hl_node *node, struct hl_host *host, const struct hl_node_options *options,
                 const struct hl_node_events *events, void *arg)
{
    static const struct hl_session_events session_events = {on_open,  on_reply, on_close,
                                                            on_fault, on_due,   remaining_us};
    static const struct hl_request_ops load_ops = {NULL, encode_load, on_loaded};
    uint32_t timeout_ms = options->command_timeout_ms;
    *node = (struct hl_node){.host = host, .options = *options, .events = events, .arg = arg};
    hl_denial_init(node);
    for (unsigned i = 0; i < HL_SCRIPTS_MAX; i++)
        node->loads[i] = (struct hl_request){.ops = &load_ops, .node = node, .timeout_ms = timeout_ms};
    for (unsigned i = 0; i < HL_HANDSHAKE_STEPS; i++)
        node->steps[i] = (struct hl_request){.ops = &hl_handshake_ops, .node = node, .timeout_ms = timeout_ms};
    for (unsigned queue = REQUEST_FIRST; queue <= REQUEST_SENT; queue++)
        TAILQ_INIT(&node->queues[queue]);
    if (hl_session_init(&node->session, host, &node->options.session, &session_events, node) == 0 &&
        hl_subscriptions_init(&node->subscriptions, host, &node->options.session, timeout_ms,
                              options->keepalive_ms) == 0) {
        hl_wrong_server_watch(node);
        return 0;
    }
    hl_session_done(&node->session);
    return -1;
}

void hl_node_done(struct hl_node *node)
{
    if (node->confirm_node)
        hl_confirm_link_done(node->confirm_node);
    hl_denial_done(node);
    hl_subscriptions_done(&node->subscriptions);
    hl_session_done(&node->session);
}

void hl_node_submit(struct hl_node *node, struct hl_request *request, uint32_t timeout_ms, unsigned how)
{
    enum hl_request_queue queue = how & HL_REQUEST_URGENT ? REQUEST_URGENT : REQUEST_NORMAL;
    int must_confirm = how & HL_REQUEST_CONFIRM && !node->parent;
    struct hl_node *confirm_node = must_confirm ? hl_confirm_link_get(node) : NULL;
    struct hl_node *link = confirm_node ? confirm_node : node; /* without memory for it, this node bars the request */
    HL_REQUIRE(request->queue == REQUEST_IDLE); /* the owner submits its request again only after the answer */
    request->timeout_ms = timeout_ms;
    request->how = (uint8_t)how;
    hl_node_enqueue(link, request, how & HL_REQUEST_FIRST ? REQUEST_FIRST : queue);
    hl_denial_apply(link, request);
    if (node->options.is_lazy)
        hl_node_start(node);
    pump(link);
}

int hl_node_withdraw(struct hl_request *request)
{
    if (request->queue == REQUEST_IDLE || request->queue >= REQUEST_ATTACHED)
        return 0;
    hl_node_dequeue(request);
    return 1;
}

void hl_node_take(struct hl_node *node, struct hl_requests *ret)
{
    struct hl_request *request;
    for (unsigned queue = REQUEST_FIRST; queue <= REQUEST_NORMAL; queue++)
        while ((request = TAILQ_FIRST(&node->queues[queue])) != NULL) {
            hl_node_dequeue(request);
            TAILQ_INSERT_TAIL(ret, request, entry);
        }
    if (node->confirm_node)
        hl_node_take(node->confirm_node, ret);
}

/* Also forgets what was learnt about the old server, because the new one may differ. */
void hl_node_move(struct hl_node *node, const struct hl_address *address, const char *why)
{
    node->options.session.endpoint.address = *address;
    hl_address_write(node->options.session.endpoint.name, address);
    node->server_info = (struct hl_server_info){0};
    node->reported_missing = 0;
    node->moved_at_us = hl_now_us(node->host);
    hl_session_move(&node->session, why);
    hl_session_move(&node->subscriptions.session, why);
    if (node->confirm_node)
        hl_node_move(node->confirm_node, address, why);
}

void hl_node_break(struct hl_node *node, const char *why)
{
    hl_session_break(&node->session, why);
    if (node->confirm_node)
        hl_session_break(&node->confirm_node->session, why);
}

/* The keep-alive and the handshake do not make a node busy. */
int hl_node_is_idle(const struct hl_node *node)
{
    const struct hl_request *sent = hl_node_oldest(node);
    if (sent && node->is_up && (sent != &node->steps[HL_HANDSHAKE_PROBE] || TAILQ_NEXT(sent, entry)))
        return 0;
    for (unsigned queue = REQUEST_FIRST; queue < REQUEST_SENT; queue++)
        if (!TAILQ_EMPTY(&node->queues[queue]))
            return 0;
    return hl_subscriptions_is_idle(&node->subscriptions) &&
           (!node->confirm_node || hl_node_is_idle(node->confirm_node));
}

void hl_node_rest(struct hl_node *node)
{
    HL_REQUIRE(hl_node_is_idle(node)); /* the callers check this first */
    if (node->confirm_node)
        hl_node_rest(node->confirm_node);
    hl_session_stop(&node->session);
    hl_denial_learn(node, NULL); /* no attempt follows that could take it back */
    hl_subscriptions_rest(&node->subscriptions);
    if (node->is_up && !node->parent)
        hl_node_report(node, HL_NODE_RESTS, hl_words_rests);
    while (!TAILQ_EMPTY(&node->queues[REQUEST_SENT]))
        hl_node_dequeue(TAILQ_FIRST(&node->queues[REQUEST_SENT]));
    node->is_up = 0;
}

uint64_t hl_node_both_up_since_us(const struct hl_node *node)
{
    uint64_t commands_us = node->session.opened_us, channels_us = node->subscriptions.session.opened_us;
    uint64_t later_us = commands_us > channels_us ? commands_us : channels_us;
    return commands_us && channels_us ? later_us : UINT64_MAX;
}

int hl_node_is_able(const struct hl_node *node, uint64_t patience_us)
{
    const struct hl_request *oldest = hl_node_oldest(node);
    return node->is_up && (!oldest || hl_now_us(node->host) - oldest->sent_us <= patience_us);
}

uint64_t hl_node_guard_remaining_us(const struct hl_node *node)
{
    int64_t now_us = (int64_t)hl_now_us(node->host);
    int64_t remaining_us = node->server_info.started_us + (int64_t)node->options.restart_guard_ms * 1000 - now_us;
    return node->options.restart_guard_ms && remaining_us > 0 ? (uint64_t)remaining_us : 0;
}

void hl_node_guard_words(const struct hl_node *node, struct hl_text *text)
{
    uint64_t remaining_us = hl_node_guard_remaining_us(node);
    uint64_t up_us = hl_now_us(node->host) - (uint64_t)node->server_info.started_us;
    hl_words_guard(text, hl_node_name(node), (unsigned)(up_us / 1000000),
                   (unsigned)((remaining_us + 999999) / 1000000));
}

const char *hl_node_name(const struct hl_node *node) { return node->options.session.endpoint.name; }
const struct hl_address *hl_node_address(const struct hl_node *node) { return &node->options.session.endpoint.address; }
const char *hl_node_why(const struct hl_node *node) { return node->session.why.bytes; }

void hl_node_report(struct hl_node *node, enum hl_what what, const char *detail)
{
    hl_trace(node->host, what, &(struct hl_fact){.node = hl_node_name(node), .detail = detail});
}
