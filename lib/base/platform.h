/* SPDX-License-Identifier: BSD-3-Clause */
/* platform - what POSIX has not, or what systems call by different names: glibc and musl on Linux, FreeBSD, macOS. The
 * library runs on Linux; for the others it is compiled, to run on a loop table of the program's own.
 *
 * Where a function may be missing, a check of the build says that it is there (HL_HAS_..., in the top meson.build); its
 * stand-in here does the same, slower. Invariant: nothing else in lib/ asks what system this is. */
#ifndef HL_BASE_PLATFORM_H
#define HL_BASE_PLATFORM_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- bytes ---- */

#ifndef HL_HAS_MEMPCPY
#define mempcpy hl_platform_mempcpy
static inline void *hl_platform_mempcpy(void *to, const void *from, size_t length)
{
    return (char *)memcpy(to, from, length) + length;
}
#endif

#ifndef HL_HAS_MEMRCHR
#define memrchr hl_platform_memrchr
static inline void *hl_platform_memrchr(const void *bytes, int byte, size_t length)
{
    const unsigned char *at = bytes;
    while (length--)
        if (at[length] == (unsigned char)byte)
            return (void *)(at + length);
    return NULL;
}
#endif

#ifndef HL_HAS_EXPLICIT_BZERO
#define explicit_bzero hl_platform_explicit_bzero
static inline void hl_platform_explicit_bzero(void *block, size_t length)
{
    volatile unsigned char *at = block;
    while (length--)
        *at++ = 0;
}
#endif

/* ---- the process ---- */

static inline const char *hl_platform_program(void)
{
#ifdef HL_HAS_GETPROGNAME
    return getprogname();
#else
    return program_invocation_short_name;
#endif
}

/* From now on a fork leaves this mapping zeroed in the child; 0: it does not. A kernel that agrees to any advice, as
 * qemu-user does, has promised nothing: so it is first asked for nonsense. */
static inline int hl_platform_wipe_on_fork(void *page, size_t length)
{
#ifdef MADV_WIPEONFORK
    return madvise(page, length, -1) != 0 && madvise(page, length, MADV_WIPEONFORK) == 0;
#elif defined INHERIT_ZERO
    return minherit(page, length, INHERIT_ZERO) == 0;
#else
    (void)page, (void)length;
    return 0;
#endif
}

/* Takes one that pends for this thread, and is blocked; does not wait. */
static inline void hl_platform_take_signal(const sigset_t *one, int number)
{
#ifdef HL_HAS_SIGTIMEDWAIT
    const struct timespec at_once = {0, 0};
    (void)number;
    while (sigtimedwait(one, NULL, &at_once) < 0 && errno == EINTR)
        ;
#else
    sigset_t pending;
    sigpending(&pending);
    if (sigismember(&pending, number))
        sigwait(one, &number);
#endif
}

/* ---- sockets ---- */

#ifdef __linux__
#define HL_PLATFORM_PATH_MAX 107 /* bytes of a unix socket's path; url.c asserts it */
#else
#define HL_PLATFORM_PATH_MAX 103
#endif

#ifndef TCP_KEEPIDLE
#define TCP_KEEPIDLE TCP_KEEPALIVE /* macOS */
#endif

#endif
