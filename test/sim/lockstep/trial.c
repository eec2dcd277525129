/* SPDX-License-Identifier: BSD-3-Clause */
/* trial - see trial.h. Few names and holders, so that commands meet; leases and clock steps of all sizes, so that they meet at edges. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "memory/sha1.h"
#include "probes.h"
#include "wire/queued.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/scripts.h"
#include "wire/simple.h"

static const char *const names[NAMES] = {"stock", "a{tag}b", "account:17", "x", "\xff\x01 odd \xe2\x82\xac",
                                         "order/2024/0123456789012345678901234567890"};
static const char *const prefixes[KINDS] = {"", "hilock:token", "hilock:queue", "redisson_lock_queue", "hilock:place"};
enum { PROBES = sizeof probes / sizeof *probes };

/* The beginning is a script of any length, and so has a digest of each. */
static const char comment[] = "--------------------------------------------------------------------------------"
                              "--------------------------------------------------------------------------------";
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

static unsigned all_scripts(void) { return library_scripts() + PROBES; }

void trial_init(struct trial *trial, uint64_t seed)
{
    *trial = (struct trial){.random = {seed}, .now_us = TRIAL_BEGINS_US, .to_load = all_scripts()};
    for (int name = 0; name < NAMES; name++) {
        size_t length = strlen(names[name]);
        for (int kind = 0; kind < KINDS; kind++) {
            struct bytes *key = &trial->keys[name * KINDS + kind];
            if (kind == 0)
                memcpy(key->at, names[name], key->length = length);
            else
                key->length = hl_key_write(key->at, prefixes[kind], names[name], length);
        }
        trial->channels[name].length = hl_key_write(trial->channels[name].at, hl_key_channel, names[name], length);
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

static void add(struct line *line, const char *word) { hl_command_add_word(&line->command, word); }

static void add_bytes(struct line *line, const struct bytes *bytes)
{
    hl_command_add(&line->command, bytes->at, bytes->length);
}

static void add_key(struct trial *trial, struct line *line) { add_bytes(line, &trial->keys[trial_below(trial, KEYS)]); }

/* A key of the kind that the command is for, most of the time: 0 lock, 1 token, 2 queue, 3 Redisson's queue, 4 places. */
static void add_key_of(struct trial *trial, struct line *line, uint64_t kind)
{
    uint64_t name = trial_below(trial, NAMES);
    add_bytes(line, &trial->keys[name * KINDS + (trial_below(trial, 12) ? kind : trial_below(trial, KINDS))]);
}

static void add_channel(struct trial *trial, struct line *line)
{
    add_bytes(line, &trial->channels[trial_below(trial, NAMES)]);
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
        add_text(line, "%lld", (long long)trial_some_ms(trial) - (trial_below(trial, 10) ? 0 : 50));
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

static struct hl_target target_of(const struct line *line)
{
    return (struct hl_target){names[line->name], strlen(names[line->name]), uuid, (uint64_t)line->holder, label};
}

static struct hl_target words_for(struct trial *trial, struct line *line)
{
    line->name = (int)trial_below(trial, NAMES);
    line->holder = (int)trial_below(trial, HOLDERS);
    return target_of(line);
}

/* Mostly the latest grant: it may still stand. */
static struct hl_target words_of_held(struct trial *trial, struct line *line)
{
    if (trial_below(trial, 3) == 0)
        return words_for(trial, line);
    line->name = trial->latest_name;
    line->holder = trial->latest_holder;
    return target_of(line);
}

/* Of a MUTEX, or of a FAIR lock: then a channel of some name stands for a client's. Where somebody listens, a waiter
 * is ready. */
static struct hl_acquire_params acquire_for(struct trial *trial, const struct line *line)
{
    struct hl_acquire_params params = {.lease_ms = trial_some_ms(trial),
                                       .token_ttl_ms = (uint64_t[]){4, 100, 4000, 600000}[trial_below(trial, 4)]};
    params.reserved = trial_below(trial, 4) ? 0 : (unsigned)trial_below(trial, 200);
    if (trial_below(trial, 4) == 0)
        params.not_after_ms = trial->now_us / 1000 + trial_below(trial, 5) - 2;
    if (trial_below(trial, 3))
        return params;
    params.queue_max = trial_below(trial, 8) ? 100000 : 2;
    params.may_take_left = trial_below(trial, 16) == 0;
    if (trial_below(trial, 8)) /* else it is a try */
        trial_stand(trial, line, &params);
    return params;
}

static void say_acquire(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_for(trial, line);
    const struct hl_acquire_params params = acquire_for(trial, line);
    hl_queued_acquire(&line->command, &words, &params);
}

static void say_renew(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_of_held(trial, line);
    const uint64_t token = trial->tokens[line->name][line->holder] + (trial_below(trial, 8) == 0);
    hl_queued_renew(&line->command, &words, &(struct hl_renew_params){.lease_ms = trial_some_ms(trial), .token = token});
}

/* Of a holder, or of any field that other lines write. */
static void say_force(struct trial *trial, struct line *line, const struct hl_target *words)
{
    static const struct hl_kind *const kinds[] = {&hl_queued_mutex, &hl_queued_fair};
    const char *field = PICK(trial, "a", "b", "redisson:1", "other field");
    size_t length = hl_holder_write(line->forced, words->uuid, words->id, words->label);
    const int is_holder = trial_below(trial, 2) != 0;
    const struct hl_force_params params = {.holder = is_holder ? line->forced : field, .holder_length = is_holder ? length : strlen(field)};
    kinds[trial_below(trial, 2)]->force(&line->command, words, &params);
}

static void say_recheck(struct trial *trial, struct line *line, const struct hl_target *words, const struct hl_release_params *as)
{
    const struct hl_recheck_params params = {.token_ttl_ms = as->token_ttl_ms, .own = as->own, .lapsed = &trial->lapsed};
    hl_queued_recheck(&line->command, words, &params);
}

static void say_release(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_of_held(trial, line);
    const struct hl_acquire_params next = acquire_for(trial, line);
    struct hl_release_params params = {.token_ttl_ms = next.token_ttl_ms, .entry = next.entry};
    params.own = trial_below(trial, 4) ? 0 : trial_below(trial, 2) ? 1 : HL_OWN_ALL;
    if (trial_below(trial, 5) == 0) {
        say_force(trial, line, &words);
        return;
    }
    if (next.entry.due_s && trial_below(trial, 4) == 0) {
        params.next.id = trial_below(trial, HOLDERS);
        params.next.lease_ms = next.lease_ms;
        params.next.queue_max = next.queue_max;
        params.next.entry = next.entry;
    }
    if (trial_below(trial, 12) == 0)
        say_recheck(trial, line, &words, &params);
    else
        hl_queued_release(&line->command, &words, &params);
    if (trial_below(trial, 40) == 0) {
        line->command.argc--;
        add(line, PICK(trial, "NOSUCHCOMMAND", "publish", "GET", "SUBSCRIBE"));
    }
}

static void say_peek(struct trial *trial, struct line *line)
{
    const struct hl_target words = words_of_held(trial, line);
    const struct hl_acquire_params waits = acquire_for(trial, line);
    hl_queued_peek(&line->command, &words, &waits.entry, 0);
}

/* SIMPLE locks stand at the token keys: strings, where MUTEX locks seldom come. */
static void say_simple(struct trial *trial, struct line *line)
{
    const uint64_t lease_ms = trial_some_ms(trial);
    const int is_second = trial_below(trial, 3) > 0;
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
        hl_simple_acquire(&line->command, &words, &(struct hl_acquire_params){.lease_ms = lease_ms, .is_second = is_second});
    else if (kind < 7)
        hl_simple_renew(&line->command, &words, &(struct hl_renew_params){.lease_ms = lease_ms});
    else if (kind < 9)
        hl_simple_release(&line->command, &words, &(struct hl_release_params){.is_second = is_second});
    else
        hl_simple_peek(&line->command, &words, &(struct hl_queue_entry){.due_s = 0}, 0);
}

static void script_of(unsigned i, struct hl_script *ret_script, char sha1[SIM_SHA1_DIGITS + 1])
{
    if (i < library_scripts()) {
        *ret_script = *hl_scripts[i];
        return;
    }
    *ret_script = (struct hl_script){.text = probes[i - library_scripts()], .sha1 = sha1};
    ret_script->length = strlen(ret_script->text);
    sim_sha1_of(ret_script->text, ret_script->length, sha1);
}

static void say_probe(struct trial *trial, struct line *line)
{
    struct hl_script script;
    char *sha1, digits[41];
    unsigned i = library_scripts() + (unsigned)trial_below(trial, PROBES);
    script_of(i, &script, digits);
    hl_command_begin(&line->command, "EVALSHA");
    sha1 = hl_command_room(&line->command, 40);
    memcpy(sha1, digits, 40);
    hl_command_add(&line->command, sha1, 40);
    add(line, "1");
    add_key_of(trial, line, 1 + trial_below(trial, KINDS - 1)); /* seldom a lock: few could be acquired */
    add_text(line, "%lld", (long long)trial_some_ms(trial));
    add_member(trial, line);
    add_channel(trial, line);
}

/* ---- plain commands ---- */

/* Of a sorted set: mostly times, as the library's are. */
static void add_score(struct trial *trial, struct line *line)
{
    if (trial_below(trial, 3))
        add_text(line, "%lld", (long long)(trial->now_us + trial_below(trial, 3)));
    else
        add(line, PICK(trial, "1", "-2.5", "3", "1e3", "x", "nan", "", "0"));
}

static void add_value(struct trial *trial, struct line *line)
{
    if (trial_below(trial, 2))
        add(line, PICK(trial, "", "5", "-7", "9223372036854775807", "9100000000000000", "abc", "5 "));
    else
        add_text(line, "%lld", (long long)(trial->now_us + trial_below(trial, 3000) - 1000));
}

/* Of SET, up to three. */
static void add_options(struct trial *trial, struct line *line)
{
    for (uint64_t options = trial_below(trial, 4); options > 0; options--) {
        const char *option = PICK(trial, "NX", "XX", "GET", "KEEPTTL", "PX", "EX", "get", "px", "BAD");
        if (strcmp(option, "BAD") == 0 && trial_below(trial, 4))
            continue;
        add(line, option);
        if (strcmp(option, "PX") == 0 || strcmp(option, "EX") == 0 || strcmp(option, "px") == 0)
            add_number(trial, line);
    }
}

static void add_piece(struct trial *trial, struct line *line, char piece)
{
    switch (piece) {
    case 'k': add_key(trial, line); break; /* any */
    case 'h': add_key_of(trial, line, trial_below(trial, 2) * 3); break; /* of a hash, most of the time; and so on */
    case 't': add_key_of(trial, line, 1); break;
    case 'q': add_key_of(trial, line, 2); break;
    case 'l': add_key_of(trial, line, 3); break;
    case 'c': add_channel(trial, line); break;
    case 'm': add_member(trial, line); break;
    case 'n': add_number(trial, line); break;
    case 'i': add_text(line, "%lld", (long long)trial_below(trial, 9) - 4); break;
    case 'a': add_text(line, "%lld", (long long)(trial->now_us / 1000 + trial_some_ms(trial) - trial_below(trial, 4))); break;
    case 's': add(line, hl_scripts[0]->sha1); break;
    case 'd': add_score(trial, line); break;
    case 'v': add_value(trial, line); break;
    case 'w': add(line, PICK(trial, "", "1", "mutex", "9100000000000000", "1700000000000000", "fair", "read")); break;
    case 'o': add_options(trial, line); break;
    case 'y': hl_command_add(&line->command, comment, 2 + (size_t)trial_below(trial, sizeof comment - 2)); break;
    default: HL_REQUIRE(!"a piece");
    }
}

/* A word of a form: one of those that '|' parts. "%k" is a piece, "%+mv" one to three times these pieces; '_' is a blank. */
static void add_word(struct trial *trial, struct line *line, const char *word, size_t length)
{
    uint64_t choices = 1;
    size_t times = 1;
    char *room;
    for (size_t i = 0; i < length; i++)
        choices += word[i] == '|';
    for (uint64_t chosen = trial_below(trial, choices); chosen > 0; chosen--)
        word = strchr(word, '|') + 1;
    length = strcspn(word, "| ");
    if (*word != '%') {
        room = hl_command_room(&line->command, length);
        for (size_t i = 0; i < length; i++)
            room[i] = word[i] == '_' ? ' ' : word[i];
        hl_command_add(&line->command, room, length);
        return;
    }
    if (word[1] == '+') {
        times = 1 + (size_t)trial_below(trial, 3);
        word++, length--;
    }
    for (; times > 0; times--)
        for (size_t i = 1; i < length; i++)
            add_piece(trial, line, word[i]);
}

/* '>' in front: said by a listener. */
static void say_form(struct trial *trial, struct line *line, const char *form)
{
    line->speaker = *form == '>' ? 1 + (unsigned)trial_below(trial, SPEAKERS - 1) : 0;
    form += *form == '>';
    hl_command_begin(&line->command, "");
    line->command.argc = 0;
    for (size_t length;; form += length + 1) {
        length = strcspn(form, " ");
        add_word(trial, line, form, length);
        if (form[length] == '\0')
            break;
    }
}

static void say_rare(struct trial *trial, struct line *line) { say_form(trial, line, trial_below(trial, 3) ? "SCRIPT FLUSH" : "FLUSHALL"); }

/* Of those of listeners each is sent alone: Redis 7.2 and later swallow the refusal of an AUTH while an earlier answer is still to be written. */
static const struct { unsigned weight; void (*say)(struct trial *trial, struct line *line); const char *form; } kinds[] = {
    {280, say_acquire, NULL}, {95, say_renew, NULL}, {150, say_release, NULL}, {25, say_peek, NULL},
    {60, say_simple, NULL}, {50, say_probe, NULL},
    {2, NULL, "SCRIPT LOAD return_(|x_x|return_1\n)"},
    {8, NULL, "SCRIPT LOAD %y"},
    {2, NULL, "script exists %s nonsense"},
    {6, NULL, "EVALSHA 0123456789012345678901234567890123456789|%s -1|x|3|99|0 a b"},
    {15, NULL, "GET %t"},
    {5, NULL, "INCR|DECR %t"},
    {10, NULL, "INCRBY|DECRBY %t %n"},
    {30, NULL, "SET %t %v %o"},
    {10, NULL, "HGET|HEXISTS %h %m"},
    {10, NULL, "HDEL %h %m|%mm"},
    {5, NULL, "HINCRBY %h %m %n"},
    {20, NULL, "HVALS|HKEYS|HLEN|HGETALL %h"},
    {6, NULL, "HMGET %h %m|%mm|%+m"},
    {5, NULL, "HSCAN %h 0|0|0|0|x"},
    {3, NULL, "HSCAN %h 0 COUNT|COUNT|count|LIMIT 16|1|0|x"},
    {19, NULL, "HSET %h %+mw"},
    {1, NULL, "HSET %h %+mw odd"},
    {14, NULL, "ZADD %q %+dm"},
    {12, NULL, "ZADD %q LT|LT|GT|NX|XX|lt|CH %+dm"},
    {6, NULL, "ZADD %q LT|GT|NX|XX|CH LT|GT|NX|XX|CH %+dm"},
    {4, NULL, "ZREM %q %m|%+m"},
    {8, NULL, "ZCARD|ZCARD|TYPE %q"},
    {10, NULL, "ZRANK|ZSCORE %q %m"},
    {12, NULL, "ZCOUNT|ZCOUNT|ZRANGE|ZRANGEBYSCORE %q %i %i"},
    {6, NULL, "ZRANGE|ZRANGEBYSCORE %q %i %i WITHSCORES|WITHSCORES|WITHSCORES|WITHSOMETHING"},
    {8, NULL, "ZCOUNT|ZRANGEBYSCORE %q -inf|(1|0|%d|(x|( +inf|(3|1e16|%d"},
    {8, NULL, "ZRANGEBYSCORE %q -inf|(1|0 +inf|%d LIMIT|limit|LIMIT|LIMIT|WITHSCORES 0|0|1|-1|7|x 64|1|0|-1|x"},
    {3, NULL, "ZRANGEBYSCORE %q -inf +inf WITHSCORES|LIMIT LIMIT|0 0|1 2|WITHSCORES"},
    {10, NULL, "RPUSH|LINDEX %l 0|0|0|1|-1|-2|7|x|01"},
    {11, NULL, "PEXPIRE %k %n"},
    {5, NULL, "PEXPIREAT %k %a"},
    {32, NULL, "PTTL|PTTL|PTTL|PEXPIRETIME|TYPE|PERSIST %k"},
    {12, NULL, "EXISTS|DEL|UNLINK %k|%kkk"},
    {24, NULL, "PUBLISH|SPUBLISH %c 0||G_1_2_3"},
    {11, NULL, "PUBSUB NUMSUB|numsub|SHARDNUMSUB|shardnumsub %c|%cc"},
    {7, NULL, "TIME|TIME|PING|DBSIZE|DBSIZE|GET|nosuch"},
    {3, NULL, "SELECT 0|x|77"},
    {3, NULL, "CLIENT SETNAME hilock|a_b|"},
    {1, NULL, "ping text"},
    {1, NULL, "WAIT 0 0"},
    {3, NULL, "SET|EVALSHA|TIME k"},
    {2, NULL, "HSET|NOSUCH k f"},
    {1, NULL, "SCRIPT LOAD"},
    {3, NULL, ">PING"},
    {2, NULL, ">GET|HGETALL|NOSUCH|AUTH %k"},
    {1, NULL, ">AUTH nobody|default %k"},
    {1, NULL, ">TIME"},
    {28, NULL, ">SUBSCRIBE|SSUBSCRIBE|UNSUBSCRIBE|SUNSUBSCRIBE %+c"},
    {1, say_rare, NULL},
};

void trial_line(struct trial *trial, struct line *line)
{
    uint64_t sum = 0, kind;
    size_t i = 0;
    for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++)
        sum += kinds[j].weight;
    for (kind = trial_below(trial, sum); kind >= kinds[i].weight; i++)
        kind -= kinds[i].weight;
    line->speaker = 0;
    line->name = line->holder = -1;
    if (trial->to_load && trial_below(trial, 3)) {
        struct hl_script script;
        char digits[41];
        script_of(--trial->to_load, &script, digits);
        hl_command_load(&line->command, &script);
    } else if (kinds[i].say)
        kinds[i].say(trial, line);
    else
        say_form(trial, line, kinds[i].form);
}

/* ---- what it learns ---- */

const char *const trial_happenings[HAPPENINGS] = {
    "acquires granted", "held", "late", "renewed", "released", "SIMPLE: taken", "renewed", "released", "FAIR: queued", "handed over"};

static void acquired(struct trial *trial, const struct line *line, const struct hl_reply *reply)
{
    const struct hl_response said = hl_queued_acquired(reply, HL_FORM_SCRIPT);
    trial->happened[GRANTED] += said.result == HL_YES;
    trial->happened[HELD] += said.result == HL_NO;
    trial->happened[LATE] += hl_reply_starts(reply, "LATE ") != 0;
    trial->happened[FAIR_QUEUED] += said.result == HL_NO && said.position > 1;
    if (said.result == HL_YES)
        trial->tokens[line->name][line->holder] = said.token;
    if (said.result == HL_NO)
        trial->tickets[line->name][line->holder] = said.ticket;
    if (said.result == HL_YES || said.result == HL_NO) { /* most of the next is about this name */
        trial->latest_name = line->name;
        trial->latest_holder = line->holder;
    }
}

void trial_answers(struct trial *trial, const struct line *line, const struct hl_reply *reply)
{
    const struct { const struct hl_script *script; enum trial_happening what; } ends[] = {
        {&hl_script_renew, RENEWED}, {&hl_script_mutex_release, RELEASED}, {&hl_script_simple_acquire, SIMPLE_TAKEN},
        {&hl_script_simple_renew, SIMPLE_RENEWED}, {&hl_script_simple_release, SIMPLE_RELEASED}};
    const struct hl_script *script = line->command.script;
    if (script == &hl_script_mutex_acquire)
        acquired(trial, line, reply);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        trial->happened[ends[i].what] += script == ends[i].script && reply->type == HL_REPLY_INTEGER && reply->integer != 0;
    if (script == &hl_script_mutex_release)
        trial_released(trial, reply);
    if (hl_reply_starts(reply, "NOSCRIPT") && !trial->to_load && trial_below(trial, 4) == 0)
        trial->to_load = all_scripts();
}
