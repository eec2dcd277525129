/* SPDX-License-Identifier: BSD-3-Clause */
/* findings - see findings.h. */
#include "findings.h"
#include "json.h"

#include <stdarg.h>

void finding(struct findings *findings, enum grade grade, const char *topic, const char *advice, const char *format,
             ...)
{
    static const char *const words[] = {[FINE] = "ok", [DOUBTFUL] = "doubtful", [WRONG] = "wrong"};
    char text[500];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    findings->wrong += grade == WRONG;
    findings->doubtful += grade == DOUBTFUL;
    if (!findings->is_json) {
        printf("%-8s  %s%s%s: %s%s%s\n", words[grade], findings->place, *findings->place ? " " : "", topic, text,
               advice ? ". To do: " : "", advice ? advice : "");
        return;
    }
    struct json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "grade", words[grade]);
    json_text(&json, "server", findings->place);
    json_text(&json, "topic", topic);
    json_text(&json, "found", text);
    if (advice)
        json_text(&json, "to_do", advice);
    json_shut(&json, '}');
    json_line(&json);
}
