/* SPDX-License-Identifier: BSD-3-Clause */
/* famine - see famine.h. What a program defines under these names serves its libraries too. The next in line (libc's, a sanitizer's) does the
 * work; free stays theirs. */
#include "famine.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MAX = 24 };

static _Thread_local int is_here; /* this thread's calls count */
static uint64_t asked, chosen;
static int has_struck, frames_count;
static void *frames[FRAMES_MAX];

/* A sanitizer's search for leaks; NULL: there is none. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* ISO C knows no cast from an object's address to a function's. */
static void *next_in_line(const char *name) { return dlsym(RTLD_NEXT, name); }

static int strikes(void)
{
    if (!is_here || ++asked != chosen)
        return 0;
    has_struck = 1;
    is_here = 0;
    frames_count = backtrace(frames, FRAMES_MAX);
    is_here = 1;
    errno = ENOMEM;
    return 1;
}

/* A sanitizer that is linked statically has no next in line. */
#define SERVE(name, parameters, arguments)                              \
    void *__interceptor_##name parameters __attribute__((weak));        \
    void *name parameters                                               \
    {                                                                   \
        static void *(*next) parameters;                                \
        if (!next && __interceptor_##name)                              \
            next = __interceptor_##name;                                \
        else if (!next)                                                 \
            memcpy(&next, &(void *){next_in_line(#name)}, sizeof next); \
        return strikes() ? NULL : next arguments;                       \
    }

SERVE(malloc, (size_t bytes), (bytes))
SERVE(calloc, (size_t count, size_t bytes), (count, bytes))
SERVE(realloc, (void *memory, size_t bytes), (memory, bytes))

char *strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void famine_begin(uint64_t fail_at)
{
    if (__lsan_disable)
        __lsan_disable();
    backtrace(frames, FRAMES_MAX); /* the first time it needs memory itself, and keeps some where no search for leaks sees it */
    if (__lsan_enable)
        __lsan_enable();
    asked = 0;
    chosen = fail_at;
    has_struck = frames_count = 0;
    is_here = 1;
}

int famine_pause(void)
{
    int was_here = is_here;
    is_here = 0;
    return was_here;
}

void famine_resume(void) { is_here = 1; }

void famine_end(void) { is_here = 0; }

uint64_t famine_asked(void) { return asked; }

int famine_has_struck(void) { return has_struck; }

void famine_show(void) { backtrace_symbols_fd(frames, frames_count, STDERR_FILENO); }
