/* SPDX-License-Identifier: BSD-3-Clause */
/* judge - many tests that play in virtual time, in one program, on the library with all mutants (switched.py).
 * First each test is played as the library is: what that costs, and which mutants it reaches. A test that is red then
 * tells nothing about mutants: it is named on standard error and left out. Then it says "ready", reads numbers of
 * mutants from standard input, and says of each "killed <test>", or "alive <number of tests that reach it>". A mutant
 * meets the tests that reach it, each in a child of its own, cheap ones and those that killed many first.
 *
 * A test that does not reach a mutant is green with it, because in virtual time it is the same again each time. The few
 * that have real sockets need not be: a mutant may live that one of them would have killed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mutant.h"
#include "base/plant.h"
#include "rules/child.h"

enum { ASLEEP_S = 10, MOST_S = 60, SLOWER = 5 };
static const double LEAST_S = 0.3; /* with a mutant a test may cost this, and so many times what it costs without */

struct row {
    const struct CMUnitTest *test;
    unsigned char *reaches; /* by number of a mutant; shared with the child */
    double cost_s;
    unsigned kills;
};

static int nowhere;

static void switch_on(int mutant) { hl_mutant = mutant; }

static struct child_end play(const struct row *row, int mutant)
{
    const struct child child = {.break_it = switch_on, .what = mutant, .processor_s = LEAST_S + SLOWER * row->cost_s,
                                .asleep_s = ASLEEP_S, .out = nowhere};
    return child_play(row->test, &child);
}

/* 1: the row's test is green as the library is. */
static int is_of_use(struct row *row, const struct CMUnitTest *test)
{
    unsigned char *const nobody = hl_mutants_reached;
    struct child_end end;
    void *shared = mmap(NULL, (size_t)hl_mutants + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    *row = (struct row){.test = test, .reaches = shared, .cost_s = MOST_S};
    hl_mutants_reached = row->reaches;
    end = play(row, 0);
    hl_mutants_reached = nobody;
    row->cost_s = end.processor_s;
    if (end.status != 0)
        fprintf(stderr, "%s is red as it is, and left out\n", test->name);
    return end.status == 0;
}

static double rank(const struct row *row) { return (row->cost_s + 0.001) / (1 + row->kills); }

static int by_rank(const void *a, const void *b)
{
    double first = rank(*(struct row *const *)a), second = rank(*(struct row *const *)b);
    return first < second ? -1 : first > second;
}

static void judge(struct row *rows, size_t count, struct row **order, int mutant)
{
    size_t reaching = 0, i = 0;
    for (size_t row = 0; row < count; row++)
        if (rows[row].reaches[mutant])
            order[reaching++] = &rows[row];
    qsort(order, reaching, sizeof(struct row *), by_rank);
    while (i < reaching && play(order[i], mutant).status == 0)
        i++;
    if (i == reaching) {
        printf("alive %zu\n", reaching);
    } else {
        order[i]->kills++;
        printf("killed %s\n", order[i]->test->name);
    }
    fflush(stdout);
}

int main(void)
{
    struct row *rows = calloc(child_tests_count, sizeof *rows);
    struct row **order = calloc(child_tests_count, sizeof *order);
    size_t count = 0;
    int mutant;
    hl_plant_switch(HL_PLANT_NONE); /* or the library has no scripts */
    nowhere = open("/dev/null", O_WRONLY);
    if (!rows || !order || nowhere < 0)
        abort();
    for (size_t i = 0; i < child_tests_count; i++)
        count += (size_t)is_of_use(&rows[count], &child_tests[i]);
    puts("ready");
    fflush(stdout);
    while (scanf("%d", &mutant) == 1 && mutant > 0 && mutant <= hl_mutants)
        judge(rows, count, order, mutant);
    free(order);
    free(rows);
    return 0;
}
