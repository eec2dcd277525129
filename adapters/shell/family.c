/* SPDX-License-Identifier: BSD-3-Clause */
/* family - see family.h. One system call signals the whole group, and misses no process that is just forking. The
 * other processes are found in /proc, again and again until none is left: if a process forks while /proc is read,
 * the next time its child is found. */
#include "family.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct relative {
    pid_t pid, parent, group;
    int is_dead, is_ours;
};

struct processes { /* all processes of the machine */
    struct relative *all;
    size_t count, room;
};

/* Reads "pid (name) state parent group ...". The name may contain anything, so reading begins after the last ')'. */
static int read_one(const char *pid, struct relative *ret)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file)
        fclose(file);
    line[length] = '\0';
    char *end = strrchr(line, ')'), state;
    int parent, group;
    if (!end || sscanf(end + 1, " %c %d %d", &state, &parent, &group) != 3)
        return 0;
    *ret = (struct relative){
        .pid = (pid_t)atol(pid), .parent = parent, .group = group, .is_dead = state == 'Z' || state == 'X'};
    return 1;
}

static int add(struct processes *processes, const struct relative *one)
{
    if (processes->count == processes->room) {
        size_t room = processes->room ? 2 * processes->room : 256;
        struct relative *all = reallocarray(processes->all, room, sizeof *all);
        if (!all)
            return 0;
        processes->all = all;
        processes->room = room;
    }
    processes->all[processes->count++] = *one;
    return 1;
}

static int read_all(struct processes *processes)
{
    struct relative one;
    struct dirent *entry;
    int is_whole = 1;
    DIR *proc = opendir("/proc");
    if (!proc)
        return 0;
    while (is_whole && (entry = readdir(proc)))
        if (isdigit((unsigned char)*entry->d_name) && read_one(entry->d_name, &one))
            is_whole = add(processes, &one);
    closedir(proc);
    return is_whole;
}

static int by_pid(const void *a, const void *b)
{
    const struct relative *one = a, *other = b;
    return (one->pid > other->pid) - (one->pid < other->pid);
}

static int is_ours(const struct processes *processes, pid_t pid)
{
    const struct relative wanted = {.pid = pid},
                          *found = bsearch(&wanted, processes->all, processes->count, sizeof wanted, by_pid);
    return found && found->is_ours;
}

static int is_stranger(const struct family *family, pid_t pid)
{
    for (size_t i = 0; i < family->strangers_count; i++)
        if (family->strangers[i] == pid)
            return 1;
    return 0;
}

static void find_descendants(struct processes *processes, const struct family *family)
{
    pid_t self = getpid();
    if (processes->count)
        qsort(processes->all, processes->count, sizeof *processes->all, by_pid);
    for (int is_more = 1; is_more;) {
        is_more = 0;
        for (size_t i = 0; i < processes->count; i++) {
            struct relative *one = &processes->all[i];
            if (!one->is_ours &&
                ((one->parent == self && !is_stranger(family, one->pid)) || is_ours(processes, one->parent)))
                one->is_ours = is_more = 1;
        }
    }
}

int family_begin(struct family *family, pid_t spared)
{
    struct processes processes = {0};
    int is_read = read_all(&processes);
    *family = (struct family){.spared = spared, .strangers = calloc(processes.count + 1, sizeof *family->strangers)};
    for (size_t i = 0; family->strangers && i < processes.count; i++)
        if (processes.all[i].parent == getpid() && processes.all[i].pid != spared)
            family->strangers[family->strangers_count++] = processes.all[i].pid;
    free(processes.all);
    return family->strangers && (is_read || processes.count == 0) ? 0 : -1;
}

unsigned family_signal(const struct family *family, pid_t group, int signal)
{
    struct processes processes = {0};
    unsigned left = 0;
    int has_group = group > 0 && kill(-group, signal) == 0, is_read = read_all(&processes);
    find_descendants(&processes, family);
    for (size_t i = 0; i < processes.count; i++) {
        const struct relative *one = &processes.all[i];
        if (!one->is_ours || one->is_dead || one->pid == family->spared)
            continue;
        left++;
        if (signal && one->group != group)
            kill(one->pid, signal);
    }
    free(processes.all);
    return is_read ? left : left + (unsigned)has_group;
}
