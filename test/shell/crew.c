/* SPDX-License-Identifier: BSD-3-Clause */
/* crew FILE obey|ignore - a command of four processes, which write into FILE that they live: one leads, one is in its group, one made a group of its own,
 * and one a session, with a parent that has gone. All repeatedly stamp their time (CLOCK_BOOTTIME); `ignore` ignores TERM. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LEADER, FELLOW, NESTED, AWAY, CREW, STAMP_NS = 10000000 };

struct stamps { volatile uint64_t pid, first_us, last_us; };

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

_Noreturn static void live(struct stamps *mine)
{
    const struct timespec pause = {0, STAMP_NS};
    mine->pid = (uint64_t)getpid();
    for (;;) {
        mine->last_us = now_us();
        if (!mine->first_us)
            mine->first_us = mine->last_us;
        nanosleep(&pause, NULL);
    }
}

int main(int argc, char **argv)
{
    int file = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0 || ftruncate(file, CREW * sizeof(struct stamps)) != 0)
        return 2;
    struct stamps *stamps = mmap(NULL, CREW * sizeof *stamps, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (stamps == MAP_FAILED)
        return 2;
    if (strcmp(argv[2], "ignore") == 0)
        signal(SIGTERM, SIG_IGN);
    if (fork() == 0)
        live(&stamps[FELLOW]);
    if (fork() == 0) {
        setpgid(0, 0);
        live(&stamps[NESTED]);
    }
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            live(&stamps[AWAY]);
        _exit(0);
    }
    live(&stamps[LEADER]);
}
