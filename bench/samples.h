/* SPDX-License-Identifier: BSD-3-Clause */
/* samples.h - measured values, of which the median and other shares count. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stddef.h>

struct samples { /* grown as needed; zeroed: none */
    double *values;
    size_t count, room;
};

int samples_add(struct samples *samples, double value); /* -1: out of memory, reported on stderr */
void samples_sort(struct samples *samples);
double samples_at(const struct samples *sorted, double share); /* 0.5: the median; NaN of none */
void samples_free(struct samples *samples);

#endif
