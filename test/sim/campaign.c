/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign - see campaign.h. Each core is a forked worker with every n-th seed, which sends one outcome a seed through a pipe. */
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/plant.h"
#include "sim.h"

/* From how many seeds on all must have been seen: of fresh ones, and of the first ones, which are always the same. */
enum { WORKERS_MAX = 64, PROGRESS_S = 10, ALL_IS_SEEN_IN = 5000, ALL_IS_SEEN_IN_FIRST = 1500 };

struct total {
    uint64_t seeds, steps, virtual_us, sometimes[SIM_SOMETIMES_COUNT];
    struct sim_outcome broken; /* the first, if any */
    unsigned crashed;          /* workers that did not come to their end: a sanitizer, a signal */
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void work(const struct sim_range *seeds, const struct sim_choice *choice, uint64_t first, uint64_t step, double ends_s, int to)
{
    struct sim_outcome outcome;
    for (uint64_t seed = first; seed <= seeds->last && now_s() < ends_s; seed += step) {
        sim_run(seed, choice, NULL, &outcome);
        if (write(to, &outcome, sizeof outcome) != (ssize_t)sizeof outcome || outcome.is_broken)
            break;
    }
    _exit(0);
}

static int read_whole(int from, void *to, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t some = read(from, (char *)to + got, size - got);
        if (some <= 0)
            return 0;
        got += (size_t)some;
    }
    return 1;
}

static void add(struct total *total, const struct sim_outcome *outcome)
{
    total->seeds++;
    total->steps += outcome->steps;
    total->virtual_us += outcome->virtual_us;
    for (int i = 0; i < SIM_SOMETIMES_COUNT; i++)
        total->sometimes[i] += outcome->sometimes[i];
    if (outcome->is_broken && !total->broken.is_broken)
        total->broken = *outcome;
}

/* Workers share one pipe: an outcome is smaller than what a pipe writes in one piece. */
static double run_workers(const struct sim_range *seeds, const struct sim_choice *choice, unsigned workers, unsigned seconds_max, struct total *total)
{
    struct sim_outcome outcome;
    double begun_s = now_s(), told_s = begun_s;
    int ends[2];
    _Static_assert(sizeof(struct sim_outcome) <= 4096, "an outcome must be written to the pipe in one piece");
    if (pipe(ends) != 0)
        abort();
    fflush(stdout);
    for (unsigned i = 0; i < workers; i++)
        if (fork() == 0)
            work(seeds, choice, seeds->first + i, workers, begun_s + seconds_max, ends[1]);
    close(ends[1]);
    while (read_whole(ends[0], &outcome, sizeof outcome)) {
        add(total, &outcome);
        if (now_s() - told_s < PROGRESS_S)
            continue;
        told_s = now_s();
        fprintf(stderr, "%llu seeds, %llu operations\n", (unsigned long long)total->seeds, (unsigned long long)total->sometimes[SIM_OPERATION]);
    }
    close(ends[0]);
    for (int status; wait(&status) > 0;)
        total->crashed += status != 0;
    return now_s() - begun_s;
}

static void print_total(const struct total *total, unsigned workers, double seconds)
{
    uint64_t faults = 0;
    for (int i = SIM_FAULT_REQUEST_LOST; i < SIM_SOMETIMES_COUNT; i++)
        faults += total->sometimes[i];
    printf("| what | how much |\n|---|---|\n| seeds | %llu |\n| operations that reached the store | %llu |\n| of them contended grants | %llu |\n"
           "| faults | %llu |\n| virtual hours | %.1f |\n| operations per second and core | %.0f (%u workers, %.0f s) |\n| violations | %s |\n\n",
           (unsigned long long)total->seeds, (unsigned long long)total->sometimes[SIM_OPERATION],
           (unsigned long long)total->sometimes[SIM_CONTENDED], (unsigned long long)faults, (double)total->virtual_us / 3.6e9,
           (double)total->sometimes[SIM_OPERATION] / seconds / workers, workers, seconds, total->broken.is_broken ? total->broken.why : "0");
    if (!total->broken.is_broken)
        printf("Zero in %llu seeds: with 95 %% confidence fewer than one seed in %llu of this mix of faults breaks an invariant, no more is claimed.\n",
               (unsigned long long)total->seeds, (unsigned long long)(total->seeds / 3));
}

int sim_tell_broken(const struct sim_outcome *outcome, const struct sim_choice *choice)
{
    printf("seed %llu breaks %s\nreplay: hilock-sim --seed %llu --trace%s%s%s%s%s%s%s", (unsigned long long)outcome->seed,
           outcome->why,
           (unsigned long long)outcome->seed, hl_plant ? " --plant " : "", hl_plant ? hl_plant_name(hl_plant) : "",
           choice->has_deployment ? " --world " : "", choice->has_deployment ? sim_deployment_name(choice->deployment) : "",
           choice->is_load ? " --load" : choice->is_heirs ? " --heirs" : choice->is_crowd ? " --crowd" : choice->is_hot ? (choice->is_struck ? " --hot --struck" : " --hot") : "", choice->has_replicas ? " --replicas" : "", choice->is_unguarded ? " --unguarded" : "");
    for (int i = 0; i < SIM_STRAINS; i++)
        if (choice->strains >> i & 1)
            printf(" --strain %s", sim_strain_word((enum sim_strain)i));
    printf("\n");
    return 1;
}

static int judge(const struct sim_range *seeds, const struct sim_choice *choice, const struct total *total)
{
    const int may_miss = (choice->is_load || choice->is_heirs) || total->seeds < (seeds->is_fresh ? ALL_IS_SEEN_IN : ALL_IS_SEEN_IN_FIRST);
    int is_good = !total->crashed;
    if (total->crashed)
        printf("%u of the workers crashed: see above\n", total->crashed);
    if (total->broken.is_broken) {
        sim_tell_broken(&total->broken, choice);
        is_good = 0;
    }
    const int has_sharers = (choice->strains & 1u << STRAIN_SHARE) != 0;
    for (int i = 0; i < SIM_SOMETIMES_COUNT; i++) {
        int is_of_sharers = i == SIM_SHARED || i == SIM_SHARED_TO_THE_LAST || i == SIM_SHARE_OVER || i == SIM_DOWNGRADED || i == SIM_DOWNGRADE_UNKNOWN || i == SIM_JOINED;
        if (total->sometimes[i] || (is_of_sharers && !has_sharers) || (choice->is_load || choice->is_heirs))
            continue;
        printf("never seen: %s\n", sim_sometimes_text((enum sim_sometimes)i));
        is_good = may_miss ? is_good : 0;
    }
    return is_good ? 0 : 1;
}

int sim_campaign(const struct sim_range *seeds, const struct sim_choice *choice, unsigned seconds_max)
{
    struct total total = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned workers = cores > 0 && cores < WORKERS_MAX ? (unsigned)cores : 1;
    double seconds = run_workers(seeds, choice, workers, seconds_max, &total);
    print_total(&total, workers, seconds);
    return judge(seeds, choice, &total);
}
