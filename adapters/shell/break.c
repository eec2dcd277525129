/* SPDX-License-Identifier: BSD-3-Clause */
/* break - ends a hold, if its holder is the one that the user named: the store compares and ends in one step. If
 * several holders share the name, this ends the share of one of them. So the command asks afterwards who still holds
 * the name, and shows one of them, whose id the user can give to the next break. */
#include "codes.h"
#include "json.h"
#include "plain.h"
#include "say.h"
#include "session.h"
#include "status.h"

struct breaking {
    const struct options *options;
    struct session session;
    hilock_lock *lock;
    hilock_kind kind;
    hilock_status status; /* how the break ended */
    char detail[400];
    int code;
};

static int ask(struct breaking *breaking);

/* left: the answer to the question who still holds the name; NULL: there is no answer */
static void report(const struct breaking *breaking, const struct hilock_result *left)
{
    const char *advice = advice_of(breaking->status);
    struct json json = {.file = stdout};
    if (breaking->options->is_json) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", *breaking->options->names);
        json_text(&json, "holder", breaking->options->holder);
        json_text(&json, "status", hilock_status_name(breaking->status));
        json_text(&json, "detail", breaking->detail);
        if (advice)
            json_text(&json, "to_do", advice);
        if (left) {
            json_count(&json, "holders_left", left->holders);
            json_text(&json, "next_holder", left->holder);
        }
        json_shut(&json, '}');
        json_line(&json);
    } else if (breaking->status == HILOCK_OK) {
        printf("%s: ended; its holder learns that when it renews, up to a third of its lease later, and may write "
               "until then\n",
               *breaking->options->names);
        if (left && left->holders)
            printf("%s: %u hold it now: %s is one of them\n", *breaking->options->names, left->holders,
                   plain_of(left->holder).bytes);
    } else if (breaking->status == HILOCK_LOST) {
        say("%s: this holder no longer holds it, and nothing was done; hilock status shows who does",
            *breaking->options->names);
    } else {
        say("%s: %s%s%s", *breaking->options->names, breaking->detail, advice ? ". To do: " : "", advice ? advice : "");
    }
}

static void on_left(const struct hilock_result *result, void *user)
{
    struct breaking *breaking = user;
    report(breaking, result->status == HILOCK_OK ? result : NULL);
    session_leave(&breaking->session);
}

static void on_broken(const struct hilock_result *result, void *user)
{
    struct breaking *breaking = user;
    if (result->status == HILOCK_WRONG_KIND && breaking->kind != HILOCK_SIMPLE) {
        breaking->kind = HILOCK_SIMPLE;
        hilock_lock_free(breaking->lock);
        breaking->lock = NULL;
        breaking->code = ask(breaking);
        if (breaking->code == 0)
            return;
    } else {
        breaking->status = result->status;
        breaking->code = code_of(result->status);
        snprintf(breaking->detail, sizeof breaking->detail, "%s", result->detail);
        if (result->status == HILOCK_OK && hilock_peek(breaking->lock, on_left, breaking) == HILOCK_OK)
            return;
        report(breaking, NULL);
    }
    session_leave(&breaking->session);
}

static int ask(struct breaking *breaking)
{
    hilock_status status = hilock_lock_create(
        &breaking->lock, breaking->session.client, *breaking->options->names,
        HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .kind = breaking->kind));
    if (status == HILOCK_OK)
        status = hilock_force_release(breaking->lock, breaking->options->holder, on_broken, breaking);
    return status == HILOCK_OK ? 0 : session_refused(&breaking->session, status);
}

int break_command(const struct options *options)
{
    struct breaking breaking = {.options = options, .kind = options->kind};
    breaking.code = session_open(&breaking.session, options, NULL);
    if (breaking.code == 0)
        breaking.code = ask(&breaking);
    if (breaking.code == 0)
        session_turn(&breaking.session);
    hilock_lock_free(breaking.lock);
    session_close(&breaking.session);
    return breaking.code;
}
