/* SPDX-License-Identifier: BSD-3-Clause */
/* rights - see rights.h. A line of MONITOR is `<time> [<database> <address>] "word" "word" ..`, each word as C would write it. */
#include "rights.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "server.h"

enum { WORDS_MAX = 24, RECORD_SERVERS = 6 };

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
            for (char *rest = NULL, *word = strtok_r(line + strlen(start), " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
                rights_add(rights, word);
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
    return all;
}

struct rights rights_needed_of(const char *heading)
{
    struct rights all = rights_of_shop(heading), optional = {.count = 0}, needed = {.count = 0};
    rights_add_optional(&optional);
    for (unsigned i = 0; i < all.count; i++)
        if (!rights_has(&optional, all.words[i]))
            rights_add(&needed, all.words[i]);
    memcpy(needed.user, all.user, sizeof needed.user);
    return needed;
}

/* "reset" takes the password and the leave to log in as well; who is logged in stays so. */
void rights_give(const struct rights *rights, struct redis *redis, const char *but)
{
    const char *argv[RIGHTS_MAX + 4] = {"ACL", "SETUSER", rights->user, "reset"};
    int argc = 4;
    for (unsigned i = 0; i < rights->count; i++)
        if (!but || strcmp(rights->words[i], but) != 0)
            argv[argc++] = rights->words[i];
    redisReply *reply = redisCommandArgv(redis->context, argc, argv, NULL);
    if (!reply || reply->type == REDIS_REPLY_ERROR)
        check_fail("ACL SETUSER %s: %s", rights->user, reply ? reply->str : redis->context->errstr);
    freeReplyObject(reply);
}

/* ---- what is sent ---- */

struct record {
    struct redis *monitors[RECORD_SERVERS], *others[RECORD_SERVERS];
    unsigned count;
};

struct record *record_begin(struct server *const *servers, unsigned count)
{
    struct record *record = calloc(1, sizeof *record);
    CHECK(record && count <= RECORD_SERVERS);
    record->count = count;
    for (unsigned i = 0; i < count; i++) {
        record->others[i] = redis_open(servers[i]);
        record->monitors[i] = redis_open(servers[i]);
        redis_do(record->monitors[i], "MONITOR");
    }
    return record;
}

struct line { char *words[WORDS_MAX]; unsigned count; };

/* Blanks and quotes inside of a word cut it short, which none that a right names has. */
static struct line line_of(char *text)
{
    struct line line = {.count = 0};
    char *rest = NULL, *word = strtok_r(text, " \"", &rest);
    while (word && line.count < WORDS_MAX) {
        line.words[line.count++] = word;
        word = strtok_r(NULL, " \"", &rest);
    }
    return line;
}

static int is_command(const struct line *line, const char *wanted)
{
    char name[RIGHT_MAX];
    snprintf(name, sizeof name, "%s", line->words[0]);
    if (strchr(wanted, '|') && line->count > 1)
        snprintf(name, sizeof name, "%.20s|%.20s", line->words[0], line->words[1]);
    return strcasecmp(name, wanted) == 0;
}

/* A right to a command is used by that command, one to keys or channels by one that names such a key or channel. A
 * script's text names none. */
static int uses(const struct line *line, const char *right)
{
    if (*right == '+')
        return is_command(line, right + 1);
    int is_about_channels = strcasestr(line->words[0], "publish") || strcasestr(line->words[0], "subscribe");
    if (strcasecmp(line->words[0], "script") == 0 || (*right == '&') != is_about_channels)
        return 0;
    for (unsigned i = 1; i < line->count; i++)
        if (fnmatch(right + 1, line->words[i], 0) == 0)
            return 1;
    return 0;
}

static int is_used[RIGHTS_MAX];

static void read_on(struct redis *monitor, const struct rights *rights)
{
    for (int is_over = 0; !is_over;) {
        redisReply *reply = NULL;
        if (redisGetReply(monitor->context, (void **)&reply) != REDIS_OK)
            check_fail("MONITOR: %s", monitor->context->errstr);
        is_over = strcasestr(reply->str, "\"ECHO\" \"over\"") != NULL;
        char *first = reply->type == REDIS_REPLY_STATUS ? strstr(reply->str, "] \"") : NULL;
        CHECK(first != NULL);
        *first = '\0';
        if (!strstr(reply->str, " unix:")) { /* that is the test's own; what a script runs comes from "lua" */
            struct line line = line_of(first + 2);
            for (unsigned i = 0; i < rights->count; i++)
                is_used[i] |= uses(&line, rights->words[i]);
        }
        freeReplyObject(reply);
    }
}

const char *record_end(struct record *record, const struct rights *rights)
{
    static char text[RIGHTS_MAX * RIGHT_MAX];
    memset(is_used, 0, sizeof is_used);
    for (unsigned i = 0; i < record->count; i++) {
        redis_do(record->others[i], "ECHO over");
        read_on(record->monitors[i], rights);
        redis_close(record->monitors[i]);
        redis_close(record->others[i]);
    }
    free(record);
    *text = '\0';
    for (unsigned i = 0; i < rights->count; i++)
        if (!is_used[i] && strchr("+~&", *rights->words[i]))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "", rights->words[i]);
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
