/* SPDX-License-Identifier: BSD-3-Clause */
/* test_queue_cost - no script is dearer in a long queue: at 10 000 places each request touches at most twice the elements that it touches
 * at 10; where 64 places are read, because the first eight are not ready or are counted, than it touches at 70. Places that the call takes
 * out for good are left out. And no script prints a number by %d, which a 32-bit server cuts off. */
#include <inttypes.h>
#include <stdlib.h>

#include "script_trial.h"

enum { FEW = 10, MORE_THAN_A_STEP = 70, MANY = 10000, LISTENERS = 5 };

/* A name that a:1 holds, and a queue of so many places of b .. f, which listen; each second one has sent a heartbeat. */
struct scene {
    struct trial *trial;
    struct waiter first, middle, last, fresh, poller;
    unsigned other; /* another program that listens; 0: none */
};

static void stands(struct scene *scene, int i, int count)
{
    const char client = (char)('b' + i % LISTENERS), channel[] = {'g', ':', client, '\0'};
    struct waiter waiter = waiter_of(scene->trial, client, i + 1);
    waiter_stands(&waiter, channel, 1700000100, "400 0 1");
    waiter.due_s = 1700000100;
    (void)ask(scene->trial, &waiter);
    if (i % 2) /* its record as a heartbeat writes it */
        (void)RUN(scene->trial, "HSET", R, waiter.id, "1 1700000000123456 2 1700000100 g:b 400"), waiter.number = 2;
    if (i == 0)
        scene->first = waiter;
    if (i == count / 2)
        scene->middle = waiter;
    if (i == count - 1)
        scene->last = waiter;
}

static void set_up(struct scene *scene, struct trial *trial, int count)
{
    *scene = (struct scene){.trial = trial};
    trial_begin(trial);
    for (int i = 0; i < LISTENERS; i++)
        (void)listens(trial, (char[]){'g', ':', (char)('b' + i), '\0'});
    held_by(trial, holder_of('a', 1));
    (void)RUN(trial, "PEXPIRE", N, "600000");
    for (int i = 0; i < count; i++)
        stands(scene, i, count);
    scene->fresh = waiter_of(trial, 'h', 1);
    scene->poller = waiter_of(trial, 'p', 1);
    waiter_stands(&scene->poller, "-", 1700000100, "400 0 1");
    (void)RUN(trial, "PEXPIRE", R, "90000");
}

/* ---- requests ---- */

typedef const struct sim_reply *request(struct scene *scene);

static void is_free(struct scene *scene) { (void)RUN(scene->trial, "DEL", N); }
static void is_anothers(struct scene *scene)
{
    is_free(scene);
    (void)RUN(scene->trial, "HSET", N, "java:1", "1");
    (void)RUN(scene->trial, "RPUSH", J, "java:2");
}
static void others_listen(struct scene *scene) { scene->other = listens(scene->trial, C); }
static void is_left(struct scene *scene)
{
    others_listen(scene);
    (void)release(scene->trial, holder_of('a', 1), TO_OTHERS);
}
static void was_left(struct scene *scene)
{
    is_left(scene);
    trial_set_time(scene->trial, start_us + 5000);
}
static void lacks_records(struct scene *scene) { (void)RUN(scene->trial, "DEL", R); }
static void lacks_queue(struct scene *scene) { (void)RUN(scene->trial, "DEL", Q); }
static void polls(struct scene *scene) { (void)ask(scene->trial, &scene->poller); }
static void a_poller_is_first(struct scene *scene)
{
    scene->poller.ticket = scene->first.ticket - 1;
    polls(scene);
}
static void pollers_are_first(struct scene *scene)
{
    for (int i = 0; i < 8; i++) {
        struct waiter poller = waiter_of(scene->trial, 'p', i + 2);
        waiter_stands(&poller, "-", 1700000100, "400 0 1");
        poller.ticket = scene->first.ticket - 1;
        (void)ask(scene->trial, &poller);
    }
}
static void pollers_are_first_and_it_is_free(struct scene *scene)
{
    pollers_are_first(scene);
    is_free(scene);
}
static void polls_and_is_free(struct scene *scene)
{
    polls(scene);
    is_free(scene);
}
static void loses_its_place(struct scene *scene) { (void)leave(scene->trial, &scene->middle); }
static void the_clock_went_on(struct scene *scene) { trial_set_time(scene->trial, start_us + 31 * SECOND_US); }
static void a_group_joined(struct scene *scene) { (void)RUN(scene->trial, "HSET", N, "f", "u:1", "f:u:1:lock_count", "1"); }

static const struct sim_reply *a_first_question(struct scene *scene) { return ask(scene->trial, &scene->fresh); }
static const struct sim_reply *a_first_question_again(struct scene *scene) { return ask_again(scene->trial, &scene->middle); }
static const struct sim_reply *first_asks(struct scene *scene) { return ask(scene->trial, &scene->first); }
static const struct sim_reply *middle_asks(struct scene *scene) { return ask(scene->trial, &scene->middle); }
static const struct sim_reply *last_asks(struct scene *scene) { return ask(scene->trial, &scene->last); }
static const struct sim_reply *poller_asks(struct scene *scene) { return ask(scene->trial, &scene->poller); }
static const struct sim_reply *a_try(struct scene *scene) { return try_as(scene->trial, scene->fresh.id); }
static const struct sim_reply *a_repeated_acquire(struct scene *scene) { return try_as(scene->trial, holder_of('a', 1)); }
static const struct sim_reply *a_release(struct scene *scene) { return release(scene->trial, holder_of('a', 1), NEVER); }
static const struct sim_reply *a_release_to_others(struct scene *scene) { return release(scene->trial, holder_of('a', 1), TO_OTHERS); }
static const struct sim_reply *a_release_of_nothing(struct scene *scene) { return release(scene->trial, holder_of('y', 1), NEVER); }
static const struct sim_reply *a_release_for_next(struct scene *scene) { return release_for_next(scene->trial, holder_of('a', 1), &scene->fresh); }
static const struct sim_reply *first_leaves(struct scene *scene) { return leave(scene->trial, &scene->first); }
static const struct sim_reply *middle_leaves(struct scene *scene) { return leave(scene->trial, &scene->middle); }
static const struct sim_reply *last_leaves(struct scene *scene) { return leave(scene->trial, &scene->last); }
static const struct sim_reply *nobody_leaves(struct scene *scene) { return leave(scene->trial, &scene->fresh); }
static const struct sim_reply *a_look(struct scene *scene) { return look(scene->trial, ""); }
static const struct sim_reply *a_look_at_a_lapse(struct scene *scene)
{
    char text[128];
    snprintf(text, sizeof text, "400 %.36s 1700000000000000", scene->first.id); /* all have asked since */
    return look(scene->trial, text);
}
static const struct sim_reply *a_peek(struct scene *scene)
{
    char text[256];
    snprintf(text, sizeof text, "%s %s", scene->middle.id, scene->middle.place);
    return SCRIPT(scene->trial, hl_script_mutex_peek, "2", N, Q, text);
}
static const struct sim_reply *a_force(struct scene *scene)
{
    return SCRIPT(scene->trial, hl_script_mutex_force, "2", N, Q, holder_of('a', 1), C, "PUBLISH");
}
static const struct sim_reply *a_free_release(struct scene *scene)
{
    return SCRIPT(scene->trial, hl_script_free, "1", N, holder_of('a', 1), C, "PUBLISH");
}
static const struct sim_reply *a_guest(struct scene *scene)
{
    return SCRIPT(scene->trial, hl_script_mutex_acquire, "3", N, Q, T, "u:1", "3000", ANY_TIME " *", "600000000");
}
static const struct sim_reply *a_full_queue(struct scene *scene)
{
    char text[256];
    snprintf(text, sizeof text, ANY_TIME " -5 %s", scene->fresh.place);
    return SCRIPT(scene->trial, hl_script_mutex_acquire, "3", N, Q, T, scene->fresh.id, "10000", text, "300000000");
}

struct request { const char *name; void (*before)(struct scene *scene); request *ask; };

static const struct request requests[] = {
    {"first question", NULL, a_first_question}, {"first question, free", is_free, a_first_question},
    {"first question, another program holds", is_anothers, a_first_question},
    {"first question, left to others", is_left, a_first_question},
    {"first question, no queue", lacks_queue, a_first_question},
    {"first question, a new half minute", the_clock_went_on, a_first_question},
    {"first question again", NULL, a_first_question_again}, {"first question, queue full", NULL, a_full_queue},
    {"heartbeat of the first", NULL, first_asks}, {"heartbeat in the middle", NULL, middle_asks},
    {"heartbeat of the last", NULL, last_asks}, {"heartbeat, free", is_free, middle_asks},
    {"heartbeat of the first, free", is_free, first_asks},
    {"heartbeat, another program holds", is_anothers, middle_asks},
    {"heartbeat, no records", lacks_records, middle_asks}, {"heartbeat, no queue", lacks_queue, middle_asks},
    {"heartbeat without a place", loses_its_place, middle_asks}, {"heartbeat of a poller", polls, poller_asks},
    {"heartbeat of a poller, free", polls_and_is_free, poller_asks}, {"try", NULL, a_try},
    {"try, free", is_free, a_try}, {"try, left to others", is_left, a_try},
    {"acquire again", NULL, a_repeated_acquire}, {"guest", NULL, a_guest}, {"guest, free", is_free, a_guest},
    {"guest, left to others", is_left, a_guest}, {"release", NULL, a_release},
    {"release to others", others_listen, a_release_to_others}, {"release of nothing", NULL, a_release_of_nothing},
    {"release of nothing, free", is_free, a_release_of_nothing},
    {"release beside a group", a_group_joined, a_release}, {"release for next", NULL, a_release_for_next},
    {"release, no records", lacks_records, a_release}, {"the first leaves", NULL, first_leaves},
    {"one in the middle leaves", NULL, middle_leaves}, {"the last leaves", NULL, last_leaves},
    {"nobody leaves", NULL, nobody_leaves}, {"look", NULL, a_look}, {"look, free", is_free, a_look},
    {"look at a lapse", is_free, a_look_at_a_lapse}, 
    {"force", NULL, a_force}, {"release while the slot moves", NULL, a_free_release},
    {"the first leaves, free", is_free, first_leaves},
    {"the first leaves, another program holds", is_anothers, first_leaves},
    {"look, left to others before", was_left, a_look}, {"heartbeat, left to others before", was_left, middle_asks},
    {"release behind a far poller", a_poller_is_first, a_release},
};

/* The walk, or the count of those who are ready, reads 64 places and their records. */
static const struct request walks[] = {
    {"peek", NULL, a_peek}, {"peek, free", is_free, a_peek},
    {"release behind eight pollers", pollers_are_first, a_release}, {"heartbeat behind eight pollers, free", pollers_are_first_and_it_is_free, last_asks},
};

static uint64_t cost(struct scene *scene, const struct request *asked)
{
    uint64_t before, touched;
    const struct sim_reply *reply;
    char text[512];
    if (asked->before)
        asked->before(scene);
    before = sim_store_touched(scene->trial->store);
    reply = asked->ask(scene);
    touched = sim_store_touched(scene->trial->store) - before;
    as_text(reply, text);
    if (reply->type == SIM_REPLY_ERROR || removed_of(reply) != 0 || !touched)
        fail_msg("%s: %s", asked->name, text);
    return touched;
}

/* The long queue is made once, and each request begins from its copy. */
static void compare(struct trial *trial, const struct request *asked, size_t count, int few)
{
    struct trial long_one = {.store = NULL};
    struct scene short_queue, long_queue;
    struct sim_store_data *keys;
    uint64_t now_us;
    set_up(&long_queue, &long_one, MANY);
    keys = sim_store_save(long_one.store);
    now_us = long_one.now_us;
    for (; count > 0; count--, asked++) {
        struct scene scene = long_queue;
        uint64_t at_few, at_many;
        set_up(&short_queue, trial, few);
        at_few = cost(&short_queue, asked);
        trial_set_time(&long_one, now_us);
        sim_store_load(long_one.store, keys);
        at_many = cost(&scene, asked);
        leaves(&long_one, scene.other);
        if (at_many > 2 * at_few)
            fail_msg("%s: %" PRIu64 " elements at %d places, %" PRIu64 " at %d", asked->name, at_many, MANY, at_few, few);
    }
    sim_store_data_free(keys);
    sim_store_free(long_one.store);
}

TRIAL(test_no_request_is_dearer_in_a_long_queue)
{
    if (trial_shadow) /* elements are counted in the store alone */
        skip();
    compare(trial, requests, sizeof requests / sizeof *requests, FEW);
    compare(trial, walks, sizeof walks / sizeof *walks, MORE_THAN_A_STEP);
}

/* Readiness is asked of a channel, not of each of its places. */
TRIAL(test_a_channel_is_asked_for_once)
{
    uint64_t touched[2];
    if (trial_shadow)
        skip();
    for (int has_many = 0; has_many < 2; has_many++) {
        trial_begin(trial);
        held_by(trial, holder_of('a', 1));
        for (int i = 0; i < 20; i++) {
            struct waiter dead = waiter_of(trial, (char)(has_many ? 'b' + i : 'b'), i + 1);
            (void)ask(trial, &dead);
        }
        touched[has_many] = sim_store_touched(trial->store);
        assert_int_equal(removed_of(release(trial, holder_of('a', 1), NEVER)), 20);
        touched[has_many] = sim_store_touched(trial->store) - touched[has_many];
    }
    assert_true(touched[0] + 2 * 18 == touched[1]);
}

/* What nobody contends for is what nearly all do: each element more is paid by all. */
TRIAL(test_what_a_free_pair_touches)
{
    uint64_t before;
    if (trial_shadow)
        skip();
    (void)release(trial, holder_of('a', 1), NEVER);
    before = sim_store_touched(trial->store);
    assert_true(token_of(try_as(trial, holder_of('a', 1))) > 0);
    assert_int_equal(sim_store_touched(trial->store) - before, 2 + 1 + 3 + 1 + 1); /* EXISTS, SET twice, HSET, PEXPIRE */
    before = sim_store_touched(trial->store);
    assert_int_equal(code_of(release(trial, holder_of('a', 1), NEVER)), 1);
    assert_int_equal(sim_store_touched(trial->store) - before, 3 + 2 + 2); /* EXISTS, HDEL twice */
}

/* ---- the texts ---- */

/* But of the microseconds alone, which fit a long of 32 bits. */
TEST(test_no_script_prints_by_d)
{
    static const char format[] = "string.format(";
    for (int i = 0; hl_scripts[i]; i++)
        for (const char *at = strstr(hl_scripts[i]->text, format); at; at = strstr(at + 1, format))
            for (const char *word = strchr(at, '%'), *end = strchr(at, '\n'); word && word < end; word = strchr(word + 1, '%'))
                if (strncmp(word, "%.0f", 4) != 0 && strncmp(word, "%06d", 4) != 0)
                    fail_msg("%s: %.*s", hl_scripts[i]->name, (int)(end - at), at);
}
