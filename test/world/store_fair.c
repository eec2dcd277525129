/* SPDX-License-Identifier: BSD-3-Clause */
/* store_fair - the scripts of kind FAIR as a model in C, line by line as in lib/wire/ (their .lua files tell arguments and answers). The queue is
 * kept in the order of its tickets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/store.h"

enum { NAME = 1, QUEUE, WAITERS, TOKEN, HOLDER }; /* words of a script: numkeys, the keys, the arguments */
enum { ENTRY_MAX = 256, PUSH_MAX = 2048 };

struct script { /* one run of one */
    struct store *store;
    const struct keys_bytes *words;
    int64_t now_ms;
    uint64_t now_us;
};

struct waiter {
    const struct keys_field *place; /* in the queue; NULL: none */
    int is_me;
    uint64_t asked_ms, alive_ms, number, lease_ms;
    char channel[ENTRY_MAX];
};

static uint64_t number_of(struct keys_bytes bytes)
{
    char digits[32] = "";
    memcpy(digits, bytes.bytes, bytes.length < sizeof digits ? bytes.length : sizeof digits - 1);
    return strtoull(digits, NULL, 10);
}

static struct keys_bytes digits_of(uint64_t number, char to[24]) { return (struct keys_bytes){to, (size_t)snprintf(to, 24, "%" PRIu64, number)}; }

static struct hl_reply *wrong_type(void) { return say_error("WRONGTYPE Operation against a key holding the wrong kind of value"); }

static struct keys_key *key_of(const struct script *script, int which) { return keys_find(&script->store->keys, script->words[which], script->now_ms); }

static struct script run_of(struct store *store, const struct keys_bytes *words) { return (struct script){store, words, store_ms(store), store_us(store)}; }

static unsigned count_of(const struct keys_key *key)
{
    const struct keys_field *field;
    unsigned count = 0;
    if (key)
        TAILQ_FOREACH(field, &key->fields, entry)
            count++;
    return count;
}

/* ---- the queue ---- */

static int rank_of(const struct script *script, struct keys_bytes holder)
{
    const struct keys_key *queue = key_of(script, QUEUE);
    const struct keys_field *field;
    int rank = 1;
    if (queue)
        TAILQ_FOREACH(field, &queue->fields, entry)
        {
            if (keys_are_same(field->name, holder))
                return rank;
            rank++;
        }
    return 0;
}

static void enqueue(const struct script *script, struct keys_bytes holder, uint64_t ticket)
{
    struct keys_key *queue = key_of(script, QUEUE);
    struct keys_field *added, *field;
    char digits[24];
    if (!queue)
        queue = keys_make(&script->store->keys, script->words[QUEUE], KEYS_HASH);
    keys_set(queue, holder, digits_of(ticket, digits));
    added = TAILQ_LAST(&queue->fields, keys_fields);
    TAILQ_FOREACH(field, &queue->fields, entry)
        if (field != added && number_of(field->value) > ticket) {
            TAILQ_REMOVE(&queue->fields, added, entry);
            TAILQ_INSERT_BEFORE(field, added, entry);
            return;
        }
}

static void unset(const struct script *script, int which, struct keys_bytes field)
{
    struct keys_key *key = key_of(script, which);
    if (key)
        keys_unset(&script->store->keys, key, field);
}

static void let_go(const struct script *script, struct keys_bytes holder)
{
    struct keys_key *waiters;
    unset(script, WAITERS, holder);
    unset(script, QUEUE, holder); /* the last: holder may be its name */
    waiters = key_of(script, WAITERS);
    if (!key_of(script, QUEUE) && waiters)
        keys_delete(&script->store->keys, waiters);
}

static int64_t kept_free_ms(const struct script *script)
{
    struct keys_key *waiters = key_of(script, WAITERS);
    const struct keys_field *until = waiters && key_of(script, QUEUE) ? keys_get(waiters, keys_text("*")) : NULL;
    int64_t left = until ? (int64_t)number_of(until->value) - script->now_ms : 0;
    return left > 0 ? left : 0;
}

static int read_waiter(const struct script *script, const struct keys_field *place, struct waiter *waiter)
{
    struct keys_key *waiters = key_of(script, WAITERS);
    const struct keys_field *entry = waiters ? keys_get(waiters, place->name) : NULL;
    int used = 0;
    *waiter = (struct waiter){.place = place};
    if (!entry || sscanf(entry->value.bytes, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &waiter->asked_ms, &waiter->alive_ms, &waiter->number,
                         &waiter->lease_ms, &used) != 4)
        return 0;
    snprintf(waiter->channel, sizeof waiter->channel, "%s", used ? entry->value.bytes + used : "");
    return script->now_ms <= (int64_t)(waiter->asked_ms + waiter->alive_ms);
}

static int is_sharded(const char *channel) { return *channel == '!'; }

static int is_ready(const struct script *script, const struct waiter *waiter)
{
    const char *channel = waiter->channel;
    if (is_sharded(channel))
        return store_shard_listeners(script->store, channel + 1) > 0;
    return !*channel || store_listeners(script->store, channel) > 0;
}

static void push(const struct script *script, const struct waiter *to, struct keys_bytes text)
{
    if (is_sharded(to->channel))
        store_publish_to_shard(script->store, keys_text(to->channel + 1), text);
    else if (*to->channel)
        store_publish_bytes(script->store, keys_text(to->channel), text);
}

/* The dead leave at once. */
static struct waiter next_waiter(const struct script *script, int with_me)
{
    struct keys_key *queue = key_of(script, QUEUE);
    struct keys_field *place, *next = queue ? TAILQ_FIRST(&queue->fields) : NULL;
    struct waiter deaf = {NULL, 0, 0, 0, 0, 0, ""};
    while ((place = next) != NULL) {
        struct waiter waiter;
        next = TAILQ_NEXT(place, entry);
        if (keys_are_same(place->name, script->words[HOLDER])) {
            if (with_me)
                return (struct waiter){.place = place, .is_me = 1};
        } else if (!read_waiter(script, place, &waiter))
            let_go(script, place->name);
        else if (is_ready(script, &waiter))
            return waiter;
        else if (!deaf.place)
            deaf = waiter;
    }
    return deaf;
}

/* ---- grants ---- */

static uint64_t next_token(const struct script *script)
{
    const struct keys_key *key = key_of(script, TOKEN);
    uint64_t last = key ? number_of(keys_get(key, keys_text(""))->value) : 0;
    return last >= 9000000000000000u ? 0 : last >= script->now_us ? last + 1 : script->now_us;
}

static void hold(const struct script *script, struct keys_bytes holder, uint64_t token, uint64_t lease_ms, uint64_t token_life_ms)
{
    struct keys_key *key = key_of(script, NAME), *highest = key_of(script, TOKEN);
    char digits[24];
    if (!key)
        key = keys_make(&script->store->keys, script->words[NAME], KEYS_HASH);
    if (!highest)
        highest = keys_make(&script->store->keys, script->words[TOKEN], KEYS_STRING);
    keys_set(key, holder, digits_of(token, digits));
    keys_set(key, keys_text("mode"), keys_text("mutex"));
    key->expires_ms = script->now_ms + (int64_t)lease_ms;
    keys_set(highest, keys_text(""), digits_of(token, digits));
    highest->expires_ms = script->now_ms + (int64_t)token_life_ms;
}

static uint64_t grant(const struct script *script, const struct waiter *to, uint64_t token, uint64_t window_ms, uint64_t token_life_ms)
{
    uint64_t lease_ms = to->lease_ms < window_ms ? to->lease_ms : window_ms;
    struct keys_bytes name = script->words[NAME];
    char text[PUSH_MAX], holder[ENTRY_MAX];
    int length;
    snprintf(holder, sizeof holder, "%.*s", (int)to->place->name.length, to->place->name.bytes);
    hold(script, keys_text(holder), token, lease_ms, token_life_ms);
    let_go(script, keys_text(holder));
    unset(script, WAITERS, keys_text("*"));
    length = snprintf(text, sizeof text, "G %s %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64 " ", holder, to->number, script->now_ms - (int64_t)to->asked_ms,
                      lease_ms, token);
    memcpy(text + length, name.bytes, name.length);
    push(script, to, (struct keys_bytes){text, (size_t)length + name.length});
    return lease_ms;
}

/* ---- fair_acquire ---- */

enum { LEASE = HOLDER + 1, WINDOW, ALIVE, NUMBER, TICKET, CHANNEL, IS_WAITING, NOT_AFTER, TOKEN_LIFE };

static uint64_t argument(const struct script *script, int which) { return number_of(script->words[which]); }

static struct hl_reply *ours(const struct script *script, struct keys_key *key, const struct keys_field *field)
{
    int64_t ends_ms = script->now_ms + (int64_t)argument(script, LEASE);
    if (key->expires_ms < ends_ms)
        key->expires_ms = ends_ms;
    return say_array(2, say_integer(1), say_integer((int64_t)number_of(field->value)));
}

static void stand_in_line(const struct script *script, uint64_t *ticket)
{
    struct keys_key *queue = key_of(script, QUEUE), *waiters;
    const struct keys_bytes *words = script->words;
    int64_t dead_ms = script->now_ms + 2 * (int64_t)argument(script, ALIVE);
    char entry[2 * ENTRY_MAX];
    if (!*ticket) {
        uint64_t last = queue ? number_of(TAILQ_LAST(&queue->fields, keys_fields)->value) : 0;
        *ticket = last >= script->now_us ? last + 1 : script->now_us;
    }
    if (!rank_of(script, words[HOLDER]))
        enqueue(script, words[HOLDER], *ticket);
    waiters = key_of(script, WAITERS);
    if (!waiters)
        waiters = keys_make(&script->store->keys, words[WAITERS], KEYS_HASH);
    snprintf(entry, sizeof entry, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.*s", (script->now_us + 999) / 1000, argument(script, ALIVE),
             argument(script, NUMBER), argument(script, LEASE), (int)words[CHANNEL].length, words[CHANNEL].bytes);
    keys_set(waiters, words[HOLDER], keys_text(entry));
    waiters->expires_ms = key_of(script, QUEUE)->expires_ms = dead_ms;
}

static struct hl_reply *told(const struct script *script, int64_t left_ms, uint64_t ticket, int hands_over, struct keys_bytes holder)
{
    return say_array(7, say_integer(0), say_integer(left_ms), say_integer(rank_of(script, script->words[HOLDER])), say_integer((int64_t)ticket),
                     say_integer(hands_over), say_bytes(holder.bytes, holder.length), say_integer(count_of(key_of(script, QUEUE))));
}

static struct hl_reply *find_free(const struct script *script, uint64_t ticket, int has_place)
{
    uint64_t token = next_token(script);
    struct waiter first = next_waiter(script, 1);
    char holder[ENTRY_MAX];
    int64_t left_ms;
    if (!token)
        return say_error("BADTOKEN the token key of this name holds no token of ours");
    if (!first.place || first.is_me || (!has_place && ticket && ticket < number_of(first.place->value))) {
        hold(script, script->words[HOLDER], token, argument(script, LEASE), argument(script, TOKEN_LIFE));
        let_go(script, script->words[HOLDER]);
        return say_array(2, say_integer(1), say_integer((int64_t)token));
    }
    if (argument(script, IS_WAITING))
        stand_in_line(script, &ticket);
    snprintf(holder, sizeof holder, "%.*s", (int)first.place->name.length, first.place->name.bytes);
    left_ms = (int64_t)grant(script, &first, token, argument(script, WINDOW), argument(script, TOKEN_LIFE));
    return told(script, left_ms, ticket, 1, keys_text(holder));
}

static struct hl_reply *find_held(const struct script *script, struct keys_key *key, uint64_t ticket)
{
    const struct keys_field *field, *holder = NULL;
    int hands_over = 0;
    TAILQ_FOREACH(field, &key->fields, entry)
    {
        size_t length = field->name.length;
        hands_over |= length >= 5 && memcmp(field->name.bytes + length - 5, ":fair", 5) == 0;
        if (!keys_are_same(field->name, keys_text("mode")))
            holder = field;
    }
    if (argument(script, IS_WAITING))
        stand_in_line(script, &ticket);
    return told(script, key->expires_ms < 0 ? -1 : key->expires_ms - script->now_ms, ticket, hands_over, holder ? holder->name : keys_text(""));
}

struct hl_reply *store_fair_acquire(struct store *store, const struct keys_bytes *words)
{
    const struct script script = run_of(store, words);
    struct keys_key *key = key_of(&script, NAME), *queue;
    const struct keys_field *mine;
    uint64_t not_after_ms = argument(&script, NOT_AFTER), ticket = argument(&script, TICKET);
    if (key && key->type != KEYS_HASH)
        return wrong_type();
    mine = key ? keys_get(key, words[HOLDER]) : NULL;
    if (mine)
        return ours(&script, key, mine);
    if (not_after_ms && script.now_us > not_after_ms * 1000)
        return say_error("LATE %" PRIu64 " %" PRIu64, script.now_us / 1000000, script.now_us % 1000000);
    queue = key_of(&script, QUEUE);
    mine = queue ? keys_get(queue, words[HOLDER]) : NULL;
    if (mine)
        ticket = number_of(mine->value);
    if (key)
        return find_held(&script, key, ticket);
    if (!kept_free_ms(&script))
        return find_free(&script, ticket, mine != NULL);
    if (argument(&script, IS_WAITING))
        stand_in_line(&script, &ticket);
    return told(&script, kept_free_ms(&script), ticket, 1, keys_text(""));
}

/* ---- fair_release, fair_peek ---- */

enum { R_WINDOW = HOLDER + 1, R_CHANNEL, R_COMMAND, R_YIELDS, R_NUMSUB, R_TOKEN_LIFE };

static struct hl_reply *tell(const struct script *script)
{
    if (script->store->publish_is_denied)
        return say_integer(-1);
    if (keys_are_same(script->words[R_COMMAND], keys_text("SPUBLISH")))
        store_publish_to_shard(script->store, script->words[R_CHANNEL], keys_text("0"));
    else
        store_publish_bytes(script->store, script->words[R_CHANNEL], keys_text("0"));
    return say_integer(1);
}

static void free_it(const struct script *script)
{
    unset(script, NAME, script->words[HOLDER]);
    unset(script, NAME, keys_text("mode"));
}

static struct hl_reply *yield(const struct script *script, const struct waiter *first)
{
    struct keys_key *waiters = key_of(script, WAITERS);
    uint64_t pause_ms = argument(script, R_YIELDS);
    struct hl_reply *reply;
    char digits[24], text[PUSH_MAX];
    free_it(script);
    keys_set(waiters, keys_text("*"), digits_of((uint64_t)script->now_ms + pause_ms, digits));
    reply = tell(script);
    snprintf(text, sizeof text, "F %.*s %" PRIu64, (int)first->place->name.length, first->place->name.bytes, pause_ms);
    push(script, first, keys_text(text));
    return reply;
}

static int has_listeners(const struct script *script)
{
    const struct keys_bytes word = script->words[R_NUMSUB];
    char channel[PUSH_MAX];
    snprintf(channel, sizeof channel, "%.*s", (int)script->words[R_CHANNEL].length, script->words[R_CHANNEL].bytes);
    if (keys_are_same(word, keys_text("SHARDNUMSUB")))
        return store_shard_listeners(script->store, channel) > 0;
    return !word.length || store_listeners(script->store, channel) > 0;
}

struct hl_reply *store_fair_release(struct store *store, const struct keys_bytes *words)
{
    const struct script script = run_of(store, words);
    struct keys_key *key = key_of(&script, NAME);
    int was_mine, is_free = !key && !kept_free_ms(&script);
    struct waiter first = {NULL, 0, 0, 0, 0, 0, ""};
    if (key && key->type != KEYS_HASH)
        return wrong_type();
    was_mine = key && keys_get(key, words[HOLDER]);
    let_go(&script, words[HOLDER]);
    if ((was_mine || is_free) && next_token(&script))
        first = next_waiter(&script, 0);
    if (first.place && was_mine && argument(&script, R_YIELDS) && has_listeners(&script))
        return yield(&script, &first);
    if (first.place) {
        unset(&script, NAME, words[HOLDER]);
        grant(&script, &first, next_token(&script), argument(&script, R_WINDOW), argument(&script, R_TOKEN_LIFE));
        return say_integer(was_mine ? 2 : 0);
    }
    if (!was_mine)
        return say_integer(0);
    free_it(&script);
    return tell(&script);
}

struct hl_reply *store_fair_peek(struct store *store, const struct keys_bytes *words)
{
    const struct script script = {store, words, store_ms(store), store_us(store)};
    struct keys_key *key = key_of(&script, NAME), *queue = key_of(&script, QUEUE);
    const struct keys_field *field, *holder = NULL, *place;
    int rank = 0, found = 0;
    if (key && key->type != KEYS_HASH)
        return wrong_type();
    if (key)
        TAILQ_FOREACH(field, &key->fields, entry)
            if (!keys_are_same(field->name, keys_text("mode")))
                holder = field;
    if (queue)
        TAILQ_FOREACH(place, &queue->fields, entry)
            if (rank++, keys_are_same(place->name, words[QUEUE + 1]))
                found = rank;
    return say_array(4, say_integer(!key ? -2 : key->expires_ms < 0 ? -1 : key->expires_ms - script.now_ms),
                     holder ? say_bytes(holder->name.bytes, holder->name.length) : say_string(""), say_integer(count_of(queue)), say_integer(found));
}
