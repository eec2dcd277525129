/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock.c - PORT: hilock's MUTEX, FAIR and SIMPLE by the lines of README.md, through the public interface alone. A
 * share is a MUTEX whose handle has holders_max.
 *
 * One client and one event loop. A contender has a handle: it acquires, holds, releases, thinks, and begins again until
 * the play is over. Lines are read only while nothing is played, but for the one that ends a hold.
 * Invariant: play.busy counts the contenders that have not yet seen the end. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct driver;

struct contender {
    struct driver *driver;
    hilock_lock *lock;
    struct event *rest; /* the end of a hold, or of a think */
    uint64_t asked, granted, releasing;
    bool is_held;
};

struct play {
    struct contender *contenders;
    unsigned count, busy;
    uint64_t hold_us, think_us, end_ns;
    uint32_t wait_ms;
    bool is_run; /* else one hold, which the next line ends */
};

struct driver {
    struct event_base *base;
    struct evbuffer *input;
    hilock_client *client;
    struct play play;
    FILE *lines; /* told when all is over: to write takes time from what is measured */
    char *text;
    size_t length;
    bool is_ready;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void finish(struct driver *driver)
{
    struct play *play = &driver->play;
    if (--play->busy)
        return;
    for (unsigned i = 0; i < play->count; i++) {
        hilock_lock_free(play->contenders[i].lock);
        event_free(play->contenders[i].rest);
    }
    free(play->contenders);
    play->contenders = NULL;
    fflush(driver->lines);
    fwrite(driver->text, 1, driver->length, stdout);
    rewind(driver->lines);
    puts("done");
    fflush(stdout);
}

/* ---- a contender */

static void begin(struct contender *contender);

static void rest(struct contender *contender, uint64_t us)
{
    const struct timeval span = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
    evtimer_add(contender->rest, &span);
}

static void on_released(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    const struct play *play = &contender->driver->play;
    if (result->status != HILOCK_OK)
        fprintf(stderr, "release: %s\n", hilock_status_name(result->status));
    fprintf(contender->driver->lines, "grant %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", contender->asked,
            contender->granted, contender->releasing, now_ns());
    if (play->is_run && play->think_us)
        rest(contender, play->think_us);
    else
        begin(contender);
}

static void release(struct contender *contender)
{
    contender->is_held = false;
    contender->releasing = now_ns();
    if (hilock_release(contender->lock, on_released, contender) != HILOCK_OK)
        fail("release", hilock_client_refusal(contender->driver->client));
}

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct contender *contender = user;
    const struct play *play = &contender->driver->play;
    contender->granted = now_ns();
    if (result->status != HILOCK_OK) {
        if (result->status != HILOCK_TIMED_OUT)
            fprintf(stderr, "%s: %s\n", hilock_status_name(result->status), result->detail);
        fprintf(contender->driver->lines, "ended %" PRIu64 " %" PRIu64 "\n", contender->asked, contender->granted);
        begin(contender);
        return;
    }
    contender->is_held = true;
    if (play->is_run && play->hold_us == 0)
        release(contender);
    if (play->is_run && play->hold_us)
        rest(contender, play->hold_us);
    if (play->is_run)
        return;
    printf("granted %" PRIu64 "\n", contender->granted);
    fflush(stdout);
}

static void on_rested(evutil_socket_t fd, short what, void *user)
{
    struct contender *contender = user;
    (void)fd, (void)what;
    if (contender->is_held)
        release(contender);
    else
        begin(contender);
}

static void begin(struct contender *contender)
{
    struct driver *driver = contender->driver;
    contender->asked = now_ns();
    if (contender->asked >= driver->play.end_ns)
        finish(driver);
    else if (hilock_acquire(contender->lock, driver->play.wait_ms, on_acquired, contender) != HILOCK_OK)
        fail("acquire", hilock_client_refusal(driver->client));
}

/* ---- lines */

static hilock_kind kind_of(const char *word)
{
    return strcmp(word, "FAIR") == 0 ? HILOCK_FAIR : strcmp(word, "SIMPLE") == 0 ? HILOCK_SIMPLE : HILOCK_MUTEX;
}

/* KIND, or KIND:HOW: `read` shares with any number, a number with fewer than so many, `write` with nobody. */
static uint32_t holders_max_of(const char *kind)
{
    const char *how = strchr(kind, ':');
    if (!how || strcmp(how, ":write") == 0)
        return 1;
    return strcmp(how, ":read") == 0 ? HILOCK_ANY_NUMBER : (uint32_t)atoi(how + 1);
}

static void open_contender(struct driver *driver, struct contender *contender, const char *kind, const char *name,
                           uint32_t lease_ms)
{
    contender->driver = driver;
    contender->rest = evtimer_new(driver->base, on_rested, contender);
    if (!contender->rest || hilock_lock_create(&contender->lock, driver->client, name,
                                               HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = lease_ms,
                                                                   .kind = kind_of(kind),
                                                                   .holders_max = holders_max_of(kind))) != HILOCK_OK)
        fail("lock", hilock_client_refusal(driver->client));
}

/* A hold ends with its second look at the end, which has then come. */
static void start(struct driver *driver, struct play play, const char *kind, const char *name, uint32_t lease_ms)
{
    play.contenders = calloc(play.count, sizeof *play.contenders);
    if (!play.contenders)
        fail("play", "out of memory");
    play.busy = play.count;
    driver->play = play;
    for (unsigned i = 0; i < play.count; i++)
        open_contender(driver, &play.contenders[i], kind, name, lease_ms);
    for (unsigned i = 0; i < play.count; i++)
        begin(&play.contenders[i]);
    if (!play.is_run)
        driver->play.end_ns = 0;
}

static void obey(struct driver *driver, const char *line)
{
    char kind[16], name[128];
    struct play play = {.count = 1, .end_ns = UINT64_MAX, .wait_ms = HILOCK_FOREVER};
    uint32_t lease_ms;
    uint64_t run_ms;
    if (sscanf(line, "run %15s %127s %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %u %" SCNu32, kind, name,
               &lease_ms, &play.hold_us, &play.think_us, &run_ms, &play.count, &play.wait_ms) == 8) {
        play.is_run = true;
        play.end_ns = now_ns() + run_ms * 1000000;
        start(driver, play, kind, name, lease_ms);
    } else if (sscanf(line, "hold %15s %127s %" SCNu32, kind, name, &lease_ms) == 3) {
        start(driver, play, kind, name, lease_ms);
    } else if (strcmp(line, "release") == 0 && driver->play.contenders && driver->play.contenders->is_held) {
        release(driver->play.contenders);
    } else {
        fail("not understood", line);
    }
}

static void on_input(evutil_socket_t fd, short what, void *user)
{
    struct driver *driver = user;
    char *line;
    (void)what;
    if (evbuffer_read(driver->input, fd, -1) <= 0)
        exit(0);
    while ((line = evbuffer_readln(driver->input, NULL, EVBUFFER_EOL_LF))) {
        obey(driver, line);
        free(line);
    }
}

static void on_event(const struct hilock_event *event, void *user)
{
    struct driver *driver = user;
    if (event->kind != HILOCK_EVENT_CONNECTED || driver->is_ready)
        return;
    driver->is_ready = true;
    puts("ready MUTEX FAIR SIMPLE");
    fflush(stdout);
}

/* Its timers are exact, not to the millisecond. */
static struct event_base *open_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;
    if (config && event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    return base;
}

int main(int argc, char **argv)
{
    struct driver driver = {.base = open_base(), .input = evbuffer_new()};
    struct hilock_error error;
    struct event *input;
    char url[64];
    driver.lines = open_memstream(&driver.text, &driver.length);
    if (argc != 2 || !driver.base || !driver.input || !driver.lines)
        fail(argv[0], argc == 2 ? "no event loop" : "wants a port");
    snprintf(url, sizeof url, "redis://127.0.0.1:%s", argv[1]);
    if (hilock_client_open_libevent(&driver.client, driver.base,
                                    HILOCK_CLIENT_OPTIONS(.url = url, .on_event = on_event, .user = &driver),
                                    &error) != HILOCK_OK)
        fail("client", error.text);
    input = event_new(driver.base, 0, EV_READ | EV_PERSIST, on_input, &driver);
    if (!input || event_add(input, NULL) != 0)
        fail("input", "out of memory");
    return event_base_dispatch(driver.base);
}
