/* SPDX-License-Identifier: BSD-3-Clause */
/* client - opens, adopts and abandons a client, and gives back its memory. closing.c has the steps of a close, which
 * hilock_client_abandon skips. */
#include "client/client.h"

#include <stdio.h>

#include "base/plant.h"
#include "client/closing.h"
#include "client/deployment.h"
#include "client/gauges.h"
#include "client/log.h"
#include "client/options.h"
#include "client/words.h"
#include "group/group.h"
#include "hold/ending.h"
#include "hold/watchdog.h"
#include "lock/grant_channel.h"
#include "lock/inquiry.h"
#include "lock/line.h"
#include "lock/machine.h"

enum { VERIFY_STEP_US = 20 };

hilock_status hl_client_refuse(struct hilock_client *client, hilock_status status, const char *why)
{
    hl_text_set(&client->refusal, "%s", why);
    hl_trace(&client->core.host, HL_REFUSED,
             &(struct hl_fact){.detail = client->refusal.bytes, .status = status});
    return status;
}

hilock_status hl_client_admit_new(struct hilock_client *client, const char *what)
{
    if (client->core.phase == PHASE_OPEN)
        return HILOCK_OK;
    return hl_client_refuse(client, HILOCK_CLOSED, hl_words_closing(what).bytes);
}

/* Frees everything that the client has made. An open may have failed halfway, so each part may be missing. The client's
 * own memory and its host stay, because a callback on the stack may still read them. */
static void detach(struct hilock_client *client)
{
    struct hl_core *core = &client->core;
    core->phase = PHASE_GONE;
    hl_machine_clear(core);
    if (core->route)
        core->route->ops->free(core->route);
    core->route = NULL;
    if (client->is_secured)
        client->links.insecure(&client->links);
    hl_timer_free(&core->host, client->close_timer);
    hl_alarms_done(&core->groups->alarms);
    if (client->terms)
        hl_terms_unref(client->terms);
    hl_machine_done(core);
    if (client->strings)
        hl_memory_wipe(client->strings, client->strings_size);
    hl_memory_free(&core->host.memory, client->strings);
}

static void destroy(struct hilock_client *client)
{
    struct hl_memory memory = client->core.host.memory;
    if (client->core.phase != PHASE_GONE)
        detach(client);
    hl_host_done(&client->core.host);
    hl_memory_free(&memory, client);
}

static void on_enter(void *arg) { hl_cell_claim(((struct hilock_client *)arg)->core.cell); }

/* Refuses the turn in a forked child and on a thread that is not the client's. There it reads nothing of the client but
 * its options and its cell. */
static hilock_status begin_turn(void *arg)
{
    struct hilock_client *client = arg;
    hilock_status status = hl_cell_enter(client->core.cell);
    if (status != HILOCK_OK && hl_cell_report_once(client->core.cell, status))
        hl_trace(&client->core.host, HL_TURN_REFUSED,
                 &(struct hl_fact){.detail = status == HILOCK_FORKED ? hl_words_turn_forked
                                                                     : hl_words_turn_wrong_thread});
    return status;
}

static void settle(struct hilock_client *client)
{
    hl_host_settle(&client->core.host);
    hl_log_catch_up(client);
    hl_gauges_publish(client);
    hl_cell_leave(client->core.cell);
}

static void on_leave(void *arg)
{
    struct hilock_client *client = arg;
    hl_closing_begin_asked(client);
    hl_notices_deliver(&client->core);
    if (client->core.phase == PHASE_GONE) {
        destroy(client);
        return;
    }
    if (!hl_closing_advance(client)) {
        settle(client);
        return;
    }
    struct hl_closing closing = client->closing;
    destroy(client);
    hl_closing_report(&closing);
}

static void verify(struct hl_hold *hold, void *node)
{
    struct hl_node *present = hl_name_node(hl_hold_core(hold), hold->name), *asked = hold->request.node;
    if (node ? present == node : !asked || hl_node_parent(asked) != present)
        hl_watchdog_verify(hold, (uint64_t)hl_hold_core(hold)->holds->count * VERIFY_STEP_US);
}

/* A node can be asked again: verifies the holds there, with a pause between one and the next, and lets waiters try
 * again at once. */
static void on_node_up(void *arg, struct hl_node *node)
{
    struct hilock_client *client = arg;
    hl_hold_each_held(&client->core, verify, node);
    hl_lines_retry(&client->core, node);
    hl_endings_repeat(&client->core);
    hl_groups_node(&client->core, 1);
}

/* Names are served by other nodes than before: a hold that was last confirmed by another node than the present one of
 * its name is verified at the present one. */
static void on_moved(void *arg, int is_failover)
{
    struct hilock_client *client = arg;
    hl_hold_each_held(&client->core, verify, NULL);
    hl_grant_channels_follow(&client->core);
    hl_lines_retry(&client->core, NULL);
    if (is_failover)
        hl_endings_repeat(&client->core);
}

/* A node can no longer be asked. Each pending request gets its own answer. If the server refused the login, the waiters
 * that sleep ask again now, so that they get the refusal as their answer. */
static void on_node_down(void *client, struct hl_node *node)
{
    struct hl_core *core = &((struct hilock_client *)client)->core;
    hl_groups_node(core, 0);
    if (node->denial.is_on)
        hl_lines_retry(core, node);
}

/* Makes the rest of a client whose host and options are set, and which is zeroed otherwise. */
static hilock_status set_up(struct hilock_client *client, const struct hl_doors *doors, const struct hl_urls *urls,
                            struct hl_text *why)
{
    static const struct hl_route_events events = {on_node_up, on_node_down, on_moved};
    struct hilock_client_options *options = &client->options;
    const struct hl_tls_options tls = {options->tls_ca_file, options->tls_ca_dir, options->tls_cert_file,
                                       options->tls_key_file};
    const char *label = options->label ? options->label : doors->label;
    struct hl_core *core = &client->core;
    if (options->restart_guard_ms == HILOCK_GUARD_OFF)
        options->restart_guard_ms = 0;
    else if (!options->restart_guard_ms && options->quorum_urls)
        options->restart_guard_ms = options->lease_ms;
    core->limits = (struct hl_limits){options->command_timeout_ms, options->waiters_max, options->name_waiters_max,
                                      options->queue_max, options->token_ttl_ms, options->turns_max};
    memcpy(core->uuid, doors->uuid, HL_UUID_LENGTH);
    if (label)
        memcpy(core->label, label, strlen(label)); /* options.c has checked the length */
    core->client = client;
    core->host.arg = client;
    core->host.begin_turn = begin_turn;
    core->host.on_enter = on_enter;
    core->host.on_leave = on_leave;
    core->host.on_trace = hl_observe;
    core->host.stall_us = (uint64_t)options->stall_report_ms * 1000;
    client->links = doors->links;
    if (urls->are_tls) {
        hilock_status status = client->links.secure(&client->links, &core->host.memory, &tls, why);
        if (status != HILOCK_OK)
            return status;
        client->is_secured = 1;
    }
    if (hl_machine_init(core) != 0 ||
        (client->close_timer = hl_timer_new(&core->host, hl_closing_timer, client)) == NULL ||
        hl_alarms_init(&core->groups->alarms, &core->host, hl_group_alarm) != 0 ||
        (core->route = hl_deployment_new(client, urls, &events)) == NULL)
        return HILOCK_NO_MEMORY;
    return HILOCK_OK;
}

static hilock_status check_loop(const struct hilock_loop *loop, struct hl_text *why)
{
    if (loop && loop->size >= offsetof(struct hilock_loop, timer_wake) && loop->now_us && loop->watch_new &&
        loop->watch_set && loop->watch_free && loop->timer_new && loop->timer_start && loop->timer_stop &&
        loop->timer_free && loop->resolve && loop->resolve_cancel)
        return HILOCK_OK;
    return hl_text_refuse(why, HILOCK_INVALID, "%s", hl_words_bad_loop);
}

hilock_status hl_client_open_with(hilock_client **ret_client, const struct hilock_loop *loop,
                                  const struct hl_doors *doors, const struct hilock_client_options *options,
                                  struct hilock_error *ret_error)
{
    struct hilock_client_options settled;
    struct hilock_client *client = NULL;
    struct hilock_loop table = {0};
    struct hl_memory memory;
    struct hl_urls urls = {.count = 0};
    struct hl_text why;
    hilock_status status = ret_client ? check_loop(loop, &why)
                                      : hl_text_refuse(&why, HILOCK_INVALID, "%s", hl_words_no_client_place);
    if (status == HILOCK_OK)
        status = hl_options_read_client(&settled, options, &why);
    if (status == HILOCK_OK) {
        hl_memory_init(&memory, settled.allocator);
        status = hl_deployment_read(&urls, &memory, &settled, &why);
    }
    if (status == HILOCK_OK) {
        status = HILOCK_NO_MEMORY;
        hl_text_set(&why, "%s", hl_words_no_memory_to_open);
        client = hl_memory_new(&memory, sizeof *client);
    }
    if (client) {
        memcpy(&table, loop, loop->size < sizeof table ? loop->size : sizeof table);
        client->options = settled;
        client->core.holds = &client->holds;
        client->core.locks = &client->locks;
        client->core.groups = &client->groups;
        hl_closing_init(&client->closing);
        if (hl_host_init(&client->core.host, &table, &memory, doors->seed) == 0)
            status = set_up(client, doors, &urls, &why);
    }
    while (urls.count)
        hl_url_done(&urls.of[--urls.count], &memory);
    if (status == HILOCK_OK) {
        *ret_client = client;
        client->core.route->ops->start(client->core.route);
        return HILOCK_OK;
    }
    if (client) {
        client->core.host.loop.free_ctx = NULL; /* after a refused open the loop still belongs to the caller */
        destroy(client);
    }
    if (ret_error)
        snprintf(ret_error->text, sizeof ret_error->text, "%s", why.bytes);
    return status;
}

hilock_status hilock_client_adopt(hilock_client *client)
{
    hilock_status status = client ? hl_cell_adopt(client->core.cell) : HILOCK_INVALID;
    if (status == HILOCK_OK)
        hl_host_wake(&client->core.host);
    return status;
}

void hilock_client_abandon(hilock_client *client)
{
    if (!client || hl_cell_admit(client->core.cell) == HILOCK_WRONG_THREAD || client->core.phase == PHASE_GONE)
        return;
    if (client->core.notices.delivery == DELIVERY_RUNNING)
        detach(client);
    else
        destroy(client);
}

hilock_status hilock_client_close(hilock_client *client, uint32_t drain_ms, hilock_closed_fn *on_closed, void *user)
{
    hilock_status status = client ? hl_cell_check_thread(client->core.cell) : HILOCK_INVALID;
    struct hl_text why;
    if (status != HILOCK_OK && status != HILOCK_WRONG_THREAD)
        return status;
    int is_elsewhere = status == HILOCK_WRONG_THREAD; /* another thread touches nothing of the client but `closing` */
    if (drain_ms != HILOCK_FOREVER &&
        hl_options_check_span(drain_ms, "drain_ms", "HILOCK_FOREVER", &why) != HILOCK_OK)
        return is_elsewhere ? HILOCK_INVALID : hl_client_refuse(client, HILOCK_INVALID, why.bytes);
    uint64_t now_us = hl_now_us(&client->core.host);
    uint64_t ends_us = drain_ms == HILOCK_FOREVER ? UINT64_MAX : now_us + (uint64_t)drain_ms * 1000;
    if (is_elsewhere)
        return hl_closing_ask(client, ends_us, on_closed, user);
    if (hl_closing_keep(&client->closing, on_closed, user) != HILOCK_OK)
        return hl_client_refuse(client, HILOCK_IN_USE, hl_words_too_many_closers(HL_CLOSERS_MAX).bytes);
    hl_closing_begin(client, ends_us);
    hl_host_wake(&client->core.host);
    return HILOCK_OK;
}

const char *hilock_client_refusal(const hilock_client *client)
{
    hilock_status status = client ? hl_cell_admit(client->core.cell) : HILOCK_CLOSED;
    if (status == HILOCK_CLOSED)
        return hl_words_client_closed;
    if (status == HILOCK_WRONG_THREAD)
        return hl_words_wrong_thread;
    return status == HILOCK_FORKED ? hl_words_forked : client->refusal.bytes;
}

const char *hilock_client_uuid(const hilock_client *client)
{
    return client && hl_cell_admit(client->core.cell) == HILOCK_OK ? client->core.uuid : "";
}

int hilock_client_is_connected(const hilock_client *client)
{
    const struct hl_core *core = client ? &client->core : NULL;
    return core && hl_cell_admit(core->cell) == HILOCK_OK && core->route->ops->is_up(core->route);
}
