/* SPDX-License-Identifier: BSD-3-Clause */
/* child - see child.h. */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

pid_t child_start(child_fn *run, void *arg)
{
    pid_t parent = getpid(), pid = fork();
    CHECK(pid >= 0);
    if (pid)
        return pid;
    check_in_child();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    run(arg);
    _exit(0); /* not exit: what is to be done at the test's end is the parent's */
}

static int await(pid_t pid, int options)
{
    int status = 0;
    pid_t got;
    while ((got = waitpid(pid, &status, options)) < 0 && errno == EINTR)
        ;
    CHECK(got == pid);
    return status;
}

struct join { pid_t pid; int status; };

static int has_ended(void *arg)
{
    struct join *join = arg;
    return waitpid(join->pid, &join->status, WNOHANG) == join->pid;
}

void child_join(pid_t pid)
{
    struct join join = {pid, 0};
    check_until(has_ended, &join, "a child to end");
    if (!WIFEXITED(join.status) || WEXITSTATUS(join.status) != 0)
        check_fail("child %d ended with wait status 0x%x", (int)pid, (unsigned)join.status);
}

void child_kill(pid_t pid)
{
    CHECK(kill(pid, SIGKILL) == 0);
    await(pid, 0);
}

void child_suspend(pid_t pid)
{
    CHECK(kill(pid, SIGSTOP) == 0);
    CHECK(WIFSTOPPED(await(pid, WUNTRACED)));
}

void child_resume(pid_t pid) { CHECK(kill(pid, SIGCONT) == 0); }
