/* SPDX-License-Identifier: BSD-3-Clause */
/* scene - see scene.h. Few names and holders, so that commands meet; leases and clock steps of all sizes, so that they meet at edges. */
#include "scene.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#include "probes.h"
#include "wire/queued.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/natives.h"
#include "wire/peek.h"
#include "wire/scripts.h"
#include "wire/simple.h"

static const char *const names[NAMES] = {"stock", "a{tag}b", "account:17", "x", "\xff\x01 odd \xe2\x82\xac",
                                         "order/2024/0123456789012345678901234567890"};
static const char *const prefixes[KINDS] = {"", "hilock:token", "hilock:wait", "redisson_lock_queue"};
static const char uuid[] = "0f5c9a3e-77d1-4b7e-9c51-5a0d1f3b2c44", label[] = "sh@db1/4711";

uint64_t scene_below(struct scene *scene, uint64_t bound) { return hl_random_below(&scene->random, bound); }

static const char *pick(struct scene *scene, const char *const *words, size_t count) { return words[scene_below(scene, count)]; }
#define PICK(scene, ...) pick((scene), (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static unsigned library_scripts(void)
{
    unsigned count = 0;
    while (hl_scripts[count])
        count++;
    return count;
}

unsigned scene_scripts(void) { return library_scripts() + probes_count(); }

void scene_init(struct scene *scene, uint64_t seed)
{
    *scene = (struct scene){.random = {seed}, .now_us = SCENE_BEGINS_US, .to_load = scene_scripts()};
    for (int name = 0; name < NAMES; name++) {
        size_t length = strlen(names[name]);
        for (int kind = 0; kind < KINDS; kind++) {
            struct bytes *key = &scene->keys[name * KINDS + kind];
            if (kind == 0)
                memcpy(key->at, names[name], key->length = length);
            else
                key->length = hl_key_write(key->at, prefixes[kind], names[name], length);
        }
        scene->channels[name].length = hl_key_channel_write(scene->channels[name].at, names[name], length);
    }
}

/* A key lives through the millisecond in which it expires: steps end just before, in, at the end of and after it. */
void scene_move_clock(struct scene *scene, int64_t left_us)
{
    uint64_t kind = scene_below(scene, 100);
    if (kind < 25)
        return;
    if (kind < 60)
        scene->now_us += scene_below(scene, 1000);
    else if (kind < 75)
        scene->now_us += scene_below(scene, 30000);
    else if (kind < 92 && left_us > 3000 && left_us < 3600000000)
        scene->now_us += (uint64_t)left_us - (uint64_t[]){1, 0, 1000, 1001, 999, 2000}[scene_below(scene, 6)];
    else if (kind < 97)
        scene->now_us += scene_below(scene, 5000000);
    else if (kind < 98)
        scene->now_us += scene_below(scene, 1800) * 1000000;
    else
        scene->now_us -= scene_below(scene, kind == 98 ? 20000 : 8000000);
}

/* ---- pieces ---- */

static void begin(struct line *line, const char *word)
{
    hl_command_begin(&line->command, word);
}

static void add(struct line *line, const char *word) { hl_command_add_word(&line->command, word); }

static void add_key(struct scene *scene, struct line *line)
{
    const struct bytes *key = &scene->keys[scene_below(scene, KEYS)];
    hl_command_add(&line->command, key->at, key->length);
}

/* A key of the kind that the command is for, most of the time: 0 lock, 1 token, 2 queue, 3 Redisson's queue. */
static void add_key_of(struct scene *scene, struct line *line, uint64_t kind)
{
    const struct bytes *key = &scene->keys[scene_below(scene, NAMES) * KINDS + (scene_below(scene, 12) ? kind : scene_below(scene, KINDS))];
    hl_command_add(&line->command, key->at, key->length);
}

static void add_channel(struct scene *scene, struct line *line)
{
    const struct bytes *channel = &scene->channels[scene_below(scene, NAMES)];
    hl_command_add(&line->command, channel->at, channel->length);
}

static uint64_t some_ms(struct scene *scene)
{
    static const uint64_t spans_ms[] = {1, 2, 3, 10, 50, 300, 3000, 3000, 30000, 30000};
    return spans_ms[scene_below(scene, sizeof spans_ms / sizeof *spans_ms)];
}

static void add_text(struct line *line, const char *format, long long number)
{
    char *room = hl_command_room(&line->command, 32);
    hl_command_add(&line->command, room, (size_t)snprintf(room, 32, format, number));
}

static void add_number(struct scene *scene, struct line *line)
{
    if (scene_below(scene, 30) == 0)
        add(line, PICK(scene, "", "x", "1.5", " 1", "+1", "01", "-0", "1e3", "9223372036854775807", "9223372036854775808",
                       "-9223372036854775808"));
    else
        add_text(line, "%lld", (long long)some_ms(scene) - (scene_below(scene, 10) ? 0 : 50));
}

static void add_holder(struct scene *scene, struct line *line) { hl_holder_add(&line->command, uuid, scene_below(scene, HOLDERS), label); }

static void add_member(struct scene *scene, struct line *line)
{
    if (scene_below(scene, 3))
        add_holder(scene, line);
    else
        add(line, PICK(scene, "mode", "a", "b", "", "redisson:1", "other field"));
}

/* ---- scripts ---- */

static struct hl_target words_for(struct scene *scene, struct line *line)
{
    line->name = (int)scene_below(scene, NAMES);
    line->holder = (int)scene_below(scene, HOLDERS);
    return (struct hl_target){names[line->name], strlen(names[line->name]), uuid, (uint64_t)line->holder, label};
}

/* Mostly the latest grant: it may still stand. */
static struct hl_target words_of_held(struct scene *scene, struct line *line)
{
    struct hl_target words = words_for(scene, line);
    if (scene_below(scene, 3) == 0)
        return words;
    line->name = scene->latest_name;
    line->holder = scene->latest_holder;
    return (struct hl_target){names[line->name], strlen(names[line->name]), uuid, (uint64_t)line->holder, label};
}

static void say_acquire(struct scene *scene, struct line *line)
{
    const struct hl_target words = words_for(scene, line);
    struct hl_params wants = {.lease_ms = some_ms(scene), .token_ttl_ms = (uint64_t[]){4, 100, 4000, 600000}[scene_below(scene, 4)]};
    wants.reserved = scene_below(scene, 4) ? 0 : (unsigned)scene_below(scene, 200);
    if (scene_below(scene, 3) == 0)
        wants.not_after_ms = scene->now_us / 1000 + scene_below(scene, 5) - 2;
    hl_queued_acquire(&line->command, &words, &wants);
}

static void say_renew(struct scene *scene, struct line *line)
{
    const struct hl_target words = words_of_held(scene, line);
    const struct hl_params wants = {.lease_ms = some_ms(scene), .token = scene->tokens[line->name][line->holder] + (scene_below(scene, 8) == 0)};
    hl_queued_renew(&line->command, &words, &wants);
}

/* Of a holder, or of any field that other lines write. */
static void say_force(struct scene *scene, struct line *line, const struct hl_target *words)
{
    static const struct hl_kind *const kinds[] = {&hl_queued_mutex, &hl_queued_fair};
    const char *field = PICK(scene, "a", "b", "redisson:1", "other field");
    size_t length = hl_holder_write(line->forced, words->uuid, words->id, words->label);
    const struct hl_params wants = {.token_ttl_ms = 4000};
    if (scene_below(scene, 2))
        kinds[scene_below(scene, 2)]->force(&line->command, words, &wants, line->forced, length);
    else
        kinds[scene_below(scene, 2)]->force(&line->command, words, &wants, field, strlen(field));
}

static void say_release(struct scene *scene, struct line *line)
{
    const struct hl_target words = words_of_held(scene, line);
    if (scene_below(scene, 5) == 0) {
        say_force(scene, line, &words);
        return;
    }
    hl_queued_release(&line->command, &words, &(struct hl_params){0});
    if (scene_below(scene, 40) == 0) {
        line->command.argc--;
        add(line, PICK(scene, "NOSUCHCOMMAND", "publish", "GET", "SUBSCRIBE"));
    }
}

static void say_peek(struct scene *scene, struct line *line)
{
    const struct hl_target words = words_of_held(scene, line);
    hl_peek(&line->command, &hl_queued_mutex, &words, 0);
}

/* SIMPLE locks stand at the token keys: strings, where MUTEX locks seldom come. */
static void say_simple(struct scene *scene, struct line *line)
{
    const struct hl_params wants = {.lease_ms = some_ms(scene), .is_second = scene_below(scene, 3) > 0};
    uint64_t kind = scene_below(scene, 10);
    struct hl_target words = {.uuid = uuid, .label = label};
    const struct bytes *key;
    if (kind < 5 || scene_below(scene, 4) == 0) { /* else the latest one asked for: it may stand */
        scene->simple_key = scene_below(scene, NAMES) * KINDS + (scene_below(scene, 12) ? 1 : 0);
        scene->simple_holder = scene_below(scene, HOLDERS);
    }
    key = &scene->keys[scene->simple_key];
    words.name = key->at;
    words.name_length = key->length;
    words.id = scene->simple_holder;
    if (kind < 5)
        hl_simple_acquire(&line->command, &words, &wants);
    else if (kind < 7)
        hl_simple_renew(&line->command, &words, &wants);
    else if (kind < 9)
        hl_simple_release(&line->command, &words, &wants);
    else if (scene_below(scene, 3))
        hl_peek(&line->command, &hl_simple_kind, &words, 0);
    else
        hl_natives_ask(&line->command);
}

/* None, one that does not exist, or the latest one that was given. */
static uint64_t ticket_of(struct scene *scene, const struct line *line)
{
    uint64_t kind = scene_below(scene, 8);
    if (kind == 0)
        return scene->now_us - scene_below(scene, 3000);
    return kind < 3 ? HL_TICKET_UNKNOWN : kind < 6 ? scene->tickets[line->name][line->holder] : 0;
}

/* A channel of some name stands for a client's: where somebody listens, a waiter is ready. */
static void say_fair(struct scene *scene, struct line *line)
{
    const struct bytes *channel = &scene->channels[scene_below(scene, NAMES)];
    struct hl_target words = words_of_held(scene, line);
    struct hl_params wants = {.lease_ms = some_ms(scene), .token_ttl_ms = 4000, .number = scene_below(scene, 9), .is_try = scene_below(scene, 8) == 0,
                             .ticket = ticket_of(scene, line), .channel = scene_below(scene, 4) ? channel->at : "",
                             .own = scene_below(scene, 4) ? 0 : scene_below(scene, 2) ? 1 : HL_OWN_ALL, .reserved = (unsigned)scene_below(scene, 3),
                             .token = scene->tokens[line->name][line->holder]};
    uint64_t kind = scene_below(scene, 20);
    if (kind < 11)
        words.id = (uint64_t)(line->holder = (int)scene_below(scene, HOLDERS));
    if (scene_below(scene, 6) == 0)
        wants.not_after_ms = scene->now_us / 1000 + scene_below(scene, 5) - 2;
    if (kind < 11)
        hl_queued_acquire(&line->command, &words, &wants);
    else if (kind < 18)
        hl_queued_release(&line->command, &words, &wants);
    else if (kind < 19)
        hl_peek(&line->command, &hl_queued_fair, &words, wants.ticket);
    else
        hl_queued_renew(&line->command, &words, &wants);
}

static void script_of(unsigned i, struct hl_script *ret_script, char sha1[41])
{
    unsigned char digest[SHA_DIGEST_LENGTH];
    if (i < library_scripts()) {
        *ret_script = *hl_scripts[i];
        return;
    }
    *ret_script = (struct hl_script){.text = probe_text(i - library_scripts()), .sha1 = sha1};
    ret_script->length = strlen(ret_script->text);
    SHA1((const unsigned char *)ret_script->text, ret_script->length, digest);
    for (size_t digit = 0; digit < sizeof digest; digit++)
        snprintf(sha1 + 2 * digit, 3, "%02x", digest[digit]);
}

static void say_probe(struct scene *scene, struct line *line)
{
    struct hl_script script;
    char *sha1, digits[41];
    unsigned i = library_scripts() + (unsigned)scene_below(scene, probes_count());
    script_of(i, &script, digits);
    begin(line, "EVALSHA");
    sha1 = hl_command_room(&line->command, 40);
    memcpy(sha1, digits, 40);
    hl_command_add(&line->command, sha1, 40);
    add(line, "1");
    add_key_of(scene, line, 1 + scene_below(scene, KINDS - 1)); /* seldom a lock: few could be acquired */
    add_text(line, "%lld", (long long)some_ms(scene));
    add_member(scene, line);
    add_channel(scene, line);
}

static void say_load(struct scene *scene, struct line *line)
{
    struct hl_script script;
    char digits[41];
    script_of(--scene->to_load, &script, digits);
    begin(line, "SCRIPT");
    add(line, "LOAD");
    hl_command_add(&line->command, script.text, script.length);
}

static void say_bad_script(struct scene *scene, struct line *line)
{
    begin(line, "EVALSHA");
    add(line, scene_below(scene, 2) ? "0123456789012345678901234567890123456789" : hl_scripts[0]->sha1);
    add(line, PICK(scene, "-1", "x", "3", "99", "0"));
    add(line, "a");
    add(line, "b");
}

static void say_about_scripts(struct scene *scene, struct line *line)
{
    switch (scene_below(scene, 6)) {
    case 0:
        begin(line, "SCRIPT");
        add(line, "LOAD");
        add(line, PICK(scene, "return (", "x x", "return 1\n)"));
        break;
    case 1:
        begin(line, "script");
        add(line, "exists");
        add(line, hl_scripts[0]->sha1);
        add(line, "nonsense");
        break;
    default:
        say_bad_script(scene, line);
    }
}

/* ---- plain commands ---- */

static void say_strings(struct scene *scene, struct line *line)
{
    uint64_t kind = scene_below(scene, 12);
    begin(line, kind < 3 ? "GET" : kind < 4 ? PICK(scene, "INCR", "DECR") : kind > 9 ? PICK(scene, "INCRBY", "DECRBY") : "SET");
    add_key_of(scene, line, 1);
    if (kind > 9)
        add_number(scene, line);
    if (kind < 4 || kind > 9)
        return;
    if (scene_below(scene, 2))
        add(line, PICK(scene, "", "5", "-7", "9223372036854775807", "9100000000000000", "abc", "5 "));
    else
        add_text(line, "%lld", (long long)(scene->now_us + scene_below(scene, 3000) - 1000));
    for (uint64_t options = scene_below(scene, 4); options > 0; options--) {
        const char *option = PICK(scene, "NX", "XX", "GET", "KEEPTTL", "PX", "EX", "get", "px", "BAD");
        if (strcmp(option, "BAD") == 0 && scene_below(scene, 4))
            continue;
        add(line, option);
        if (option[1] == 'X' && (option[0] == 'P' || option[0] == 'E'))
            add_number(scene, line);
        else if (strcmp(option, "px") == 0)
            add_number(scene, line);
    }
}

static void say_hashes(struct scene *scene, struct line *line)
{
    uint64_t kind = scene_below(scene, 14);
    const char *const words[] = {"HGET", "HEXISTS", "HDEL", "HDEL", "HINCRBY", "HVALS", "HKEYS", "HLEN", "HGETALL", "HSCAN"};
    if (kind < 10) {
        begin(line, words[kind]);
        add_key_of(scene, line, scene_below(scene, 2) * 3);
        if (kind < 5)
            add_member(scene, line);
        if (kind == 3)
            add_member(scene, line);
        if (kind == 4)
            add_number(scene, line);
        if (kind == 9)
            add(line, "0");
        return;
    }
    begin(line, "HSET");
    add_key_of(scene, line, scene_below(scene, 2) * 3);
    for (uint64_t pairs = 1 + scene_below(scene, 3); pairs > 0; pairs--) {
        add_member(scene, line);
        add(line, PICK(scene, "", "1", "mutex", "9100000000000000", "1700000000000000", "fair", "read"));
    }
    if (scene_below(scene, 20) == 0)
        add(line, "odd");
}

static void say_sorted(struct scene *scene, struct line *line)
{
    static const char *const words[] = {"ZADD", "ZADD", "ZADD", "ZREM", "ZCARD", "ZCOUNT", "ZCOUNT", "ZRANGE", "ZRANGEBYSCORE", "RPUSH", "LINDEX"};
    uint64_t kind = scene_below(scene, sizeof words / sizeof *words);
    begin(line, words[kind]);
    add_key_of(scene, line, kind > 8 ? 3 : 2);
    if (kind > 8)
        add(line, PICK(scene, "0", "0", "0", "1", "-1", "-2", "7", "x", "01"));
    else if (kind < 3) {
        for (uint64_t pairs = 1 + scene_below(scene, 3); pairs > 0; pairs--) {
            if (scene_below(scene, 3))
                add_text(line, "%lld", (long long)(scene->now_us + scene_below(scene, 3)));
            else
                add(line, PICK(scene, "1", "-2.5", "3", "1e3", "x", "nan", "", "0"));
            add_member(scene, line);
        }
    } else if (kind < 4)
        add_member(scene, line);
    else if (kind > 4) {
        add_text(line, "%lld", (long long)scene_below(scene, 7) - 3);
        add_text(line, "%lld", (long long)scene_below(scene, 9) - 4);
        if (kind > 6 && scene_below(scene, 2))
            add(line, scene_below(scene, 8) ? "WITHSCORES" : "WITHSOMETHING");
    }
}

static void say_keys(struct scene *scene, struct line *line)
{
    static const char *const words[] = {"PEXPIRE", "PEXPIRE", "PEXPIREAT", "PTTL", "PTTL", "PTTL", "PEXPIRETIME", "TYPE", "PERSIST", "EXISTS", "DEL"};
    uint64_t kind = scene_below(scene, sizeof words / sizeof *words);
    begin(line, words[kind]);
    add_key(scene, line);
    if (kind < 2)
        add_number(scene, line);
    else if (kind == 2)
        add_text(line, "%lld", (long long)(scene->now_us / 1000 + some_ms(scene) - scene_below(scene, 4)));
    else if (kind > 8 && scene_below(scene, 2)) {
        add_key(scene, line);
        add_key(scene, line);
    }
}

static void say_publish(struct scene *scene, struct line *line)
{
    int is_said = scene_below(scene, 3) != 0;
    begin(line, is_said ? PICK(scene, "PUBLISH", "SPUBLISH") : "PUBSUB");
    if (!is_said)
        add(line, PICK(scene, "NUMSUB", "numsub", "SHARDNUMSUB", "shardnumsub"));
    add_channel(scene, line);
    if (is_said)
        add(line, PICK(scene, "0", "", "G 1 2 3"));
    else if (scene_below(scene, 2))
        add_channel(scene, line);
}

static void say_connection(struct scene *scene, struct line *line)
{
    static const char *const lines[][3] = {
        {"TIME", 0, 0}, {"TIME", 0, 0}, {"PING", 0, 0}, {"ping", "text", 0}, {"DBSIZE", 0, 0}, {"DBSIZE", 0, 0}, {"WAIT", "0", "0"},
        {"SELECT", "0", 0}, {"SELECT", "x", 0}, {"SELECT", "77", 0}, {"CLIENT", "SETNAME", "hilock"}, {"CLIENT", "SETNAME", "a b"},
        {"CLIENT", "SETNAME", ""}, {"GET", 0, 0}, {"SET", "k", 0}, {"HSET", "k", "f"}, {"NOSUCH", "a", "b"}, {"nosuch", 0, 0},
        {"TIME", "x", 0}, {"SCRIPT", "LOAD", 0}, {"EVALSHA", "a", 0}};
    const char *const *chosen = lines[scene_below(scene, sizeof lines / sizeof *lines)];
    begin(line, chosen[0]);
    for (int i = 1; i < 3 && chosen[i]; i++)
        add(line, chosen[i]);
}

/* Of these each is sent alone: Redis 7.2 and later swallow the refusal of an AUTH while an earlier answer is still to be written. */
static void say_listener(struct scene *scene, struct line *line)
{
    uint64_t kind = scene_below(scene, 10);
    line->speaker = 1 + (unsigned)scene_below(scene, SPEAKERS - 1);
    if (kind < 2) {
        const char *word = kind ? "PING" : PICK(scene, "GET", "TIME", "HGETALL", "NOSUCH", "AUTH", "AUTH", "AUTH");
        begin(line, word);
        if (strcmp(word, "AUTH") == 0 && scene_below(scene, 2))
            add(line, PICK(scene, "nobody", "default"));
        if (strcmp(word, "PING") != 0 && strcmp(word, "TIME") != 0)
            add_key(scene, line);
        return;
    }
    begin(line, kind < 6 ? PICK(scene, "SUBSCRIBE", "SSUBSCRIBE") : PICK(scene, "UNSUBSCRIBE", "SUNSUBSCRIBE"));
    for (uint64_t channels = 1 + scene_below(scene, 3); channels > 0; channels--)
        add_channel(scene, line);
}

static void say_rare(struct scene *scene, struct line *line)
{
    if (scene_below(scene, 3)) {
        begin(line, "SCRIPT");
        add(line, "FLUSH");
    } else
        begin(line, "FLUSHALL");
}

void scene_line(struct scene *scene, struct line *line)
{
    static const struct { unsigned below; void (*say)(struct scene *scene, struct line *line); } kinds[] = {
        {220, say_acquire}, {310, say_renew}, {420, say_release}, {440, say_peek}, {500, say_simple}, {610, say_fair}, {660, say_probe}, {670, say_about_scripts}, {730, say_strings},
        {800, say_hashes}, {850, say_sorted}, {910, say_keys}, {945, say_publish}, {965, say_connection}, {999, say_listener},
        {1000, say_rare}};
    uint64_t kind = scene_below(scene, 1000);
    size_t i = 0;
    line->speaker = 0;
    line->name = line->holder = -1;
    while (kind >= kinds[i].below)
        i++;
    if (scene->to_load && scene_below(scene, 3))
        say_load(scene, line);
    else
        kinds[i].say(scene, line);
}
