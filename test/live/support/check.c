/* SPDX-License-Identifier: BSD-3-Clause */
/* check - see check.h. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int is_child;
static _Thread_local int is_thread;

unsigned check_count_wanted(const char *variable, unsigned usual)
{
    const char *wanted = getenv(variable);
    return wanted ? (unsigned)atoi(wanted) : usual;
}

void check_in_child(void) { is_child = 1; }

void check_in_thread(void) { is_thread = 1; }

void check_fail(const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!is_child && !is_thread)
        fail_msg("%s", text);
    fprintf(stderr, "process %d: %s\n", (int)getpid(), text);
    if (is_child)
        _exit(1);
    exit(1);
}

uint64_t check_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void check_pause_ms(unsigned ms)
{
    struct timespec span = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&span, &span) != 0 && errno == EINTR)
        ;
}

void check_until(int (*is_so)(void *arg), void *arg, const char *what)
{
    uint64_t begun_us = check_now_us();
    while (!is_so(arg)) {
        if (check_now_us() - begun_us > (uint64_t)CHECK_PATIENCE_MS * 1000)
            check_fail("waited %d s in vain for: %s", CHECK_PATIENCE_MS / 1000, what);
        check_pause_ms(5);
    }
}
