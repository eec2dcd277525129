/* SPDX-License-Identifier: BSD-3-Clause */
/* rights - see rights.h. A line of MONITOR is `<time> [<database> <address>] "word" "word" ..`, each word as C would write it. */
#include "rights.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "server.h"

enum { WORDS_MAX = 24, LINE_MAX_BYTES = 65536 };

static FILE *page(void)
{
    const char *path = getenv("HILOCK_RIGHTS");
    FILE *file = fopen(path ? path : "include/hilock/operate.md", "re");
    if (!file)
        check_fail("cannot read the page with the rights");
    return file;
}

void rights_add(struct rights *rights, const char *word)
{
    CHECK(rights->count < RIGHTS_MAX && strlen(word) < RIGHT_MAX);
    if (!rights_has(rights, word))
        strcpy(rights->words[rights->count++], word);
}

int rights_has(const struct rights *rights, const char *word)
{
    for (unsigned i = 0; i < rights->count; i++)
        if (strcmp(rights->words[i], word) == 0)
            return 1;
    return 0;
}

static void add_words(struct rights *rights, char *line)
{
    for (char *rest = NULL, *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
        rights_add(rights, word);
}

void rights_read(struct rights *rights, const char *heading, const char *user)
{
    char line[1024], start[64];
    size_t length = strlen(heading);
    FILE *file = page();
    int is_in = 0, is_found = 0;
    snprintf(start, sizeof start, "ACL SETUSER %s ", user);
    while (!is_found && fgets(line, sizeof line, file)) {
        if (*line == '#') /* a remark may follow the heading */
            is_in = strncmp(line + 2, heading, length) == 0 && (line[2 + length] == ';' || line[2 + length] == '\n');
        is_in = is_in && *line != '`';
        if (is_in && strncmp(line, start, strlen(start)) == 0) {
            add_words(rights, line + strlen(start));
            is_found = 1;
        }
    }
    fclose(file);
    if (!is_found)
        check_fail("the page has no \"%s...\" below \"%s\"", start, heading);
    snprintf(rights->user, sizeof rights->user, "%s", user);
}

/* The list's items begin with the rights: - `+one` `+two`: .. */
void rights_add_optional(struct rights *rights)
{
    char line[1024];
    unsigned before = rights->count;
    FILE *file = page();
    while (fgets(line, sizeof line, file))
        for (char *at = strncmp(line, "- `+", 4) == 0 ? line + 2 : NULL; at && *at == '`' && at[1] == '+';) {
            char *end = strchr(at + 1, '`');
            CHECK(end != NULL);
            *end = '\0';
            rights_add(rights, at + 1);
            at = end + 1 + strspn(end + 1, " ,");
        }
    fclose(file);
    CHECK(rights->count > before);
}

struct rights rights_of_shop(const char *heading)
{
    struct rights all = {.count = 0};
    rights_read(&all, heading, "shop");
    rights_add_optional(&all);
    return all;
}

/* "reset" takes the password and the leave to log in as well; who is logged in stays so. */
void rights_give(const struct rights *rights, struct redis *redis, const char *but)
{
    const char *argv[RIGHTS_MAX + 4] = {"ACL", "SETUSER", rights->user, "reset"};
    int argc = 4;
    redisReply *reply;
    for (unsigned i = 0; i < rights->count; i++)
        if (!but || strcmp(rights->words[i], but) != 0)
            argv[argc++] = rights->words[i];
    reply = redisCommandArgv(redis->context, argc, argv, NULL);
    if (!reply || reply->type == REDIS_REPLY_ERROR)
        check_fail("ACL SETUSER %s: %s", rights->user, reply ? reply->str : redis->context->errstr);
    freeReplyObject(reply);
}

/* ---- what is sent ---- */

struct record {
    struct redis *monitor, *other;
    char **lines; /* from the first quote on; no two are the same */
    size_t count, room;
    char denied[512];
};

struct record *record_begin(const struct server *server)
{
    struct record *record = calloc(1, sizeof *record);
    CHECK(record != NULL);
    record->other = redis_open(server);
    record->monitor = redis_open(server);
    redis_do(record->monitor, "MONITOR");
    return record;
}

static void note(struct record *record, const char *line)
{
    for (size_t i = 0; i < record->count; i++)
        if (strcmp(record->lines[i], line) == 0)
            return;
    if (record->count == record->room) {
        record->room = record->room ? record->room * 2 : 64;
        record->lines = realloc(record->lines, record->room * sizeof *record->lines);
        CHECK(record->lines != NULL);
    }
    record->lines[record->count] = strdup(line);
    CHECK(record->lines[record->count++] != NULL);
}

void record_end(struct record *record)
{
    int is_over = 0;
    redis_do(record->other, "ECHO over");
    while (!is_over) {
        redisReply *reply = NULL;
        const char *first;
        if (redisGetReply(record->monitor->context, (void **)&reply) != REDIS_OK)
            check_fail("MONITOR: %s", record->monitor->context->errstr);
        first = reply->type == REDIS_REPLY_STATUS ? strstr(reply->str, "] \"") : NULL;
        CHECK(first != NULL);
        is_over = strcasecmp(first + 2, "\"ECHO\" \"over\"") == 0;
        if (!is_over)
            note(record, first + 2);
        freeReplyObject(reply);
    }
}

void record_free(struct record *record)
{
    for (size_t i = 0; i < record->count; i++)
        free(record->lines[i]);
    free(record->lines);
    redis_close(record->monitor);
    redis_close(record->other);
    free(record);
}

size_t record_count(const struct record *record, const char *command)
{
    size_t count = 0, length = command ? strlen(command) : 0;
    for (size_t i = 0; i < record->count; i++)
        count += !command || (strncasecmp(record->lines[i] + 1, command, length) == 0 && record->lines[i][1 + length] == '"');
    return count;
}

static int digit(char letter) { return isdigit((unsigned char)letter) ? letter - '0' : tolower((unsigned char)letter) - 'a' + 10; }

static char unescaped(const char **at)
{
    static const char from[] = "nrtab", to[] = "\n\r\t\a\b";
    const char *known;
    char letter = *++*at;
    if (letter == 'x' && isxdigit((unsigned char)(*at)[1]) && isxdigit((unsigned char)(*at)[2])) {
        *at += 2;
        return (char)(digit((*at)[-1]) * 16 + digit((*at)[0]));
    }
    known = strchr(from, letter);
    return known && letter ? to[known - from] : letter;
}

/* The words of a line, put into room one behind the other; returns how many. */
static int split(const char *line, char *room, const char **argv, size_t *lengths)
{
    int argc = 0;
    for (const char *at = line; *at == '"' && argc < WORDS_MAX; at += *at == ' ') {
        argv[argc] = room;
        for (at++; *at && *at != '"'; at++)
            *room++ = *at == '\\' ? unescaped(&at) : *at;
        lengths[argc] = (size_t)(room - argv[argc]);
        argc++;
        at += *at == '"';
    }
    return argc;
}

static int may(struct redis *redis, const char *user, const char *line)
{
    static char room[LINE_MAX_BYTES];
    const char *argv[WORDS_MAX + 3] = {"ACL", "DRYRUN", user};
    size_t lengths[WORDS_MAX + 3] = {3, 6, strlen(user)};
    redisReply *reply;
    int argc, is_so;
    CHECK(strlen(line) < sizeof room);
    argc = 3 + split(line, room, argv + 3, lengths + 3);
    reply = redisCommandArgv(redis->context, argc, argv, lengths);
    if (!reply || reply->type == REDIS_REPLY_ERROR)
        check_fail("ACL DRYRUN %s %.200s: %s", user, line, reply ? reply->str : redis->context->errstr);
    is_so = reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
    freeReplyObject(reply);
    return is_so;
}

const char *record_denied(struct record *record, struct redis *redis, const struct rights *rights)
{
    for (size_t i = 0; i < record->count; i++)
        if (!may(redis, rights->user, record->lines[i])) {
            snprintf(record->denied, sizeof record->denied, "%s", record->lines[i]);
            return record->denied;
        }
    return "";
}

/* What sentinels and other servers say there is not the user's. */
static void forget_denied(struct record *record, struct redis *redis, const struct rights *rights)
{
    size_t kept = 0;
    rights_give(rights, redis, NULL);
    for (size_t i = 0; i < record->count; i++)
        if (may(redis, rights->user, record->lines[i]))
            record->lines[kept++] = record->lines[i];
        else
            free(record->lines[i]);
    record->count = kept;
}

static int is_right(const char *word) { return *word == '+' || *word == '~' || *word == '&'; }

static int is_needed(const struct rights *rights, const char *word, struct redis *const *redis, struct record *const *records, unsigned count)
{
    int is_so = 0;
    for (unsigned i = 0; i < count && !is_so; i++) {
        rights_give(rights, redis[i], word);
        is_so = *record_denied(records[i], redis[i], rights) != '\0';
        rights_give(rights, redis[i], NULL);
    }
    return is_so;
}

const char *rights_unneeded(const struct rights *rights, struct redis *const *redis, struct record *const *records, unsigned count)
{
    static char text[RIGHTS_MAX * RIGHT_MAX];
    *text = '\0';
    for (unsigned i = 0; i < count; i++)
        forget_denied(records[i], redis[i], rights);
    for (unsigned i = 0; i < rights->count; i++)
        if (is_right(rights->words[i]) && !is_needed(rights, rights->words[i], redis, records, count)) {
            strcat(text, *text ? " " : "");
            strcat(text, rights->words[i]);
        }
    return text;
}

/* Each entry is a list of names and values. */
static const char *object_of(const redisReply *entry)
{
    for (size_t i = 0; i + 1 < entry->elements; i += 2)
        if (strcmp(entry->element[i]->str, "object") == 0)
            return entry->element[i + 1]->str;
    return "?";
}

const char *rights_denied(struct redis *redis)
{
    static char text[4096];
    char object[256];
    redisReply *reply = redis_reply(redis, "ACL LOG 128");
    CHECK(reply->type == REDIS_REPLY_ARRAY);
    strcpy(text, " ");
    for (size_t i = 0; i < reply->elements; i++) {
        snprintf(object, sizeof object, " %s ", object_of(reply->element[i]));
        CHECK(strlen(text) + strlen(object) < sizeof text);
        if (!strstr(text, object))
            strcat(text, object + 1);
    }
    freeReplyObject(reply);
    redis_do(redis, "ACL LOG RESET");
    return text;
}
