/* SPDX-License-Identifier: BSD-3-Clause */
/* table - see table.h. The long form adds lines below a row. A column is as wide as its widest cell. If a row is
 * wider than the terminal, the columns of names and labels become narrower, the wider of the two first. The text of
 * a cell is made anew for each use, because there may be many rows. */
#include "table.h"
#include "codes.h"
#include "plain.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum column { NAME, HOLDER, HELD, LEFT, WAITING, COLUMNS };
enum { GAP = 2, CUT_MIN = 8, TERMINAL_COLUMNS = 80, INDENT = 4, LOOKED_AT_MAX = 64 };

static const char *const heads[COLUMNS] = {"NAME", "HOLDER", "HELD FOR", "LEFT", "WAITING"};
static const size_t widths_of_changes[COLUMNS] = {20, 20, 8, 7, 0};

/* ---- cutting and filling texts ---- */

static size_t terminal_columns(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return SIZE_MAX;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : TERMINAL_COLUMNS;
}

/* Returns how many columns the first character takes on a terminal, and its length in bytes. */
static size_t character(const char *at, size_t *ret_length)
{
    wchar_t wide;
    mbstate_t state = {0};
    size_t length = mbrtowc(&wide, at, strlen(at), &state);
    int columns = length <= strlen(at) ? wcwidth(wide) : 1;
    *ret_length = length && length <= strlen(at) ? length : 1;
    return columns < 0 ? 1 : (size_t)columns;
}

static size_t columns_of(const char *text)
{
    size_t columns = 0, length;
    for (; *text; text += length)
        columns += character(text, &length);
    return columns;
}

/* Prints a text cut or filled up to the width; two dots stand for the part that was cut off. */
static void print_cell(const char *text, size_t width, int is_last)
{
    size_t all = columns_of(text), room = all > width ? width - 2 : all, used = 0, length;
    while (*text && used + character(text, &length) <= room) {
        used += character(text, &length);
        fwrite(text, 1, length, stdout);
        text += length;
    }
    if (all > room)
        used += (size_t)printf("..");
    printf("%*s", is_last ? 0 : (int)((width > used ? width - used : 0) + GAP), "");
}

/* Prints a sentence in lines of the terminal's width, broken at blanks. */
static void print_sentence(const char *text, size_t width)
{
    size_t used = 0;
    while (*text) {
        size_t length = strcspn(text, " "), columns = length;
        if (used && used + 1 + columns > width) {
            printf("\n%*s", INDENT, "");
            used = INDENT;
        } else if (used) {
            putchar(' ');
            used++;
        }
        fwrite(text, 1, length, stdout);
        used += columns;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* ---- cells ---- */

static void span_of(char *text, size_t size, uint64_t ms)
{
    if (ms < 10000)
        snprintf(text, size, "%.1f s", (double)ms / 1000);
    else if (ms < 600000)
        snprintf(text, size, "%llu s", (unsigned long long)ms / 1000);
    else
        snprintf(text, size, "%llu min", (unsigned long long)ms / 60000);
}

/* The store checks only the first waiters of a queue for being ready, so the number may be too large. */
static void waiting_of(char *text, size_t size, const struct look *look)
{
    uint32_t first = look->waiters < LOOKED_AT_MAX ? look->waiters : LOOKED_AT_MAX;
    const char *of = first == look->waiters ? "" : " of 64";
    if (look->ready < first)
        snprintf(text, size, "%u (%u%s ready)", look->waiters, look->ready, of);
    else
        snprintf(text, size, "%u", look->waiters);
}

static int is_held(const struct look *look) { return look->status == HILOCK_OK && look->holder && *look->holder; }

/* How many share the name comes first, so that it is not cut. */
static struct plain holder_of(const struct look *look)
{
    struct plain text = plain_of(!is_held(look) ? "(free)" : *look->who ? look->who : look->holder);
    char count[24] = "";
    if (is_held(look) && look->holders > 1)
        snprintf(count, sizeof count, "1 of %u: ", look->holders);
    memmove(text.bytes + strlen(count), text.bytes, sizeof text.bytes - sizeof count);
    memcpy(text.bytes, count, strlen(count));
    text.bytes[sizeof text.bytes - 1] = '\0';
    return text;
}

static struct plain cell(const struct look *look, enum column column)
{
    struct plain text = {""};
    if (column == NAME)
        return plain_of(look->name);
    if (column == HOLDER && look->status != HILOCK_OK)
        return plain_of(hilock_status_name(look->status));
    if (column == HOLDER)
        return holder_of(look);
    if (look->status != HILOCK_OK)
        return text;
    if (column == WAITING)
        waiting_of(text.bytes, sizeof text.bytes, look);
    else if (!is_held(look) || (column == HELD && !look->since_ms))
        strcpy(text.bytes, "-");
    else if (column == LEFT && look->remaining_ms == HILOCK_FOREVER)
        strcpy(text.bytes, "no end");
    else
        span_of(text.bytes, sizeof text.bytes, column == HELD ? look->since_ms : look->remaining_ms);
    return text;
}

/* ---- rows ---- */

static void fit(size_t widths[COLUMNS], size_t terminal)
{
    size_t all = (COLUMNS - 1) * GAP;
    for (int i = 0; i < COLUMNS; i++)
        all += widths[i];
    while (all > terminal && (widths[NAME] > CUT_MIN || widths[HOLDER] > CUT_MIN)) {
        widths[widths[NAME] > widths[HOLDER] ? NAME : HOLDER]--;
        all--;
    }
}

static void print_holder(const struct look_holder *one)
{
    char left[32] = "no end";
    if (one->remaining_ms != HILOCK_FOREVER)
        span_of(left, sizeof left, one->remaining_ms);
    printf("%*sid: %s, %s left\n", INDENT, "", plain_of(one->id).bytes, left);
}

static void print_row(const struct look *look, const size_t widths[COLUMNS], int is_long)
{
    for (int i = 0; i < COLUMNS; i++)
        print_cell(cell(look, (enum column)i).bytes, widths[i], i == WAITING);
    putchar('\n');
    if (is_long && columns_of(plain_of(look->name).bytes) > widths[NAME])
        printf("%*sname: %s\n", INDENT, "", plain_of(look->name).bytes);
    if (is_long && is_held(look) && look->listed < 2)
        printf("%*sid: %s\n", INDENT, "", plain_of(look->holder).bytes);
    for (size_t i = 0; is_long && look->listed > 1 && i < look->listed; i++)
        print_holder(&look->all[i]);
}

static void print_failure(const struct look *look, size_t terminal)
{
    char text[sizeof look->detail + PLAIN_MAX + 400];
    const char *advice = advice_of(look->status);
    snprintf(text, sizeof text, "%s: %s: %s%s%s", plain_of(look->name).bytes, hilock_status_name(look->status),
             look->detail, advice ? ". To do: " : "", advice ? advice : "");
    if (look->status != HILOCK_OK)
        print_sentence(text, terminal);
}

void table_print(const struct looks *looks, int is_long)
{
    size_t widths[COLUMNS], terminal = terminal_columns();
    setlocale(LC_CTYPE, "C.UTF-8");
    for (int i = 0; i < COLUMNS; i++) {
        widths[i] = strlen(heads[i]);
        for (size_t j = 0; j < looks->count; j++) {
            size_t columns = columns_of(cell(&looks->all[j], (enum column)i).bytes);
            widths[i] = columns > widths[i] ? columns : widths[i];
        }
    }
    fit(widths, terminal);
    for (int i = 0; i < COLUMNS; i++)
        print_cell(heads[i], widths[i], i == WAITING);
    putchar('\n');
    for (size_t i = 0; i < looks->count; i++)
        print_row(&looks->all[i], widths, is_long);
    for (size_t i = 0; i < looks->count; i++)
        print_failure(&looks->all[i], terminal);
}

void table_print_change(const char *before, const struct look *look, int is_long)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    printf("%s ", before);
    size_t widths[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        size_t columns = columns_of(cell(look, (enum column)i).bytes);
        widths[i] = columns > widths_of_changes[i] ? columns : widths_of_changes[i];
    }
    print_row(look, widths, is_long);
    print_failure(look, SIZE_MAX);
}
