/* SPDX-License-Identifier: BSD-3-Clause */
/* pages - the examples of the man pages. What follows a line "page <name>", up to the next such line, is the EXAMPLES of that
 * page (include/reference). The build compiles all of it; names that several pages use are declared above the first. */
#include <event2/event.h>
#include <event2/http.h>
#include <hilock/adapters/libev.h>
#include <hilock/adapters/libevent.h>
#include <hilock/adapters/libuv.h>
#include <hilock/adapters/sd-event.h>
#include <hilock/blocking.h>
#include <hilock/hilock.h>
#include <hilock/loop.h>
#include <hilock/memory.h>
#include <hilock/version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void work(uint64_t fencing_token) { (void)fencing_token; }
static void stop_work(const struct hilock_event *event, void *user) { (void)event, (void)user; }
static void on_acquired(const struct hilock_result *result, void *user) { (void)result, (void)user; }

/* page hilock_status */
static int http_status(hilock_status status)
{
    if (status == HILOCK_OK)
        return 200;
    fprintf(stderr, "%s: %s\n", hilock_status_name(status), hilock_status_text(status));
    return status == HILOCK_BAD_NAME ? 400 : status == HILOCK_TIMED_OUT ? 409 : 503;
}

/* page hilock_result */
static void on_acquired_or_not(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status == HILOCK_OK)
        work(result->fencing_token);
    else
        fprintf(stderr, "%s: %s\n", hilock_status_name(result->status), result->detail);
}

/* page hilock_event */
static void on_lost(const struct hilock_event *event, void *user)
{
    stop_work(event, user);
    if (event->reason == HILOCK_REASON_HOLD_MAX)
        fprintf(stderr, "is a release missing? %s\n", event->detail);
}

/* page hilock_client_open_libevent */
static hilock_client *open_on_libevent(struct event_base *base)
{
    struct hilock_error error;
    hilock_client *client;
    if (hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = "redis://10.0.0.5"), &error) == HILOCK_OK)
        return client;
    fprintf(stderr, "%s\n", error.text);
    return NULL;
}

/* page hilock_client_open_libuv */
static hilock_client *open_on_libuv(struct uv_loop_s *loop)
{
    hilock_client *client;
    return hilock_client_open_libuv(&client, loop, NULL, NULL) == HILOCK_OK ? client : NULL;
}

/* page hilock_client_open_libev */
static hilock_client *open_on_libev(struct ev_loop *loop)
{
    hilock_client *client;
    return hilock_client_open_libev(&client, loop, NULL, NULL) == HILOCK_OK ? client : NULL;
}

/* page hilock_client_open_sd_event */
static hilock_client *open_on_sd_event(struct sd_event *event)
{
    hilock_client *client;
    return hilock_client_open_sd_event(&client, event, NULL, NULL) == HILOCK_OK ? client : NULL;
}

/* page hilock_client_open */
static hilock_client *open_on(struct hilock_loop *loop) /* filled by an adapter of your own */
{
    hilock_client *client;
    if (hilock_client_open(&client, loop, HILOCK_CLIENT_OPTIONS(.url = "unix:///run/redis.sock"), NULL) == HILOCK_OK)
        return client;
    loop->free_ctx(loop->ctx); /* a refused open leaves it to the caller */
    return NULL;
}

/* page hilock_client_options */
static const struct hilock_client_options shop = {
    .size = sizeof shop,
    .url = "redis+sentinel://s1,s2,s3/locks",
    .username = "shop",
    .name_prefix = "stock:",
    .on_log = hilock_log_stderr,
};

/* page hilock_client_close */
static void on_closed(void *user)
{
    *(hilock_client **)user = NULL; /* gone; its locks may still be freed */
}

static void end(hilock_client **client)
{
    (void)hilock_client_close(*client, 5000, on_closed, client);
}

/* page hilock_client_close_libevent */
static void end_after_join(hilock_client *client, struct event_base *base)
{
    if (hilock_client_close_libevent(client, base, 1000) == HILOCK_OK) /* its loop's thread has ended before */
        event_base_free(base);
}

/* page hilock_client_close_libuv */
static void end_on_libuv(hilock_client *client, struct uv_loop_s *loop)
{
    (void)hilock_client_close_libuv(client, loop, 1000);
}

/* page hilock_client_close_libev */
static void end_on_libev(hilock_client *client, struct ev_loop *loop)
{
    (void)hilock_client_close_libev(client, loop, 1000);
}

/* page hilock_client_close_sd_event */
static void end_on_sd_event(hilock_client *client, struct sd_event *event)
{
    (void)hilock_client_close_sd_event(client, event, 1000);
}

/* page hilock_client_adopt */
static void *turn_here(void *client)
{
    struct event_base *base = event_base_new(); /* in a server: the one on which main opened the client, and turned until then */
    if (base && hilock_client_adopt(client) == HILOCK_OK)
        event_base_dispatch(base);
    return NULL;
}

/* page hilock_client_refusal */
static void acquire_or_say_why(hilock_client *client, hilock_lock *lock)
{
    if (hilock_acquire(lock, 1000, on_acquired, NULL) != HILOCK_OK)
        fprintf(stderr, "refused: %s\n", hilock_client_refusal(client));
}

/* page hilock_client_uuid */
static void say_whose(const hilock_client *client)
{
    printf("%s, %s\n", hilock_client_uuid(client), hilock_client_is_connected(client) ? "connected" : "away");
}

/* page hilock_client_weak */
struct debug_page { hilock_weak *locks; }; /* made with hilock_client_weak(client) */
static uint32_t held_now(const struct debug_page *page)
{
    struct hilock_stats stats = {.size = sizeof stats};
    hilock_client_stats(hilock_weak_client(page->locks), &stats); /* of NULL, a client that is gone: zeroes */
    return stats.held;
}

static void debug_page_end(struct debug_page *page) { hilock_weak_unref(page->locks); }

/* page hilock_lock_create */
static hilock_lock *lock_of(hilock_client *client, const char *item)
{
    hilock_lock *lock;
    hilock_status status = hilock_lock_create(&lock, client, item, HILOCK_LOCK_OPTIONS(.on_lost = stop_work));
    return status == HILOCK_OK ? lock : NULL; /* BAD_NAME: if the name came from outside, say 400 */
}

/* page hilock_lock_options */
static hilock_status fair_lock(hilock_lock **lock, hilock_client *client)
{
    return hilock_lock_create(lock, client, "report", HILOCK_LOCK_OPTIONS(.on_lost = stop_work, .kind = HILOCK_FAIR,
                                                                          .lease_ms = 10000, .hold_max_ms = 60000));
}

/* page hilock_multi_create */
static hilock_status from_and_to(hilock_lock **lock, hilock_client *client)
{
    const char *const names[] = {"account:7", "account:9", NULL};
    return hilock_multi_create(lock, client, names, HILOCK_LOCK_OPTIONS(.on_lost = stop_work));
}

/* page hilock_lock_free */
static void end_of_request(hilock_lock **lock)
{
    hilock_lock_free(*lock); /* waiting or holding, answered or not */
    *lock = NULL;
}

/* page hilock_acquire */
static hilock_status wait_a_second(hilock_lock *lock)
{
    return hilock_acquire(lock, 1000, on_acquired, NULL);
}

/* page hilock_release */
static void on_released(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status == HILOCK_LOST)
        fprintf(stderr, "the work may have overlapped: %s\n", result->detail);
}

static void give_back(hilock_lock *lock)
{
    (void)hilock_release(lock, on_released, NULL);
}

/* page hilock_extend */
static void on_proved(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status == HILOCK_OK && result->remaining_ms > 5000)
        work(result->fencing_token); /* a step that takes 5 s at most */
}

static hilock_status prove(hilock_lock *lock) { return hilock_extend(lock, 10000, on_proved, NULL); }

/* page hilock_downgrade */
static void on_shared(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status == HILOCK_OK)
        work(result->fencing_token); /* reads what it wrote, beside other readers */
}

static hilock_status let_readers_in(hilock_lock *writer) { return hilock_downgrade(writer, on_shared, NULL); }

/* page hilock_cancel */
static void give_up(hilock_lock *lock)
{
    if (hilock_lock_state(lock) == HILOCK_STATE_WAITING)
        (void)hilock_cancel(lock); /* its callback comes with HILOCK_CANCELLED */
}

/* page hilock_lock_remaining_ms */
static void write_if_held(hilock_lock *lock)
{
    if (hilock_lock_remaining_ms(lock) > 500)
        work(hilock_lock_token(lock));
}

/* page hilock_lock_validity */
static void *on_a_thread(void *validity)
{
    if (hilock_validity_remaining_ms(validity) > 500)
        work(0);
    hilock_validity_unref(validity);
    return NULL;
}

static hilock_validity *for_a_thread(hilock_lock *lock)
{
    hilock_validity *validity;
    return hilock_lock_validity(lock, &validity) == HILOCK_OK ? validity : NULL;
}

/* page hilock_client_each_lock */
static void print_lock(const struct hilock_lock_info *info, void *file)
{
    fprintf(file, "%s %s for %" PRIu32 " ms\n", info->state == HILOCK_STATE_HELD ? "holds" : "waits for", info->name, info->age_ms);
}

static void print_locks(const hilock_client *client) { hilock_client_each_lock(client, print_lock, stderr); }

/* page hilock_peek */
static void on_peeked(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status == HILOCK_OK)
        printf("%s, %" PRIu32 " ms left\n", result->holder[0] ? result->holder : "free", result->holder_remaining_ms);
}

static hilock_status who_holds(hilock_lock *lock) { return hilock_peek(lock, on_peeked, NULL); }

/* page hilock_holders */
static void on_holder(const struct hilock_holder_info *info, void *user)
{
    (void)user;
    printf("%s, token %" PRIu64 ", %" PRIu32 " ms left\n", info->holder_label, info->fencing_token, info->remaining_ms);
}

static void on_listed(const struct hilock_result *result, void *user)
{
    (void)user;
    printf("%" PRIu32 " hold it, %" PRIu32 " wait\n", result->holders, result->waiters);
}

static hilock_status who_all_hold(hilock_lock *lock) { return hilock_holders(lock, on_holder, on_listed, NULL); }

/* page hilock_force_release */
static void on_peeked_then_end(const struct hilock_result *result, void *user)
{
    (void)user;
    if (result->status == HILOCK_OK && result->holder[0])
        (void)hilock_force_release(result->lock, result->holder, NULL, NULL); /* that hold, and no later one */
}

/* page hilock_client_stats */
static void print_page(const hilock_client *client)
{
    struct hilock_stats stats = {.size = sizeof stats};
    size_t length;
    char *text;
    hilock_client_stats(client, &stats);
    length = hilock_stats_prometheus(&stats, "shop", NULL, 0);
    text = malloc(length + 1);
    if (text && hilock_stats_prometheus(&stats, "shop", text, length + 1) == length)
        fputs(text, stdout);
    free(text);
}

/* page hilock_version */
static void print_version(void)
{
    printf("built with %s, runs with %s\n", HILOCK_VERSION, hilock_version());
}

/* page hilock_blocking_open */
static hilock_blocking *open_blocking(void)
{
    hilock_blocking *client;
    return hilock_blocking_open(&client, HILOCK_CLIENT_OPTIONS(.url = "redis://10.0.0.5"), NULL) == HILOCK_OK ? client : NULL;
}

/* page hilock_blocking_acquire */
static hilock_status under_a_lock(hilock_blocking *client)
{
    hilock_blocking_lock *lock;
    hilock_status status = hilock_blocking_acquire(client, "report", NULL, 1000, &lock, NULL);
    if (status != HILOCK_OK)
        return status;
    work(hilock_blocking_token(lock));
    return hilock_blocking_release(lock, NULL); /* LOST: the work may have overlapped */
}

/* page hilock_blocking_remaining_ms */
static void write_if_still_held(hilock_blocking_lock *lock)
{
    if (hilock_blocking_remaining_ms(lock) > 500)
        work(hilock_blocking_token(lock));
}

/* page hilock_loop */
static hilock_status open_by_table(hilock_client **client, struct event_base *base)
{
    struct hilock_loop loop;
    hilock_status status = hilock_libevent_loop(&loop, base);
    if (status != HILOCK_OK)
        return status;
    status = hilock_client_open(client, &loop, NULL, NULL);
    if (status != HILOCK_OK)
        loop.free_ctx(loop.ctx);
    return status;
}

/* page hilock_memory */
static hilock_client *client_of_a_test(struct event_base *base, hilock_memory **memory)
{
    struct hilock_loop loop;
    hilock_client *client;
    if (hilock_libevent_loop(&loop, base) != HILOCK_OK || hilock_memory_open(memory, &loop, NULL, NULL) != HILOCK_OK)
        abort();
    if (hilock_client_open_libevent(&client, base, HILOCK_CLIENT_OPTIONS(.url = hilock_memory_url(*memory)), NULL) != HILOCK_OK)
        abort();
    return client;
}

/* page hilock_memory_clock */
static hilock_client *client_in_a_time_that_jumps(hilock_memory_clock *clock, struct event_base *base, hilock_memory *memory)
{
    struct hilock_loop loop;
    hilock_client *client;
    if (hilock_libevent_loop(&loop, base) != HILOCK_OK || hilock_memory_clock_wrap(clock, &loop) != HILOCK_OK ||
        hilock_client_open(&client, &loop, HILOCK_CLIENT_OPTIONS(.url = hilock_memory_url(memory)), NULL) != HILOCK_OK)
        abort();
    return client;
}

static void let_the_lease_end(hilock_memory_clock *clock) { hilock_memory_clock_jump(clock, 30000); } /* on_lost runs on the next turn */

/* page hilock_memory_expire */
static void take_it_away(hilock_memory *memory)
{
    (void)hilock_memory_take(memory, HILOCK_MUTEX, "stock:42", "somebody", 30000);
    hilock_memory_verify(memory); /* its holder's on_lost says TAKEN, and soon */
}

/* page hilock_libevent_metrics */
static hilock_libevent_page *serve_metrics(struct evhttp *http, hilock_client *one, hilock_client *other)
{
    hilock_libevent_page *page;
    const struct hilock_libevent_served clients[] = {{one, "shop"}, {other, "jobs"}, {NULL, NULL}};
    return hilock_libevent_metrics(&page, http, "/metrics", clients) == HILOCK_OK ? page : NULL;
}

static void close_one(hilock_libevent_page *page, hilock_client *jobs)
{
    hilock_libevent_metrics_drop(page, jobs);          /* the others stay on the page */
    (void)hilock_client_close(jobs, 1000, NULL, NULL); /* without the drop it would leave the page when it is gone */
}

static void stop_serving(hilock_libevent_page *page, struct evhttp *http)
{
    hilock_libevent_metrics_free(page); /* before http is freed */
    evhttp_free(http);
}
