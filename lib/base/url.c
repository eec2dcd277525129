/* SPDX-License-Identifier: BSD-3-Clause */
/* url - see url.h. A refusal names the place where the url is wrong and the rule for that place. It quotes nothing, so
 * a misplaced secret cannot show in it. Parsing continues after a refusal, but only the first refusal is reported. */
#include "base/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/platform.h"
#include "base/words.h"

enum { URL_MAX = 8192, HOST_MAX = 253, PATH_MAX_BYTES = sizeof((struct sockaddr_un){0}.sun_path) - 1 };

_Static_assert(PATH_MAX_BYTES == HL_PLATFORM_PATH_MAX && HL_URL_HOSTS_MAX == 16, "base/words.c names them");

static const char host_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

static const struct form {
    const char *names[2]; /* the scheme without TLS, and with TLS; NULL: not possible */
    int port;
    const char *text_ends; /* the letters that end a path or a master's name; NULL: the form has neither */
    const char *database;  /* the text before the number of the database */
    int databases_max;
    const char *tail; /* the rule for what follows the hosts */
} forms[] = {
    [HL_URL_REDIS] = {{"redis://", "rediss://"}, 6379, NULL, "/", INT_MAX, hl_words_redis_tail},
    [HL_URL_UNIX] = {{"unix://", NULL}, 0, "?#", "?db=", INT_MAX, hl_words_unix_tail},
    [HL_URL_SENTINEL] = {{"redis+sentinel://", "rediss+sentinel://"}, 26379, "/?#", "/", INT_MAX,
                         hl_words_sentinel_tail},
    [HL_URL_CLUSTER] = {{"redis+cluster://", "rediss+cluster://"}, 6379, NULL, "/", 0, hl_words_cluster_tail},
};

struct reading {
    const char *text;
    struct hl_url *url;
    const struct form *form; /* the form of the url's scheme */
    char *unused; /* where the unused part of url->block begins */
    struct hl_text *error;
    hilock_status status;
};

static void refuse(struct reading *reading, const char *at, const char *rule)
{
    if (reading->status == HILOCK_OK)
        hl_words_bad_url(reading->error, (int)(at - reading->text) + 1, rule);
    reading->status = HILOCK_INVALID;
}

/* Returns the place after the scheme. */
static const char *take_scheme(struct reading *reading)
{
    for (unsigned i = 0; i < 2 * sizeof forms / sizeof *forms; i++) {
        const char *name = forms[i / 2].names[i % 2];
        if (!name || strncasecmp(reading->text, name, strlen(name)) != 0)
            continue;
        reading->url->scheme = (enum hl_url_scheme)(i / 2);
        reading->form = &forms[i / 2];
        reading->url->is_tls = i % 2;
        return reading->text + strlen(name);
    }
    refuse(reading, reading->text, hl_words_scheme);
    return reading->text;
}

static char *take_text(struct reading *reading, const char *from, const char *to)
{
    char *start = reading->unused;
    for (const char *at = from; at < to; at++) {
        int is_escape = *at == '%' && to - at > 2 && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]);
        char digits[3] = {is_escape ? at[1] : '0', is_escape ? at[2] : '0'};
        char byte = *at == '%' ? (char)strtoul(digits, NULL, 16) : *at;
        if (!byte) /* a % without two digits, or %00 */
            refuse(reading, at, hl_words_escape);
        *reading->unused++ = byte;
        at += is_escape ? 2 : 0;
    }
    *reading->unused++ = '\0';
    return start;
}

static void take_number(struct reading *reading, const char *from, const char *to, int min, int max,
                        const char *rule, int *ret_number)
{
    int64_t number = 0; /* has room for one digit more than max */
    const char *at = from;
    for (; at < to && *at >= '0' && *at <= '9'; at++)
        number = number > max ? number : number * 10 + (*at - '0');
    if (at < to || from == to || number < min || number > max)
        refuse(reading, from, rule);
    else
        *ret_number = (int)number;
}

static int is_ipv6(const char *address)
{
    unsigned char binary[sizeof(struct in6_addr)];
    char plain[INET6_ADDRSTRLEN];
    size_t length = strcspn(address, "%");
    if (length >= sizeof plain || (address[length] && !address[length + 1]))
        return 0;
    memcpy(plain, address, length);
    plain[length] = '\0';
    return inet_pton(AF_INET6, plain, binary) == 1;
}

int hl_url_is_address(const char *host)
{
    unsigned char binary[sizeof(struct in_addr)];
    return inet_pton(AF_INET, host, binary) == 1 || is_ipv6(host);
}

static void take_host(struct reading *reading, const char *from, const char *to)
{
    struct hl_url_host *host = &reading->url->hosts[reading->url->hosts_count++];
    const char *close = *from == '[' ? memchr(from, ']', (size_t)(to - from)) : NULL;
    const char *colon = memchr(from, ':', (size_t)(to - from)), *end = close ? close + 1 : colon ? colon : to;
    const char *name = close ? from + 1 : from;
    size_t length = (size_t)((close ? close : end) - name);
    int is_good;
    host->host = take_text(reading, name, name + length);
    host->port = reading->form->port;
    is_good = close ? is_ipv6(host->host) : strspn(name, host_letters) >= length;
    if (!length || length > HOST_MAX || !is_good || (end < to && *end != ':'))
        refuse(reading, from, hl_words_host);
    else if (end < to)
        take_number(reading, end + 1, to, 1, 65535, hl_words_port, &host->port);
}

/* Reads user:password@host:port,host:port.. and returns the place after the hosts. */
static const char *take_places(struct reading *reading, const char *from)
{
    const char *end = from + strcspn(from, "/?#"), *sign = memrchr(from, '@', (size_t)(end - from));
    const char *hosts = sign ? sign + 1 : from, *first_sign = memchr(from, '@', (size_t)(end - from)), *comma;
    const char *colon = memchr(from, ':', (size_t)((sign ? sign : from) - from)), *user_end = colon ? colon : sign;
    int is_unix = reading->url->scheme == HL_URL_UNIX;
    if (!is_unix && strchr(end, '@'))
        refuse(reading, end, hl_words_login);
    if (first_sign != sign)
        refuse(reading, first_sign, hl_words_login);
    if (sign && user_end > from)
        reading->url->user = take_text(reading, from, user_end);
    if (colon && colon + 1 < sign)
        reading->url->password = take_text(reading, colon + 1, sign);
    if (is_unix && hosts < end)
        refuse(reading, hosts, reading->form->tail);
    for (const char *at = is_unix ? NULL : hosts; at; at = comma ? comma + 1 : NULL) {
        comma = memchr(at, ',', (size_t)(end - at));
        if (comma && reading->url->scheme == HL_URL_REDIS)
            refuse(reading, comma, hl_words_one_server);
        if (reading->url->hosts_count == HL_URL_HOSTS_MAX) {
            refuse(reading, at, hl_words_hosts_max);
            break;
        }
        take_host(reading, at, comma ? comma : end);
    }
    return end;
}

/* Reads a path or a master's name, and the number of the database. */
static void take_tail(struct reading *reading, const char *at)
{
    const struct form *form = reading->form;
    struct hl_url *url = reading->url;
    int is_path = url->scheme == HL_URL_UNIX;
    if (strcmp(at, "/") == 0 && !is_path)
        return;
    if (is_path || (form->text_ends && *at == '/')) {
        const char *from = is_path ? at : at + 1;
        char **text = is_path ? &url->hosts[url->hosts_count++].host : &url->master;
        at = from + strcspn(from, form->text_ends);
        *text = take_text(reading, from, at);
        if (!**text || (is_path && (**text != '/' || strlen(*text) > PATH_MAX_BYTES)))
            refuse(reading, from, form->tail);
    }
    if (*at && strncmp(at, form->database, strlen(form->database)) != 0)
        refuse(reading, at, form->tail);
    else if (*at)
        take_number(reading, at + strlen(form->database), at + strlen(at), 0, form->databases_max, form->tail,
                    &url->db);
}

hilock_status hl_url_parse(struct hl_url *ret, const struct hl_memory *memory, const char *text,
                           struct hl_text *ret_error)
{
    struct hl_url url = {.db = 0};
    struct reading reading = {.text = text ? text : "redis://127.0.0.1:6379/0", .url = &url, .error = ret_error};
    const char *rest;
    size_t length = strnlen(reading.text, URL_MAX + 1);
    if (length > URL_MAX) {
        hl_words_long_url(ret_error, URL_MAX);
        return HILOCK_INVALID;
    }
    rest = take_scheme(&reading);
    for (const char *at = reading.text; *at; at++)
        if (*at <= ' ' || *at > '~')
            refuse(&reading, at, hl_words_alphabet);
    if (reading.status != HILOCK_OK)
        return reading.status;
    url.block_size = length + 1; /* decoding only shortens a text, and the separator after it becomes its terminator */
    url.block = reading.unused = hl_memory_new(memory, url.block_size);
    if (!url.block)
        return hl_text_refuse(ret_error, HILOCK_NO_MEMORY, "%s", hl_words_no_memory);
    take_tail(&reading, take_places(&reading, rest));
    if (reading.status == HILOCK_OK)
        *ret = url;
    else
        hl_url_done(&url, memory);
    return reading.status;
}

void hl_url_done(struct hl_url *url, const struct hl_memory *memory)
{
    if (url->block)
        hl_memory_wipe(url->block, url->block_size);
    hl_memory_free(memory, url->block);
    *url = (struct hl_url){0};
}
