/* SPDX-License-Identifier: BSD-3-Clause */
/* names - see names.h. The names are found by SCAN, which does not block the server. A name that comes or goes
 * during the scan may be in the list or not. */
#include "names.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 100000 };

struct search {
    struct names *names;
    const char *type;
    char *pattern;
    int has_failed;
};

int names_add(struct names *names, const char *name)
{
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 64;
        char **all = reallocarray(names->all, room, sizeof *all);
        if (!all)
            return -1;
        names->all = all;
        names->room = room;
    }
    names->all[names->count] = strdup(name);
    return names->all[names->count] ? (names->count++, 0) : -1;
}

void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->all[i]);
    free(names->all);
    *names = (struct names){0};
}

/* Escapes the characters that SCAN treats as wildcards. */
static char *pattern_of(const char *prefix)
{
    char *pattern = malloc(2 * strlen(prefix) + 2), *to = pattern;
    for (const char *c = prefix; pattern && *c; c++) {
        if (strchr("*?[]\\^", *c))
            *to++ = '\\';
        *to++ = *c;
    }
    if (pattern)
        memcpy(to, "*", 2);
    return pattern;
}

/* Skips the keys that locks keep beside their names. */
static int is_name(const redisReply *key)
{
    return key->type == REDIS_REPLY_STRING && strlen(key->str) == (size_t)key->len &&
           strncmp(key->str, "hilock:", 7) != 0 && strncmp(key->str, "redisson_lock", 13) != 0;
}

static int take(struct search *search, const redisReply *keys)
{
    for (size_t i = 0; i < keys->elements; i++)
        if (is_name(keys->element[i]) &&
            (search->names->count == NAMES_MAX || names_add(search->names, keys->element[i]->str) != 0))
            return -1;
    return 0;
}

static int scan(struct store *store, void *arg)
{
    struct search *search = arg;
    char cursor[24] = "0";
    do {
        redisReply *reply = store_ask(store, "SCAN %s MATCH %s COUNT 1000 TYPE %s", cursor, search->pattern,
                                      search->type);
        int is_good = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                      reply->element[1]->type == REDIS_REPLY_ARRAY;
        if (reply && !is_good)
            snprintf(store->error, sizeof store->error,
                     "%.150s: SCAN is refused: %.100s; --prefix needs the right to it", store->place,
                     reply->type == REDIS_REPLY_ERROR ? reply->str : "a wrong answer");
        search->has_failed = !is_good || take(search, reply->element[1]) != 0;
        snprintf(cursor, sizeof cursor, "%.20s", is_good ? reply->element[0]->str : "0");
        if (reply)
            freeReplyObject(reply);
    } while (strcmp(cursor, "0") != 0 && !search->has_failed);
    return search->has_failed;
}

static int in_order(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* SCAN may return a name twice. */
static void drop_twins(struct names *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++)
        if (kept && strcmp(names->all[kept - 1], names->all[i]) == 0)
            free(names->all[i]);
        else
            names->all[kept++] = names->all[i];
    names->count = kept;
}

int names_find(struct names *ret, struct store *store, const char *prefix, const char *type)
{
    struct search search = {.names = ret, .type = type, .pattern = pattern_of(prefix)};
    *ret = (struct names){0};
    int status = search.pattern ? store_each_master(store, scan, &search) : -1;
    free(search.pattern);
    if (ret->count)
        qsort(ret->all, ret->count, sizeof *ret->all, in_order);
    drop_twins(ret);
    return status == 0 && !search.has_failed ? 0 : -1;
}
