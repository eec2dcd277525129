/* SPDX-License-Identifier: BSD-3-Clause */
/* raw - see raw.h. */
#include "raw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit/suite.h"

enum { QUIET_TURNS = 3 };

struct raw_store raw_open(const struct hilock_memory_options *options)
{
    struct raw_store store = {.loop = poll_loop_new_jumping()};
    struct hilock_loop table = poll_loop_table(store.loop);
    struct hilock_error error;
    if (hilock_memory_open(&store.memory, &table, options, &error) != HILOCK_OK)
        fail_msg("%s", error.text);
    return store;
}

void raw_close(struct raw_store *store)
{
    hilock_memory_close(store->memory);
    assert_int_equal(poll_loop_end(store->loop), 0);
}

int raw_connect(const struct raw_store *store)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", hilock_memory_url(store->memory) + strlen("unix://"));
    assert_true(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

const char *raw_ask(const struct raw_store *store, int fd, const char *bytes, size_t length, int *ret_is_open)
{
    static char said[1 << 20];
    size_t sent = 0, used = 0;
    *ret_is_open = 1;
    for (int quiet = 0; quiet < QUIET_TURNS && *ret_is_open; quiet++) {
        ssize_t count = sent < length ? send(fd, bytes + sent, length - sent, MSG_NOSIGNAL) : 0;
        sent += count > 0 ? (size_t)count : 0;
        poll_loop_jump(store->loop, poll_loop_us(store->loop));
        quiet = count > 0 ? -1 : quiet;
        while ((count = recv(fd, said + used, sizeof said - 1 - used, 0)) > 0) {
            used = used + (size_t)count < sizeof said / 2 ? used + (size_t)count : 0; /* of very much the end is enough */
            quiet = -1;
        }
        *ret_is_open = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    said[used] = '\0';
    return said;
}

const char *raw_say(const struct raw_store *store, int fd, const char *text)
{
    int is_open;
    return raw_ask(store, fd, text, strlen(text), &is_open);
}
