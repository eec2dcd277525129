/* SPDX-License-Identifier: BSD-3-Clause */
/* seen - see seen.h. */
#include "seen.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/suite.h"

enum { THREADS_MAX = 100 };

int epoll_ctl_calls, epoll_ctl_fails, has_no_threads;
static pthread_t threads[THREADS_MAX];
static size_t threads_count;

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event) /* in the place of libc's */
{
    static int (*libc)(int, int, int, struct epoll_event *);
    if (!libc)
        *(void **)&libc = dlsym(RTLD_NEXT, "epoll_ctl");
    epoll_ctl_calls++;
    errno = ENOSPC;
    return epoll_ctl_fails && op != EPOLL_CTL_DEL ? -1 : libc(epfd, op, fd, event);
}

/* In the place of libc's. A detached thread might close its descriptors while a later test counts them, so it is made
 * to be joined. */
int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    static int (*libc)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int detached = PTHREAD_CREATE_JOINABLE, result;
    if (!libc)
        *(void **)&libc = dlsym(RTLD_NEXT, "pthread_create");
    if (has_no_threads)
        return EAGAIN;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &detached);
    if (detached == PTHREAD_CREATE_JOINABLE)
        return libc(ret_thread, attributes, run, arg);
    assert_in_range(threads_count, 0, THREADS_MAX - 1);
    result = libc(ret_thread, NULL, run, arg);
    if (result == 0)
        threads[threads_count++] = *ret_thread;
    return result;
}

void threads_join(void)
{
    while (threads_count > 0)
        assert_int_equal(pthread_join(threads[--threads_count], NULL), 0);
}

void on_fire_count(void *arg)
{
    struct seen *seen = arg;
    assert_false(seen->is_inside_call);
    seen->count++;
}

void on_ready_count(unsigned ready, void *arg)
{
    struct seen *seen = arg;
    on_fire_count(seen);
    seen->ready |= ready;
}

struct pair pair_open(void)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    return (struct pair){fds[0], fds[1]};
}

void pair_write(const struct pair *pair) { assert_int_equal(write(pair->far, "x", 1), 1); }

void pair_close(const struct pair *pair)
{
    close(pair->near);
    close(pair->far);
}

int lowest_free_fd(void)
{
    const int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

void limit_fds(int most)
{
    static rlim_t usual;
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    usual = usual ? usual : limit.rlim_cur;
    limit.rlim_cur = most ? (rlim_t)most : usual;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
