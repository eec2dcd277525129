/* SPDX-License-Identifier: BSD-3-Clause */
/* second - another hiredis, as far as hilock would call it: whoever reaches it has lost. With SECOND_ANSWERS it is one
 * whose structures are not ours, and which can only be told by asking it. */
#include <stdio.h>
#include <stdlib.h>

#ifdef SECOND_HIDDEN
#pragma GCC visibility push(hidden)
#endif

#ifdef SECOND_ANSWERS
#define REACHED(name) return calloc(1, 4096)
#else
#define REACHED(name) fprintf(stderr, "hilock calls the second hiredis: " name "\n"), abort()
#endif

void *redisAsyncConnect(const char *host, int port);
void *redisAsyncConnectUnix(const char *path);
void redisAsyncFree(void *context);
void redisAsyncHandleWrite(void *context);
int redisBufferRead(void *context);
int redisGetReplyFromReader(void *context, void **reply);

void *redisAsyncConnect(const char *host, int port)
{
    (void)host, (void)port;
    REACHED("redisAsyncConnect");
}

void *redisAsyncConnectUnix(const char *path)
{
    (void)path;
    REACHED("redisAsyncConnectUnix");
}

#ifdef SECOND_ANSWERS
void redisAsyncFree(void *context) { free(context); }
#else
void redisAsyncFree(void *context)
{
    (void)context;
    REACHED("redisAsyncFree");
}
#endif

void redisAsyncHandleWrite(void *context)
{
    (void)context;
    fprintf(stderr, "hilock calls the second hiredis: redisAsyncHandleWrite\n"), abort();
}

int redisBufferRead(void *context)
{
    (void)context;
    fprintf(stderr, "hilock calls the second hiredis: redisBufferRead\n"), abort();
}

int redisGetReplyFromReader(void *context, void **reply)
{
    (void)context, (void)reply;
    fprintf(stderr, "hilock calls the second hiredis: redisGetReplyFromReader\n"), abort();
}
