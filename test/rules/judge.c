/* SPDX-License-Identifier: BSD-3-Clause */
/* judge - the tests of one suite, linked with the library whose rules can be broken (README.md).
 * Without arguments: each rule that names a test here is broken, and that test must go red, and say what the rule says
 * that it shows; unbroken it must be green. --kills RULE..: which of all tests here go red, or whether that of PLAY does; --first RULE..: one of them. Ends with 1 if none does.
 * Each run is a child of its own (child.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/plant.h"
#include "child.h"

enum { SAID_MAX = 1 << 16, HANG_S = 60 };

static const struct row { enum hl_plant rule; const char *program, *test, *wound; } rows[] = {
#define JUDGED(rule, program, test, wound) {HL_PLANT_##rule, program, test, wound},
#include "judged.def"
#undef JUDGED
};
enum { ROWS = sizeof rows / sizeof *rows };

static void break_rule(int rule) { hl_plant_switch((enum hl_plant)rule); }

/* 1: it is red; said: what it said, or how it ended. */
static int is_red(const struct CMUnitTest *test, enum hl_plant rule, char said[SAID_MAX])
{
    FILE *out = tmpfile();
    size_t used;
    int status;
    if (!out)
        abort();
    status = child_play(test, &(struct child){.break_it = break_rule, .what = (int)rule, .processor_s = HANG_S, .out = fileno(out)}).status;
    rewind(out);
    used = fread(said, 1, SAID_MAX - 16, out);
    fclose(out);
    strcpy(said + used, WIFEXITED(status) ? "" : WTERMSIG(status) == SIGPROF ? "\nhangs\n" : "\ndies\n");
    return status != 0;
}

static const struct CMUnitTest *find(const char *name)
{
    for (size_t i = 0; i < child_tests_count; i++)
        if (strcmp(child_tests[i].name, name) == 0)
            return &child_tests[i];
    return NULL;
}

static int judge(const struct row *row)
{
    static char said[SAID_MAX];
    const struct CMUnitTest *test = find(row->test);
    const char *name = hl_plant_name(row->rule);
    if (!test)
        return printf("%s: there is no test %s\n", name, row->test), 1;
    if (is_red(test, HL_PLANT_NONE, said))
        return printf("%s: %s is red though no rule is broken\n%s\n", name, row->test, said), 1;
    if (!is_red(test, row->rule, said))
        return printf("%s: %s is green though this rule is broken\n", name, row->test), 1;
    if (!strstr(said, row->wound))
        return printf("%s: %s is red, and does not say \"%s\":\n%s\n", name, row->test, row->wound, said), 1;
    return 0;
}

static int judge_all(void)
{
    int wrong = 0, count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].program, PROGRAM) != 0)
            continue;
        wrong += judge(&rows[i]);
        count++;
    }
    printf("%d rules, %d of them held by no test\n", count, wrong);
    return wrong || !count;
}

/* The line with the claim. */
static void print_failure(const char *test, const char *said)
{
    const char *first = strstr(said, ".c:");
    while (first && first > said && first[-1] != '\n')
        first--;
    printf("  %s: %.*s\n", test, first ? (int)strcspn(first, "\n") : 0, first ? first : "");
}

static int kills(const char *name, int stops)
{
    static char said[SAID_MAX];
    enum hl_plant rule = hl_plant_find(name);
    const char *alone = getenv("PLAY");
    int killers = 0;
    if (rule == HL_PLANT_NONE)
        return printf("%s: there is no such rule\n", name), 1;
    printf("%s:\n", name);
    for (size_t i = 0; i < child_tests_count && !(stops && killers); i++)
        if ((!alone || strcmp(alone, child_tests[i].name) == 0) && is_red(&child_tests[i], rule, said)) {
            print_failure(child_tests[i].name, alone ? "" : said);
            printf("%s", alone ? said : "");
            killers++;
        }
    printf("%s: %d tests are red\n", name, killers);
    return !killers;
}

int main(int argc, char **argv)
{
    int survived = 0, stops = argc > 1 && strcmp(argv[1], "--first") == 0;
    if (argc < 3 || (!stops && strcmp(argv[1], "--kills") != 0))
        return argc > 1 ? 2 : judge_all();
    for (int i = 2; i < argc; i++)
        survived += kills(argv[i], stops);
    return survived != 0;
}
