/* SPDX-License-Identifier: BSD-3-Clause */
/* say - see say.h. A line is written by one write(), because holder, guard and command share stderr. */
#include "say.h"
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

static int is_event;

/* Buffers a line, which would otherwise be written in many pieces. */
void say_as_events(void) { is_event = setvbuf(stderr, NULL, _IOFBF, BUFSIZ) == 0; }

static void say_event(const char *text)
{
    struct json json = {.file = stderr};
    json_open(&json, NULL, '{');
    json_text(&json, "event", "log");
    json_text(&json, "detail", text);
    json_shut(&json, '}');
    json_line(&json);
}

static void say_list(const char *format, va_list list, const char *end)
{
    char line[1200] = "hilock: ";
    int begun = 8, more = vsnprintf(line + begun, 1024, format, list);
    int length = begun + (more < 0 ? 0 : more > 1023 ? 1023 : more);
    if (is_event) {
        say_event(line + begun);
        return;
    }
    length += snprintf(line + length, sizeof line - (size_t)length, "%s\n", end);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* nobody reads stderr any more */
}

void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_list(format, list, "");
    va_end(list);
}

int say_usage(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    say_list(format, list, "; see hilock --help, or man hilock");
    va_end(list);
    return EX_USAGE;
}
