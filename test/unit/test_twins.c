/* SPDX-License-Identifier: BSD-3-Clause */
/* Each safety rule has a play that holds, and that breaks when the bug of its twin is planted. Every HL_PLANT,
 * of lib/base/plants.def and of ../rules, must have one: a rule whose test cannot fail is not tested. A planted play runs in a child: it
 * may stop at a broken invariant of the library ("dies"), or run for ever ("hangs"). Any other end than by the claim
 * that its row names is red. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plant.h"
#include "safety.h"

enum { HANG_S = 60 };

static const char *const plants[] = { /* those of the rules; the simulator's may be found here too */
#define HL_PLANT(name, rule) #name,
#include HL_PLANTS
#undef HL_PLANT
};

static const struct safety *rules;

static void test_holds(void **state)
{
    const struct safety *rule = *state;
    hl_plant_switch(HL_PLANT_NONE);
    assert_true(play_holds(&rule->play));
}

static int holds_in_a_child(const struct safety *rule, char *wound)
{
    const struct itimerval hang = {.it_value = {HANG_S, 0}}; /* of a processor: a busy machine makes no bug */
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        fixture_wound = wound;
        setitimer(ITIMER_PROF, &hang, NULL);
        fixture_is_quiet = 1;
        if (!freopen("/dev/null", "w", stderr)) /* what a sanitizer or a broken invariant says is expected */
            _exit(2);
        hl_plant_switch(hl_plant_find(rule->plant));
        _exit(play_holds(&rule->play) ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) && !*wound)
        strcpy(wound, WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "hangs" : "dies");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_breaks_when_planted(void **state)
{
    const struct safety *rule = *state;
    char *wound = mmap(NULL, FIXTURE_WOUND_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), found[FIXTURE_WOUND_MAX];
    assert_true(wound != MAP_FAILED);
    assert_int_not_equal(hl_plant_find(rule->plant), HL_PLANT_NONE);
    int holds = holds_in_a_child(rule, wound);
    memcpy(found, wound, sizeof found);
    munmap(wound, FIXTURE_WOUND_MAX);
    if (holds)
        fail_msg("%s holds though %s is planted", rule->play.name, rule->plant);
    if (strcmp(rule->wound, found) != 0)
        fail_msg("another wound than that of its row: SAFETY(%s, %s, \"%s\")", rule->plant, rule->play.name, found);
}

void safety_add(struct safety *safety)
{
    safety->next = rules;
    rules = safety;
    suite_add(safety->play.name, test_holds, safety);
    suite_add(safety->plant, test_breaks_when_planted, safety);
}

TEST(no_plant_is_without_a_play)
{
    for (size_t plant = 0; plant < sizeof plants / sizeof *plants; plant++) {
        const struct safety *rule = rules;
        while (rule && strcmp(rule->plant, plants[plant]) != 0)
            rule = rule->next;
        if (!rule)
            fail_msg("%s has no play that finds it", plants[plant]);
    }
}
