/* SPDX-License-Identifier: BSD-3-Clause */
/* child - see child.h. */
#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TESTS_MAX = 2000 };

struct CMUnitTest child_tests[TESTS_MAX];
size_t child_tests_count;

void suite_enter(struct CMUnitTest test)
{
    if (child_tests_count == TESTS_MAX)
        abort();
    child_tests[child_tests_count++] = test;
}

void suite_add(const char *name, suite_test *test, const void *state)
{
    suite_enter((struct CMUnitTest){.name = name, .test_func = test, .initial_state = (void *)(uintptr_t)state});
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

/* In the child: when it began, and how long it may sleep. */
static time_t begun;
static unsigned asleep_s;

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* The kernel says how long this process ran and how long it waited for a processor, in ns. */
static void end_if_asleep(int sig)
{
    unsigned long long ran = 0, waited = 0;
    char text[100] = "";
    int file = open("/proc/self/schedstat", O_RDONLY);
    if (file < 0 || read(file, text, sizeof text - 1) < 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2 ||
        now() - begun >= (time_t)((ran + waited) / 1000000000) + (time_t)asleep_s) {
        signal(sig, SIG_DFL);
        raise(sig);
        return;
    }
    close(file);
    alarm(asleep_s);
}

static void limit_sleep(unsigned most_s)
{
    begun = now();
    asleep_s = most_s;
    signal(SIGALRM, most_s ? end_if_asleep : SIG_DFL);
    alarm(most_s);
}

static void play(const struct CMUnitTest *test, const struct child *child)
{
    const long whole = (long)child->processor_s;
    int red;
    const struct itimerval hang = {.it_value = {whole, (long)((child->processor_s - (double)whole) * 1e6)}};
    setitimer(ITIMER_PROF, &hang, NULL);
    limit_sleep(child->asleep_s);
    dup2(child->out, STDOUT_FILENO);
    dup2(child->out, STDERR_FILENO);
    child->break_it(child->what);
    red = _cmocka_run_group_tests("judged", test, 1, NULL, NULL);
    close(STDIN_FILENO); /* exit would set a file back to where the parent has read */
    exit(red != 0);
}

struct child_end child_play(const struct CMUnitTest *test, const struct child *child)
{
    struct child_end end;
    struct rusage used;
    pid_t pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        play(test, child);
    if (pid < 0 || wait4(pid, &end.status, 0, &used) != pid)
        abort();
    end.processor_s = seconds(used.ru_utime) + seconds(used.ru_stime);
    return end;
}
