/* SPDX-License-Identifier: BSD-3-Clause */
/* links - the connections of clients: accepts them, reads requests, sends answers, and delays or hangs a link when
 * the test asks for it. See memory.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract.h"
#include "memory.h"
#include "state.h"

enum { UNREAD_MAX = 4 << 20, BACKLOG = 512 };

static uint64_t loop_us(const hilock_memory *memory) { return memory->loop.now_us(memory->loop.clock); }

/* ---- bytes to a client ---- */

static void link_end(struct sim_link *link)
{
    hilock_memory *memory = link->memory;
    struct sim_parcel *parcel;
    sim_store_disconnect(memory->store, link->connection);
    DL_DELETE(memory->links, link);
    memory->links_count--;
    memory->loop.watch_free(link->watch);
    close(link->fd);
    while ((parcel = link->parcels) != NULL) {
        DL_DELETE(link->parcels, parcel);
        sim_buffer_done(&parcel->said);
        free(parcel);
    }
    sim_buffer_done(&link->in);
    sim_buffer_done(&link->out);
    free(link);
}

static struct sim_parcel *parcel_new(struct sim_link *link, uint64_t due_us)
{
    struct sim_parcel *last = link->parcels ? link->parcels->prev : NULL, *parcel = calloc(1, sizeof *parcel);
    SIM_REQUIRE(parcel);
    parcel->due_us = last && last->due_us > due_us ? last->due_us : due_us;
    DL_APPEND(link->parcels, parcel);
    return parcel;
}

/* Nothing overtakes bytes that are delayed. */
static void link_say(struct sim_link *link, const struct sim_reply *reply)
{
    struct sim_parcel *parcel;
    if (!link->memory->delay_ms && !link->parcels) {
        sim_buffer_say(&link->out, reply);
        return;
    }
    parcel = parcel_new(link, loop_us(link->memory) + (uint64_t)link->memory->delay_ms * 1000);
    sim_buffer_say(&parcel->said, reply);
    link->parcels_bytes += parcel->said.length;
}

static void on_message(void *arg, unsigned connection, const struct sim_reply *push)
{
    const hilock_memory *memory = arg;
    struct sim_link *link;
    DL_SEARCH_SCALAR(memory->links, link, connection, connection);
    if (link)
        link_say(link, push);
}

static void on_killed(void *arg, unsigned connection)
{
    const hilock_memory *memory = arg;
    struct sim_link *link;
    DL_FOREACH(memory->links, link)
        if (link->connection == connection)
            link->is_last = 1;
}

const struct sim_store_events sim_links_events = {.message = on_message, .killed = on_killed};

static void unpack_due(struct sim_link *link, uint64_t now_us)
{
    struct sim_parcel *parcel;
    while ((parcel = link->parcels) != NULL && parcel->due_us <= now_us) {
        DL_DELETE(link->parcels, parcel);
        link->parcels_bytes -= parcel->said.length;
        sim_buffer_add(&link->out, parcel->said.bytes, parcel->said.length);
        sim_buffer_done(&parcel->said);
        free(parcel);
    }
}

/* Returns 0 if the link must end. */
static int link_write(struct sim_link *link)
{
    while (link->out.length > 0) {
        ssize_t sent = send(link->fd, link->out.bytes, link->out.length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return (errno == EAGAIN || errno == EWOULDBLOCK) && link->out.length + link->parcels_bytes < UNREAD_MAX;
        sim_buffer_take(&link->out, (size_t)sent);
    }
    return !link->is_last || link->parcels;
}

static unsigned link_interest(const struct sim_link *link)
{
    if (link->memory->hangs)
        return 0;
    return (link->is_last ? 0u : HILOCK_READABLE) | (link->out.length > 0 ? HILOCK_WRITABLE : 0u);
}

/* Sends the parcels that are due, and sets the timer for the next one. */
static void flush(hilock_memory *memory)
{
    uint64_t now_us = loop_us(memory), next_us = UINT64_MAX;
    struct sim_link *next;
    memory->loop.timer_stop(memory->timer);
    for (struct sim_link *link = memory->hangs ? NULL : memory->links; link; link = next) {
        const struct sim_parcel *parcel;
        next = link->next;
        unpack_due(link, now_us);
        if (!link_write(link) || memory->loop.watch_set(link->watch, link_interest(link)) != 0) {
            link_end(link);
            continue;
        }
        parcel = link->parcels;
        if (parcel && parcel->due_us < next_us)
            next_us = parcel->due_us;
    }
    if (next_us != UINT64_MAX)
        memory->loop.timer_start(memory->timer, next_us - now_us);
}

static void on_due(void *arg) { flush(arg); }

/* ---- requests from a client ---- */

static int is_refused(hilock_memory *memory)
{
    const struct sim_request *request = &memory->request;
    const struct sim_command *command = sim_command_find(memory->store, request->argv[0], request->lengths[0]);
    if (!memory->refusals || !command || !(command->flags & (SIM_KEY | SIM_KEYS | SIM_COUNTED_KEYS)))
        return 0;
    memory->refusals -= memory->refusals != HILOCK_FOREVER;
    return 1;
}

static void answer(struct sim_link *link)
{
    hilock_memory *memory = link->memory;
    const struct sim_request *request = &memory->request;
    const struct sim_reply refusal = {
        .type = SIM_REPLY_ERROR, .bytes = memory->refusal, .length = strlen(memory->refusal)};
    if (request->argc == 0)
        return;
    if (is_refused(memory))
        link_say(link, &refusal);
    else
        link_say(link,
                 sim_store_execute(memory->store, link->connection, request->argc, request->argv, request->lengths));
}

static void answer_all(struct sim_link *link)
{
    static const char words[] = "ERR Protocol error";
    const struct sim_reply wrong = {.type = SIM_REPLY_ERROR, .bytes = words, .length = sizeof words - 1};
    struct sim_request *request = &link->memory->request;
    enum sim_request_state state;
    size_t used = 0;
    (void)sim_memory_now(link->memory);
    while ((state = sim_request_read(request, link->in.bytes + used, link->in.length - used)) == SIM_REQUEST_WHOLE) {
        answer(link);
        used += request->bytes;
    }
    sim_buffer_take(&link->in, used);
    if (state == SIM_REQUEST_BAD) {
        link_say(link, &wrong);
        link->is_last = 1;
    }
}

static void on_ready(unsigned ready, void *arg)
{
    struct sim_link *link = arg;
    hilock_memory *memory = link->memory;
    ssize_t count;
    if (memory->hangs)
        return;
    if (ready & HILOCK_READABLE && !link->is_last) {
        count = recv(link->fd, memory->bytes, sizeof memory->bytes, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            link_end(link);
            return;
        }
        if (count > 0) {
            sim_buffer_add(&link->in, memory->bytes, (size_t)count);
            answer_all(link);
        }
    }
    flush(memory);
}

/* ---- links begin and end ---- */

static void link_begin(hilock_memory *memory, int fd)
{
    struct sim_link *link = calloc(1, sizeof *link);
    SIM_REQUIRE(link);
    *link = (struct sim_link){
        .memory = memory, .fd = fd, .watch = memory->loop.watch_new(memory->loop.ctx, fd, on_ready, link)};
    if (!link->watch) {
        close(fd);
        free(link);
        return;
    }
    link->connection = sim_store_connect(memory->store);
    DL_APPEND(memory->links, link);
    memory->links_count++;
    if (memory->loop.watch_set(link->watch, HILOCK_READABLE) != 0)
        link_end(link);
}

static void on_knock(unsigned ready, void *arg)
{
    hilock_memory *memory = arg;
    int fd = memory->hangs ? -1 : accept4(memory->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    (void)ready;
    if (fd >= 0)
        link_begin(memory, fd);
}

void sim_links_end(hilock_memory *memory)
{
    while (memory->links)
        link_end(memory->links);
}

void sim_links_hang(hilock_memory *memory, int hangs)
{
    struct sim_link *next;
    memory->hangs = hangs;
    (void)memory->loop.watch_set(memory->watch, hangs ? 0 : HILOCK_READABLE);
    for (struct sim_link *link = memory->links; link; link = next) {
        next = link->next;
        if (memory->loop.watch_set(link->watch, link_interest(link)) != 0)
            link_end(link);
    }
    memory->loop.timer_stop(memory->timer);
    if (!hangs)
        memory->loop.timer_start(memory->timer, 0);
}

/* Removes a socket that a dead process has left at this path, but no other file. */
static int address_bind(const hilock_memory *memory)
{
    struct stat there;
    const char *path = memory->address.sun_path;
    if (lstat(path, &there) == 0 && S_ISSOCK(there.st_mode))
        unlink(path);
    return bind(memory->fd, (const struct sockaddr *)&memory->address, sizeof memory->address);
}

int sim_links_listen(hilock_memory *memory)
{
    memory->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (memory->fd < 0 || address_bind(memory) != 0 || listen(memory->fd, BACKLOG) != 0)
        return -1;
    errno = ENOMEM; /* for the allocations below, which do not set errno */
    memory->timer = memory->loop.timer_new(memory->loop.ctx, on_due, memory);
    memory->watch = memory->loop.watch_new(memory->loop.ctx, memory->fd, on_knock, memory);
    return memory->timer && memory->watch ? memory->loop.watch_set(memory->watch, HILOCK_READABLE) : -1;
}

void sim_links_unlisten(hilock_memory *memory)
{
    sim_links_end(memory);
    if (memory->watch)
        memory->loop.watch_free(memory->watch);
    if (memory->timer)
        memory->loop.timer_free(memory->timer);
    if (memory->fd >= 0)
        close(memory->fd);
}
