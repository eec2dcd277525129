/* SPDX-License-Identifier: BSD-3-Clause */
/* trial - see trial.h. Few names and holders, so that commands meet; leases and clock steps of all sizes, so that they meet at edges. */
#include "trial.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

#include "probes.h"
#include "wire/queued.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/scripts.h"
#include "wire/simple.h"

static const char *const names[NAMES] = {"stock", "a{tag}b", "account:17", "x", "\xff\x01 odd \xe2\x82\xac",
                                         "order/2024/0123456789012345678901234567890"};
static const char *const prefixes[KINDS] = {"", "hilock:token", "hilock:wait", "redisson_lock_queue"};
static const char uuid[] = "0f5c9a3e-77d1-4b7e-9c51-5a0d1f3b2c44", label[] = "sh@db1/4711";

uint64_t trial_below(struct trial *trial, uint64_t bound) { return hl_random_below(&trial->random, bound); }

static const char *pick(struct trial *trial, const char *const *words, size_t count) { return words[trial_below(trial, count)]; }
#define PICK(trial, ...) pick((trial), (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static unsigned library_scripts(void)
{
    unsigned count = 0;
    while (hl_scripts[count])
        count++;
    return count;
}

unsigned trial_scripts(void) { return library_scripts() + probes_count(); }

void trial_init(struct trial *trial, uint64_t seed)
{
    *trial = (struct trial){.random = {seed}, .now_us = TRIAL_BEGINS_US, .to_load = trial_scripts()};
    for (int name = 0; name < NAMES; name++) {
        size_t length = strlen(names[name]);
        for (int kind = 0; kind < KINDS; kind++) {
            struct bytes *key = &trial->keys[name * KINDS + kind];
            if (kind == 0)
                memcpy(key->at, names[name], key->length = length);
            else
                key->length = hl_key_write(key->at, prefixes[kind], names[name], length);
        }
        trial->channels[name].length = hl_key_channel_write(trial->channels[name].at, names[name], length);
    }
}

/* A key lives through the millisecond in which it expires: steps end just before, in, at the end of and after it. */
void trial_move_clock(struct trial *trial, int64_t left_us)
{
    uint64_t kind = trial_below(trial, 100);
    if (kind < 25)
        return;
    if (kind < 60)
        trial->now_us += trial_below(trial, 1000);
    else if (kind < 75)
        trial->now_us += trial_below(trial, 30000);
    else if (kind < 92 && left_us > 3000 && left_us < 3600000000)
        trial->now_us += (uint64_t)left_us - (uint64_t[]){1, 0, 1000, 1001, 999, 2000}[trial_below(trial, 6)];
    else if (kind < 97)
        trial->now_us += trial_below(trial, 5000000);
    else if (kind < 98)
        trial->now_us += trial_below(trial, 1800) * 1000000;
    else
        trial->now_us -= trial_below(trial, kind == 98 ? 20000 : 8000000);
}

/* ---- pieces ---- */

static void begin(struct line *line, const char *word)
{
    hl_command_begin(&line->command, word);
}

static void add(struct line *line, const char *word) { hl_command_add_word(&line->command, word); }

static void add_key(struct trial *trial, struct line *line)
{
    const struct bytes *key = &trial->keys[trial_below(trial, KEYS)];
    hl_command_add(&line->command, key->at, key->length);
}

/* A key of the kind that the command is for, most of the time: 0 lock, 1 token, 2 queue, 3 Redisson's queue. */
static void add_key_of(struct trial *trial, struct line *line, uint64_t kind)
{
    const struct bytes *key = &trial->keys[trial_below(trial, NAMES) * KINDS + (trial_below(trial, 12) ? kind : trial_below(trial, KINDS))];
    hl_command_add(&line->command, key->at, key->length);
}

static void add_channel(struct trial *trial, struct line *line)
{
    const struct bytes *channel = &trial->channels[trial_below(trial, NAMES)];
    hl_command_add(&line->command, channel->at, channel->length);
}

static uint64_t some_ms(struct trial *trial)
{
    static const uint64_t spans_ms[] = {1, 2, 3, 10, 50, 300, 3000, 3000, 30000, 30000};
    return spans_ms[trial_below(trial, sizeof spans_ms / sizeof *spans_ms)];
}

static void add_text(struct line *line, const char *format, long long number)
{
    char *room = hl_command_room(&line->command, 32);
    hl_command_add(&line->command, room, (size_t)snprintf(room, 32, format, number));
}

static void add_number(struct trial *trial, struct line *line)
{
    if (trial_below(trial, 30) == 0)
        add(line, PICK(trial, "", "x", "1.5", " 1", "+1", "01", "-0", "1e3", "9223372036854775807", "9223372036854775808",
                       "-9223372036854775808"));
    else
        add_text(line, "%lld", (long long)some_ms(trial) - (trial_below(trial, 10) ? 0 : 50));
}

static void add_holder(struct trial *trial, struct line *line) { hl_holder_add(&line->command, uuid, trial_below(trial, HOLDERS), label); }

static void add_member(struct trial *trial, struct line *line)
{
    if (trial_below(trial, 3))
        add_holder(trial, line);
    else
        add(line, PICK(trial, "mode", "a", "b", "", "redisson:1", "other field"));
}

/* ---- scripts ---- */

static struct hl_target words_for(struct trial *trial, struct line *line)
{
    line->name = (int)trial_below(trial, NAMES);
    line->holder = (int)trial_below(trial, HOLDERS);
    return (struct hl_target){names[line->name], strlen(names[line->name]), uuid, (uint64_t)line->holder, label};
}

/* Mostly the latest grant: it may still stand. */
static struct hl_target words_of_held(struct trial *trial, struct line *line)
{
    struct hl_target words = words_for(trial, line);
    if (trial_below(trial, 3) == 0)
        return words;
    line->name = trial->latest_name;
    line->holder = trial->latest_holder;
    return (struct hl_target){names[line->name], strlen(names[line->name]), uuid, (uint64_t)line->holder, label};
}

static void say_acquire(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_for(trial, line);
    struct hl_params params = {.lease_ms = some_ms(trial), .token_ttl_ms = (uint64_t[]){4, 100, 4000, 600000}[trial_below(trial, 4)]};
    params.reserved = trial_below(trial, 4) ? 0 : (unsigned)trial_below(trial, 200);
    if (trial_below(trial, 3) == 0)
        params.not_after_ms = trial->now_us / 1000 + trial_below(trial, 5) - 2;
    hl_queued_acquire(&line->command, &words, &params);
}

static void say_renew(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_of_held(trial, line);
    const struct hl_params params = {.lease_ms = some_ms(trial), .token = trial->tokens[line->name][line->holder] + (trial_below(trial, 8) == 0)};
    hl_queued_renew(&line->command, &words, &params);
}

/* Of a holder, or of any field that other lines write. */
static void say_force(struct trial *trial, struct line *line, const struct hl_target *words)
{
    static const struct hl_kind *const kinds[] = {&hl_queued_mutex, &hl_queued_fair};
    const char *field = PICK(trial, "a", "b", "redisson:1", "other field");
    size_t length = hl_holder_write(line->forced, words->uuid, words->id, words->label);
    const struct hl_params params = {.token_ttl_ms = 4000};
    if (trial_below(trial, 2))
        kinds[trial_below(trial, 2)]->force(&line->command, words, &params, line->forced, length);
    else
        kinds[trial_below(trial, 2)]->force(&line->command, words, &params, field, strlen(field));
}

static void say_release(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_of_held(trial, line);
    if (trial_below(trial, 5) == 0) {
        say_force(trial, line, &words);
        return;
    }
    hl_queued_release(&line->command, &words, &(struct hl_params){0});
    if (trial_below(trial, 40) == 0) {
        line->command.argc--;
        add(line, PICK(trial, "NOSUCHCOMMAND", "publish", "GET", "SUBSCRIBE"));
    }
}

static void say_peek(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_of_held(trial, line);
    hl_queued_peek(&line->command, &words, &(struct hl_params){.ticket = 0});
}

/* SIMPLE locks stand at the token keys: strings, where MUTEX locks seldom come. */
static void say_simple(struct trial *trial, struct line *line)
{
    const struct hl_params params = {.lease_ms = some_ms(trial), .is_second = trial_below(trial, 3) > 0};
    uint64_t kind = trial_below(trial, 10);
    struct hl_target words = {.uuid = uuid, .label = label};
    const struct bytes *key;
    if (kind < 5 || trial_below(trial, 4) == 0) { /* else the latest one asked for: it may stand */
        trial->simple_key = trial_below(trial, NAMES) * KINDS + (trial_below(trial, 12) ? 1 : 0);
        trial->simple_holder = trial_below(trial, HOLDERS);
    }
    key = &trial->keys[trial->simple_key];
    words.name = key->at;
    words.name_length = key->length;
    words.id = trial->simple_holder;
    if (kind < 5)
        hl_simple_acquire(&line->command, &words, &params);
    else if (kind < 7)
        hl_simple_renew(&line->command, &words, &params);
    else if (kind < 9)
        hl_simple_release(&line->command, &words, &params);
    else if (trial_below(trial, 3))
        hl_simple_kind.peek(&line->command, &words, &params);
    else
        hl_simple_ask_natives(&line->command);
}

/* None, one that does not exist, or the latest one that was given. */
static uint64_t ticket_of(struct trial *trial, const struct line *line)
{
    uint64_t kind = trial_below(trial, 8);
    if (kind == 0)
        return trial->now_us - trial_below(trial, 3000);
    return kind < 3 ? HL_TICKET_UNKNOWN : kind < 6 ? trial->tickets[line->name][line->holder] : 0;
}

/* A channel of some name stands for a client's: where somebody listens, a waiter is ready. */
static void say_fair(struct trial *trial, struct line *line)
{
    const struct bytes *channel = &trial->channels[trial_below(trial, NAMES)];
    struct hl_target words = words_of_held(trial, line);
    struct hl_params params = {.lease_ms = some_ms(trial), .token_ttl_ms = 4000, .number = trial_below(trial, 9), .is_try = trial_below(trial, 8) == 0,
                             .ticket = ticket_of(trial, line), .channel = trial_below(trial, 4) ? channel->at : "",
                             .own = trial_below(trial, 4) ? 0 : trial_below(trial, 2) ? 1 : HL_OWN_ALL, .reserved = (unsigned)trial_below(trial, 3),
                             .token = trial->tokens[line->name][line->holder]};
    uint64_t kind = trial_below(trial, 20);
    if (kind < 11)
        words.id = (uint64_t)(line->holder = (int)trial_below(trial, HOLDERS));
    if (trial_below(trial, 6) == 0)
        params.not_after_ms = trial->now_us / 1000 + trial_below(trial, 5) - 2;
    if (kind < 11)
        hl_queued_acquire(&line->command, &words, &params);
    else if (kind < 18)
        hl_queued_release(&line->command, &words, &params);
    else if (kind < 19)
        hl_queued_peek(&line->command, &words, &params);
    else
        hl_queued_renew(&line->command, &words, &params);
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

static void say_probe(struct trial *trial, struct line *line)
{
    struct hl_script script;
    char *sha1, digits[41];
    unsigned i = library_scripts() + (unsigned)trial_below(trial, probes_count());
    script_of(i, &script, digits);
    begin(line, "EVALSHA");
    sha1 = hl_command_room(&line->command, 40);
    memcpy(sha1, digits, 40);
    hl_command_add(&line->command, sha1, 40);
    add(line, "1");
    add_key_of(trial, line, 1 + trial_below(trial, KINDS - 1)); /* seldom a lock: few could be acquired */
    add_text(line, "%lld", (long long)some_ms(trial));
    add_member(trial, line);
    add_channel(trial, line);
}

static void say_load(struct trial *trial, struct line *line)
{
    struct hl_script script;
    char digits[41];
    script_of(--trial->to_load, &script, digits);
    begin(line, "SCRIPT");
    add(line, "LOAD");
    hl_command_add(&line->command, script.text, script.length);
}

static void say_bad_script(struct trial *trial, struct line *line)
{
    begin(line, "EVALSHA");
    add(line, trial_below(trial, 2) ? "0123456789012345678901234567890123456789" : hl_scripts[0]->sha1);
    add(line, PICK(trial, "-1", "x", "3", "99", "0"));
    add(line, "a");
    add(line, "b");
}

static void say_about_scripts(struct trial *trial, struct line *line)
{
    switch (trial_below(trial, 6)) {
    case 0:
        begin(line, "SCRIPT");
        add(line, "LOAD");
        add(line, PICK(trial, "return (", "x x", "return 1\n)"));
        break;
    case 1:
        begin(line, "script");
        add(line, "exists");
        add(line, hl_scripts[0]->sha1);
        add(line, "nonsense");
        break;
    default:
        say_bad_script(trial, line);
    }
}

/* ---- plain commands ---- */

static void say_strings(struct trial *trial, struct line *line)
{
    uint64_t kind = trial_below(trial, 12);
    begin(line, kind < 3 ? "GET" : kind < 4 ? PICK(trial, "INCR", "DECR") : kind > 9 ? PICK(trial, "INCRBY", "DECRBY") : "SET");
    add_key_of(trial, line, 1);
    if (kind > 9)
        add_number(trial, line);
    if (kind < 4 || kind > 9)
        return;
    if (trial_below(trial, 2))
        add(line, PICK(trial, "", "5", "-7", "9223372036854775807", "9100000000000000", "abc", "5 "));
    else
        add_text(line, "%lld", (long long)(trial->now_us + trial_below(trial, 3000) - 1000));
    for (uint64_t options = trial_below(trial, 4); options > 0; options--) {
        const char *option = PICK(trial, "NX", "XX", "GET", "KEEPTTL", "PX", "EX", "get", "px", "BAD");
        if (strcmp(option, "BAD") == 0 && trial_below(trial, 4))
            continue;
        add(line, option);
        if (option[1] == 'X' && (option[0] == 'P' || option[0] == 'E'))
            add_number(trial, line);
        else if (strcmp(option, "px") == 0)
            add_number(trial, line);
    }
}

static void say_hashes(struct trial *trial, struct line *line)
{
    uint64_t kind = trial_below(trial, 14);
    const char *const words[] = {"HGET", "HEXISTS", "HDEL", "HDEL", "HINCRBY", "HVALS", "HKEYS", "HLEN", "HGETALL", "HSCAN"};
    if (kind < 10) {
        begin(line, words[kind]);
        add_key_of(trial, line, trial_below(trial, 2) * 3);
        if (kind < 5)
            add_member(trial, line);
        if (kind == 3)
            add_member(trial, line);
        if (kind == 4)
            add_number(trial, line);
        if (kind == 9)
            add(line, "0");
        return;
    }
    begin(line, "HSET");
    add_key_of(trial, line, trial_below(trial, 2) * 3);
    for (uint64_t pairs = 1 + trial_below(trial, 3); pairs > 0; pairs--) {
        add_member(trial, line);
        add(line, PICK(trial, "", "1", "mutex", "9100000000000000", "1700000000000000", "fair", "read"));
    }
    if (trial_below(trial, 20) == 0)
        add(line, "odd");
}

static void say_sorted(struct trial *trial, struct line *line)
{
    static const char *const words[] = {"ZADD", "ZADD", "ZADD", "ZREM", "ZCARD", "ZCOUNT", "ZCOUNT", "ZRANGE", "ZRANGEBYSCORE", "RPUSH", "LINDEX"};
    uint64_t kind = trial_below(trial, sizeof words / sizeof *words);
    begin(line, words[kind]);
    add_key_of(trial, line, kind > 8 ? 3 : 2);
    if (kind > 8)
        add(line, PICK(trial, "0", "0", "0", "1", "-1", "-2", "7", "x", "01"));
    else if (kind < 3) {
        for (uint64_t pairs = 1 + trial_below(trial, 3); pairs > 0; pairs--) {
            if (trial_below(trial, 3))
                add_text(line, "%lld", (long long)(trial->now_us + trial_below(trial, 3)));
            else
                add(line, PICK(trial, "1", "-2.5", "3", "1e3", "x", "nan", "", "0"));
            add_member(trial, line);
        }
    } else if (kind < 4)
        add_member(trial, line);
    else if (kind > 4) {
        add_text(line, "%lld", (long long)trial_below(trial, 7) - 3);
        add_text(line, "%lld", (long long)trial_below(trial, 9) - 4);
        if (kind > 6 && trial_below(trial, 2))
            add(line, trial_below(trial, 8) ? "WITHSCORES" : "WITHSOMETHING");
    }
}

static void say_keys(struct trial *trial, struct line *line)
{
    static const char *const words[] = {"PEXPIRE", "PEXPIRE", "PEXPIREAT", "PTTL", "PTTL", "PTTL", "PEXPIRETIME", "TYPE", "PERSIST", "EXISTS", "DEL"};
    uint64_t kind = trial_below(trial, sizeof words / sizeof *words);
    begin(line, words[kind]);
    add_key(trial, line);
    if (kind < 2)
        add_number(trial, line);
    else if (kind == 2)
        add_text(line, "%lld", (long long)(trial->now_us / 1000 + some_ms(trial) - trial_below(trial, 4)));
    else if (kind > 8 && trial_below(trial, 2)) {
        add_key(trial, line);
        add_key(trial, line);
    }
}

static void say_publish(struct trial *trial, struct line *line)
{
    int is_said = trial_below(trial, 3) != 0;
    begin(line, is_said ? PICK(trial, "PUBLISH", "SPUBLISH") : "PUBSUB");
    if (!is_said)
        add(line, PICK(trial, "NUMSUB", "numsub", "SHARDNUMSUB", "shardnumsub"));
    add_channel(trial, line);
    if (is_said)
        add(line, PICK(trial, "0", "", "G 1 2 3"));
    else if (trial_below(trial, 2))
        add_channel(trial, line);
}

static void say_connection(struct trial *trial, struct line *line)
{
    static const char *const lines[][3] = {
        {"TIME", 0, 0}, {"TIME", 0, 0}, {"PING", 0, 0}, {"ping", "text", 0}, {"DBSIZE", 0, 0}, {"DBSIZE", 0, 0}, {"WAIT", "0", "0"},
        {"SELECT", "0", 0}, {"SELECT", "x", 0}, {"SELECT", "77", 0}, {"CLIENT", "SETNAME", "hilock"}, {"CLIENT", "SETNAME", "a b"},
        {"CLIENT", "SETNAME", ""}, {"GET", 0, 0}, {"SET", "k", 0}, {"HSET", "k", "f"}, {"NOSUCH", "a", "b"}, {"nosuch", 0, 0},
        {"TIME", "x", 0}, {"SCRIPT", "LOAD", 0}, {"EVALSHA", "a", 0}};
    const char *const *chosen = lines[trial_below(trial, sizeof lines / sizeof *lines)];
    begin(line, chosen[0]);
    for (int i = 1; i < 3 && chosen[i]; i++)
        add(line, chosen[i]);
}

/* Of these each is sent alone: Redis 7.2 and later swallow the refusal of an AUTH while an earlier answer is still to be written. */
static void say_listener(struct trial *trial, struct line *line)
{
    uint64_t kind = trial_below(trial, 10);
    line->speaker = 1 + (unsigned)trial_below(trial, SPEAKERS - 1);
    if (kind < 2) {
        const char *word = kind ? "PING" : PICK(trial, "GET", "TIME", "HGETALL", "NOSUCH", "AUTH", "AUTH", "AUTH");
        begin(line, word);
        if (strcmp(word, "AUTH") == 0 && trial_below(trial, 2))
            add(line, PICK(trial, "nobody", "default"));
        if (strcmp(word, "PING") != 0 && strcmp(word, "TIME") != 0)
            add_key(trial, line);
        return;
    }
    begin(line, kind < 6 ? PICK(trial, "SUBSCRIBE", "SSUBSCRIBE") : PICK(trial, "UNSUBSCRIBE", "SUNSUBSCRIBE"));
    for (uint64_t channels = 1 + trial_below(trial, 3); channels > 0; channels--)
        add_channel(trial, line);
}

static void say_rare(struct trial *trial, struct line *line)
{
    if (trial_below(trial, 3)) {
        begin(line, "SCRIPT");
        add(line, "FLUSH");
    } else
        begin(line, "FLUSHALL");
}

void trial_line(struct trial *trial, struct line *line)
{
    static const struct { unsigned below; void (*say)(struct trial *trial, struct line *line); } kinds[] = {
        {220, say_acquire}, {310, say_renew}, {420, say_release}, {440, say_peek}, {500, say_simple}, {610, say_fair}, {660, say_probe}, {670, say_about_scripts}, {730, say_strings},
        {800, say_hashes}, {850, say_sorted}, {910, say_keys}, {945, say_publish}, {965, say_connection}, {999, say_listener},
        {1000, say_rare}};
    uint64_t kind = trial_below(trial, 1000);
    size_t i = 0;
    line->speaker = 0;
    line->name = line->holder = -1;
    while (kind >= kinds[i].below)
        i++;
    if (trial->to_load && trial_below(trial, 3))
        say_load(trial, line);
    else
        kinds[i].say(trial, line);
}
