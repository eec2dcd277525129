/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h - one JSON object on one line, for programs that read figures. Keys and texts are our own: nothing is
 * escaped. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

void json_begin(const char *scenario); /* {"scenario": "pairs" */
void json_text(const char *key, const char *text);
void json_count(const char *key, unsigned long long count);
void json_number(const char *key, double number);
void json_truth(const char *key, int is_true);
void json_null(const char *key);
void json_end(void);

#endif
