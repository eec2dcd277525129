/* SPDX-License-Identifier: BSD-3-Clause */
/* line.c - see line.h. */
#include "line.h"

struct json line_begin(const char *scenario)
{
    struct json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "scenario", scenario);
    return json;
}

void line_end(struct json *json)
{
    json_shut(json, '}');
    json_line(json);
}
