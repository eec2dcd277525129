/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock's loop table over libuv: a nest (nest.c) whose descriptor a uv_poll_t watches; uv_getaddrinfo() resolves
 * names.
 *
 * libuv releases some memory only on a later turn of the loop: a handle after it was closed, and the request for a
 * name when its thread has ended, cancelled or not. So a closed handle and a cancelled request no longer belong to
 * the client. Invariant: their callbacks touch nothing but what they free. */
#include "nest.h"
#include "nest_resolve.h"

#include <hilock/adapters/libuv.h>

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <uv.h>

struct outer {
    uv_poll_t poll;
    struct hl_nest nest;
};

struct query {
    uv_getaddrinfo_t request;
    void *timer; /* delivers a failure that was known at once; NULL: the request is under way */
    const char *failure;
    hilock_resolved_fn *done; /* the caller's callback; NULL: it is running, or the query was cancelled */
    void *arg;
};

/* The status is not needed: an epoll set never reports an error, and a run of the nest for nothing is legal. */
static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct outer *outer = poll->data;
    (void)status, (void)events;
    hl_nest_run(&outer->nest);
}

static void on_poll_closed(uv_handle_t *handle) { free(handle->data); }

static void free_ctx(void *ctx)
{
    struct hl_nest *nest = ctx;
    struct outer *outer = nest->outer;
    uv_close((uv_handle_t *)&outer->poll, on_poll_closed);
    hl_nest_end(nest);
}

static const char *error_text(int status)
{
    switch (status) {
    case UV_EAI_NONAME:
    case UV_EAI_NODATA:
    case UV_EINVAL: /* the text is not a valid name */
        return hl_nest_resolve_error(EAI_NONAME);
    case UV_EAI_AGAIN:
        return hl_nest_resolve_error(EAI_AGAIN);
    default:
        return hl_nest_resolve_error(EAI_FAIL);
    }
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct query *query = request->data;
    hilock_resolved_fn *done = query->done;
    query->done = NULL;
    if (done)
        hl_nest_deliver(status == 0 ? found : NULL, error_text(status), done, query->arg);
    uv_freeaddrinfo(found);
    free(query);
}

static void on_failure(void *arg)
{
    struct query *query = arg;
    hilock_resolved_fn *done = query->done;
    query->done = NULL;
    hl_nest_timer_free(query->timer);
    hl_nest_deliver(NULL, query->failure, done, query->arg);
    free(query);
}

/* Delivers a failure that libuv reported at once. */
static void *query_fail(struct query *query, struct hl_nest *nest, int status)
{
    query->failure = error_text(status);
    query->timer = status == UV_ENOMEM ? NULL : hl_nest_timer_new(&nest->timers, on_failure, query);
    if (query->timer) {
        hl_nest_timer_start(query->timer, 0);
        return query;
    }
    free(query);
    return NULL;
}

static void *resolve(void *ctx, const char *host, hilock_resolved_fn *done, void *arg)
{
    struct hl_nest *nest = ctx;
    const struct outer *outer = nest->outer;
    struct query *query = calloc(1, sizeof *query);
    int status;
    if (!query)
        return NULL;
    query->request.data = query;
    query->done = done;
    query->arg = arg;
    status = uv_getaddrinfo(outer->poll.loop, &query->request, on_resolved, host, NULL, &hl_nest_hints);
    return status == 0 ? query : query_fail(query, nest, status);
}

static void resolve_cancel(void *handle)
{
    struct query *query = handle;
    if (!query->done)
        return;
    query->done = NULL;
    if (query->timer) {
        hl_nest_timer_free(query->timer);
        free(query);
    } else {
        (void)uv_cancel((uv_req_t *)&query->request); /* libuv calls back later, whether this succeeds or not */
    }
}

/* Returns 0, or an error code of libuv. */
static int outer_begin(struct outer *outer, uv_loop_t *native)
{
    int status;
    if (hl_nest_begin(&outer->nest, outer) != 0)
        return uv_translate_sys_error(errno);
    status = uv_poll_init(native, &outer->poll, outer->nest.fd);
    if (status != 0) {
        hl_nest_end(&outer->nest);
        return status;
    }
    outer->poll.data = outer;
    return uv_poll_start(&outer->poll, UV_READABLE, on_poll); /* would fail only for a descriptor that has another
                                                                 handle, which a new descriptor has not */
}

static hilock_status table_fill(struct hilock_loop *ret_loop, uv_loop_t *native, struct hilock_error *ret_error)
{
    struct outer *outer;
    int status;
    if (!native)
        return hl_nest_refuse(ret_error, HILOCK_INVALID,
                              "loop is NULL: pass the uv_loop_t that this client's thread runs", "");
    outer = calloc(1, sizeof *outer);
    status = outer ? outer_begin(outer, native) : UV_ENOMEM;
    if (status != 0) {
        free(outer);
        return hl_nest_refuse(ret_error, HILOCK_NO_MEMORY, HL_NEST_CANNOT, uv_strerror(status));
    }
    *ret_loop = hl_nest_table(&outer->nest);
    ret_loop->resolve = resolve;
    ret_loop->resolve_cancel = resolve_cancel;
    ret_loop->free_ctx = free_ctx;
    return HILOCK_OK;
}

hilock_status hilock_libuv_loop(struct hilock_loop *ret_loop, uv_loop_t *loop)
{
    return ret_loop ? table_fill(ret_loop, loop, NULL) : HILOCK_INVALID;
}

hilock_status hilock_client_open_libuv(hilock_client **ret_client, uv_loop_t *loop,
                                       const struct hilock_client_options *options, struct hilock_error *ret_error)
{
    struct hilock_loop table;
    const hilock_status status = table_fill(&table, loop, ret_error);
    return status == HILOCK_OK ? hl_nest_open(ret_client, &table, options, ret_error) : status;
}
