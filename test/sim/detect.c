/* SPDX-License-Identifier: BSD-3-Clause */
/* detect - does the simulator find bugs? It hunts each planted bug of found.def from several first seeds and takes the
 * median count; a rare one it hunts once. With a single search it first tries the seed that found the bug last. A bug
 * counts as found when the first broken invariant is one that it is known to break. All cores hunt, and the table is
 * printed at the end. Each search is a process of its own: a planted bug may kill it, or make it run for ever. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plant.h"
#include "campaign.h"
#include "sim.h"

enum { TRIES_MAX = 15, TRIES_LONG = 3, FIRST_STEP = 100000, HANG_S = 10, NOT_FOUND = 0, IS_BROKEN = 1, IS_LOST = 3 };

#define ANYWHERE {0}
#define IN(world) {.has_deployment = 1, .deployment = SIM_##world}
#define REPLICAS(world) {.has_deployment = 1, .deployment = SIM_##world, .has_replicas = 1}
#define HOT {.has_deployment = 1, .deployment = SIM_SINGLE, .is_hot = 1}
#define JAVA {.has_deployment = 1, .deployment = SIM_SINGLE, .is_crowd = 1, .strains = 1u << STRAIN_JAVA}
#define LOAD {.is_load = 1}
#define HEIRS {.is_heirs = 1}
#define SHARERS {.has_deployment = 1, .deployment = SIM_SINGLE, .strains = 1u << STRAIN_SHARE}
#define STRUCK {.has_deployment = 1, .deployment = SIM_SINGLE, .is_hot = 1, .is_struck = 1}

static const struct bug { enum hl_plant plant; struct sim_choice choice; uint64_t seed; const char *wounds; int is_rare; } bugs[] = {
#define SIM_FOUND(plant, where, seed, wounds) {HL_PLANT_##plant, where, seed, wounds, 0},
#define SIM_RARE(plant, where, wounds) {HL_PLANT_##plant, where, 0, wounds, 1},
#include "found.def"
#undef SIM_FOUND
#undef SIM_RARE
};
enum { BUGS = sizeof bugs / sizeof *bugs };

static const enum hl_plant to_hunt[] = { /* those that nobody else finds */
#define HL_PLANT(name, text)
#define HL_SIM_PLANT(name, text) HL_PLANT_##name,
#include HL_PLANTS
#undef HL_PLANT
#undef HL_SIM_PLANT
};

struct find {
    uint64_t seed;
    unsigned count; /* of seeds until then; 0: not found */
    char wound[8];  /* the invariant ("I8"); "dies": an assertion or a signal; "hangs" */
};

/* ---- one search ---- */

/* words: with blanks between. */
static int is_one_of(const char *words, const char *word)
{
    const size_t size = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += size)
        if ((at == words || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0'))
            return 1;
    return 0;
}

/* In a process of its own. */
static void search(const struct bug *bug, uint64_t end, struct find *shared)
{
    const struct itimerval hang = {.it_value = {HANG_S, 0}}; /* of a processor: a busy machine makes no bug */
    struct sim_outcome outcome;
    if (!freopen("/dev/null", "w", stderr)) /* broken assertions are a way of being found */
        _exit(IS_LOST);
    hl_plant_switch(bug->plant);
    for (; shared->seed < end; shared->seed++) {
        setitimer(ITIMER_PROF, &hang, NULL);
        sim_run(shared->seed, &bug->choice, NULL, &outcome);
        if (!outcome.is_broken)
            continue;
        snprintf(shared->wound, sizeof shared->wound, "%.*s", (int)strcspn(outcome.why, ":"), outcome.why);
        _exit(IS_BROKEN);
    }
    _exit(NOT_FOUND);
}

/* From shared->seed on, to the first that breaks anything. 1: one did. */
static int search_on(const struct bug *bug, uint64_t end, struct find *shared)
{
    int status;
    pid_t hunter = fork();
    if (hunter == 0)
        search(bug, end, shared);
    if (hunter < 0 || waitpid(hunter, &status, 0) != hunter || (WIFEXITED(status) && WEXITSTATUS(status) == IS_LOST))
        abort();
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != IS_BROKEN)
        strcpy(shared->wound, WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "hangs" : "dies");
    return 1;
}

static struct find hunt(const struct bug *bug, uint64_t first, unsigned seeds_max)
{
    struct find *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), find = {0};
    if (shared == MAP_FAILED)
        abort();
    for (shared->seed = first; search_on(bug, first + seeds_max, shared); shared->seed++) {
        if (*bug->wounds && !is_one_of(bug->wounds, shared->wound))
            continue;
        find = *shared;
        find.count = (unsigned)(find.seed - first + 1);
        break;
    }
    munmap(shared, sizeof *shared);
    return find;
}

/* ---- all of them ---- */

static int by_count(const void *a, const void *b)
{
    const struct find *left = a, *right = b;
    return (left->count > right->count) - (left->count < right->count);
}

static struct find median_of(const struct bug *bug, unsigned tries, uint64_t first, unsigned seeds_max)
{
    struct find finds[TRIES_MAX];
    if (tries == 1 && (finds[0] = hunt(bug, bug->seed, 1)).count)
        return finds[0];
    for (unsigned i = 0; i < tries; i++)
        if ((finds[i] = hunt(bug, first + (uint64_t)i * FIRST_STEP, seeds_max)).count == 0)
            return finds[i];
    if (tries == 1)
        printf("found.def: %s: seed %llu, \"%s\"\n", hl_plant_name(bug->plant), (unsigned long long)finds[0].seed, finds[0].wound), fflush(stdout);
    qsort(finds, tries, sizeof *finds, by_count);
    return finds[tries / 2];
}

struct board { /* what the hunters share */
    atomic_uint next;
    struct find medians[BUGS];
};

/* The one that is planted already, or all. */
static int is_hunted(const struct bug *bug, unsigned tries)
{
    return hl_plant ? bug->plant == hl_plant : !bug->is_rare || tries >= TRIES_LONG;
}

/* One hunter for each core; a free hunter takes the next bug, from the last on: the rare ones take longest, so they are searched for once. */
static void hunt_all(struct board *board, unsigned tries, uint64_t first, unsigned seeds_max)
{
    for (long hunters = sysconf(_SC_NPROCESSORS_ONLN); hunters > 0; hunters--) {
        pid_t hunter = fork();
        if (hunter < 0)
            abort();
        if (hunter > 0)
            continue;
        for (unsigned i; (i = BUGS - 1 - atomic_fetch_add(&board->next, 1)) < BUGS;)
            if (is_hunted(&bugs[i], tries))
                board->medians[i] = median_of(&bugs[i], bugs[i].is_rare ? 1 : tries, first, seeds_max);
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
}

/* Of the bugs to hunt. */
static unsigned without_a_row(void)
{
    unsigned count = 0;
    for (size_t i = 0; i < sizeof to_hunt / sizeof *to_hunt; i++) {
        size_t row = 0;
        while (row < BUGS && bugs[row].plant != to_hunt[i])
            row++;
        if (row == BUGS)
            printf("%s: has no row in found.def\n", hl_plant_name(to_hunt[i])), count++;
    }
    return count;
}

int sim_detect(unsigned tries, uint64_t first_seed, unsigned seeds_max)
{
    struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned missed = without_a_row(), found = 0;
    if (board == MAP_FAILED)
        return perror("mmap"), 2;
    tries = tries > TRIES_MAX ? TRIES_MAX : tries;
    atomic_init(&board->next, 0);
    fflush(NULL);
    hunt_all(board, tries, first_seed, seeds_max);
    printf("Seeds until found: median of %u searches from different seeds, each of at most %u, and what broke then%s.\n\n", tries, seeds_max,
           tries == 1 ? "; 1 is the seed of found.def" : "");
    for (unsigned i = 0; i < BUGS; i++) {
        const struct find *median = &board->medians[i];
        if (!is_hunted(&bugs[i], tries))
            continue;
        found += median->count != 0;
        missed += median->count == 0;
        printf(median->count ? "%s: %u, %s\n" : "%s: NOT FOUND %u%s\n", hl_plant_name(bugs[i].plant), median->count, median->wound);
    }
    printf("\n%u found, %u not found\n", found, missed);
    return missed || !found;
}
