/* SPDX-License-Identifier: BSD-3-Clause */
/* line.h - prints the figures of a run as one JSON object on a line of stdout, for programs that read them. */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

#include "../adapters/shell/json.h"

struct json line_begin(const char *scenario); /* begins {"scenario":"pairs" */
void line_end(struct json *json);

#endif
