/* SPDX-License-Identifier: BSD-3-Clause */
/* create - makes handles, of one name and of several: checks names and options, and shares what handles have in
 * common. */
#include "base/quote.h"
#include "client/client.h"
#include "client/options.h"
#include "group/multi.h"
#include "group/news.h"
#include "group/quorum.h"
#include "lock/grants.h"
#include "lock/name.h"
#include "lock/plain.h"
#include "lock/terms.h"

static int are_alike(const struct hl_terms *terms, const struct hilock_lock_options *options)
{
    return terms && terms->kind->kind == options->kind && terms->on_lost == options->on_lost &&
           terms->on_event == options->on_event && terms->lease_ms == options->lease_ms &&
           terms->hold_max_ms == options->hold_max_ms && terms->min_validity_ms == options->min_validity_ms &&
           terms->wait_report_ms == options->wait_report_ms &&
           terms->is_renewed == (options->renew == HILOCK_RENEW_AUTO) &&
           terms->is_reentrant == (options->reentrant != 0) &&
           terms->is_polling == (options->wake == HILOCK_WAKE_POLL) && terms->poll_min_ms == options->poll_min_ms &&
           terms->poll_jitter_ms == options->poll_jitter_ms && terms->replicas == options->replicas &&
           terms->replica_timeout_ms == options->replica_timeout_ms;
}

static const struct hl_kind *kind_of(const struct hilock_lock_options *options)
{
    switch (options->kind) {
    case HILOCK_MUTEX: return &hl_queued_mutex;
    case HILOCK_FAIR: return &hl_queued_fair;
    case HILOCK_SIMPLE: return &hl_simple_kind;
    }
    return NULL; /* options.c refuses any other */
}

static void fill_terms(struct hl_terms *terms, struct hilock_client *client, const struct hilock_lock_options *options)
{
    *terms = (struct hl_terms){.refs = 1,
                               .cell = client->core.cell,
                               .kind = kind_of(options),
                               .on_lost = options->on_lost,
                               .on_event = options->on_event,
                               .lease_ms = options->lease_ms,
                               .hold_max_ms = options->hold_max_ms,
                               .min_validity_ms = options->min_validity_ms,
                               .wait_report_ms = options->wait_report_ms,
                               .is_renewed = options->renew == HILOCK_RENEW_AUTO,
                               .is_reentrant = options->reentrant != 0,
                               .is_polling = options->wake == HILOCK_WAKE_POLL,
                               .poll_min_ms = options->poll_min_ms,
                               .poll_jitter_ms = options->poll_jitter_ms,
                               .replicas = (uint8_t)options->replicas,
                               .replica_timeout_ms = options->replica_timeout_ms};
    terms->cell->refs++;
}

static struct hl_terms *terms_of(struct hilock_client *client, const struct hilock_lock_options *options)
{
    struct hl_terms *terms = client->terms;
    if (are_alike(terms, options)) {
        terms->refs++;
        return terms;
    }
    terms = hl_memory_new(&client->core.host.memory, sizeof *terms);
    if (!terms)
        return NULL;
    fill_terms(terms, client, options);
    terms->refs++;
    if (client->terms)
        hl_terms_unref(client->terms);
    client->terms = terms;
    return terms;
}

static struct hilock_lock *lock_new(struct hilock_client *client, struct hl_name *name,
                                    const struct hilock_lock_options *options)
{
    struct hl_core *core = &client->core;
    struct hilock_lock *lock = hl_memory_new(&core->host.memory, sizeof *lock);
    if (!lock)
        return NULL;
    lock->refs = 1;
    lock->user = options->user;
    lock->ops = &hl_plain_ops;
    lock->terms = terms_of(client, options);
    if (lock->terms) {
        lock->name = name;
        lock->name->refs++;
        return lock;
    }
    hl_memory_free(&core->host.memory, lock);
    return NULL;
}

/* For a group's members: their reports go to the group, which reports to the user. */
static struct hl_terms *member_terms(struct hilock_client *client, const struct hilock_lock_options *options,
                                     int is_waiting)
{
    struct hl_terms *terms = hl_memory_new(&client->core.host.memory, sizeof *terms);
    if (!terms)
        return NULL;
    fill_terms(terms, client, options);
    terms->is_internal = 1;
    terms->on_lost = hl_news_lost;
    terms->on_event = hl_news_event;
    terms->is_renewed = is_waiting || terms->is_renewed;
    terms->hold_max_ms = is_waiting ? 0 : terms->hold_max_ms;
    terms->is_unguarded = !is_waiting;
    return terms;
}

static struct hl_group *group_new(struct hilock_client *client, struct hilock_lock *lock,
                                  const struct hl_group_ways *ways, struct hl_name *const *names, unsigned count,
                                  unsigned needed, const struct hilock_lock_options *options)
{
    struct hl_terms *waits = member_terms(client, options, 1), *held = member_terms(client, options, 0);
    struct hl_group *group = waits && held ? hl_group_new(&client->core, lock, ways, names, count, needed, waits, held)
                                           : NULL;
    if (waits)
        hl_terms_unref(waits);
    if (held)
        hl_terms_unref(held);
    return group;
}

static struct hilock_lock *made_of(struct hilock_client *client, struct hl_name *const *names, unsigned count,
                                   const struct hilock_lock_options *options)
{
    const struct hl_route *route = client->core.route;
    struct hilock_lock *lock = lock_new(client, names[0], options);
    if (!lock)
        return NULL;
    lock->group = group_new(client, lock, route->masters ? &hl_quorum_ways : &hl_multi_ways, names, count,
                            route->masters ? route->needed : count, options);
    if (lock->group) {
        lock->ops = &hl_group_ops;
        return lock;
    }
    hl_lock_unref(lock);
    return NULL;
}

static hilock_status check_name(struct hilock_client *client, const char *name, size_t length)
{
    if (length == 0 || length > HILOCK_NAME_MAX - client->prefix_length)
        return hl_client_refuse(client, HILOCK_BAD_NAME, "bad name of %zu bytes: must be 1..%u with the prefix",
                                length ? client->prefix_length + length : 0, HILOCK_NAME_MAX);
    (void)name;
    return HILOCK_OK;
}

static hilock_status check_keys(struct hilock_client *client, const char *name, size_t length)
{
    if (hl_key_is_reserved(name, length))
        return hl_client_refuse(
            client, HILOCK_BAD_NAME,
            "bad name \"%s\": \"hilock:\" and \"redisson_lock\" begin keys that stand beside other locks; "
            "begin it otherwise",
            hl_quote(name, length).bytes);
    if (hl_key_has_good_braces(name, length))
        return HILOCK_OK;
    return hl_client_refuse(
        client, HILOCK_BAD_NAME,
        "bad name \"%s\": no braces at all, or the first '{' opens a non-empty {...}; else its keys fall into "
        "different hash slots",
        hl_quote(name, length).bytes);
}

/* Without this the first waiter would begin it, and its first sleep would wait for the connection. Clients whose
 * handles all poll need none. */
static void warm_subscription(struct hl_core *core, const struct hl_name *name)
{
    hl_subscription_start(&hl_name_node(core, name)->subscription);
}

static hilock_status read_options(struct hilock_client *client, struct hilock_lock_options *to,
                                  const struct hilock_lock_options *given)
{
    struct hl_text why;
    hilock_status status = hl_options_read_lock(to, given, client->lease_ms, &why);
    if (status == HILOCK_OK && hl_options_void_guard(to->lease_ms, client->restart_guard_ms, &why))
        status = HILOCK_INVALID;
    if (status == HILOCK_OK && client->core.route->masters && to->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED,
                                "kind FAIR on a quorum: n masters have no common queue; use MUTEX or SIMPLE");
    if (status == HILOCK_OK && client->core.route->masters && to->replicas)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED,
                                "replicas on a quorum: its masters vote instead of replicas; leave it 0");
    return status == HILOCK_OK ? status : hl_client_refuse(client, status, "%s", why.bytes);
}

/* With the client's prefix; referenced. */
static hilock_status read_name(struct hilock_client *client, struct hl_name **ret_name, const char *name, size_t length,
                               unsigned master)
{
    char full[HILOCK_NAME_MAX];
    hilock_status status = check_name(client, name, length);
    if (status != HILOCK_OK)
        return status;
    memcpy(full, client->prefix, client->prefix_length);
    memcpy(full + client->prefix_length, name, length);
    length += client->prefix_length;
    status = check_keys(client, full, length);
    if (status != HILOCK_OK)
        return status;
    *ret_name = hl_name_ref(&client->core, full, length, master);
    return *ret_name ? HILOCK_OK : hl_client_refuse(client, HILOCK_NO_MEMORY, "out of memory for a lock");
}

static hilock_status make(hilock_lock **ret_lock, struct hilock_client *client, struct hl_name *const *names,
                          unsigned count, const struct hilock_lock_options *options)
{
    *ret_lock = count > 1 ? made_of(client, names, count, options) : lock_new(client, names[0], options);
    if (!*ret_lock)
        return hl_client_refuse(client, HILOCK_NO_MEMORY, "out of memory for a lock");
    client->core.locks++;
    for (unsigned i = 0; options->wake == HILOCK_WAKE_SUBSCRIBE && i < count; i++)
        warm_subscription(&client->core, names[i]);
    if (options->kind == HILOCK_FAIR)
        hl_grants_warm(&client->core, *ret_lock);
    return HILOCK_OK;
}

static hilock_status create(hilock_lock **ret_lock, struct hilock_client *client, const char *text,
                            const struct hilock_lock_options *given)
{
    struct hilock_lock_options options;
    struct hl_name *names[HL_MASTERS_MAX];
    unsigned masters = client->core.route->masters, count = 0;
    hilock_status status = read_options(client, &options, given);
    size_t length = status != HILOCK_OK || !options.name_length ? strlen(text) : options.name_length;
    while (status == HILOCK_OK && count < (masters ? masters : 1)) {
        status = read_name(client, &names[count], text, length, count);
        count += status == HILOCK_OK;
    }
    if (status == HILOCK_OK)
        status = make(ret_lock, client, names, count, &options);
    while (count)
        hl_name_unref(&client->core, &client->core.host.memory, names[--count]);
    return status;
}

enum { MULTI_MAX = 64 };

/* A name given twice is the same object. */
static hilock_status check_twice(struct hilock_client *client, struct hl_name *const *names, unsigned count)
{
    for (unsigned i = 0; i + 1 < count; i++)
        if (names[i] == names[count - 1])
            return hl_client_refuse(client, HILOCK_INVALID,
                                    "bad names: \"%s\" is given twice, as number %u and number %u; give each name once",
                                    hl_quote(names[i]->bytes, names[i]->length).bytes, i + 1, count);
    return HILOCK_OK;
}

static hilock_status check_multi(struct hilock_client *client, const char *const *names,
                                 const struct hilock_lock_options *options)
{
    unsigned count = 0;
    while (count <= MULTI_MAX && names[count])
        count++;
    if (count < 2 || count > MULTI_MAX)
        return hl_client_refuse(
            client, HILOCK_INVALID,
            "bad names: %s%u given, must be 2..%d and end with NULL; for one name use hilock_lock_create",
            count > MULTI_MAX ? "at least " : "", count, MULTI_MAX);
    if (client->core.route->masters)
        return hl_client_refuse(
            client, HILOCK_UNSUPPORTED,
            "a multi on a quorum: each of its names would need votes of its own; take one name for all of it");
    if (options->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "kind FAIR of several names: a multi is MUTEX or SIMPLE");
    if (options->reentrant)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "a multi is not reentrant: leave reentrant 0");
    if (options->name_length)
        return hl_client_refuse(client, HILOCK_INVALID,
                                "bad name_length %zu: the names of a multi end with a zero byte, leave it 0",
                                options->name_length);
    return HILOCK_OK;
}

static hilock_status create_multi(hilock_lock **ret_lock, struct hilock_client *client, const char *const *texts,
                                  const struct hilock_lock_options *given)
{
    struct hilock_lock_options options;
    struct hl_name *names[MULTI_MAX];
    unsigned count = 0;
    hilock_status status = read_options(client, &options, given);
    if (status == HILOCK_OK)
        status = check_multi(client, texts, &options);
    for (unsigned i = 0; status == HILOCK_OK && texts[i]; i++) {
        status = read_name(client, &names[i], texts[i], strlen(texts[i]), 0);
        if (status == HILOCK_OK)
            status = check_twice(client, names, ++count);
    }
    if (status == HILOCK_OK)
        status = make(ret_lock, client, names, count, &options);
    while (count)
        hl_name_unref(&client->core, &client->core.host.memory, names[--count]);
    return status;
}

hilock_status hilock_multi_create(hilock_lock **ret_lock, hilock_client *client, const char *const *names,
                                  const struct hilock_lock_options *options)
{
    hilock_status status = client ? hl_client_admit(client) : HILOCK_INVALID;
    if (status != HILOCK_OK)
        return status;
    if (!ret_lock || !names)
        return hl_client_refuse(client, HILOCK_INVALID,
                                ret_lock ? "names is NULL: give 2..64 names and a NULL"
                                         : "ret_lock is NULL: give a place for the lock");
    if (client->core.is_closing)
        return hl_client_refuse(client, HILOCK_CLOSED,
                                "the client is closing: no new locks; open another client for them");
    return create_multi(ret_lock, client, names, options);
}

hilock_status hilock_lock_create(hilock_lock **ret_lock, hilock_client *client, const char *name,
                                 const struct hilock_lock_options *options)
{
    hilock_status status = client ? hl_client_admit(client) : HILOCK_INVALID;
    if (status != HILOCK_OK)
        return status;
    if (!ret_lock || !name)
        return hl_client_refuse(client, HILOCK_INVALID,
                                ret_lock ? "name is NULL: give the lock's name"
                                         : "ret_lock is NULL: give a place for the lock");
    if (client->core.is_closing)
        return hl_client_refuse(client, HILOCK_CLOSED,
                                "the client is closing: no new locks; open another client for them");
    return create(ret_lock, client, name, options);
}
