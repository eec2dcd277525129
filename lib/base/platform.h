/* SPDX-License-Identifier: BSD-3-Clause */
/* platform - functions that POSIX lacks, or that have different names on glibc, musl, FreeBSD and macOS. The library
 * runs on Linux. It also compiles on the other systems, where the program brings its own loop table.
 *
 * The build checks for each function that may be missing, and defines HL_HAS_... (in the top meson.build) if it is
 * there. Otherwise a slower replacement from here is used. Invariant: nothing else in lib/ asks what system this is. */
#ifndef HL_BASE_PLATFORM_H
#define HL_BASE_PLATFORM_H

#ifdef HL_HAS_DLADDR1
#include <dlfcn.h>
#include <link.h>
#endif
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

/* Returns 1 if the address is an entry in the program that leads to the function of a shared library. A program that is
 * not position-independent has such an entry for each function whose address it takes. */
static inline int hl_platform_is_entry(void *address)
{
#ifdef HL_HAS_DLADDR1
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    return dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol && symbol->st_shndx == SHN_UNDEF;
#else
    (void)address;
    return 0;
#endif
}

/* Asks the kernel to zero this mapping in every child that is forked later. Returns 1 if it will. A kernel that accepts
 * any advice, as qemu-user does, promises nothing; so an invalid advice is tried first, and must be refused. */
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

/* Removes a blocked signal that is pending for this thread, if there is one. Does not wait. `one` has that signal
 * only. */
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
#define HL_PLATFORM_PATH_MAX 107 /* bytes in the path of a unix socket; url.c asserts this */
#else
#define HL_PLATFORM_PATH_MAX 103
#endif

#ifndef TCP_KEEPIDLE
#define TCP_KEEPIDLE TCP_KEEPALIVE /* macOS */
#endif

#endif
