/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - what the reader sees.
 *
 * On a terminal that is large enough: a table, redrawn in place five times a second, and the events scrolling away
 * above it. Anywhere else, a log: one plain line a second, events between them.
 * Invariant: when no function of this file runs, the table (if one is shown) is the last thing on the screen,
 * table_lines high; an event takes it away first. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { TABLE_COLUMNS = 74, TABLE_LINES_MAX = ITEMS_MAX + 3, TABLE_INTERVAL_MS = 200, LOG_INTERVAL_MS = 1000 };

static unsigned table_lines; /* on the screen now */

static bool is_drawing(void)
{
    const char *kind = getenv("TERM");
    struct winsize size;
    return isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb") != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
           size.ws_col >= TABLE_COLUMNS && size.ws_row > TABLE_LINES_MAX + 2;
}

static void take_table_away(void)
{
    if (table_lines > 0)
        printf("\033[%uA\r\033[J", table_lines);
    table_lines = 0;
}

static unsigned all_waiting(const struct view *view)
{
    unsigned waiting = 0;
    for (unsigned item = 0; item < view->plan->items; item++)
        waiting += view->load->waiting[item];
    return waiting;
}

/* The shop that holds the item's lock; '-': none, '?': a process that is gone. */
static char holder_of(const struct view *view, unsigned item)
{
    const char *holder = view->shelves[item].holder;
    for (unsigned i = 0; *holder && i < SHOPS; i++)
        if (view->branches[i].uuid[0] && strncmp(holder, view->branches[i].uuid, strlen(view->branches[i].uuid)) == 0)
            return view->branches[i].name;
    return *holder ? '?' : '-';
}

static uint64_t newest_token(const struct view *view)
{
    uint64_t newest = 0;
    for (unsigned item = 0; item < view->plan->items; item++)
        if (view->shelves[item].fence > newest)
            newest = view->shelves[item].fence;
    return newest;
}

static const char *state_of(const struct branch *branch)
{
    static const char *const states[] = {[BRANCH_CLOSED] = "gone", [BRANCH_OPENING] = "opening", [BRANCH_OPEN] = "open",
                                         [BRANCH_SUSPENDED] = "suspended"};
    return states[branch->state];
}

static void draw_table(const struct view *view)
{
    const struct audit *audit = view->audit;
    printf("%6.1f s  sold %u of %u, oversold %u, waiting %u\n", (double)view->elapsed_ms / 1000,
           audit->sold - audit->oversold, view->plan->items * view->plan->stock, audit->oversold, all_waiting(view));
    printf("        ");
    for (unsigned i = 0; i < SHOPS; i++)
        printf("  shop %c: %u, %s", view->branches[i].name, audit->sold_by[i], state_of(&view->branches[i]));
    printf("\n  item   left   sold   held by   token              waiting\n");
    for (unsigned item = 0; item < view->plan->items; item++) {
        const struct shelf *shelf = &view->shelves[item];
        char token[24] = "";
        if (shelf->token)
            snprintf(token, sizeof token, "%llu", (unsigned long long)shelf->token);
        printf("  %4u %6u %6u   %c         %-18s %u\n", item, shelf->left, audit->sold_of[item], holder_of(view, item),
               token, view->load->waiting[item]);
    }
    table_lines = view->plan->items + 3;
}

static void log_line(const struct view *view)
{
    char holders[ITEMS_MAX + 1] = "";
    for (unsigned item = 0; item < view->plan->items; item++)
        holders[item] = holder_of(view, item);
    printf("%6.1f s  sold %4u of %u  oversold %u  waiting %2u", (double)view->elapsed_ms / 1000,
           view->audit->sold - view->audit->oversold, view->plan->items * view->plan->stock, view->audit->oversold,
           all_waiting(view));
    if (view->has_locks)
        printf("  items 0-%u held by %s  newest token %llu", view->plan->items - 1, holders,
               (unsigned long long)newest_token(view));
    printf("\n");
}

unsigned report_interval_ms(void)
{
    return is_drawing() ? TABLE_INTERVAL_MS : LOG_INTERVAL_MS;
}

void report_view(const struct view *view)
{
    take_table_away();
    if (is_drawing())
        draw_table(view);
    else
        log_line(view);
    fflush(stdout);
}

void report_event(const char *format, ...)
{
    va_list arguments;
    take_table_away();
    printf("          * ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

void report_claims(const struct claim *claims, size_t count)
{
    printf("\n");
    for (size_t i = 0; i < count; i++)
        printf("%-22s %-6s %s\n", claims[i].what, claims[i].holds ? "ok" : "FAILED", claims[i].figure);
    fflush(stdout);
    table_lines = 0;
}
