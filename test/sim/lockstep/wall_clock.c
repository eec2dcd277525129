/* SPDX-License-Identifier: BSD-3-Clause */
/* wall_clock - preloaded into a server, gives it the wall clock that a test moves: 64 bits of microseconds in the file that
 * HILOCK_WALL_CLOCK names. The monotonic clocks stay real, so the server's loop and timers turn as ever. Without the file, and before it is
 * mapped (allocators ask for the time early), time is the machine's.
 *
 * A server that can read the CPU's flags may count its cycles instead of asking for the time (Valkey from 9.1 on); here /proc/cpuinfo
 * cannot be opened. */
#undef _FILE_OFFSET_BITS /* with it fopen below would be another name for fopen64 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef FILE *open_fn(const char *path, const char *mode);
int __attribute__((visibility("default"))) clock_gettime(clockid_t clock, struct timespec *ret_time);
int __attribute__((visibility("default"))) gettimeofday(struct timeval *restrict ret_time, void *restrict zone);
time_t __attribute__((visibility("default"))) time(time_t *ret_time);

static const volatile uint64_t *wall_us;

__attribute__((constructor)) static void map_clock(void)
{
    const char *path = getenv("HILOCK_WALL_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = file >= 0 ? mmap(NULL, sizeof *wall_us, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0)
        close(file);
    if (map != MAP_FAILED)
        wall_us = map;
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    if (wall_us && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        uint64_t now_us = __atomic_load_n(wall_us, __ATOMIC_ACQUIRE);
        *ret_time = (struct timespec){(time_t)(now_us / 1000000), (long)(now_us % 1000000 * 1000)};
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, clock, ret_time);
}

int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret_time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *ret_time)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret_time)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}

static FILE *open_unless_cpuinfo(const char *name, const char *path, const char *mode)
{
    open_fn *next;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    return wall_us && strcmp(path, "/proc/cpuinfo") == 0 ? NULL : next(path, mode);
}

#undef fopen
#undef fopen64
FILE __attribute__((visibility("default"))) *fopen(const char *restrict path, const char *restrict mode)
{
    return open_unless_cpuinfo("fopen", path, mode);
}

FILE __attribute__((visibility("default"))) *fopen64(const char *restrict path, const char *restrict mode)
{
    return open_unless_cpuinfo("fopen64", path, mode);
}
