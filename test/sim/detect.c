/* SPDX-License-Identifier: BSD-3-Clause */
/* detect - does the simulator find bugs? It hunts each planted bug (hunt.h) from several first seeds and takes the median count. With a single
 * search it first tries the seed that found the bug last. Bugs that cannot break an invariant here are listed with the reason; unit tests find
 * them. All cores hunt, and the table is printed at the end. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plant.h"
#include "campaign.h"
#include "hunt.h"
#include "sim.h"

enum { TRIES_MAX = 15, TRIES_LONG = 3, FIRST_STEP = 100000 };

static const char *const texts[] = {
    "",
#define HL_PLANT(name, rule) rule,
#define HL_SIM_PLANT HL_PLANT
#define HL_TLS_PLANT HL_PLANT
#include "base/plants.def"
#undef HL_PLANT
#undef HL_SIM_PLANT
#undef HL_TLS_PLANT
};

/* Hunted only in a campaign: they need a rare moment. */
static const char rare[] = "R7_NEWS_FORGOTTEN HAUNT_FORGOTTEN HOLD_MAX_UNSWEPT REPLICAS_UNASKED_FORGOTTEN REPLICAS_KEPT "
                           "REPLICAS_PUSH_BELIEVED REPLICAS_HANDED_ON GUARD_UNANSWERED HANDOFF_ANSWER_TAKEN NEXT_FORGOTTEN "
                           "GUARD_IGNORED MULTI_ADRIFT_BY_MOVE MOVES_UNNOTICED R7_NO_SECOND_TRY POLL_OVERSLEEPS MULTI_KEEPS";

/* Each has a unit test that it turns red: its name, or several, and why it is not hunted. */
static const struct { const char *names, *why; } for_units[] = {
    {"GIVEN_UP_UNSETTLED", "needs a slot that moves just as a release gives up: seen once (TRACK_RECORD.md), too rare to hunt"},
    {"GRANT_KEPT_AFTER_GIVEN_UP", "needs two long delays at the right moments: seen once (TRACK_RECORD.md), too rare to hunt"},
    {"RETURN_UNNOTICED", "needs two failovers, the second one back, and a process that sleeps through both after a release: "
                         "seen once (TRACK_RECORD.md), too rare to hunt"},
    {"SLOTS_BACK_UNNOTICED", "needs the same in a cluster: not found in 6 000 seeds"},
    {"UNDATED_OWNER_OUSTED", "needs a slot that moves, a failover after it, and a client that heard of neither: seen once (TRACK_RECORD.md), too rare to hunt"},
    {"PLACE_OF_HOLD_LEFT", "needs late bytes of an old link that take a second place, and a hold that ends then: not found in 20 000 seeds"},
    {"ORDER_OUTLIVES_LINK", "needs a release that is refused when it is repeated, and late bytes of it: not found in 3 000 seeds"},
    {"HAUNT_LEFT_BY_LOSS", "needs a hold that is taken while a lost acquire of its own may still run"},
    {"R4_UNDO_UNORDERED", "costs its client one more request, and breaks no visible promise"},
    {"R5_TAKEN_IGNORED", "belief is not extended, and still ends at its deadline"},
    {"R7_NO_RETRY_AT_RECONNECT", "the subscription's own reconnect repairs it"},
    {"FORCE_OF_WHOEVER FORCE_UNCHECKED", "no process here calls force_release"},
    {"R11_HEARTBEAT_RESURRECTS", "needs a process that sleeps past the window of a pushed grant while a heartbeat is on the wire: not found in 2 500 seeds"},
    {"BATCH_UNBOUNDED", "needs more than a thousand answers at once"},
    {"CLOSED_UNTOLD DRAIN_HALF_BLIND", "needs a slow callback at that moment: rare here"},
    {"R10_AUTH_FAILURE_IGNORED", "needs a wrong password"},
    {"R12_FORK_IGNORED", "needs a fork"},
    {"EXTEND_SHORTENS", "belief in less than the store keeps breaks no visible promise"},
    {"EXTEND_FORGOTTEN", "needs a store that is away for longer than a lease and a command's timeout, right after a release"},
    {"FAIR_BELIEVES_OLD_LINK", "needs a failover to a clock far ahead, between a heartbeat and the grant that names it"},
    {"FAIR_BELIEVES_ELSEWHERE FAIR_HALF_RELEASED SILENCE_UNASKED", "not hunted in the worlds of several servers yet"},
    {"FAIR_DEAF_TO_OTHERS WAKE_IGNORED FAIR_HEIR_UNHEARD FAIR_HEIR_TRUSTED FAIR_LISTENS_ON",
     "needs a holder that does not hand over (Redisson), which no world has"},
    {"FAIR_OTHER_NAME_BELIEVED", "needs one id for two names, but each wait has an id of its own"},
    {"FAIR_UNSENT_LEAVES_QUEUE", "needs an unsent heartbeat, and a wait that ends before the next: not found in 2 500 seeds"},
    {"FAIR_DOUBTED_FORGOTTEN", "needs a grant with too little left, and a wait that ends before it is confirmed: not found in 2 500 seeds"},
    {"FAIR_STEP_BELIEVED", "needs a server whose clock steps forward between a heartbeat and its grant"},
    {"FAIR_FORGOTTEN_KEPT", "an id in the queue without a waiter is granted at some time, and given back at once"},
    {"FAIR_QUEUE_FORGOTTEN", "needs an outage that begins with an enqueue and outlasts the lease: seen after thousands of seeds (TRACK_RECORD.md)"},
    {"FAIR_RETAKEN_BELIEVED", "needs data lost between a push and the answer to a heartbeat that crossed it"},
    {"FAIR_TAIL", "needs a loss of data, after which places are not checked"},
    {"FAIR_UNKNOWN_KEPT", "the grant lapses with its window, which is rarely longer than I8 allows"},
    {"FAIR_NO_YIELD", "needs a queue that is never empty: actors rest too long"},
    {"HANDOFF_UNVERIFIED", "needs a loss of data, which excuses belief"},
    {"HANDOFF_ADRIFT LOST_RELEASES_IGNORED LOST_RELEASES_SAID_ONCE", "a failover that loses data is excused for a lease"},
    {"HANDOFF_ANY_LEASE", "how long a crash delays others is not checked"},
    {"HANDOFF_LEASE_UNASKED", "needs a world without faults, two leases far apart and a long hold"},
    {"RENEWAL_KEPT_AFTER_GIVEN_UP", "needs a process that sleeps twice around a renewal: seen once (TRACK_RECORD.md), too rare to hunt"},
    {"TLS_NAME_UNVERIFIED TLS_CHAIN_UNVERIFIED TLS_OLD_VERSIONS TLS_READ_AHEAD_FORGOTTEN TLS_DOWNGRADED "
     "TLS_NAME_OF_ADDRESS", "there is no TLS here"},
    {"READONLY_IGNORED", "the sentinels report the switch soon after"},
    {"SILENCE_UNNOTICED", "the command's timeout repairs it"},
    {"ASK_WITHOUT_ASKING", "a request is redirected until its slot has moved: not found in 700 seeds"},
    {"FIXED_UNVERIFIED", "a loss that is reported later, within the lease, breaks no visible promise"},
    {"SHORTAGE_FOREVER", "needs a wait whose turn comes while memory is out, and no later event in its line"},
    {"PLACE_LOST_BY_CANCEL", "the place that a client gives up is not checked"},
    {"BALLOT_ALL_AT_ONCE", "a client that waits at all masters gives its votes back after some seconds: no other waits long"},
    {"QUORUM_KEEPS", "a kept vote is joined by the arbiter's, or goes back after a moment"},
    {"QUORUM_UNHEALED", "needs masters that forget one after the other during one hold"},
    {"QUORUM_NO_BREAKER", "costs time, and breaks no visible promise"},
    {"MULTI_ADRIFT", "needs a loss of data while a multi keeps a name, and a grant before its hold is verified: not hunted yet"},
    {"MULTI_UNEVEN", "the moment when each part of a lease ends breaks no visible promise"},
    {"GUARD_A_SECOND_SHORT", "needs a master that comes back in the last part of a second, and a hold that ends then"},
    {"STALE_OWNER_BELIEVED", "needs servers without config-epochs: here all have them"},
    {"SIMPLE_SHORTENS SIMPLE_STRAYS_FORGOTTEN", "needs a server with SET .. IFEQ"},
};

static const struct { const char *plant; enum sim_deployment deployment; int is_hot; } worlds[] = {
    {"SILENCE_IS_UNDATED", SIM_SENTINEL, 0},
    {"STALE_SENTINEL_BELIEVED", SIM_SENTINEL, 0}, {"ROLE_IGNORED", SIM_SENTINEL, 0}, {"ANEW_AT_ONCE", SIM_SENTINEL, 0},
    {"MOVES_UNNOTICED", SIM_CLUSTER, 0}, {"TAKEN_BACK_UNHEARD", SIM_CLUSTER, 0},
    {"OLD_EPOCH_BELIEVED", SIM_CLUSTER, 0}, {"RESTS_UNHEARD", SIM_CLUSTER, 0}, {"FAIR_CHANNEL_STAYS", SIM_CLUSTER, 0},
    {"REPLICAS_STEPS_BACK_ASLEEP", SIM_CLUSTER, 0},
    {"NEXT_JUMPS_QUEUE", SIM_SINGLE, 1}, {"R7_NO_HEARTBEAT_WHEN_HEARD", SIM_SINGLE, 1},
};

/* In the world that it is about. */
static struct sim_choice choice_for(const char *plant)
{
    int is_about_replicas = strncmp(plant, "REPLICAS_", 9) == 0;
    struct sim_choice choice = {0};
    choice.has_deployment = strncmp(plant, "QUORUM_", 7) == 0 || strncmp(plant, "GUARD_", 6) == 0;
    choice.deployment = SIM_QUORUM;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        if (strcmp(plant, worlds[i].plant) == 0)
            return (struct sim_choice){.has_deployment = 1, .deployment = worlds[i].deployment, .is_hot = worlds[i].is_hot, .has_replicas = is_about_replicas};
    if (is_about_replicas)
        return (struct sim_choice){.has_deployment = 1, .deployment = SIM_SENTINEL, .has_replicas = 1};
    if (strncmp(plant, "MULTI_", 6) == 0)
        choice = (struct sim_choice){.has_deployment = 1, .deployment = SIM_SINGLE};
    return choice;
}

static int is_for_units(enum hl_plant plant)
{
    for (size_t i = 0; i < sizeof for_units / sizeof *for_units; i++)
        if (hunt_lists(for_units[i].names, hl_plant_name(plant)))
            return 1;
    return 0;
}

static int by_count(const void *a, const void *b)
{
    const struct find *left = a, *right = b;
    return (left->count > right->count) - (left->count < right->count);
}

static struct find median_of(enum hl_plant plant, unsigned tries, uint64_t first, unsigned seeds_max)
{
    const struct sim_choice choice = choice_for(hl_plant_name(plant));
    struct find finds[TRIES_MAX];
    if (tries == 1 && (finds[0] = hunt_again(plant, &choice)).count)
        return finds[0];
    for (unsigned i = 0; i < tries; i++)
        if ((finds[i] = hunt(plant, &choice, first + (uint64_t)i * FIRST_STEP, seeds_max)).count == 0)
            return finds[i];
    if (tries == 1)
        printf("SIM_FOUND(%s, %llu, \"%s\")\n", hl_plant_name(plant), (unsigned long long)finds[0].seed, finds[0].wound), fflush(stdout);
    qsort(finds, tries, sizeof *finds, by_count);
    return finds[tries / 2];
}

struct board { /* what the hunters share */
    atomic_int next;
    struct find medians[HL_PLANT_COUNT];
};

static int is_hunted(enum hl_plant plant, unsigned tries) { return !is_for_units(plant) && (!hunt_lists(rare, hl_plant_name(plant)) || tries >= TRIES_LONG); }

static void hunt_on(struct board *board, unsigned tries, uint64_t first, unsigned seeds_max)
{
    for (int i; (i = atomic_fetch_add(&board->next, 1)) < HL_PLANT_COUNT;)
        if (is_hunted((enum hl_plant)i, tries))
            board->medians[i] = median_of((enum hl_plant)i, tries, first, seeds_max);
}

/* One hunter for each core; a free hunter takes the next bug. */
static void hunt_all(struct board *board, unsigned tries, uint64_t first, unsigned seeds_max)
{
    const long hunters = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < hunters; i++) {
        pid_t hunter = fork();
        if (hunter < 0)
            abort();
        if (hunter == 0) {
            hunt_on(board, tries, first, seeds_max);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
}

static unsigned tell_found(FILE *out, const struct board *board, int first, unsigned tries, unsigned seeds_max)
{
    unsigned missed = 0, found = 0;
    fprintf(out, "\n## Planted bugs\n\nSeeds until found: median of %u searches from different seeds, each of at most %u, and what broke then%s.\n\n"
            "| bug | seeds | broke | what is wrong |\n|---|---|---|---|\n", tries, seeds_max, tries == 1 ? "; 1 is the seed of found.def" : "");
    for (int i = first; i < HL_PLANT_COUNT; i++) {
        const struct find *median = &board->medians[i];
        if (!is_hunted((enum hl_plant)i, tries))
            continue;
        found += median->count != 0;
        missed += median->count == 0;
        fprintf(out, median->count ? "| %s | %u | %s | %s |\n" : "| %s | NOT FOUND %u | %s | %s |\n", hl_plant_name((enum hl_plant)i), median->count,
                median->wound, texts[i]);
    }
    fprintf(out, "\n%u found, %u not found. `hilock-sim --detect` lists those that unit tests find instead.\n", found, missed);
    return missed;
}

int sim_detect(unsigned tries, uint64_t first_seed, unsigned seeds_max, const char *evidence_path)
{
    FILE *out = evidence_path ? fopen(evidence_path, "a") : stdout;
    struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned missed;
    int first = hl_plant == HL_PLANT_NONE ? 1 : (int)hl_plant; /* a hunt that goes on */
    if (!out || board == MAP_FAILED)
        return perror(evidence_path ? evidence_path : "mmap"), 2;
    tries = tries > TRIES_MAX ? TRIES_MAX : tries;
    atomic_init(&board->next, first);
    fflush(NULL);
    hunt_all(board, tries, first_seed, seeds_max);
    missed = tell_found(out, board, first, tries, seeds_max);
    for (size_t i = 0; i < sizeof for_units / sizeof *for_units; i++)
        printf("- not hunted: %s: %s\n", for_units[i].names, for_units[i].why);
    if (tries < TRIES_LONG)
        printf( "\nWith %u searches or more also the rare ones are hunted.\n", (unsigned)TRIES_LONG);
    if (evidence_path)
        fclose(out);
    return missed ? 1 : 0;
}
