/* SPDX-License-Identifier: BSD-3-Clause */
/* handover_figures.c - what follows from the grants of scenario handover.
 *
 * A gap is from the release call to the next grant's callback, counted only if a process waited before that release.
 * The ideal is a lock that passes on in no time, first come, first served: the processes' own holds and thinks, as they
 * were measured, replayed with it; and once more with a lock whose hand-overs take as long as the bare messages of the
 * same round did, one each, which no lock that hands over by messages can beat. */
#include "handover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int samples_add(struct samples *samples, double value)
{
    if (samples->count == samples->room) {
        size_t room = samples->room ? samples->room * 2 : 1024;
        double *values = realloc(samples->values, room * sizeof *values);
        if (!values) {
            fprintf(stderr, "hilock-bench: out of memory\n");
            return -1;
        }
        samples->values = values;
        samples->room = room;
    }
    samples->values[samples->count++] = value;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void samples_sort(struct samples *samples)
{
    if (samples->count)
        qsort(samples->values, samples->count, sizeof *samples->values, by_size);
}

double samples_at(const struct samples *sorted, double share)
{
    size_t last = sorted->count - 1;
    return sorted->count ? sorted->values[(size_t)((double)last * share + 0.5)] : NAN;
}

void samples_free(struct samples *samples)
{
    free(samples->values);
    *samples = (struct samples){NULL, 0, 0};
}

static double us(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e3 : 0;
}

/* Had another process, granted from `first` on, asked by then? Each waits for one grant at a time, so it is near. */
static bool is_awaited(const struct handover_board *board, unsigned first, unsigned processes, uint64_t then_ns,
                       uint32_t but)
{
    for (unsigned i = first; i < board->grants && i < first + 4 * processes; i++)
        if (board->grant[i].asked_ns <= then_ns && board->grant[i].process != but)
            return true;
    return false;
}

static int add_grants(struct handover_sums *sums, const struct handover_board *board, unsigned processes)
{
    unsigned run = 0;
    for (unsigned i = 0; i < board->grants; i++) {
        const struct handover_grant *grant = &board->grant[i], *before = i ? grant - 1 : NULL;
        bool was_awaited = before && is_awaited(board, i, processes, before->released_ns, before->process);
        if (was_awaited && samples_add(&sums->gaps, us(before->released_ns, grant->granted_ns)) != 0)
            return -1;
        if (samples_add(&sums->waits, us(grant->asked_ns, grant->granted_ns)) != 0)
            return -1;
        run = was_awaited && before->process == grant->process ? run + 1 : 1;
        sums->longest_run = run > sums->longest_run ? run : sums->longest_run;
        sums->by_process[grant->process]++;
    }
    return 0;
}

/* ---- the ideal lock ---- */

struct player { /* a process, replayed: its grants as a ring of holds and thinks */
    uint64_t arrives_ns;
    unsigned first, next; /* places in the board; GRANTS_MAX: none */
};

static unsigned next_of(const struct handover_board *board, unsigned place, uint32_t process)
{
    do {
        place++;
    } while (place < board->grants && board->grant[place].process != process);
    return place;
}

/* After the last of its own grants a player begins again with its first; the think between these was cut off, so the
 * first one's is used. */
static void play_on(const struct handover_board *board, struct player *player, uint64_t released_ns)
{
    const struct handover_grant *grant = &board->grant[player->next];
    unsigned next = next_of(board, player->next, grant->process);
    uint64_t think_ns;
    if (next == board->grants) {
        next = player->first;
        grant = &board->grant[next];
        player->next = next_of(board, next, grant->process);
        player->next = player->next == board->grants ? next : player->next;
        think_ns = player->next == next ? (uint64_t)board->think_us * 1000
                                        : board->grant[player->next].asked_ns - grant->released_ns;
    } else {
        think_ns = board->grant[next].asked_ns - grant->released_ns;
        player->next = next;
    }
    player->arrives_ns = released_ns + think_ns;
}

static void players_begin(struct player *players, const struct handover_board *board, unsigned processes)
{
    for (unsigned i = 0; i < processes; i++) {
        unsigned first = next_of(board, UINT32_MAX, i);
        players[i] = (struct player){first < board->grants ? board->grant[first].asked_ns : UINT64_MAX, first, first};
    }
}

/* The grants of a lock whose hand-overs take these gaps, in turn and over again. */
static int replay(const struct handover_board *board, const struct handover_stretch *stretch,
                  const struct samples *gaps, struct samples *waits, uint64_t *grants)
{
    struct player players[CROWD_MAX];
    uint64_t free_ns = stretch->began_ns;
    size_t gap = 0;
    players_begin(players, board, stretch->processes);
    for (;;) {
        struct player *first = players;
        uint64_t granted_ns;
        const struct handover_grant *grant;
        for (unsigned i = 1; i < stretch->processes; i++)
            first = players[i].arrives_ns < first->arrives_ns ? &players[i] : first;
        if (first->arrives_ns == UINT64_MAX)
            return 0;
        granted_ns = first->arrives_ns;
        if (granted_ns <= free_ns)
            granted_ns = free_ns + (gaps->count ? (uint64_t)(gaps->values[gap++ % gaps->count] * 1e3) : 0);
        if (granted_ns >= stretch->ended_ns)
            return 0;
        if (samples_add(waits, us(first->arrives_ns, granted_ns)) != 0)
            return -1;
        ++*grants;
        grant = &board->grant[first->next];
        free_ns = granted_ns + (grant->released_ns - grant->granted_ns);
        play_on(board, first, free_ns);
    }
}

int handover_add(struct handover_sums *sums, const struct handover_board *board, const struct handover_stretch *stretch)
{
    const struct samples none = {NULL, 0, 0};
    sums->grants += board->grants;
    sums->grants_all += board->grants_all;
    sums->seconds += (double)(stretch->ended_ns - stretch->began_ns) / 1e9;
    if (add_grants(sums, board, stretch->processes) != 0 ||
        replay(board, stretch, &none, &sums->ideal_waits, &sums->ideal_grants) != 0)
        return -1;
    return replay(board, stretch, stretch->messages, &sums->message_waits, &sums->message_grants);
}

double handover_jain(const struct handover_sums *sums, unsigned processes)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < processes; i++) {
        sum += (double)sums->by_process[i];
        squares += (double)sums->by_process[i] * (double)sums->by_process[i];
    }
    return sum * sum / ((double)processes * squares);
}

void handover_sums_free(struct handover_sums *sums)
{
    samples_free(&sums->gaps);
    samples_free(&sums->waits);
    samples_free(&sums->ideal_waits);
    samples_free(&sums->message_waits);
}
