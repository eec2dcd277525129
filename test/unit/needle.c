/* SPDX-License-Identifier: BSD-3-Clause */
/* needle - see needle.h. Memory is read as a file, for a sanitizer and valgrind would not let freed blocks be looked at. What is larger than any heap
 * of a test is a sanitizer's shadow, of terabytes. */
#include "needle.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const unsigned long heap_max = 1UL << 30;

static char letter(unsigned i) { return (char)('A' + (i * 7 + i * i) % 26); }

void needle_write(char to[NEEDLE_LENGTH + 1])
{
    for (unsigned i = 0; i < NEEDLE_LENGTH; i++)
        to[i] = letter(i);
    to[NEEDLE_LENGTH] = '\0';
}

static int is_here(const char *at)
{
    unsigned i = 0;
    while (i < NEEDLE_LENGTH && at[i] == letter(i))
        i++;
    return i == NEEDLE_LENGTH;
}

static unsigned count_between(int memory, unsigned long from, unsigned long to)
{
    char chunk[8192];
    unsigned found = 0;
    for (unsigned long at = from; at + NEEDLE_LENGTH <= to; at += sizeof chunk - NEEDLE_LENGTH + 1) {
        size_t room = to - at < sizeof chunk ? to - at : sizeof chunk;
        ssize_t got = pread(memory, chunk, room, (off_t)at);
        for (ssize_t i = 0; i + NEEDLE_LENGTH <= got; i++)
            found += is_here(chunk + i) != 0;
        explicit_bzero(chunk, sizeof chunk);
    }
    return found;
}

unsigned needle_count(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    unsigned long from, to;
    char rights[8], line[512];
    unsigned found = 0;
    while (maps && memory >= 0 && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && strncmp(rights, "rw", 2) == 0 && !strstr(line, "[stack") && to - from <= heap_max)
            found += count_between(memory, from, to);
    if (maps)
        fclose(maps);
    close(memory);
    return found;
}
