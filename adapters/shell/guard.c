/* SPDX-License-Identifier: BSD-3-Clause */
/* guard - see guard.h. The guard allocates memory only in `family`, and waits in one poll() for the holder, for its
 * children and for the deadline.
 *
 * A command that has ended is not reaped at once: as a zombie it keeps its process id, by which its group is
 * signalled, so that no other process can get that id. */
#include "guard.h"
#include "codes.h"
#include "ender.h"
#include "say.h"
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct watch {
    const struct guard *guard;
    struct ender ender;
    int socket;   /* to the holder; -1: the holder is gone */
    int children; /* a signalfd for SIGCHLD */
    pid_t self, command;
    int has_ended, is_cut, status;
    int has_terminal;
};

_Noreturn static void execute(const struct watch *watch)
{
    const struct guard *guard = watch->guard;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != watch->self)
        _exit(CODE_CUT);
    setpgid(0, 0);
    guard->page->group = getpid();
    if (watch->has_terminal)
        terminal_give(getpid());
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, guard->signals, NULL);
    execvp(*guard->command, guard->command);
    say("%s: %s", *guard->command, strerror(errno));
    _exit(errno == ENOENT ? CODE_NOT_FOUND : CODE_NOT_EXECUTABLE);
}

static void report(const struct watch *watch, enum guard_news news)
{
    const struct guard_report report = {.news = news, .status = watch->status, .is_cut = watch->is_cut};
    if (watch->socket >= 0 && send(watch->socket, &report, sizeof report, MSG_NOSIGNAL) < 0)
        return; /* the holder is gone, which the next poll() finds */
}

_Noreturn static void leave(const struct watch *watch)
{
    report(watch, GUARD_ENDED);
    _exit(0);
}

static void set_environment(char *text, size_t length)
{
    for (char *entry = text; entry < text + length; entry += strlen(entry) + 1)
        putenv(entry);
}

/* Starts the command, unless the guard was stopped until the lock was nearly over. */
static void start(struct watch *watch)
{
    struct page *page = watch->guard->page;
    watch->is_cut = page_now_us() + page->grace_us >= page->deadline_us;
    if (watch->is_cut)
        leave(watch);
    watch->command = fork();
    if (watch->command == 0)
        execute(watch);
    if (watch->command < 0) {
        say("cannot fork: %s; end some processes, or raise the limit (ulimit -u)", strerror(errno));
        watch->status = EX_OSERR << 8;
        leave(watch);
    }
    setpgid(watch->command, watch->command); /* guard and command both call it, because either may run first */
    page->group = watch->command;
    ender_come_first();
    report(watch, GUARD_STARTED);
}

static void receive(struct watch *watch)
{
    static char text[GUARD_TEXT_MAX];
    char poke[16];
    ssize_t length = watch->command ? recv(watch->socket, poke, sizeof poke, 0)
                                    : recv(watch->socket, text, sizeof text - 1, 0);
    if (length < 0)
        return;
    if (length > 0 && !watch->command) {
        text[length] = '\0';
        set_environment(text, (size_t)length);
        start(watch);
    }
    if (length > 0)
        return;
    if (!watch->command)
        _exit(0);
    close(watch->socket);
    watch->socket = -1;
    if (!watch->has_ended)
        say("the process that holds the lock is gone: the command ends before the lease does");
    ender_hasten(&watch->ender);
}

static void on_end(struct watch *watch, const siginfo_t *info)
{
    watch->has_ended = 1;
    watch->is_cut = watch->guard->page->is_ending;
    watch->status = info->si_code == CLD_EXITED ? info->si_status << 8 : info->si_status;
    ender_hasten(&watch->ender); /* ends the processes that the command left behind */
}

/* The command was stopped, as by Ctrl-Z. It must not keep the terminal and the lock for ever. */
static void on_stop(const struct watch *watch)
{
    siginfo_t info = {0};
    if (!watch->has_terminal || waitid(P_PID, (id_t)watch->command, &info, WSTOPPED | WNOHANG) != 0 ||
        info.si_pid == 0 || info.si_status != SIGTSTP)
        return;
    say("a command under a lock goes on: kill -STOP -%d suspends it", (int)watch->command);
    kill(-watch->command, SIGCONT);
}

static void look_after_children(struct watch *watch)
{
    struct signalfd_siginfo signals;
    siginfo_t info = {0};
    while (read(watch->children, &signals, sizeof signals) > 0)
        ;
    if (!watch->command)
        return;
    on_stop(watch);
    while (!watch->has_ended && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        if (info.si_pid == watch->command)
            on_end(watch, &info);
        else
            waitpid(info.si_pid, NULL, 0); /* an orphan that has become a child of the guard */
        info.si_pid = 0;
    }
}

static void prepare(struct watch *watch)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "hilock-guard");
    watch->children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (getppid() != watch->guard->holder)
        _exit(0);
    if (watch->children < 0 || ender_begin(&watch->ender, watch->guard->page, 0) != 0) {
        say("the guard cannot begin: %s", strerror(errno));
        _exit(EX_OSERR);
    }
}

void guard_run(const struct guard *guard)
{
    struct watch watch = {
        .guard = guard, .socket = guard->socket, .self = getpid(), .has_terminal = terminal_is_ours()};
    prepare(&watch);
    for (;;) {
        struct pollfd polled[] = {
            {watch.socket, POLLIN, 0}, {watch.children, POLLIN, 0}, {watch.ender.timer, POLLIN, 0}};
        if (poll(polled, 3, -1) < 0)
            continue;
        if (polled[0].revents)
            receive(&watch);
        if (polled[1].revents)
            look_after_children(&watch);
        if (watch.command && ender_turn(&watch.ender) && watch.has_ended)
            leave(&watch);
    }
}
