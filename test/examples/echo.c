/* SPDX-License-Identifier: BSD-3-Clause */
/* echo - a server on libuv with a lock for each connection: its first line names the lock, which it gets within a second
 * ("ours 7", the fencing token) or not ("busy"); then each line comes back behind the token, while the lock is held. The
 * lock ends with the connection; a lock that is lost ends the connection ("lost: why").
 *
 * Each connection is a would-be holder, so each has a handle of its own, and hilock_lock_free is all that its end needs,
 * whether it waits, holds or has lost. Invariant: a connection that is closing has no handle, and so no callback of
 * hilock's can reach it. A handle of libuv's is freed in its close callback.
 * usage: echo [URL [PORT [LEASE_MS]]]    (port 0: a free one, which is printed) */
#include <hilock/adapters/libuv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { LINE_MAX_BYTES = 512, WAIT_MS = 1000, BACKLOG = 64 };

struct server {
    uv_loop_t *loop;
    uv_tcp_t listener;
    uv_signal_t term;
    hilock_client *locks;
    struct connection *first;
    uint32_t lease_ms;
};

struct connection {
    uv_tcp_t stream;
    struct server *server;
    struct connection *next, **link; /* link: what points here */
    hilock_lock *lock;               /* NULL: no name yet, or closing */
    char input[LINE_MAX_BYTES];      /* what is not answered yet */
    size_t length;
};

static void on_connection_closed(uv_handle_t *handle) { free(handle->data); }

static void connection_end(struct connection *self)
{
    if (uv_is_closing((uv_handle_t *)&self->stream))
        return;
    hilock_lock_free(self->lock);
    self->lock = NULL;
    *self->link = self->next;
    if (self->next)
        self->next->link = self->link;
    uv_close((uv_handle_t *)&self->stream, on_connection_closed);
}

/* A client that does not read what it asked for is left: nothing is kept for it. */
static void answer(struct connection *self, const char *text)
{
    uv_buf_t buffer = uv_buf_init((char *)text, (unsigned)strlen(text));
    if (uv_try_write((uv_stream_t *)&self->stream, &buffer, 1) != (int)buffer.len)
        connection_end(self);
}

static void on_lost(const struct hilock_event *event, void *user)
{
    char text[LINE_MAX_BYTES];
    snprintf(text, sizeof text, "lost: %s\n", event->detail);
    answer(user, text);
    connection_end(user);
}

static void take_lines(struct connection *self);

static void on_acquired(const struct hilock_result *result, void *user)
{
    struct connection *self = user;
    char text[LINE_MAX_BYTES];
    if (result->status != HILOCK_OK) {
        snprintf(text, sizeof text, "%s\n", result->status == HILOCK_TIMED_OUT ? "busy" : result->detail);
        answer(self, text);
        connection_end(self);
        return;
    }
    snprintf(text, sizeof text, "ours %llu\n", (unsigned long long)result->fencing_token);
    answer(self, text);
    take_lines(self); /* that came while it waited */
}

static void lock_ask(struct connection *self, const char *name)
{
    struct server *server = self->server;
    hilock_status status = hilock_lock_create(&self->lock, server->locks, name,
                                              HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = self, .lease_ms = server->lease_ms));
    if (status == HILOCK_OK)
        status = hilock_acquire(self->lock, WAIT_MS, on_acquired, self);
    if (status == HILOCK_OK)
        return;
    fprintf(stderr, "refused: %s\n", hilock_client_refusal(server->locks));
    answer(self, "refused\n");
    connection_end(self);
}

static void echo(struct connection *self, const char *line)
{
    char text[LINE_MAX_BYTES + 32];
    if (hilock_lock_remaining_ms(self->lock) == 0) /* over, and on_lost is on its way */
        return;
    snprintf(text, sizeof text, "%llu %s\n", (unsigned long long)hilock_lock_token(self->lock), line);
    answer(self, text);
}

/* The first line asks for the lock; while it is awaited the others wait, too. */
static void take_lines(struct connection *self)
{
    char line[LINE_MAX_BYTES], *end;
    while (!uv_is_closing((uv_handle_t *)&self->stream) && (end = memchr(self->input, '\n', self->length)) != NULL &&
           (!self->lock || hilock_lock_state(self->lock) == HILOCK_STATE_HELD)) {
        const size_t length = (size_t)(end - self->input);
        memcpy(line, self->input, length);
        line[length] = '\0';
        self->length -= length + 1;
        memmove(self->input, end + 1, self->length);
        if (self->lock)
            echo(self, line);
        else
            lock_ask(self, line);
    }
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buffer)
{
    struct connection *self = handle->data;
    (void)suggested;
    *ret_buffer = uv_buf_init(self->input + self->length, (unsigned)(sizeof self->input - self->length));
}

/* It is read at all times, so that one that leaves while it waits is seen. A line that is too long leaves no room: UV_ENOBUFS. */
static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    struct connection *self = stream->data;
    (void)buffer;
    if (got < 0) {
        connection_end(self);
        return;
    }
    self->length += (size_t)got;
    take_lines(self);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct server *server = listener->data;
    struct connection *self = status == 0 ? calloc(1, sizeof *self) : NULL;
    if (!self)
        return;
    self->server = server;
    self->stream.data = self;
    if (uv_tcp_init(server->loop, &self->stream) != 0) {
        free(self);
        return;
    }
    self->next = server->first;
    self->link = &server->first;
    if (self->next)
        self->next->link = &self->next;
    server->first = self;
    if (uv_accept(listener, (uv_stream_t *)&self->stream) != 0 || uv_read_start((uv_stream_t *)&self->stream, on_room, on_read) != 0)
        connection_end(self);
}

static void on_closed(void *user)
{
    (void)user;
    puts("left");
}

/* When all is closed uv_run returns: what libuv and hilock still have to do, they do before. */
static void on_term(uv_signal_t *term, int number)
{
    struct server *server = term->data;
    (void)number;
    while (server->first)
        connection_end(server->first);
    uv_close((uv_handle_t *)&server->listener, NULL);
    uv_close((uv_handle_t *)&server->term, NULL);
    (void)hilock_client_close(server->locks, 0, on_closed, server);
}

static int listen_on(struct server *server, int port)
{
    struct sockaddr_storage address;
    struct sockaddr_in *in = (struct sockaddr_in *)(void *)&address;
    int length = sizeof address;
    server->listener.data = server->term.data = server;
    if (uv_tcp_init(server->loop, &server->listener) != 0 || uv_ip4_addr("127.0.0.1", port, in) != 0 ||
        uv_tcp_bind(&server->listener, (struct sockaddr *)in, 0) != 0 ||
        uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection) != 0 ||
        uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &length) != 0 ||
        uv_signal_init(server->loop, &server->term) != 0 || uv_signal_start(&server->term, on_term, SIGTERM) != 0)
        return -1;
    printf("port %u\n", (unsigned)ntohs(in->sin_port));
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    static struct server server;
    struct hilock_error error = {""};
    server.loop = uv_default_loop();
    server.lease_ms = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 30000;
    if (hilock_client_open_libuv(&server.locks, server.loop, HILOCK_CLIENT_OPTIONS(.url = argc > 1 ? argv[1] : NULL, .label = "echo"), &error) !=
        HILOCK_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    if (listen_on(&server, argc > 2 ? atoi(argv[2]) : 0) != 0) {
        fprintf(stderr, "cannot listen\n");
        return 1;
    }
    uv_run(server.loop, UV_RUN_DEFAULT);
    return uv_loop_close(server.loop) == 0 ? 0 : 1;
}
