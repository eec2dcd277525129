/* SPDX-License-Identifier: BSD-3-Clause */
/* create - makes handles, of one name and of several: checks names and options, and shares what handles have in
 * common. */
#include "client/client.h"
#include "client/options.h"
#include "group/group.h"
#include "lock/machine.h"
#include "wait/grant_channel.h"

enum { MULTI_MAX = 64 };

/* A reference to those of the handle made last, if they are alike. */
static struct hl_terms *terms_of(struct hilock_client *client, const struct hilock_lock_options *options)
{
    static const struct hl_kind *const kinds[] = {[HILOCK_MUTEX] = &hl_queued_mutex, [HILOCK_FAIR] = &hl_queued_fair,
                                                  [HILOCK_SIMPLE] = &hl_simple_kind}; /* options.c refuses any other */
    struct hl_terms wanted, *terms = client->terms;
    memset(&wanted, 0, sizeof wanted); /* so that equal options give equal bytes */
    wanted.refs = terms ? terms->refs : 0;
    wanted.cell = client->core.cell;
    wanted.kind = kinds[options->kind];
    wanted.on_lost = options->on_lost;
    wanted.on_event = options->on_event;
    wanted.lease_ms = options->lease_ms;
    wanted.hold_max_ms = options->hold_max_ms;
    wanted.min_validity_ms = options->min_validity_ms;
    wanted.wait_report_ms = options->wait_report_ms;
    wanted.is_renewed = options->renew == HILOCK_RENEW_AUTO;
    wanted.is_reentrant = options->reentrant != 0;
    wanted.is_polling = options->wake == HILOCK_WAKE_POLL;
    wanted.poll_min_ms = options->poll_min_ms;
    wanted.poll_jitter_ms = options->poll_jitter_ms;
    wanted.replicas = (uint8_t)options->replicas;
    wanted.replica_timeout_ms = options->replica_timeout_ms;
    if (!terms || memcmp(terms, &wanted, sizeof wanted) != 0) {
        terms = hl_memory_new(&client->core.host.memory, sizeof *terms);
        if (!terms)
            return NULL;
        memcpy(terms, &wanted, sizeof wanted);
        terms->refs = 1;
        hl_cell_ref(terms->cell);
        if (client->terms)
            hl_terms_unref(client->terms);
        client->terms = terms;
    }
    terms->refs++;
    return terms;
}

/* Subscribes early: else the first waiter would, and its first sleep would wait for the connection. Clients whose
 * handles all poll need none. NULL: no memory. */
static struct hilock_lock *lock_new(struct hilock_client *client, struct hl_name *const *names, unsigned count,
                                    const struct hilock_lock_options *options)
{
    struct hl_core *core = &client->core;
    struct hilock_lock *lock = hl_memory_new(&core->host.memory, sizeof *lock);
    struct hl_terms *terms = lock ? terms_of(client, options) : NULL;
    if (!terms) {
        hl_memory_free(&core->host.memory, lock);
        return NULL;
    }
    *lock = (struct hilock_lock){.refs = 1, .ops = &hl_machine_ops, .terms = terms, .user = options->user,
                                 .name = names[0]};
    names[0]->refs++;
    TAILQ_INSERT_TAIL(&core->handles, lock, entry);
    if (count > 1 && hl_group_new(core, lock, core->route->masters ? &hl_quorum_strategy : &hl_multi_strategy, names,
                                  count, core->route->masters ? core->route->needed : count) != 0) {
        hl_lock_unref(lock);
        return NULL;
    }
    core->locks++;
    for (unsigned i = 0; options->wake == HILOCK_WAKE_SUBSCRIBE && i < count; i++)
        hl_subscription_start(&hl_name_node(core, names[i])->subscription);
    if (options->kind == HILOCK_FAIR)
        hl_grant_channel_open_early(core, lock);
    return lock;
}

/* With the client's prefix; referenced. A name given twice is the same object. */
static hilock_status add_name(struct hilock_client *client, struct hl_name **names, unsigned *count, const char *name,
                              size_t length, unsigned master)
{
    char full[HILOCK_NAME_MAX];
    size_t prefix_length = strlen(client->options.name_prefix);
    if (length == 0 || length > HILOCK_NAME_MAX - prefix_length)
        return hl_client_refuse(client, HILOCK_BAD_NAME, "bad name of %zu bytes: must be 1..%u with the prefix",
                                length ? prefix_length + length : 0, HILOCK_NAME_MAX);
    memcpy(full, client->options.name_prefix, prefix_length);
    memcpy(full + prefix_length, name, length);
    length += prefix_length;
    if (hl_key_is_reserved(full, length))
        return hl_client_refuse(client, HILOCK_BAD_NAME,
            "bad name \"%s\": \"hilock:\" and \"redisson_lock\" begin keys that stand beside other locks; "
            "begin it otherwise", hl_text_quote(full, length).bytes);
    if (!hl_key_has_good_braces(full, length))
        return hl_client_refuse(client, HILOCK_BAD_NAME,
            "bad name \"%s\": no braces at all, or the first '{' opens a non-empty {...}; else its keys fall into "
            "different hash slots", hl_text_quote(full, length).bytes);
    struct hl_name *added = hl_name_ref(&client->core, full, length, master);
    if (!added)
        return HILOCK_NO_MEMORY;
    names[(*count)++] = added;
    for (unsigned i = 0; i < *count - 1; i++)
        if (names[i] == added)
            return hl_client_refuse(client, HILOCK_BAD_NAME,
                                    "bad names: \"%s\" is given twice, as number %u and number %u; give each name once",
                                    hl_name_quoted(added).bytes, i + 1, *count);
    return HILOCK_OK;
}

static hilock_status read_options(struct hilock_client *client, struct hilock_lock_options *to,
                                  const struct hilock_lock_options *given, int is_multi, unsigned count)
{
    unsigned masters = client->core.route->masters;
    struct hl_text why;
    hilock_status status = hl_options_read_lock(to, given, &client->options, &why);
    if (status != HILOCK_OK)
        return hl_client_refuse(client, status, "%s", why.bytes);
    if (masters && to->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED,
                                "kind FAIR on a quorum: n masters have no common queue; use MUTEX or SIMPLE");
    if (masters && to->replicas)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED,
                                "replicas on a quorum: its masters vote instead of replicas; leave it 0");
    if (!is_multi)
        return HILOCK_OK;
    if (count < 2 || count > MULTI_MAX)
        return hl_client_refuse(client, HILOCK_INVALID,
            "bad names: %s%u given, must be 2..%d and end with NULL; for one name use hilock_lock_create",
            count > MULTI_MAX ? "at least " : "", count, MULTI_MAX);
    if (masters)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED,
            "a multi on a quorum: each of its names would need votes of its own; take one name for all of it");
    if (to->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "kind FAIR of several names: a multi is MUTEX or SIMPLE");
    if (to->reentrant)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, "a multi is not reentrant: leave reentrant 0");
    if (to->name_length)
        return hl_client_refuse(client, HILOCK_INVALID,
            "bad name_length %zu: the names of a multi end with a zero byte, leave it 0", to->name_length);
    return HILOCK_OK;
}

/* Of a multi each text is a member; else there is one text, and a member for each master of a quorum. */
static hilock_status create(hilock_lock **ret_lock, struct hilock_client *client, const char *const *texts,
                            int is_multi, const struct hilock_lock_options *given)
{
    struct hilock_lock_options options;
    struct hl_name *names[MULTI_MAX];
    unsigned masters = client->core.route->masters, count = 0, wanted = is_multi ? 0 : masters ? masters : 1;
    while (is_multi && wanted <= MULTI_MAX && texts[wanted])
        wanted++;
    hilock_status status = read_options(client, &options, given, is_multi, wanted);
    while (status == HILOCK_OK && count < wanted) {
        const char *text = texts[is_multi ? count : 0];
        status = add_name(client, names, &count, text, options.name_length ? options.name_length : strlen(text),
                          is_multi ? 0 : count);
    }
    if (status == HILOCK_OK) {
        *ret_lock = lock_new(client, names, count, &options);
        status = *ret_lock ? HILOCK_OK : HILOCK_NO_MEMORY;
    }
    while (count)
        hl_name_unref(&client->core, &client->core.host.memory, names[--count]);
    return status == HILOCK_NO_MEMORY ? hl_client_refuse(client, status, "out of memory for a lock") : status;
}

static hilock_status admit(hilock_client *client, hilock_lock **ret_lock, const void *names, const char *without_names)
{
    hilock_status status = client ? hl_cell_admit(client->core.cell) : HILOCK_INVALID;
    if (status == HILOCK_OK && (!ret_lock || !names))
        return hl_client_refuse(client, HILOCK_INVALID, "%s",
                                ret_lock ? without_names : "ret_lock is NULL: give a place for the lock");
    return status == HILOCK_OK ? hl_client_admit_new(client, "locks") : status;
}

hilock_status hilock_multi_create(hilock_lock **ret_lock, hilock_client *client, const char *const *names,
                                  const struct hilock_lock_options *options)
{
    hilock_status status = admit(client, ret_lock, names, "names is NULL: give 2..64 names and a NULL");
    return status == HILOCK_OK ? create(ret_lock, client, names, 1, options) : status;
}

hilock_status hilock_lock_create(hilock_lock **ret_lock, hilock_client *client, const char *name,
                                 const struct hilock_lock_options *options)
{
    hilock_status status = admit(client, ret_lock, name, "name is NULL: give the lock's name");
    return status == HILOCK_OK ? create(ret_lock, client, &name, 0, options) : status;
}
