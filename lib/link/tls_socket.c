/* SPDX-License-Identifier: BSD-3-Clause */
/* tls_socket - see tls_socket.h. */
#include "link/tls_socket.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

static int fd_of(BIO *bio) { return (int)(intptr_t)BIO_get_data(bio); }

static int is_for_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

static int read_some(BIO *bio, char *to, int room)
{
    ssize_t got = recv(fd_of(bio), to, (size_t)room, 0);
    BIO_clear_retry_flags(bio);
    if (got < 0 && is_for_later(errno))
        BIO_set_retry_read(bio);
    else if (got == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)got;
}

static int write_some(BIO *bio, const char *from, int length)
{
    ssize_t written = send(fd_of(bio), from, (size_t)length, MSG_NOSIGNAL);
    BIO_clear_retry_flags(bio);
    if (written < 0 && is_for_later(errno))
        BIO_set_retry_write(bio);
    return (int)written;
}

static long control(BIO *bio, int what, long number, void *pointer)
{
    (void)number, (void)pointer;
    if (what == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return what == BIO_CTRL_FLUSH;
}

BIO_METHOD *hl_tls_socket_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOCKET, "link");
    if (method && BIO_meth_set_read(method, read_some) && BIO_meth_set_write(method, write_some) &&
        BIO_meth_set_ctrl(method, control))
        return method;
    BIO_meth_free(method);
    return NULL;
}

BIO *hl_tls_socket_new(const BIO_METHOD *method, int fd)
{
    BIO *bio = BIO_new(method);
    if (!bio)
        return NULL;
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    return bio;
}
