/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - one JSON object on one line, written as it goes. */
#include "json.h"

#include <math.h>
#include <stdio.h>

void json_begin(const char *scenario)
{
    printf("{\"scenario\": \"%s\"", scenario);
}

void json_text(const char *key, const char *text)
{
    printf(", \"%s\": \"%s\"", key, text);
}

void json_count(const char *key, unsigned long long count)
{
    printf(", \"%s\": %llu", key, count);
}

void json_number(const char *key, double number)
{
    if (isfinite(number))
        printf(", \"%s\": %.6g", key, number);
    else
        printf(", \"%s\": null", key);
}

void json_truth(const char *key, int is_true)
{
    printf(", \"%s\": %s", key, is_true ? "true" : "false");
}

void json_null(const char *key)
{
    printf(", \"%s\": null", key);
}

void json_end(void)
{
    printf("}\n");
    fflush(stdout);
}
