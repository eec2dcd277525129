/* SPDX-License-Identifier: BSD-3-Clause */
/* hunt - see hunt.h. Each hunter is a process: a planted bug may kill it, or make it run for ever. */
#include "hunt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"

enum { HANG_S = 60, NOT_FOUND = 0, IS_BROKEN = 1, IS_LOST = 3 };

static const struct last { const char *plant; uint64_t seed; const char *wounds; } lasts[] = {
#define SIM_FOUND(plant, seed, wounds) {#plant, seed, wounds},
#include "found.def"
#undef SIM_FOUND
};

static const struct last *last_of(enum hl_plant plant)
{
    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++)
        if (strcmp(lasts[i].plant, hl_plant_name(plant)) == 0)
            return &lasts[i];
    return NULL;
}

int hunt_lists(const char *list, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += size)
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return 1;
    return 0;
}

/* In a process of its own. */
static void search(enum hl_plant plant, const struct sim_choice *choice, uint64_t end, struct find *shared)
{
    struct sim_outcome outcome;
    if (!freopen("/dev/null", "w", stderr)) /* broken assertions are a way of being found */
        _exit(IS_LOST);
    hl_plant = plant;
    for (; shared->seed < end; shared->seed++) {
        alarm(HANG_S);
        sim_run(shared->seed, choice, NULL, &outcome);
        if (!outcome.is_broken)
            continue;
        snprintf(shared->wound, sizeof shared->wound, "%.*s", (int)strcspn(outcome.why, ":"), outcome.why);
        _exit(IS_BROKEN);
    }
    _exit(NOT_FOUND);
}

/* From shared->seed on, to the first that breaks anything. 1: one did. */
static int search_on(enum hl_plant plant, const struct sim_choice *choice, uint64_t end, struct find *shared)
{
    int status;
    pid_t hunter = fork();
    if (hunter == 0)
        search(plant, choice, end, shared);
    if (hunter < 0 || waitpid(hunter, &status, 0) != hunter || (WIFEXITED(status) && WEXITSTATUS(status) == IS_LOST))
        abort();
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != IS_BROKEN)
        strcpy(shared->wound, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "dies");
    return 1;
}

struct find hunt(enum hl_plant plant, const struct sim_choice *choice, uint64_t first, unsigned seeds_max)
{
    struct find *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), find = {0};
    if (shared == MAP_FAILED)
        abort();
    for (shared->seed = first; search_on(plant, choice, first + seeds_max, shared); shared->seed++) {
        if (last_of(plant) && !hunt_lists(last_of(plant)->wounds, shared->wound))
            continue;
        find = *shared;
        find.count = (unsigned)(find.seed - first + 1);
        break;
    }
    munmap(shared, sizeof *shared);
    return find;
}

struct find hunt_again(enum hl_plant plant, const struct sim_choice *choice)
{
    const struct last *last = last_of(plant);
    return last ? hunt(plant, choice, last->seed, 1) : (struct find){0};
}
