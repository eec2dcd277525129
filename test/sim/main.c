/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock-sim - runs seeds; README.md has its options. Exit status 0: nothing broke. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../wanted.h"
#include "base/plant.h"
#include "campaign.h"
#include "sim.h"

struct task { struct sim_choice choice; uint64_t first, last; int is_traced, is_twice, is_campaign, is_detect, is_fresh, must_break; unsigned seconds_max; };

enum { DETECT_SEEDS_MAX = 20000, DETECT_ONCE_MAX = 3000 }; /* a single search is CI's, and must end */

static int run_again(const struct sim_outcome *first, const struct sim_choice *choice, FILE *trace)
{
    struct sim_outcome again, untraced;
    sim_run(first->seed, choice, trace, &again);
    sim_run(first->seed, choice, NULL, &untraced);
    if (again.hash == first->hash && again.steps == first->steps && untraced.steps == first->steps && untraced.virtual_us == first->virtual_us &&
        memcmp(untraced.sometimes, first->sometimes, sizeof first->sometimes) == 0)
        return 0;
    printf("seed %llu is not deterministic: %llu steps, then %llu, without trace %llu\n", (unsigned long long)first->seed,
           (unsigned long long)first->steps, (unsigned long long)again.steps, (unsigned long long)untraced.steps);
    return 1;
}

static int run_all(const struct task *task)
{
    struct sim_outcome outcome;
    FILE *trace = task->is_traced ? stdout : task->is_twice ? fopen("/dev/null", "w") : NULL;
    if (task->is_twice && !trace)
        return perror("/dev/null"), 2;
    for (uint64_t seed = task->first; seed <= task->last; seed++) {
        sim_run(seed, &task->choice, trace, &outcome);
        if (outcome.is_broken)
            return sim_tell_broken(&outcome, &task->choice);
        if (task->is_twice && run_again(&outcome, &task->choice, trace) != 0)
            return 1;
    }
    printf("nothing broke in %llu seeds\n", (unsigned long long)(task->last - task->first + 1));
    return 0;
}

static int read_range(const char *text, struct task *task)
{
    char *end;
    task->first = task->last = strtoull(text, &end, 10);
    if (end != text && strncmp(end, "..", 2) == 0)
        task->last = strtoull(end + 2, &end, 10);
    return end != text && *end == '\0' && task->last >= task->first;
}

static int read_flag(const char *word, struct task *task)
{
    struct sim_choice *choice = &task->choice;
    const struct { const char *word; int *is_on; } flags[] = {
        {"--trace", &task->is_traced}, {"--breaks", &task->must_break}, {"--fresh", &task->is_fresh}, {"--crowd", &choice->is_crowd},
        {"--hot", &choice->is_hot}, {"--struck", &choice->is_struck}, {"--load", &choice->is_load}, {"--heirs", &choice->is_heirs}, {"--replicas", &choice->has_replicas}, {"--unguarded", &choice->is_unguarded}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i].word) == 0)
            return *flags[i].is_on = 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct task task = {.first = 1, .last = 100, .seconds_max = UINT_MAX};
    uint64_t before;
    int is_good = argc > 1;
    for (int i = 1; i < argc && is_good; i++) {
        if (read_flag(argv[i], &task))
            continue;
        if (i + 1 == argc)
            is_good = 0;
        else if (strcmp(argv[i], "--plant") == 0)
            hl_plant_switch(hl_plant_find(argv[++i])), is_good = hl_plant != HL_PLANT_NONE;
        else if (strcmp(argv[i], "--world") == 0)
            task.choice.has_deployment = is_good = sim_deployment_find(argv[++i], &task.choice.deployment);
        else if (strcmp(argv[i], "--strain") == 0) {
            enum sim_strain strain = SIM_STRAINS;
            is_good = sim_strain_find(argv[++i], &strain);
            task.choice.strains |= 1u << strain;
        } else if (strcmp(argv[i], "--seconds") == 0)
            task.seconds_max = (unsigned)strtoul(argv[++i], NULL, 10);
        else {
            task.is_twice |= strcmp(argv[i], "--twice") == 0;
            task.is_campaign |= strcmp(argv[i], "--campaign") == 0;
            task.is_detect |= strcmp(argv[i], "--detect") == 0;
            is_good = strncmp(argv[i], "--seed", 6) == 0 || task.is_twice || task.is_campaign || task.is_detect;
            is_good = is_good && read_range(argv[++i], &task);
        }
    }
    if (!is_good) {
        fprintf(stderr, "usage: hilock-sim [--world NAME] [--crowd] [--hot] [--struck] [--replicas] [--unguarded] [--fresh] [--strain WORD] [--plant NAME] [--breaks]\n"
                        "       --seed N [--trace] | --seeds FIRST..LAST | --twice FIRST..LAST |\n"
                        "       --campaign FIRST..LAST [--seconds N] | --detect TRIES\n");
        return 2;
    }
    before = task.is_fresh ? wanted("HILOCK_SEED", 0) : 0;
    if (task.is_detect)
        return sim_detect((unsigned)task.first, before + 1, task.first > 1 ? DETECT_SEEDS_MAX : DETECT_ONCE_MAX);
    task.first += before, task.last += before;
    if (task.is_fresh)
        printf("seeds %llu..%llu\n", (unsigned long long)task.first, (unsigned long long)task.last), fflush(stdout);
    if (task.is_campaign)
        return sim_campaign(&(struct sim_range){task.first, task.last, task.is_fresh}, &task.choice, task.seconds_max);
    int broken = run_all(&task);
    if (task.must_break && !broken)
        printf("look for another seed that finds it\n");
    return task.must_break ? !broken : broken;
}
