/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening: what is refused with which words, what is left to the caller then, and a client whose program wants to hear nothing. */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "play.h"

struct attempt {
    struct world_loop loop;
    struct net_port port;
    struct hilock_loop table;
    struct hl_doors doors;
    struct hilock_error error;
    hilock_client *client;
};

static void prepare(struct attempt *attempt, struct scene *s)
{
    memset(attempt, 0, sizeof *attempt);
    world_loop_init(&attempt->loop, &s->world, NULL);
    attempt->port = (struct net_port){&s->net, &attempt->loop};
    attempt->table = world_loop_table(&attempt->loop);
    attempt->doors = (struct hl_doors){net_links(&attempt->port), 7, "01234567-aaaa-4bbb-8ccc-0123456789ab"};
}

static hilock_status open_it(struct attempt *attempt, const struct hilock_client_options *options)
{
    return hl_client_open_with(&attempt->client, &attempt->table, &attempt->doors, options, &attempt->error);
}

static void is_refused(struct scene *s, const struct hilock_client_options *options, hilock_status status, const char *words)
{
    struct attempt attempt;
    prepare(&attempt, s);
    SAME(s, open_it(&attempt, options), status);
    HOLDS(s, !attempt.client);
    if (!strstr(attempt.error.text, words))
        TEXT(s, attempt.error.text, words);
    SAME(s, attempt.loop.ends, 0); /* the loop stays the caller's */
    SAME(s, attempt.loop.timers, 0);
    SAME(s, hl_client_open_with(&attempt.client, &attempt.table, &attempt.doors, options, NULL), status);
}

static void bad_options_are_refused_in_words(struct scene *s)
{
    is_refused(s, HILOCK_CLIENT_OPTIONS(.lease_ms = 5), HILOCK_INVALID, "bad lease_ms 5: must be 100..86400000, or 0 for 30000");
    is_refused(s, HILOCK_CLIENT_OPTIONS(.url = "http://x"), HILOCK_INVALID, "http");
    is_refused(s, HILOCK_CLIENT_OPTIONS(.url = "redis://a b"), HILOCK_INVALID, "");
    is_refused(s, HILOCK_CLIENT_OPTIONS(.url = "rediss://x"), HILOCK_UNSUPPORTED, "rediss:// is not in this version");
    is_refused(s, HILOCK_CLIENT_OPTIONS(.url = "redis+cluster://x"), HILOCK_UNSUPPORTED, "redis+cluster:// is not in");
    is_refused(s, HILOCK_CLIENT_OPTIONS(.url = "redis+sentinel://x"), HILOCK_UNSUPPORTED, "redis+sentinel:// is not in");
    is_refused(s, HILOCK_CLIENT_OPTIONS(.label = "a b"), HILOCK_INVALID, "bad label");
}

static void a_bad_loop_is_refused(struct scene *s)
{
    struct attempt attempt;
    prepare(&attempt, s);
    attempt.table.resolve = NULL;
    SAME(s, open_it(&attempt, NULL), HILOCK_INVALID);
    HOLDS(s, strstr(attempt.error.text, "lacks a function"));
    prepare(&attempt, s);
    attempt.table.size = 8;
    SAME(s, open_it(&attempt, NULL), HILOCK_INVALID);
    SAME(s, hl_client_open_with(&attempt.client, NULL, &attempt.doors, NULL, NULL), HILOCK_INVALID);
    SAME(s, hl_client_open_with(NULL, &attempt.table, &attempt.doors, NULL, &attempt.error), HILOCK_INVALID);
    HOLDS(s, strstr(attempt.error.text, "ret_client is NULL"));
}

static void told_nothing(const struct hilock_result *result, void *user) { *(hilock_status *)user = result->status; }

/* No log, no events, the C library's memory, and a loop that needs no end. */
static void a_client_works_whose_program_hears_nothing(struct scene *s)
{
    struct attempt attempt;
    hilock_lock *lock = NULL;
    hilock_status status = HILOCK_UNKNOWN;
    prepare(&attempt, s);
    attempt.table.free_ctx = NULL;
    SAME(s, open_it(&attempt, NULL), HILOCK_OK);
    SAME(s, hilock_lock_create(&lock, attempt.client, "stock", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = 1000)), HILOCK_OK);
    SAME(s, hilock_lock_create(NULL, attempt.client, "", NULL), HILOCK_INVALID);
    SAME(s, hilock_acquire(lock, HILOCK_FOREVER, told_nothing, &status), HILOCK_OK);
    run_ms(s, 5);
    SAME(s, status, HILOCK_OK);
    store_delete(&s->store, "stock");
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 2000);
    SAME(s, hilock_lock_state(lock), HILOCK_IDLE); /* lost, and ignored */
    hilock_lock_free(lock);
    SAME(s, hilock_client_close(attempt.client, 0, NULL, NULL), HILOCK_OK);
    run_ms(s, 5);
    SAME(s, attempt.loop.timers, 0);
    SAME(s, s->net.links, 0);
}

static void the_version_is_that_of_the_header(struct scene *s) { TEXT(s, hilock_version(), "0.1.0"); }

static void a_loss_that_is_ignored_is_not_looked_at(struct scene *s)
{
    struct hilock_event event;
    memset(&event, 0xff, sizeof event);
    hilock_lost_ignored(&event, NULL);
    hilock_lost_ignored(NULL, s);
}

static void what_only_later_versions_do_links_and_does_nothing(struct scene *s)
{
    struct hilock_stats stats = {.size = sizeof stats};
    char text[8] = "before";
    SAME(s, hilock_stats_prometheus(&stats, "x", text, sizeof text), 0);
    TEXT(s, text, "");
    SAME(s, hilock_stats_prometheus(&stats, "x", NULL, 0), 0);
    SAME(s, hilock_multi_token(NULL, 0), 0);
    SAME(s, hilock_validity_remaining_ms(NULL), 0);
    HOLDS(s, !hilock_validity_ref(NULL));
    hilock_validity_unref(NULL);
}

static const struct play plays[] = {
    PLAY(bad_options_are_refused_in_words),
    PLAY(a_bad_loop_is_refused),
    PLAY(a_client_works_whose_program_hears_nothing),
    PLAY(the_version_is_that_of_the_header),
    PLAY(a_loss_that_is_ignored_is_not_looked_at),
    PLAY(what_only_later_versions_do_links_and_does_nothing),
};

int main(void) { return PLAYS_RUN(plays); }
