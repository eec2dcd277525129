/* SPDX-License-Identifier: BSD-3-Clause */
/* look - see look.h. The holder is asked for through the library, in any deployment. The age of the hold is asked
 * for at the server directly, and is left out if there is no answer.
 *
 * A fencing token is at least the server's time at the grant, in microseconds (lib/wire), so the token shows the age
 * of the hold. */
#include "look.h"
#include "codes.h"
#include "names.h"
#include "say.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN_OF_TIME UINT64_C(1000000000000000) /* a time in the year 2001; a lower number is no time */

struct peeking {
    struct session *session;
    struct looks *looks;
    size_t left;
};

struct one { /* a peek under way */
    struct peeking *peeking;
    struct look *look;
    hilock_lock *lock;
    int may_be_simple;
};

/* ---- questions through the library ---- */

static int ask(struct one *one, hilock_kind kind);

static void end_one(struct one *one)
{
    struct peeking *peeking = one->peeking;
    hilock_lock_free(one->lock);
    free(one);
    if (--peeking->left == 0)
        session_leave(peeking->session);
}

static void on_holder(const struct hilock_holder_info *info, void *user)
{
    struct look *look = ((struct one *)user)->look;
    struct look_holder *all = realloc(look->all, (look->listed + 1) * sizeof *all);
    if (!all)
        return;
    look->all = all;
    all += look->listed;
    *all = (struct look_holder){.id = strdup(info->holder), .token = info->fencing_token,
                                .remaining_ms = info->remaining_ms};
    snprintf(all->who, sizeof all->who, "%s", info->holder_label);
    look->listed += all->id != NULL;
}

static void on_peeked(const struct hilock_result *result, void *user)
{
    struct one *one = user;
    struct look *look = one->look;
    if (result->status == HILOCK_WRONG_KIND && one->may_be_simple) {
        hilock_lock_free(one->lock);
        one->may_be_simple = 0;
        if (ask(one, HILOCK_SIMPLE) == 0)
            return;
        one->lock = NULL;
    }
    look->status = result->status;
    look->holder = strdup(result->holder ? result->holder : "");
    snprintf(look->who, sizeof look->who, "%s", result->holder_label);
    look->holders = result->holders;
    look->remaining_ms = result->holder_remaining_ms;
    look->waiters = result->waiters;
    look->ready = result->waiters_ready;
    snprintf(look->detail, sizeof look->detail, "%s", result->detail);
    end_one(one);
}

static int ask(struct one *one, hilock_kind kind)
{
    hilock_client *client = one->peeking->session->client;
    one->look->kind = kind;
    one->look->status = hilock_lock_create(&one->lock, client, one->look->name,
                                           HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .kind = kind));
    if (one->look->status == HILOCK_OK)
        one->look->status = hilock_holders(one->lock, on_holder, on_peeked, one);
    if (one->look->status == HILOCK_UNSUPPORTED) /* a quorum */
        one->look->status = hilock_peek(one->lock, on_peeked, one);
    return one->look->status == HILOCK_OK ? 0 : -1;
}

static int begin_one(struct peeking *peeking, struct look *look, hilock_kind kind)
{
    struct one *one = calloc(1, sizeof *one);
    if (!one)
        return EX_OSERR;
    *one = (struct one){.peeking = peeking, .look = look, .may_be_simple = kind != HILOCK_SIMPLE};
    peeking->left++;
    if (ask(one, kind) == 0)
        return 0;
    peeking->left--;
    hilock_lock_free(one->lock);
    free(one);
    return code_of(look->status);
}

static int peek_all(struct looks *looks, struct session *session, hilock_kind kind)
{
    struct peeking peeking = {.session = session, .looks = looks};
    int code = 0;
    for (size_t i = 0; code == 0 && i < looks->count; i++)
        code = begin_one(&peeking, &looks->all[i], kind);
    if (peeking.left)
        session_turn(session);
    for (size_t i = 0; code == 0 && i < looks->count; i++)
        if (looks->all[i].status != HILOCK_OK)
            looks->code = code_of(looks->all[i].status);
    return code;
}

/* ---- questions to the server directly ---- */

static uint64_t time_of(struct store *store)
{
    redisReply *reply = store_ask(store, "TIME");
    int is_time = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2;
    uint64_t time_us = is_time ? strtoull(reply->element[0]->str, NULL, 10) * 1000000 +
                                     strtoull(reply->element[1]->str, NULL, 10)
                               : 0;
    if (reply)
        freeReplyObject(reply);
    return time_us;
}

static void find_since(struct store *store, struct look *look)
{
    const char *words[] = {"HGET", look->name, look->holder};
    if (look->kind == HILOCK_SIMPLE || !look->holder || !*look->holder)
        return;
    redisReply *reply = store_ask_about(store, 3, words);
    uint64_t token = reply && reply->type == REDIS_REPLY_STRING ? strtoull(reply->str, NULL, 10) : 0,
             now_us = time_of(store);
    if (reply)
        freeReplyObject(reply);
    if (token < TOKEN_OF_TIME)
        return;
    look->token = token;
    look->since_ms = now_us > token ? (now_us - token) / 1000 : 0;
}

/* ---- both together ---- */

static int begin(struct looks *looks, const struct options *options, struct store *store)
{
    struct names names = {0};
    int code = 0;
    if (options->prefix &&
        names_find(&names, store, options->prefix, options->kind == HILOCK_SIMPLE ? "string" : "hash") != 0) {
        say("%s", store->error);
        code = EX_UNAVAILABLE;
    }
    for (size_t i = 0; code == 0 && i < options->names_count; i++)
        code = names_add(&names, options->names[i]) == 0 ? 0 : EX_OSERR;
    looks->all = calloc(names.count + 1, sizeof *looks->all);
    for (size_t i = 0; looks->all && code == 0 && i < names.count; i++) {
        looks->all[looks->count++].name = names.all[i];
        names.all[i] = NULL;
    }
    names_free(&names);
    return looks->all ? code : EX_OSERR;
}

/* With --prefix: leaves out names that were released meanwhile, and keys of other programs. */
static void leave_out(struct looks *looks)
{
    size_t kept = 0;
    for (size_t i = 0; i < looks->count; i++) {
        struct look *look = &looks->all[i];
        int is_lock = look->status != HILOCK_WRONG_KIND &&
                      (look->status != HILOCK_OK || (look->holder && *look->holder));
        if (is_lock) {
            looks->all[kept++] = *look;
            continue;
        }
        look_free(look);
    }
    looks->count = kept;
}

int looks_take(struct looks *ret, struct session *session, const struct options *options)
{
    struct store store;
    *ret = (struct looks){0};
    if (store_open(&store, options->url) != 0)
        ret->lacks = "since when is not known: the server cannot be asked past the library";
    int code = begin(ret, options, &store);
    if (code == 0)
        code = peek_all(ret, session, options->kind);
    for (size_t i = 0; code == 0 && store.context && i < ret->count; i++)
        find_since(&store, &ret->all[i]);
    store_close(&store);
    if (options->prefix && code == 0)
        leave_out(ret);
    if (options->prefix && code == 0)
        ret->code = 0;
    return code;
}

void look_free(struct look *look)
{
    for (size_t i = 0; i < look->listed; i++)
        free(look->all[i].id);
    free(look->all);
    free(look->name);
    free(look->holder);
}

void looks_free(struct looks *looks)
{
    for (size_t i = 0; i < looks->count; i++)
        look_free(&looks->all[i]);
    free(looks->all);
    *looks = (struct looks){0};
}

/* ---- as JSON ---- */

static void json_known(struct json *json, const char *key, const char *text)
{
    if (text && *text)
        json_text(json, key, text);
    else
        json_null(json, key);
}

static void json_left(struct json *json, uint32_t remaining_ms)
{
    if (remaining_ms == HILOCK_FOREVER)
        json_null(json, "remaining_ms");
    else
        json_count(json, "remaining_ms", remaining_ms);
}

static void json_holders(struct json *json, const struct look *look)
{
    json_open(json, "all_holders", '[');
    for (size_t i = 0; i < look->listed; i++) {
        json_open(json, NULL, '{');
        json_text(json, "holder", look->all[i].id);
        json_known(json, "who", look->all[i].who);
        json_count(json, "token", look->all[i].token);
        json_left(json, look->all[i].remaining_ms);
        json_shut(json, '}');
    }
    json_shut(json, ']');
}

void look_json(struct json *json, const struct look *look)
{
    static const char *const kinds[] = {[HILOCK_MUTEX] = "mutex", [HILOCK_FAIR] = "fair", [HILOCK_SIMPLE] = "simple"};
    int is_held = look->status == HILOCK_OK && look->holder && *look->holder;
    json_open(json, NULL, '{');
    json_text(json, "name", look->name);
    json_text(json, "state", look->status != HILOCK_OK ? "unknown" : is_held ? "held" : "free");
    json_text(json, "status", hilock_status_name(look->status));
    json_text(json, "layout", kinds[look->kind]);
    json_known(json, "holder", look->holder);
    json_known(json, "who", look->who);
    json_count(json, "holders", look->holders);
    if (look->token) {
        json_count(json, "token", look->token);
        json_count(json, "held_ms", look->since_ms);
    }
    json_left(json, is_held ? look->remaining_ms : 0);
    json_holders(json, look);
    json_count(json, "waiters", look->waiters);
    json_count(json, "waiters_ready", look->ready);
    json_text(json, "detail", look->detail);
    if (advice_of(look->status))
        json_text(json, "to_do", advice_of(look->status));
    json_shut(json, '}');
}
