/* SPDX-License-Identifier: BSD-3-Clause */
/* link_hiredis - the real links: each is a redisAsyncContext whose event hooks use the watches of the loop.
 *
 * hiredis connects and parses. Its callback queues are not used, because they allocate for each command and get out of
 * step at the first error reply to a subscription. A link only counts the replies that are still to come. Commands are
 * encoded into the buffer of hiredis, and one send writes the buffer at the host's next leave; hiredis' own write could
 * raise SIGPIPE. The descriptor is watched for writing only after a short send. With TLS the handshake comes between
 * the connect and on_up, and each event continues reading and writing, because each may have waited for the other.
 *
 * hiredis frees a context by itself if the connect fails; otherwise redisAsyncFree does. Both call on_cleanup, where
 * the descriptor and the error text are still valid. We free a context only when no handler of hiredis is on the stack,
 * because 0.14.1 would touch freed memory. Invariants: after on_cleanup `context` is NULL; on_down is called at the end
 * of the first turn that finds it NULL; a link that is closed inside its own turn is freed at the end of that turn. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/command.h"
#include "base/container.h"
#include "base/contract.h"
#include "base/platform.h"
#include "base/stranger.h"
#include "link/link.h"
#include "link/reader.h"
#include "link/tls.h"
#include "link/words.h"

enum { READS_MAX = 16, WRITE_MAX = 1 << 30, BUFFER_KEPT = 2 << 10, BUFFER_MAX = 64 << 10, SIGN_MAX = 8 };
enum { KEEPALIVE_IDLE_S = 15, KEEPALIVE_INTERVAL_S = 5, KEEPALIVE_PROBES = 3 };

struct hl_link {
    struct hl_flush flush;
    struct hl_host *host;
    const struct hl_link_events *events;
    void *arg;
    redisAsyncContext *context; /* NULL: it has ended */
    struct hl_tls *tls;  /* NULL: no TLS */
    char *tls_host;
    struct ssl_st *ssl;  /* set when the handshake begins; the context owns it */
    void *watch;
    void *timer; /* calls on_ready when no event of the socket will */
    unsigned interest;
    size_t written_before, received_before; /* how many bytes the latest write wrote, and the latest read got */
    int is_up, is_stream, is_down, is_closed, is_in_turn;
    int is_muted; /* the watch is off, whatever `interest` has */
    int is_failing; /* the link ends when the timer fires, or earlier */
    struct hl_reader reader;
    char sign[SIGN_MAX]; /* the first bytes from the server; hiredis drops them if it cannot parse them */
    size_t sign_length;
    int is_understood; /* a whole reply was parsed */
    struct hl_text why;
};

static void fail_later(struct hl_link *link, const char *why)
{
    if (!link->is_failing)
        hl_text_set(&link->why, "%s", why);
    link->is_failing = 1;
    hl_timer_start(link->host, link->timer, 0);
}

static void want(struct hl_link *link, unsigned interest)
{
    if (interest == link->interest)
        return;
    link->interest = interest;
    if (link->host->loop.watch_set(link->watch, interest) != 0)
        fail_later(link, hl_words_unwatched);
}

/* ---- the end ---- */

/* The server got a command without TLS, and ended the connection without sending a byte. */
static int is_mute(const struct hl_link *link)
{
    return link->is_up && !link->tls && link->reader.asked && !link->is_understood && !link->sign_length &&
           (link->context->c.err == REDIS_ERR_EOF || link->context->c.err == REDIS_ERR_IO);
}

static void on_cleanup(void *arg)
{
    struct hl_link *link = arg;
    redisContext *context = &link->context->c;
    const char *text = link->reader.refusal ? link->reader.refusal : context->errstr;
    if (!link->why.bytes[0] && link->ssl && context->err) /* hiredis takes an alert for the end of the stream */
        link->tls->ops->explain(link->ssl, &link->why);
    if (!link->why.bytes[0])
        hl_text_set(&link->why, "%s", *text ? text : hl_words_ended);
    if (is_mute(link))
        hl_text_add(&link->why, "%s", hl_words_before_answer);
    if (link->watch)
        link->host->loop.watch_free(link->watch);
    link->watch = NULL;
    if (context->obuf)
        hl_memory_wipe(context->obuf, sdslen(context->obuf));
    link->context = NULL;
    link->ssl = NULL;
    hl_host_flush_never(link->host, &link->flush);
}

static void destroy(struct hl_link *link)
{
    struct hl_host *host = link->host;
    if (link->context)
        redisAsyncFree(link->context);
    if (link->tls)
        hl_tls_unref(link->tls);
    hl_memory_free(&host->memory, link->tls_host);
    hl_timer_free(host, link->timer);
    hl_memory_free(&host->memory, link);
}

/* ---- replies ---- */

/* Keeps the first bytes of a server whose first reply is not parsed yet. They show if this is no Redis server. */
static void keep_sign(struct hl_link *link)
{
    const redisReader *parser = link->context->c.reader;
    if (link->sign_length || link->is_understood || parser->len <= parser->pos)
        return;
    link->sign_length = parser->len - parser->pos < SIGN_MAX ? parser->len - parser->pos : SIGN_MAX;
    memcpy(link->sign, parser->buf + parser->pos, link->sign_length);
}

static void name_stranger(struct hl_link *link)
{
    const redisContext *context = &link->context->c;
    int is_wrong = !link->is_understood && context->err == REDIS_ERR_PROTOCOL && !link->reader.refusal && !link->ssl;
    const struct hl_stranger *stranger = is_wrong ? hl_stranger_of_bytes(link->sign, link->sign_length) : NULL;
    if (stranger)
        hl_text_set(&link->why, "%s", stranger->words);
}

/* Decides whether a buffer may go back to the heap once it is empty. It may if a single burst made it large, as the
 * scripts and their replies do on a new link. It stays if two bursts in a row were large, because it would be made
 * again at once. But an empty buffer above BUFFER_MAX never stays, so that a crowd does not leave its size behind. */
static int is_spare(size_t room, size_t burst, size_t burst_before)
{
    int is_busy = burst > BUFFER_KEPT && burst_before > BUFFER_KEPT;
    return room > BUFFER_MAX || (room > BUFFER_KEPT && !is_busy);
}

static void drop_read(struct hl_link *link, size_t received)
{
    redisReader *parser = link->context->c.reader;
    size_t room = sdslen(parser->buf) + sdsavail(parser->buf);
    int may_go = is_spare(room, received, link->received_before) && parser->pos == parser->len;
    sds fresh = may_go ? sdsempty() : NULL;
    link->received_before = received;
    if (!fresh)
        return;
    sdsfree(parser->buf);
    parser->buf = fresh;
    parser->pos = parser->len = 0;
}

/* Reads once and delivers the replies. An error that no command asked for, such as "max number of clients reached", is
 * the reason why the server closes the connection; it is quoted, because its text comes from outside. The reader
 * refuses any other reply that no command asked for. */
static void read_once(struct hl_link *link)
{
    redisContext *context = &link->context->c;
    struct hl_reader *reader = &link->reader;
    void *made = NULL;
    if (link->ssl)
        link->tls->ops->prepare();
    reader->is_stream = link->is_stream; /* if on_reply makes this a stream, that counts from the next read on */
    size_t unread = context->reader->len;
    int is_good = redisBufferRead(context) == REDIS_OK;
    size_t received = context->reader->len - unread;
    keep_sign(link);
    while (is_good && !link->is_closed) {
        is_good = redisGetReplyFromReader(context, &made) == REDIS_OK;
        if (!is_good || !made)
            break;
        const struct hl_reply *reply = made;
        link->is_understood = 1;
        is_good = reader->is_stream || reader->asked;
        reader->asked -= !reader->is_stream && is_good;
        if (is_good)
            link->events->on_reply(link->arg, reply);
        else
            hl_text_set(&link->why, "%s", hl_host_quote(link->host, reply->bytes, reply->length).bytes);
        hl_reader_free(made);
    }
    if (is_good && hl_reader_is_full(context->reader)) {
        reader->refusal = hl_words_too_long;
        is_good = 0;
    }
    if (is_good) {
        drop_read(link, received);
        return;
    }
    name_stranger(link);
    redisAsyncFree(link->context);
}

static int has_more(const struct hl_link *link)
{
    return link->context && link->ssl && !link->is_closed && link->tls->ops->has_more(link->ssl);
}

/* A server that never stops sending gets a bounded share of this turn; the rest is read in the next one. */
static void read_some(struct hl_link *link)
{
    int reads = 0;
    do
        read_once(link);
    while (has_more(link) && ++reads < READS_MAX);
    if (has_more(link))
        hl_timer_start(link->host, link->timer, 0);
}

/* Ends a link that failed. It first reads what arrived before the failure: that may answer requests whose outcome would
 * be unknown, and may have a better reason for the end. */
static void give_up(struct hl_link *link)
{
    struct hl_text why = link->why;
    if (link->context && link->is_up) {
        link->why.bytes[0] = '\0';
        read_some(link);
    }
    if (link->context) {
        link->why = why;
        redisAsyncFree(link->context);
    }
}

/* ---- commands ---- */

/* Removes the written bytes from the buffer and wipes them, because they may have a password. */
static void drop_written(struct hl_link *link, size_t written)
{
    redisContext *context = &link->context->c;
    int may_go = is_spare(sdslen(context->obuf) + sdsavail(context->obuf), written, link->written_before);
    link->written_before = written;
    sdsrange(context->obuf, (int)written, -1);
    hl_memory_wipe(context->obuf + sdslen(context->obuf), written);
    if (may_go && !sdslen(context->obuf)) {
        sds fresh = sdsempty();
        if (fresh) {
            sdsfree(context->obuf);
            context->obuf = fresh;
        }
    }
}

/* Writes the buffer. TLS repeats an unfinished write with its first length, so bytes that were added since can follow
 * at once. If TLS wrote nothing, it may be waiting for bytes from the server. After a failure the link still reads what
 * has come (give_up), because a TLS alert may have the reason. */
static void write_some(struct hl_link *link)
{
    redisContext *context = &link->context->c;
    size_t length = sdslen(context->obuf);
    struct hl_text why = {""};
    ssize_t written = 0;
    if (length && link->ssl)
        written = link->tls->ops->write(context, link->ssl, &why);
    else if (length)
        written = send(context->fd, context->obuf, length < WRITE_MAX ? length : WRITE_MAX, MSG_NOSIGNAL);
    if (written < 0 && !link->ssl && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        written = 0;
    else if (written < 0 && !link->ssl)
        hl_text_set(&why, "%s", strerror(errno));
    int is_stuck = link->ssl && written == 0 ? link->tls->ops->wants_write(link->ssl)
                                             : written >= 0 && (size_t)written < length;
    if (written > 0)
        drop_written(link, (size_t)written);
    if (written < 0)
        fail_later(link, why.bytes);
    want(link, HILOCK_READABLE | (is_stuck ? HILOCK_WRITABLE : 0u));
}

static void on_flush(struct hl_flush *flush)
{
    struct hl_link *link = HL_CONTAINER(flush, struct hl_link, flush);
    if (!(link->interest & HILOCK_WRITABLE))
        write_some(link);
}

static int send_command(struct hl_link *link, int argc, const char *const *argv, const size_t *lengths)
{
    if (link->is_down)
        return -1;
    if (!link->context || link->is_failing)
        return 0;
    HL_REQUIRE(link->is_up); /* a session sends only after on_up */
    sds to = sdsMakeRoomFor(link->context->c.obuf, hl_command_encoded_max(argc, lengths));
    if (!to)
        return -1;
    link->context->c.obuf = to;
    sdsIncrLen(to, (int)hl_command_encode(to + sdslen(to), argc, argv, lengths));
    link->reader.asked += !link->is_stream;
    hl_host_flush_later(link->host, &link->flush);
    return 0;
}

static void make_stream(struct hl_link *link)
{
    HL_REQUIRE(!link->context || !link->reader.asked); /* a session does this after the last answer of its greeting */
    link->is_stream = 1;
}

static size_t backlog(const struct hl_link *link)
{
    return link->context && link->context->c.obuf ? sdslen(link->context->c.obuf) : 0;
}

/* ---- the loop ---- */

static void report_up(struct hl_link *link)
{
    link->is_up = 1;
    want(link, HILOCK_READABLE);
    link->events->on_up(link->arg);
    if (has_more(link))
        hl_timer_start(link->host, link->timer, 0);
}

static void shake_hands(struct hl_link *link)
{
    switch (link->tls->ops->shake(link->tls, &link->context->c, &link->ssl, link->tls_host, &link->why)) {
    case HL_TLS_DONE: report_up(link); break;
    case HL_TLS_READS: want(link, HILOCK_READABLE); break;
    case HL_TLS_WRITES: want(link, HILOCK_WRITABLE); break;
    case HL_TLS_FAILED: redisAsyncFree(link->context); break;
    }
}

/* The loop turned in a forked child or on another thread, where the client must not act. The watch is switched off, or
 * the loop would call again and again. A forked child first replaces its descriptor with a new socket. So the child
 * does not keep the connection of a dead parent open, and removing the watch from an epoll set that is shared with the
 * parent takes nothing from the parent. On another thread a timer tries again later. */
static void look_away(struct hl_link *link, hilock_status status)
{
    int fd = link->context ? link->context->c.fd : -1;
    int dead = fd >= 0 && status == HILOCK_FORKED ? socket(AF_UNIX, SOCK_DGRAM, 0) : -1;
    if (fd < 0 || (status == HILOCK_FORKED && (dead < 0 || dup2(dead, fd) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)))
        return;
    link->host->loop.watch_set(link->watch, 0);
    if (dead >= 0)
        close(dead);
    link->is_muted = 1;
    if (status == HILOCK_WRONG_THREAD)
        hl_timer_start(link->host, link->timer, HL_HOST_RETRY_US);
}

static void look_again(struct hl_link *link)
{
    link->is_muted = 0;
    if (link->watch && link->host->loop.watch_set(link->watch, link->interest) != 0)
        fail_later(link, hl_words_unwatched);
}

/* Handles one call from the loop. hl_host_leave may free everything: touch nothing after it. */
static void on_ready(unsigned ready, void *arg)
{
    struct hl_link *link = arg;
    struct hl_host *host = link->host;
    hilock_status status = hl_host_begin(host);
    if (status != HILOCK_OK) {
        look_away(link, status);
        return;
    }
    if (link->is_muted)
        look_again(link);
    link->is_in_turn = 1;
    if (link->is_failing)
        give_up(link);
    else if (link->is_up && link->context) {
        if ((ready & HILOCK_READABLE) || link->ssl)
            read_some(link);
        if (((ready & HILOCK_WRITABLE) || (link->ssl && backlog(link))) && link->context && !link->is_closed)
            write_some(link);
    } else if (link->context) {
        if (!link->ssl)
            redisAsyncHandleWrite(link->context); /* the buffer is empty: this only checks the result of the connect */
        int is_connected = link->context && (link->context->c.flags & REDIS_CONNECTED);
        if (is_connected && link->tls)
            shake_hands(link);
        else if (is_connected)
            report_up(link);
    }
    if (!link->context && !link->is_down && !link->is_closed) {
        link->is_down = 1;
        link->events->on_down(link->arg, link->why.bytes);
    }
    link->is_in_turn = 0;
    if (link->is_closed)
        destroy(link);
    hl_host_leave(host);
}

/* Before a link is up the timer serves only to report its end: a failure, or a connect that could not even begin. */
static void on_fire(void *arg) { on_ready(HILOCK_READABLE, arg); }

/* ---- open and close ---- */

static hilock_status secure(struct hl_link_factory *factory, const struct hl_memory *memory,
                            const struct hl_tls_options *options, struct hl_text *why)
{
    struct hl_tls *tls = NULL;
    hilock_status status = hl_tls_new(&tls, memory, options, why);
    factory->ctx = tls;
    return status;
}

static void insecure(struct hl_link_factory *factory)
{
    hl_tls_unref(factory->ctx);
    factory->ctx = NULL;
}

/* Makes the descriptor close-on-exec and never 0; over TCP it also sets no-delay and keep-alive. */
static void tune_socket(redisContext *context, int is_tcp)
{
    static const int options[][3] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                                     {SOL_SOCKET, SO_KEEPALIVE, 1},
                                     {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
                                     {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
                                     {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES}};
    /* The descriptor is 0 if stdin was closed, and hiredis 0.14.1 never closes that one. */
    int moved = context->fd == 0 ? fcntl(0, F_DUPFD_CLOEXEC, 1) : -1;
    if (moved > 0)
        context->fd = moved, close(0);
    fcntl(context->fd, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; is_tcp && i < sizeof options / sizeof *options; i++)
        setsockopt(context->fd, options[i][0], options[i][1], &options[i][2], sizeof options[i][2]);
}

static int connect_to(struct hl_link *link, const struct hl_link_target *target)
{
    struct hilock_loop *loop = &link->host->loop;
    redisAsyncContext *context = target->path ? redisAsyncConnectUnix(target->path)
                                              : redisAsyncConnect(target->address, target->port);
    if (!context)
        return -1;
    link->context = context;
    context->ev.data = link;
    context->ev.cleanup = on_cleanup;
    if (context->err) {
        redisAsyncFree(context);
        hl_timer_start(link->host, link->timer, 0);
        return 0;
    }
    tune_socket(&context->c, !target->path);
    hl_reader_init(&link->reader, context->c.reader, &link->host->memory);
    link->watch = loop->watch_new(loop->ctx, context->c.fd, on_ready, link);
    if (!link->watch)
        return -1;
    want(link, HILOCK_WRITABLE);
    return 0;
}

static struct hl_link *open_link(void *ctx, struct hl_host *host, const struct hl_link_target *target,
                                 const struct hl_link_events *events, void *arg)
{
    struct hl_link *link = hl_memory_new(&host->memory, sizeof *link);
    if (!link)
        return NULL;
    HL_REQUIRE(!target->tls_host || ctx); /* a TLS url is refused when the client is made if secure failed */
    if (target->tls_host) {
        link->tls = ctx;
        link->tls->refs++;
        link->tls_host = hl_memory_copy(&host->memory, target->tls_host, strlen(target->tls_host));
    }
    link->flush.flush = on_flush;
    link->host = host;
    link->events = events;
    link->arg = arg;
    link->timer = hl_timer_new(host, on_fire, link);
    if (link->timer && (!link->tls || link->tls_host) && connect_to(link, target) == 0)
        return link;
    destroy(link);
    return NULL;
}

static void close_link(struct hl_link *link, int is_reset)
{
    static const struct linger none = {1, 0};
    HL_REQUIRE(!link->is_closed); /* the session drops its pointer to the link in the same call */
    if (is_reset && link->context)
        setsockopt(link->context->c.fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    link->is_closed = 1;
    if (!link->is_in_turn)
        destroy(link);
}

struct hl_link_factory hl_link_hiredis(void)
{
    return (struct hl_link_factory){NULL, secure, insecure, open_link, send_command, make_stream, backlog, close_link};
}
