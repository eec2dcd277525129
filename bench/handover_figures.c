/* SPDX-License-Identifier: BSD-3-Clause */
/* handover_figures.c - the figures that are computed from the grants of scenario handover.
 *
 * A gap is the time from the call of a release to the callback of the next grant. It counts only if a process was
 * waiting before that release. */
#include "handover.h"

static double us(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e3 : 0;
}

/* Returns whether another process, one of those granted from `first` on, had asked by then. Each process waits for one
 * grant at a time, so that grant comes soon. */
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

int handover_add(struct handover_sums *sums, const struct handover_board *board, unsigned processes, double seconds)
{
    sums->grants += board->grants;
    sums->grants_all += board->grants_all;
    sums->seconds += seconds;
    return add_grants(sums, board, processes);
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
}
