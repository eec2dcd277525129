/* SPDX-License-Identifier: BSD-3-Clause */
/* branch.c - a shop as the driver sees it: a process with a name, a port, a client uuid, and a pipe that it speaks
 * into.
 *
 *   CLOSED -- start --> OPENING -- "open PORT UUID" --> OPEN <-- resume -- suspend --> SUSPENDED
 *      ^------------------------------- kill, stop, died --------------------------------'
 *
 * Its later lines are for the reader of the demo, and become events of the report.
 * Invariant: pid is not 0 exactly while there is a process to reap. */
#include "branch.h"

#include "../process.h"
#include "plan.h"
#include "report.h"
#include "story.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/util.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_PATIENCE_MS = 8000 };

static void tell(const struct branch *branch, const char *step)
{
    story_tell(branch->plan->story, step, "\"shop\": \"%c\"", branch->name);
}

static void on_line(struct branch *branch, const char *line)
{
    if (branch->state == BRANCH_OPENING && sscanf(line, "open %u %63s", &branch->port, branch->uuid) == 2) {
        branch->state = BRANCH_OPEN;
        tell(branch, "opened");
        report_event("shop %c is open: process %d, http://127.0.0.1:%u/sell?item=0", branch->name, (int)branch->pid,
                     branch->port);
    } else {
        report_event("shop %c: %s", branch->name, line);
    }
}

static void end_voice(struct branch *branch)
{
    if (!branch->voice)
        return;
    close(event_get_fd(branch->voice));
    event_free(branch->voice);
    evbuffer_free(branch->words);
    branch->voice = NULL;
    branch->words = NULL;
}

/* All that is there now. */
static void listen_now(struct branch *branch)
{
    int got = 1;
    char *line;
    while (branch->voice && got > 0) {
        got = evbuffer_read(branch->words, event_get_fd(branch->voice), -1);
        while ((line = evbuffer_readln(branch->words, NULL, EVBUFFER_EOL_LF))) {
            on_line(branch, line);
            free(line);
        }
    }
    if (got == 0)
        end_voice(branch);
}

static void on_voice(evutil_socket_t fd, short what, void *user)
{
    (void)fd, (void)what;
    listen_now(user);
}

static int start_voice(struct branch *branch, int fd)
{
    listen_now(branch); /* to the last words of the process before */
    end_voice(branch);
    branch->words = evbuffer_new();
    branch->voice = branch->words ? event_new(branch->plan->base, fd, EV_READ | EV_PERSIST, on_voice, branch) : NULL;
    if (branch->voice && evutil_make_socket_nonblocking(fd) == 0 && event_add(branch->voice, NULL) == 0)
        return 0;
    if (branch->words)
        evbuffer_free(branch->words);
    branch->words = NULL;
    if (branch->voice)
        event_free(branch->voice);
    branch->voice = NULL;
    close(fd);
    return ENOMEM;
}

int branch_start(struct branch *branch)
{
    const struct branch_plan *plan = branch->plan;
    const char name[] = {branch->name, '\0'};
    const char *argv[16] = {plan->program, name, plan->prefix, "--plan", plan->figures->name};
    int ends[2], why, count = 5;
    if (!plan->has_locks)
        argv[count++] = "--no-lock";
    if (plan->story_path) {
        argv[count++] = "--story";
        argv[count++] = plan->story_path;
    }
    if (pipe2(ends, O_CLOEXEC) != 0)
        why = errno;
    else {
        why = start_voice(branch, ends[0]);
        if (why == 0)
            why = process_start(&branch->pid, argv, ends[1]);
        close(ends[1]);
    }
    if (why != 0) {
        report_event("cannot start %s: %s", plan->program, strerror(why));
        return -1;
    }
    branch->state = BRANCH_OPENING;
    return 0;
}

static void forget(struct branch *branch)
{
    branch->state = BRANCH_CLOSED;
    branch->pid = 0;
    branch->port = 0;
}

bool branch_suspend(struct branch *branch)
{
    int status = 0;
    tell(branch, "stopped");
    kill(branch->pid, SIGSTOP);
    while (waitpid(branch->pid, &status, WUNTRACED) < 0 && errno == EINTR)
        ;
    if (WIFSTOPPED(status)) {
        branch->state = BRANCH_SUSPENDED;
        return true;
    }
    forget(branch);
    return false;
}

void branch_resume(struct branch *branch)
{
    branch->state = BRANCH_OPEN;
    tell(branch, "continued");
    kill(branch->pid, SIGCONT);
}

void branch_kill(struct branch *branch)
{
    tell(branch, "killed");
    kill(branch->pid, SIGKILL);
    while (waitpid(branch->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    forget(branch);
}

static bool has_ended_well(const struct branch *branch, int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    report_event("shop %c ended with %s %d", branch->name, WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

bool branch_has_died(struct branch *branch)
{
    int status;
    if (branch->pid == 0 || !process_has_ended(branch->pid, &status))
        return false;
    listen_now(branch);
    has_ended_well(branch, status);
    forget(branch);
    return true;
}

bool branch_stop(struct branch *branch)
{
    bool is_good = true;
    if (branch->pid != 0) {
        int status = process_stop(branch->pid, STOP_PATIENCE_MS);
        listen_now(branch);
        is_good = has_ended_well(branch, status);
        forget(branch);
    }
    end_voice(branch);
    return is_good;
}
