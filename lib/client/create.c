/* SPDX-License-Identifier: BSD-3-Clause */
/* create - makes handles of one name and of several. It checks the names and the options, and lets handles with equal
 * options share them. */
#include "client/client.h"
#include "client/options.h"
#include "client/words.h"
#include "group/group.h"
#include "lock/grant_channel.h"
#include "lock/machine.h"

enum { MULTI_MAX = 64 };

/* Returns a reference to the terms of the latest handle if the options give equal ones, else to new terms. NULL: no
 * memory. */
static struct hl_terms *terms_of(struct hilock_client *client, const struct hilock_lock_options *options)
{
    static const struct hl_kind *const alone[] = {[HILOCK_MUTEX] = &hl_queued_mutex, [HILOCK_FAIR] = &hl_queued_fair,
                                                  [HILOCK_SIMPLE] = &hl_simple_kind}; /* options.c refuses any other */
    struct hl_terms wanted, *terms = client->terms;
    memset(&wanted, 0, sizeof wanted); /* zeroes the padding, too, so that equal options give equal bytes */
    wanted.refs = terms ? terms->refs : 0;
    wanted.cell = client->core.cell;
    wanted.kind = alone[options->kind];
    if (options->holders_max > 1)
        wanted.kind = wanted.kind->sharing;
    wanted.holders_max = options->holders_max;
    wanted.share_local_ms = options->share_local_ms;
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

/* Makes a handle, and subscribes early: otherwise the first waiter would have to, and its first sleep would wait for
 * that connection. A client whose handles all poll needs no such connection. NULL: no memory. */
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
    client->handles++;
    for (unsigned i = 0; options->wake == HILOCK_WAKE_SUBSCRIBE && i < count; i++)
        hl_subscriptions_start(&hl_name_node(core, names[i])->subscriptions);
    if (hl_has_own_place(terms))
        hl_grant_channel_open_early(core, lock);
    return lock;
}

/* Adds the name, with the client's prefix before it, to `names`, which then owns a reference to it. A name that is
 * given twice is found because both are the same object. */
static hilock_status add_name(struct hilock_client *client, struct hl_name **names, unsigned *count, const char *name,
                              size_t length, unsigned master)
{
    char full[HILOCK_NAME_MAX];
    size_t prefix_length = strlen(client->options.name_prefix);
    if (length == 0 || length > HILOCK_NAME_MAX - prefix_length)
        return hl_client_refuse(client, HILOCK_BAD_NAME,
            hl_words_bad_name_length(length ? prefix_length + length : 0, HILOCK_NAME_MAX).bytes);
    memcpy(full, client->options.name_prefix, prefix_length);
    memcpy(full + prefix_length, name, length);
    length += prefix_length;
    if (hl_key_is_reserved(full, length))
        return hl_client_refuse(client, HILOCK_BAD_NAME,
                                hl_words_reserved_name(hl_text_quote(full, length).bytes).bytes);
    if (!hl_key_has_good_braces(full, length))
        return hl_client_refuse(client, HILOCK_BAD_NAME, hl_words_bad_braces(hl_text_quote(full, length).bytes).bytes);
    struct hl_name *added = hl_name_ref(&client->core, full, length, master);
    if (!added)
        return HILOCK_NO_MEMORY;
    names[(*count)++] = added;
    for (unsigned i = 0; i < *count - 1; i++)
        if (names[i] == added)
            return hl_client_refuse(client, HILOCK_BAD_NAME,
                                    hl_words_name_twice(hl_name_quoted(added).bytes, i + 1, *count).bytes);
    return HILOCK_OK;
}

static hilock_status read_options(struct hilock_client *client, struct hilock_lock_options *to,
                                  const struct hilock_lock_options *given, int is_multi, unsigned count)
{
    unsigned masters = client->core.route->masters;
    struct hl_text why;
    hilock_status status = hl_options_read_lock(to, given, &client->options, &why);
    if (status != HILOCK_OK)
        return hl_client_refuse(client, status, why.bytes);
    if (masters && to->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_fair_on_quorum);
    if (masters && to->holders_max > 1)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_share_on_quorum);
    if (masters && to->replicas)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_replicas_on_quorum);
    if (!is_multi)
        return HILOCK_OK;
    if (count < 2 || count > MULTI_MAX)
        return hl_client_refuse(client, HILOCK_INVALID, hl_words_bad_name_count(count, MULTI_MAX).bytes);
    if (masters)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_multi_on_quorum);
    if (to->kind == HILOCK_FAIR)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_fair_multi);
    if (to->holders_max > 1)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_share_multi);
    if (to->reentrant)
        return hl_client_refuse(client, HILOCK_UNSUPPORTED, hl_words_reentrant_multi);
    if (to->name_length)
        return hl_client_refuse(client, HILOCK_INVALID, hl_words_multi_name_length(to->name_length).bytes);
    return HILOCK_OK;
}

/* Makes a handle from user's names: each text of a multi is one member. Otherwise there is one text, and a quorum has a
 * member for each of its masters. */
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
    return status == HILOCK_NO_MEMORY ? hl_client_refuse(client, status, hl_words_no_memory_for_lock) : status;
}

static hilock_status admit(hilock_client *client, hilock_lock **ret_lock, const void *names, const char *without_names)
{
    hilock_status status = client ? hl_cell_admit(client->core.cell) : HILOCK_INVALID;
    if (ret_lock)
        *ret_lock = NULL; /* so that a caller may free the lock whatever the answer was */
    if (status == HILOCK_OK && (!ret_lock || !names))
        return hl_client_refuse(client, HILOCK_INVALID, ret_lock ? without_names : hl_words_no_lock_place);
    return status == HILOCK_OK ? hl_client_admit_new(client, "locks") : status;
}

hilock_status hilock_multi_create(hilock_lock **ret_lock, hilock_client *client, const char *const *names,
                                  const struct hilock_lock_options *options)
{
    hilock_status status = admit(client, ret_lock, names, hl_words_no_names);
    return status == HILOCK_OK ? create(ret_lock, client, names, 1, options) : status;
}

hilock_status hilock_lock_create(hilock_lock **ret_lock, hilock_client *client, const char *name,
                                 const struct hilock_lock_options *options)
{
    hilock_status status = admit(client, ret_lock, name, hl_words_no_name);
    return status == HILOCK_OK ? create(ret_lock, client, &name, 0, options) : status;
}
