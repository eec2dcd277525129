/* SPDX-License-Identifier: BSD-3-Clause */
/* famine_hiredis - hiredis 0.14.1 ends the process itself where it finds no memory for a connection or for what it calls hi_malloc; that is
 * not ours to mend. So it is spared in these calls, and hardly anywhere else. 1.1 and later refuse, and are not spared. */
#include <hiredis/async.h>

#if HIREDIS_MAJOR < 1
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "famine.h"

void *hi_malloc(size_t bytes);
void *hi_calloc(size_t count, size_t bytes);
void *hi_realloc(void *memory, size_t bytes);
char *hi_strdup(const char *text);

#define SPARED(result, name, ...)                                          \
    static __typeof__(&(name)) next;                                       \
    __typeof__(name(__VA_ARGS__)) result;                                  \
    int is_famine = famine_pause();                                        \
    if (!next)                                                             \
        memcpy(&next, &(void *){dlsym(RTLD_NEXT, #name)}, sizeof next);    \
    result = next(__VA_ARGS__);                                            \
    if (is_famine)                                                         \
        famine_resume()

redisAsyncContext *redisAsyncConnectUnix(const char *path)
{
    SPARED(context, redisAsyncConnectUnix, path);
    return context;
}

redisAsyncContext *redisAsyncConnect(const char *host, int port)
{
    SPARED(context, redisAsyncConnect, host, port);
    return context;
}

/* It forgets what it has allocated when it gets no more; so it gets all or nothing. */
int redisFormatSdsCommandArgv(sds *target, int argc, const char **argv, const size_t *lengths)
{
    char *all = malloc(1);
    if (!all)
        return -1;
    free(all);
    SPARED(length, redisFormatSdsCommandArgv, target, argc, argv, lengths);
    return length;
}

void *hi_malloc(size_t bytes)
{
    SPARED(memory, hi_malloc, bytes);
    return memory;
}

void *hi_calloc(size_t count, size_t bytes)
{
    SPARED(memory, hi_calloc, count, bytes);
    return memory;
}

void *hi_realloc(void *old, size_t bytes)
{
    SPARED(memory, hi_realloc, old, bytes);
    return memory;
}

char *hi_strdup(const char *text)
{
    SPARED(copy, hi_strdup, text);
    return copy;
}
#endif
