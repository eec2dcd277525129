/* SPDX-License-Identifier: BSD-3-Clause */
/* The rights of operate.md's block "acl", of each kind: all that can be done with a lock can be done with them, none of them is too many, what is
 * optional is said once, and what is missing is said in the server's words. */
#include <stdio.h>
#include <string.h>

#include "support/deeds.h"
#include "support/rights.h"
#include "support/fixture.h"

struct kind { hilock_kind kind; const char *word; };

static const struct kind kinds[] = {{HILOCK_MUTEX, "MUTEX and FAIR"}, {HILOCK_SIMPLE, "SIMPLE"}, {HILOCK_FAIR, "MUTEX and FAIR"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

#define SHOP(server) HILOCK_CLIENT_OPTIONS(.url = (server)->url, .username = "shop", .password = "secret")

static void begin(struct deeds *deeds, const struct kind *kind, struct fixture *fixture)
{
    deeds->kind = kind->kind;
    deeds->name = "stock:42";
    memset(deeds->others, 0, sizeof deeds->others);
    client_open_with(&deeds->ours, SHOP(fixture->server));
    client_open_with(&deeds->theirs, SHOP(fixture->server));
}

/* ---- enough, and none too many ---- */

/* What was recorded under all rights, optional ones too. */
static struct record *record_deeds(struct fixture *fixture, const struct kind *kind, const struct rights *rights)
{
    struct record *record;
    struct deeds deeds;
    rights_give(rights, fixture->redis, NULL);
    rights_denied(fixture->redis);
    record = record_begin(fixture->server);
    begin(&deeds, kind, fixture);
    deeds.ours.watched = deeds.theirs.watched = "refused";
    deeds.others[0] = fixture->redis;
    deeds_do(&deeds);
    record_end(record);
    assert_int_equal(deeds.ours.watched_count + deeds.theirs.watched_count, 0);
    deeds_close(&deeds);
    assert_string_equal(rights_denied(fixture->redis), " ");
    return record;
}

/* What is optional may be for another kind. */
static void none_is_too_many(const struct rights *needed, const char *unneeded)
{
    char text[4096];
    snprintf(text, sizeof text, "%s", unneeded);
    for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (rights_has(needed, word))
            check_fail("nothing that was sent needs %s", word);
}

static void are_just_enough(struct fixture *fixture, const struct kind *kind, unsigned count)
{
    struct rights needed = {.count = 0}, all = rights_of_shop(kind->word);
    struct redis *const redis[KINDS] = {fixture->redis, fixture->redis, fixture->redis};
    struct record *records[KINDS];
    rights_read(&needed, kind->word, "shop");
    for (unsigned i = 0; i < count; i++) {
        records[i] = record_deeds(fixture, &kind[i], &all);
        rights_give(&all, fixture->redis, NULL);
        assert_string_equal(record_denied(records[i], fixture->redis, &all), "");
        print_message("%s: %u rights, and %u optional; %zu different commands were sent\n", kind->word, needed.count - 3, all.count - needed.count,
                      record_count(records[i], NULL));
    }
    none_is_too_many(&needed, rights_unneeded(&all, redis, records, count));
    rights_add(&all, "+ping"); /* the check's own twin */
    rights_add(&all, "~till:*");
    rights_add(&all, "&news");
    assert_non_null(strstr(rights_unneeded(&all, redis, records, count), "+ping ~till:* &news"));
    for (unsigned i = 0; i < count; i++)
        record_free(records[i]);
    fixture_check_clean(fixture->redis);
}

static void of_MUTEX_and_FAIR(void **state)
{
    const struct kind both[] = {kinds[0], kinds[2]};
    are_just_enough(*state, both, 2);
}

static void of_SIMPLE(void **state) { are_just_enough(*state, &kinds[1], 1); }

/* With the lines alone all can be done, and nothing is refused but what is optional. */
static void the_lines_alone_are_enough(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 2; i++) { /* FAIR has the line of MUTEX */
        struct rights needed = {.count = 0}, all = rights_of_shop(kinds[i].word);
        struct deeds deeds;
        const char *denied;
        char text[4096];
        rights_read(&needed, kinds[i].word, "shop");
        rights_give(&needed, fixture->redis, NULL);
        begin(&deeds, &kinds[i], fixture);
        deeds_do(&deeds);
        deeds_close(&deeds);
        denied = rights_denied(fixture->redis);
        snprintf(text, sizeof text, "%s", denied);
        for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
            char right[64];
            snprintf(right, sizeof right, "+%s", word);
            if (!rights_has(&all, right) || rights_has(&needed, right))
                check_fail("%s: %s is refused, and is not optional", kinds[i].word, word);
        }
        fixture_check_clean(fixture->redis);
    }
}

/* No replica is there; without the right that is not known. */
static void beside_that(void **state)
{
    struct fixture *fixture = *state;
    const struct { const char *right, *words; unsigned replicas; hilock_status with_it; } rows[] = {
        {"+select", "'select'", 0, HILOCK_OK},
        {"+wait", "'wait'", 1, HILOCK_NOT_REPLICATED},
    };
    struct rights rights = rights_of_shop("MUTEX and FAIR");
    rights_read(&rights, "beside that, in a database other than 0, and for replicas", "shop");
    for (size_t i = 0; i < 4; i++) {
        int has_it = i % 2 != 0;
        struct client client;
        struct handle stock;
        char url[192];
        snprintf(url, sizeof url, i < 2 ? "%s?db=4" : "%s", fixture->server->url);
        rights_give(&rights, fixture->redis, has_it ? NULL : rows[i / 2].right);
        client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = url, .username = "shop", .password = "secret"));
        handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.replicas = rows[i / 2].replicas));
        assert_int_equal(handle_acquire(&stock, HILOCK_TRY), has_it ? rows[i / 2].with_it : HILOCK_DENIED);
        assert_true(has_it || strstr(stock.acquired.detail, rows[i / 2].words));
        handle_free(&stock);
        client_close(&client);
    }
}

/* ---- what is optional ---- */

struct option { const char *right, *words; int kind; };

static const struct option options[] = {
    {"+info", "INFO refused", 0},
    {"+client|setname", "CLIENT SETNAME refused", 0},
    {"+pubsub|numsub", "PUBSUB NUMSUB refused", 2},
};

static int was_told(void *arg) { return ((struct client *)arg)->watched_count > 0; }

static int was_told_of_the_loss(void *arg) { return ((struct client *)arg)->disconnected > 0; }

static int is_up(void *arg) { return hilock_client_is_connected(((struct client *)arg)->hilock); }

/* A second connection tells nothing new. */
static void told_once(struct fixture *fixture, const struct option *option)
{
    struct rights rights = rights_of_shop(kinds[option->kind].word);
    struct deeds deeds;
    rights_give(&rights, fixture->redis, option->right);
    begin(&deeds, &kinds[option->kind], fixture);
    deeds.ours.watched = deeds.theirs.watched = option->words;
    deeds_do_few(&deeds);
    client_until(&deeds.ours, was_told, &deeds.ours, option->right);
    client_until(&deeds.theirs, was_told, &deeds.theirs, option->right);
    redis_do(fixture->redis, "CLIENT KILL USER shop");
    client_until(&deeds.ours, was_told_of_the_loss, &deeds.ours, "the loss of a connection");
    client_until(&deeds.theirs, was_told_of_the_loss, &deeds.theirs, "the loss of a connection");
    client_until(&deeds.ours, is_up, &deeds.ours, "the connection");
    client_until(&deeds.theirs, is_up, &deeds.theirs, "the connection");
    deeds_do_few(&deeds);
    if (deeds.ours.watched_count != 1 || deeds.theirs.watched_count != 1)
        check_fail("without %s \"%s\" was told %u and %u times", option->right, option->words, deeds.ours.watched_count, deeds.theirs.watched_count);
    deeds_close(&deeds);
    fixture_check_clean(fixture->redis);
}

static void what_is_optional_is_told_once(void **state)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        told_once(*state, &options[i]);
}

static void every_option_is_tried(void **state)
{
    struct rights listed = {.count = 0};
    (void)state;
    rights_add_optional(&listed);
    assert_int_equal(listed.count, sizeof options / sizeof *options);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_true(rights_has(&listed, options[i].right));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(of_MUTEX_and_FAIR),
        FIXTURE_TEST(of_SIMPLE),
        FIXTURE_TEST(the_lines_alone_are_enough),
        FIXTURE_TEST(beside_that),
        FIXTURE_TEST(what_is_optional_is_told_once),
        cmocka_unit_test(every_option_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
