/* SPDX-License-Identifier: BSD-3-Clause */
/* solo - runs a command while it holds a lock, so that of all hosts one runs it at a time: flock(1) over a network.
 *
 * usage: solo [-u URL] [-w WAIT_MS] NAME COMMAND [ARGUMENT...]     without -w it waits for as long as it takes
 * The exit status is the command's; 75: another held the lock all the time; 70: anything else. A lost lock ends the command (SIGTERM),
 * with status 70: its last work may have overlapped with another host's. SIGTERM and SIGINT go on to the command. Its HILOCK_TOKEN is for a
 * resource that refuses latecomers. Invariant: the lock is released after the command's end. */
#include <hilock/blocking.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_HAD = 75, FAILED = 70 };

static int fail(int status, const char *what, const char *why)
{
    fprintf(stderr, "solo: %s: %s\n", what, why);
    return status;
}

/* Between fork and exec a child of a program with threads makes plain system calls only. */
static pid_t start(char **command, const sigset_t *before)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    sigprocmask(SIG_SETMASK, before, NULL);
    execvp(command[0], command);
    _exit(127);
}

/* What the command is to be sent: a signal that came, or SIGTERM when the lock was lost, once. 0: it may have ended. */
static int next_signal(struct pollfd news[2])
{
    struct signalfd_siginfo signal;
    if (poll(news, 2, -1) > 0 && news[1].revents) {
        news[1].fd = -1;
        return SIGTERM;
    }
    return read(news[0].fd, &signal, sizeof signal) > 0 && signal.ssi_signo != SIGCHLD ? (int)signal.ssi_signo : 0;
}

static int run(char **command, hilock_blocking_lock *lock)
{
    struct pollfd news[2] = {{.events = POLLIN}, {.fd = hilock_blocking_lost_fd(lock), .events = POLLIN}};
    int status;
    sigset_t ours, before;
    pid_t pid;
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigprocmask(SIG_BLOCK, &ours, &before);
    news[0].fd = signalfd(-1, &ours, SFD_CLOEXEC);
    if (news[0].fd < 0 || news[1].fd < 0 || (pid = start(command, &before)) < 0)
        return fail(FAILED, command[0], "cannot be watched or started");
    while (waitpid(pid, &status, WNOHANG) != pid)
        kill(pid, next_signal(news));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int solo(hilock_blocking *client, const char *name, uint32_t wait_ms, char **command)
{
    struct hilock_blocking_result result = {.size = sizeof result};
    hilock_blocking_lock *lock;
    char token[24];
    int status;
    if (hilock_blocking_acquire(client, name, NULL, wait_ms, &lock, &result) != HILOCK_OK)
        return fail(result.status == HILOCK_TIMED_OUT ? NOT_HAD : FAILED, hilock_status_name(result.status), result.detail);
    snprintf(token, sizeof token, "%" PRIu64, hilock_blocking_token(lock));
    setenv("HILOCK_TOKEN", token, 1);
    status = run(command, lock);
    if (hilock_blocking_release(lock, &result) == HILOCK_LOST)
        return fail(FAILED, "the lock was lost", result.detail);
    return status;
}

int main(int argc, char **argv)
{
    struct hilock_client_options options = hilock_client_options_default();
    struct hilock_error error;
    hilock_blocking *client;
    const char *wait = NULL;
    int option, status;
    while ((option = getopt(argc, argv, "+u:w:")) == 'u' || option == 'w')
        *(option == 'u' ? &options.url : &wait) = optarg;
    if (option != -1 || argc - optind < 2)
        return fail(FAILED, "usage", "solo [-u URL] [-w WAIT_MS] NAME COMMAND [ARGUMENT...]");
    if (hilock_blocking_open(&client, &options, &error) != HILOCK_OK)
        return fail(FAILED, "cannot open", error.text);
    status = solo(client, argv[optind], wait ? (uint32_t)strtoul(wait, NULL, 10) : HILOCK_FOREVER, argv + optind + 1);
    hilock_blocking_free(client);
    return status;
}
