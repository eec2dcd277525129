/* SPDX-License-Identifier: BSD-3-Clause */
/* watch - shows status again and again: on a terminal as a page that is redrawn, and in a pipe or as JSON as a line for
 * each change. */
#include "look.h"
#include "say.h"
#include "status.h"
#include "table.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

struct watching {
    const struct options *options;
    struct looks before;
    int is_page;
};

static const struct look *find(const struct looks *looks, const char *name)
{
    for (size_t i = 0; i < looks->count; i++)
        if (strcmp(looks->all[i].name, name) == 0)
            return &looks->all[i];
    return NULL;
}

/* That the remaining time of a lease goes down is no change. Nor is it one that another of several holders is named:
 * that is the one which renewed last. */
static int is_same(const struct look *a, const struct look *b)
{
    return a && b && a->status == b->status && a->waiters == b->waiters && a->ready == b->ready &&
           a->holders == b->holders &&
           (a->holders > 1 || strcmp(a->holder ? a->holder : "", b->holder ? b->holder : "") == 0);
}

static void show(const struct watching *watching, const struct look *look)
{
    struct json json = {.file = stdout};
    char clock[16];
    time_t now = time(NULL);
    struct tm local;
    strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&now, &local));
    if (watching->options->is_json) {
        look_json(&json, look);
        json_line(&json);
        return;
    }
    table_print_change(clock, look, watching->options->is_long);
}

static void show_page(const struct watching *watching, const struct looks *looks)
{
    fputs("\033[H\033[2J", stdout);
    if (looks->count)
        table_print(looks, watching->options->is_long);
    else
        puts("nothing is held");
}

static void show_changes(const struct watching *watching, const struct looks *looks)
{
    for (size_t i = 0; i < looks->count; i++)
        if (!is_same(find(&watching->before, looks->all[i].name), &looks->all[i]))
            show(watching, &looks->all[i]);
    for (size_t i = 0; i < watching->before.count; i++) /* with --prefix: names that are no longer held */
        if (!find(looks, watching->before.all[i].name)) {
            struct look gone = {.name = watching->before.all[i].name, .holder = (char[]){""}};
            show(watching, &gone);
        }
}

static int take_one(struct watching *watching, struct session *session)
{
    struct looks looks;
    int code = looks_take(&looks, session, watching->options);
    if (code == 0) {
        (watching->is_page ? show_page : show_changes)(watching, &looks);
        looks_free(&watching->before);
        watching->before = looks;
        return fflush(stdout) == 0 ? 0 : -1; /* nobody reads stdout any more */
    }
    looks_free(&looks);
    return code;
}

int watch_command(const struct options *options)
{
    struct watching watching = {.options = options, .is_page = isatty(STDOUT_FILENO) && !options->is_json};
    struct session session;
    int code = session_open(&session, options, NULL);
    while (code == 0 && (code = take_one(&watching, &session)) == 0)
        session_pause(&session, options->every_ms);
    looks_free(&watching.before);
    session_close(&session);
    return code < 0 ? 0 : code;
}
