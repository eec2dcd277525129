/* SPDX-License-Identifier: BSD-3-Clause */
/* tls - see tls.h. This file uses OpenSSL and hiredis_ssl.
 *
 * We make the SSL object ourselves, because the one of hiredis (redisInitiateSSLWithContext) accepts a certificate for
 * any name. hiredis_ssl puts our object between the context and the socket; then we replace its BIO, which could raise
 * SIGPIPE. OpenSSL reads ahead, and no event of the socket announces bytes that it has read already (has_more).
 * hiredis_ssl repeats an unfinished write with the length that the write had. So the whole buffer is always one write,
 * and only hiredis writes; otherwise it would read past the end of the buffer. OpenSSL keeps its errors in a list for
 * the thread, which the program shares. So the list is emptied before each step. */
#include "link/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/platform.h"
#include "link/words.h"

/* ---- errors ---- */

static const char *reason(unsigned long error)
{
    const char *text = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
    return text ? text : "unknown error";
}

/* Reports the first error, which is the cause of the others. */
static void report_error(const SSL *ssl, struct hl_text *why)
{
    unsigned long error = ERR_peek_error();
    int code = ERR_GET_REASON(error), is_ssl = ERR_GET_LIB(error) == ERR_LIB_SSL;
    if (is_ssl &&
        (code == SSL_R_WRONG_VERSION_NUMBER || code == SSL_R_HTTP_REQUEST || code == SSL_R_PACKET_LENGTH_TOO_LONG))
        hl_words_plain_port(why, reason(error));
    else if (is_ssl && code == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED)
        hl_text_set(why, "%s", hl_words_no_client_cert);
    else if (is_ssl && code == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE && !SSL_get_certificate(ssl))
        hl_text_set(why, "%s", hl_words_handshake_refused);
    else if (ERR_SYSTEM_ERROR(error))
        hl_text_set(why, "%s", reason(error));
    else
        hl_words_tls_error(why, reason(error));
}

static void explain(SSL *ssl, struct hl_text *why)
{
    if (ERR_peek_error())
        report_error(ssl, why);
    ERR_clear_error();
}

/* ---- the BIO of a link's socket: like the socket BIO of OpenSSL, but a write raises no SIGPIPE ---- */

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

/* ---- the settings ---- */

static hilock_status refuse_file(struct hl_text *why, const char *option, const char *path)
{
    unsigned long error = ERR_peek_error();
    int is_memory = ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
    hl_words_bad_file(why, option, hl_text_quote(path, strlen(path)).bytes, reason(error));
    ERR_clear_error();
    return is_memory ? HILOCK_NO_MEMORY : HILOCK_INVALID;
}

static hilock_status check_path(struct hl_text *why, const char *option, const char *path, int is_folder)
{
    struct stat status;
    int error = access(path, R_OK) != 0 || stat(path, &status) != 0 ? errno : 0;
    if (!error && S_ISDIR(status.st_mode) == is_folder)
        return HILOCK_OK;
    hl_words_unreadable_file(why, option, hl_text_quote(path, strlen(path)).bytes,
                             error ? strerror(error) : is_folder ? hl_words_not_a_directory : hl_words_a_directory);
    return HILOCK_INVALID;
}

static int use_key(SSL_CTX *settings, const char *path)
{
    return SSL_CTX_use_PrivateKey_file(settings, path, SSL_FILETYPE_PEM);
}

/* Gives no passphrase. Without this function OpenSSL would ask for one at the terminal. */
static int no_passphrase(char *to, int room, int is_writing, void *was_asked)
{
    (void)to, (void)room, (void)is_writing;
    *(int *)was_asked = 1;
    return -1;
}

/* Loads the trusted authorities and our own certificate. */
static hilock_status use_files(SSL_CTX *settings, const struct hl_tls_options *options, struct hl_text *why)
{
    const char *key = options->key_file ? options->key_file : options->cert_file;
    const struct {
        const char *option, *path;
        int is_folder;
        int (*use)(SSL_CTX *settings, const char *path);
    } files[] = {
        {"tls_ca_file", options->ca_file, 0, SSL_CTX_load_verify_file},
        {"tls_ca_dir", options->ca_dir, 1, SSL_CTX_load_verify_dir},
        {"tls_cert_file", options->cert_file, 0, SSL_CTX_use_certificate_chain_file},
        {options->key_file ? "tls_key_file" : "tls_cert_file", options->cert_file ? key : NULL, 0, use_key}};
    int was_asked = 0;
    hilock_status status = HILOCK_OK;
    if (!options->ca_file && !options->ca_dir && SSL_CTX_set_default_verify_paths(settings) != 1)
        return refuse_file(why, "the system's", "certificates");
    SSL_CTX_set_default_passwd_cb(settings, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(settings, &was_asked);
    for (size_t i = 0; i < sizeof files / sizeof *files && status == HILOCK_OK; i++) {
        if (!files[i].path)
            continue;
        status = check_path(why, files[i].option, files[i].path, files[i].is_folder);
        if (status == HILOCK_OK && files[i].use(settings, files[i].path) != 1)
            status = refuse_file(why, files[i].option, files[i].path);
        if (was_asked)
            hl_words_passphrase(why, files[i].option, hl_text_quote(files[i].path, strlen(files[i].path)).bytes);
    }
    SSL_CTX_set_default_passwd_cb_userdata(settings, NULL);
    return status;
}

static int set_policy(SSL_CTX *settings)
{
    SSL_CTX_set_verify(settings, SSL_VERIFY_PEER, NULL);
    /* A server may close without a TLS notice: a reply has its length, so a cut reply is detected anyway. */
    SSL_CTX_set_options(settings, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(settings, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(settings, 1);
    if (SSL_CTX_get_min_proto_version(settings) >= TLS1_2_VERSION) /* the system's policy is as strict or stricter */
        return 0;
    return SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION) == 1 ? 0 : -1;
}

static void free_tls(struct hl_tls *tls)
{
    struct hl_memory memory = tls->memory;
    SSL_CTX_free(tls->settings);
    BIO_meth_free(tls->socket);
    hl_memory_free(&memory, tls);
}

/* ---- a connection ---- */

/* Sets the host that the certificate must be for. A certificate lists addresses apart from names, and SNI takes only
 * names. */
static int set_name(SSL *ssl, const char *host)
{
    unsigned char binary[sizeof(struct in6_addr)];
    char address[INET6_ADDRSTRLEN] = "";
    size_t length = strcspn(host, "%"); /* without the zone, which has a meaning on this machine only */
    X509_VERIFY_PARAM *wanted = SSL_get0_param(ssl);
    if (!*host)
        return -1; /* OpenSSL would accept any certificate for an empty name */
    if (length < sizeof address)
        memcpy(address, host, length);
    if (inet_pton(AF_INET, address, binary) == 1 || inet_pton(AF_INET6, address, binary) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(wanted, address) == 1 ? 0 : -1;
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(wanted, host, 0) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1 ? 0 : -1;
}

/* Begins the handshake through the BIO of hiredis, which may raise SIGPIPE. That signal goes to the thread that writes,
 * so it is enough to block it in this thread. */
static int initiate(redisContext *context, SSL *ssl, int *ret_error)
{
    sigset_t pipe, pending, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    errno = 0;
    int result = redisInitiateSSL(context, ssl);
    *ret_error = errno;
    if (!sigismember(&pending, SIGPIPE))
        hl_platform_take_signal(&pipe, SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static void report_failure(SSL *ssl, int error, int system_error, const char *host, struct hl_text *why)
{
    long result = SSL_get_verify_result(ssl);
    int is_about_trust =
        result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY || result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
        result == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN || result == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
        result == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
    if (error == SSL_ERROR_SYSCALL && system_error)
        hl_words_tls_broken(why, strerror(system_error));
    else if (error != SSL_ERROR_SSL)
        hl_text_set(why, "%s", hl_words_tls_closed);
    else if (result == X509_V_OK)
        report_error(ssl, why);
    else if (result == X509_V_ERR_HOSTNAME_MISMATCH || result == X509_V_ERR_IP_ADDRESS_MISMATCH)
        hl_words_cert_name(why, hl_text_quote(host, strlen(host)).bytes);
    else
        hl_words_cert_refused(why, X509_verify_cert_error_string(result), is_about_trust);
}

static SSL *begin(struct hl_tls *tls, redisContext *context, const char *host, struct hl_text *why)
{
    SSL *ssl = SSL_new(tls->settings);
    BIO *socket = ssl ? BIO_new(tls->socket) : NULL;
    int system_error;
    ERR_clear_error();
    if (socket && set_name(ssl, host) == 0) {
        BIO_set_data(socket, (void *)(intptr_t)context->fd);
        BIO_set_init(socket, 1);
        if (initiate(context, ssl, &system_error) == REDIS_OK) {
            SSL_set_bio(ssl, socket, socket);
            return ssl;
        }
        if (context->err != REDIS_ERR_OOM)
            report_failure(ssl, ERR_peek_error() ? SSL_ERROR_SSL : SSL_ERROR_SYSCALL, system_error, host, why);
    }
    if (!why->bytes[0])
        hl_text_set(why, "%s", hl_words_tls_memory);
    BIO_free(socket);
    SSL_free(ssl);
    ERR_clear_error();
    return NULL;
}

static enum hl_tls_step shake(struct hl_tls *tls, redisContext *context, SSL **ssl, const char *host,
                              struct hl_text *why)
{
    *ssl = *ssl ? *ssl : begin(tls, context, host, why);
    if (!*ssl)
        return HL_TLS_FAILED;
    ERR_clear_error();
    errno = 0;
    int result = SSL_do_handshake(*ssl);
    int system_error = errno;
    if (result == 1)
        return HL_TLS_DONE;
    int error = SSL_get_error(*ssl, result);
    if (error == SSL_ERROR_WANT_READ)
        return HL_TLS_READS;
    if (error == SSL_ERROR_WANT_WRITE)
        return HL_TLS_WRITES;
    report_failure(*ssl, error, system_error, host, why);
    ERR_clear_error();
    return HL_TLS_FAILED;
}

/* OpenSSL has bytes that can be read without the socket. A partial record does not count: OpenSSL waits for the rest,
 * which the socket will announce. */
static int has_more(const SSL *ssl)
{
    return SSL_has_pending(ssl) && !SSL_want_read(ssl);
}

/* Writes the buffer. redisBufferWrite is not used, because it frees the buffer without wiping it. */
static ssize_t write_buffered(redisContext *context, SSL *ssl, struct hl_text *why)
{
    ERR_clear_error();
    ssize_t written = context->err ? -1 : context->funcs->write(context);
    if (written >= 0)
        return written;
    explain(ssl, why);
    if (!why->bytes[0])
        hl_text_set(why, "%s", context->errstr);
    if (context->err == REDIS_ERR_IO) /* with an error set hiredis would not read the server's explanation */
        context->err = 0, context->errstr[0] = '\0';
    return -1;
}

static int wants_write(const SSL *ssl) { return SSL_want_write(ssl); }

hilock_status hl_tls_new(struct hl_tls **ret, const struct hl_memory *memory, const struct hl_tls_options *options,
                         struct hl_text *why)
{
    static const struct hl_tls_ops ops = {free_tls, shake,       ERR_clear_error, write_buffered,
                                          has_more, wants_write, explain};
    struct hl_tls *tls = hl_memory_new(memory, sizeof *tls);
    hilock_status status;
    if (!tls)
        return hl_text_refuse(why, HILOCK_NO_MEMORY, "%s", hl_words_tls_memory);
    *tls = (struct hl_tls){.ops = &ops, .memory = *memory, .refs = 1};
    ERR_clear_error();
    tls->settings = SSL_CTX_new(TLS_client_method());
    tls->socket = BIO_meth_new(BIO_TYPE_SOCKET, "link");
    if (tls->settings && tls->socket && BIO_meth_set_read(tls->socket, read_some) &&
        BIO_meth_set_write(tls->socket, write_some) && BIO_meth_set_ctrl(tls->socket, control) &&
        set_policy(tls->settings) == 0)
        status = use_files(tls->settings, options, why);
    else {
        hl_words_tls_setup(why, ERR_peek_error() ? reason(ERR_peek_error()) : hl_words_tls_memory);
        status = HILOCK_NO_MEMORY;
    }
    ERR_clear_error();
    if (status == HILOCK_OK)
        *ret = tls;
    else
        free_tls(tls);
    return status;
}
