/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.c - see samples.h. */
#include "samples.h"

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
