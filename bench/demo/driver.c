/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c - the demo: three shops sell one stock, half-way one is killed and one sleeps past its lease. usage:
 * hilock-demo [--no-lock] [--story FILE]      (HILOCK_URL=...: that server instead of a private one)
 * hilock-demo --picture FILE.svg              a smaller run without locks, the same with them, and a picture of both
 *
 * The driver starts the store and the shops (branch.c), sends the buyers (load.c), causes the accidents (chaos.c),
 * reads what the resource recorded (ledger.c), shows it (report.c) and judges it (verdict.c). One event_base; one tick
 * every TICK_MS does all but the buying. Every run ends in clean_up: after selling out, by time, by a fault or by
 * Ctrl-C. */
#include "../server.h"
#include "../store.h"
#include "chaos.h"
#include "picture.h"
#include "report.h"
#include "story.h"
#include "verdict.h"

#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 20, OPENING_MAX_MS = 10000, CHAOS_MAX_MS = 15000, WINDOW_MS = 4000 };
enum outcome { OUTCOME_RUNNING, OUTCOME_BOUGHT, OUTCOME_FAULT, OUTCOME_INTERRUPTED };
enum exit_status { EXIT_HOLDS = 0, EXIT_FAILS = 1, EXIT_CANNOT_RUN = 2, EXIT_INTERRUPTED = 130 };

struct demo {
    struct event_base *base;
    struct event *tick, *interrupts[3];
    struct server server;
    struct ledger *ledger;
    struct branch_plan plan;
    struct branch branches[SHOPS];
    struct load *load; /* NULL until all shops are open */
    struct chaos chaos;
    struct shelf shelves[ITEMS_MAX];
    uint64_t started_ms, shown_ms;
    enum outcome outcome;
    bool is_clean_end;
    char prefix[PREFIX_SIZE], program[PATH_MAX + 32];
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void finish(struct demo *demo, enum outcome outcome)
{
    demo->outcome = outcome;
    event_base_loopbreak(demo->base);
}

static void fault(struct demo *demo, const char *what)
{
    report_event("%s", what);
    finish(demo, OUTCOME_FAULT);
}

static void on_interrupt(evutil_socket_t signal_number, short what, void *user)
{
    struct demo *demo = user;
    (void)signal_number, (void)what;
    report_event("interrupted");
    finish(demo, OUTCOME_INTERRUPTED);
}

static bool all_open(const struct demo *demo)
{
    for (unsigned i = 0; i < SHOPS; i++)
        if (demo->branches[i].state != BRANCH_OPEN)
            return false;
    return true;
}

static void await_opening(struct demo *demo, uint64_t now)
{
    if (!all_open(demo)) {
        if (now - demo->started_ms > OPENING_MAX_MS)
            fault(demo, "not all shops have opened");
        return;
    }
    demo->load = load_start(demo->base, demo->branches, demo->plan.figures);
    demo->started_ms = now;
    if (!demo->load)
        fault(demo, "no memory for the buyers");
}

static unsigned pieces_left(const struct demo *demo)
{
    unsigned left = 0;
    for (unsigned item = 0; item < ITEMS_MAX; item++)
        left += demo->shelves[item].left;
    return left;
}

static void show(struct demo *demo, const struct audit *audit, uint64_t now)
{
    if (now - demo->shown_ms < report_interval_ms())
        return;
    demo->shown_ms = now;
    report_view(&(struct view){demo->plan.figures, now - demo->started_ms, demo->plan.has_locks, audit, demo->shelves,
                               demo->branches, load_figures(demo->load)});
}

/* Enough was sold, or on a slow machine enough time is over. */
static bool is_time_for_accidents(const struct demo *demo, uint64_t elapsed_ms)
{
    const struct plan *plan = demo->plan.figures;
    return pieces_left(demo) + plan->calm_pieces <= plan->items * plan->stock || elapsed_ms > BUYING_MAX_MS / 3;
}

static void sell_on(struct demo *demo, uint64_t now)
{
    uint64_t elapsed_ms = now - demo->started_ms;
    bool is_calm = !demo->plan.has_locks || demo->chaos.stage == CHAOS_DONE;
    struct audit audit;
    size_t count;
    const struct entry *entries = ledger_entries(demo->ledger, &count);
    audit_run(&audit, entries, count);
    show(demo, &audit, now);
    if (demo->plan.has_locks && is_time_for_accidents(demo, elapsed_ms) && chaos_step(&demo->chaos, now) != 0)
        fault(demo, "the store or a shop is gone");
    else if (is_calm && (load_is_done(demo->load) || elapsed_ms > BUYING_MAX_MS))
        finish(demo, OUTCOME_BOUGHT);
    else if (elapsed_ms > BUYING_MAX_MS + CHAOS_MAX_MS)
        fault(demo, "no shop could be caught in the middle of a sale");
}

static void on_tick(evutil_socket_t fd, short what, void *user)
{
    struct demo *demo = user;
    uint64_t now = now_ms();
    (void)fd, (void)what;
    for (unsigned i = 0; i < SHOPS; i++) {
        if (branch_has_died(&demo->branches[i])) {
            fault(demo, "a shop is missing");
            return;
        }
    }
    if (ledger_follow(demo->ledger) != 0 || ledger_shelves(demo->ledger, demo->shelves) != 0)
        fault(demo, "the store is gone");
    else if (!demo->load)
        await_opening(demo, now);
    else
        sell_on(demo, now);
}

static int find_shop_program(struct demo *demo)
{
    char own_path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    if (length < 0)
        return -1;
    own_path[length] = '\0';
    snprintf(demo->program, sizeof demo->program, "%s/hilock-demo-shop", dirname(own_path));
    return 0;
}

static int open_loop(struct demo *demo)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    static const struct timeval tick_time = {0, TICK_MS * 1000};
    demo->base = event_base_new();
    if (!demo->base)
        return -1;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        demo->interrupts[i] = evsignal_new(demo->base, signals[i], on_interrupt, demo);
        if (!demo->interrupts[i] || evsignal_add(demo->interrupts[i], NULL) != 0)
            return -1;
    }
    demo->tick = event_new(demo->base, -1, EV_PERSIST, on_tick, demo);
    return demo->tick ? event_add(demo->tick, &tick_time) : -1;
}

static int open_shops(struct demo *demo)
{
    demo->plan.base = demo->base;
    demo->plan.program = demo->program;
    demo->plan.prefix = demo->prefix;
    demo->chaos.ledger = demo->ledger;
    demo->chaos.branches = demo->branches;
    demo->chaos.plan = demo->plan.figures;
    for (unsigned i = 0; i < SHOPS; i++) {
        demo->branches[i].plan = &demo->plan;
        demo->branches[i].name = (char)('A' + i);
        if (branch_start(&demo->branches[i]) != 0)
            return -1;
    }
    return 0;
}

static int open_all(struct demo *demo)
{
    const struct plan *plan = demo->plan.figures;
    char error[STORE_ERROR_SIZE] = "no event loop";
    snprintf(demo->prefix, sizeof demo->prefix, "hilock-demo:%d:%llx:", (int)getpid(), (unsigned long long)now_ms());
    if (find_shop_program(demo) != 0 || open_loop(demo) != 0 ||
        server_start(&demo->server, getenv("HILOCK_URL"), error) != 0 ||
        !(demo->ledger = ledger_open(demo->server.url, demo->prefix, demo->plan.figures, error))) {
        fprintf(stderr, "hilock-demo: %s\n", error);
        return -1;
    }
    printf("%d shops sell %u items of %u pieces to %u buyers, %s; the stock is in %s\n", SHOPS, plan->items,
           plan->stock, plan->buyers, demo->plan.has_locks ? "under one lock per item" : "WITHOUT locks",
           demo->server.directory[0] ? "a private redis-server" : "the server of HILOCK_URL");
    fflush(stdout);
    demo->started_ms = now_ms();
    return setenv("HILOCK_URL", demo->server.url, 1) == 0 ? open_shops(demo) : -1;
}

/* The buyers' figures are still good: clean_up frees them. */
static void close_shops(struct demo *demo)
{
    load_quit(demo->load);
    demo->is_clean_end = true;
    for (unsigned i = 0; i < SHOPS; i++)
        demo->is_clean_end = branch_stop(&demo->branches[i]) && demo->is_clean_end;
}

static bool is_any_held(const struct demo *demo)
{
    for (unsigned item = 0; item < ITEMS_MAX; item++)
        if (demo->shelves[item].holder[0] != '\0')
            return true;
    return false;
}

/* The killed shop may still stand in the queue of a lock. If the last release finds no live waiter, the dead shop gets
 * the lock for the window of a pushed grant, which must run out first. */
static int read_shelves(struct demo *demo)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
    const uint64_t until_ms = now_ms() + WINDOW_MS;
    int status = ledger_shelves(demo->ledger, demo->shelves);
    while (status == 0 && demo->plan.has_locks && is_any_held(demo) && now_ms() < until_ms) {
        nanosleep(&tick, NULL);
        status = ledger_shelves(demo->ledger, demo->shelves);
    }
    return status;
}

/* What was recorded is the measure of what was traced. */
static void tell_ledger(const struct demo *demo)
{
    static const char *const kinds[] = {[ENTRY_SALE] = "sale", [ENTRY_REFUSED] = "refused", [ENTRY_LOST] = "lost"};
    size_t count;
    const struct entry *entries = ledger_entries(demo->ledger, &count);
    for (size_t i = 0; i < count; i++)
        story_tell(demo->plan.story, "ledger",
                   "\"kind\": \"%s\", \"shop\": \"%c\", \"item\": %u, \"token\": %llu, \"piece\": %u",
                   kinds[entries[i].kind], entries[i].shop, entries[i].item, (unsigned long long)entries[i].token,
                   entries[i].piece);
}

/* After a fault or an interruption there is nothing to judge. */
static enum exit_status judge(struct demo *demo)
{
    struct evidence evidence = {demo->plan.figures, demo->plan.has_locks, demo->is_clean_end,       demo->ledger,
                                demo->shelves,      &demo->chaos,         load_figures(demo->load), demo->plan.story};
    if (ledger_follow(demo->ledger) != 0 || read_shelves(demo) != 0)
        return EXIT_CANNOT_RUN;
    tell_ledger(demo);
    return verdict_give(&evidence) ? EXIT_HOLDS : EXIT_FAILS;
}

static void clean_up(struct demo *demo)
{
    load_free(demo->load);
    for (unsigned i = 0; i < SHOPS; i++)
        branch_stop(&demo->branches[i]);
    ledger_close(demo->ledger);
    if (demo->server.directory[0]) /* a run after this one starts a server of its own */
        unsetenv("HILOCK_URL");
    server_stop(&demo->server);
    if (demo->tick)
        event_free(demo->tick);
    for (size_t i = 0; i < sizeof demo->interrupts / sizeof *demo->interrupts; i++)
        if (demo->interrupts[i])
            event_free(demo->interrupts[i]);
    if (demo->base)
        event_base_free(demo->base);
}

/* From opening to judging. */
static enum exit_status play(struct demo *demo)
{
    if (open_all(demo) != 0)
        return EXIT_CANNOT_RUN;
    event_base_dispatch(demo->base);
    switch (demo->outcome) {
    case OUTCOME_INTERRUPTED: return EXIT_INTERRUPTED;
    case OUTCOME_RUNNING:
    case OUTCOME_FAULT: return EXIT_CANNOT_RUN;
    case OUTCOME_BOUGHT: break;
    }
    close_shops(demo);
    return judge(demo);
}

/* One face of the demo. story_path may be NULL. */
static enum exit_status run(const struct plan *figures, bool has_locks, const char *story_path)
{
    struct demo demo = {.plan = {.figures = figures, .has_locks = has_locks, .story_path = story_path}};
    enum exit_status status;
    if (story_path && !(demo.plan.story = story_open(story_path, "driver"))) {
        fprintf(stderr, "hilock-demo: %s: %s\n", story_path, strerror(errno));
        return EXIT_CANNOT_RUN;
    }
    story_tell(demo.plan.story, "begin",
               "\"has_locks\": %s, \"items\": %u, \"stock\": %u, \"buyers\": %u, \"shops\": %d, \"lease_ms\": %u",
               has_locks ? "true" : "false", figures->items, figures->stock, figures->buyers, SHOPS, figures->lease_ms);
    status = play(&demo);
    clean_up(&demo);
    story_close(demo.plan.story);
    return status;
}

/* Without the lock, with it, and both in one picture. */
static enum exit_status run_for_picture(const char *path)
{
    struct picture_files files;
    enum exit_status status;
    if (picture_name(&files, path) != 0) {
        fprintf(stderr, "hilock-demo: %s: a picture ends in .svg or .html\n", path);
        return EXIT_CANNOT_RUN;
    }
    if (picture_check() != 0)
        return EXIT_CANNOT_RUN;
    if (unlink(files.story) != 0 && errno != ENOENT) {
        fprintf(stderr, "hilock-demo: %s: %s\n", files.story, strerror(errno));
        return EXIT_CANNOT_RUN;
    }
    status = run(&plan_picture, false, files.story);
    if (status == EXIT_HOLDS) {
        report_event("nothing was oversold without the lock, so there is nothing to show");
        return EXIT_FAILS;
    }
    if (status != EXIT_FAILS)
        return status;
    printf("\nThe same with locks.\n");
    status = run(&plan_picture, true, files.story);
    if (status != EXIT_HOLDS && status != EXIT_FAILS)
        return status;
    if (picture_draw(&files) != 0)
        return EXIT_CANNOT_RUN;
    printf("\nThe picture is %s, with the verdict %s; drawn from %s\n", files.svg, files.html, files.story);
    return status;
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: hilock-demo [--no-lock] [--story FILE], or hilock-demo --picture FILE.svg\n"
                                "       (HILOCK_URL=...: that server instead of a private one)\n";
    static const struct option options[] = {{"help", no_argument, NULL, 'h'},
                                            {"no-lock", no_argument, NULL, 'n'},
                                            {"picture", required_argument, NULL, 'p'},
                                            {"story", required_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    const char *picture = NULL, *story = NULL;
    bool has_locks = true, is_help = false, is_usage = false;
    enum exit_status status;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        has_locks = has_locks && option != 'n';
        picture = option == 'p' ? optarg : picture;
        story = option == 's' ? optarg : story;
        is_help = is_help || option == 'h';
        is_usage = is_usage || option == '?';
    }
    if (is_usage || optind != argc || (picture && (story || !has_locks))) {
        fputs(usage, stderr);
        return EXIT_CANNOT_RUN;
    }
    if (is_help) {
        fputs(usage, stdout);
        return EXIT_HOLDS;
    }
    signal(SIGPIPE, SIG_IGN);
    status = picture ? run_for_picture(picture) : run(&plan_crowd, has_locks, story);
    libevent_global_shutdown();
    return (int)status;
}
