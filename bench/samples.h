/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.h - measured values, and their median and other quantiles. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stddef.h>

struct samples { /* grows as needed; all zero means no values */
    double *values;
    size_t count, room;
};

int samples_add(struct samples *samples, double value); /* -1: out of memory, reported on stderr */
void samples_sort(struct samples *samples);
double samples_at(const struct samples *sorted, double share); /* share: 0.5 for the median. NaN: there are no values */
void samples_free(struct samples *samples);

#endif
