/* SPDX-License-Identifier: BSD-3-Clause */
/* url - see url.h. After a refusal reading goes on, and its result is thrown away: only the first refusal counts. */
#include "base/url.h"
#include "base/quote.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/un.h>

enum {
    URL_MAX = 8192,
    HOST_MAX = 253,
    PORT_DEFAULT = 6379,
    SENTINEL_PORT_DEFAULT = 26379,
    PATH_MAX_BYTES = sizeof((struct sockaddr_un){0}.sun_path) - 1
};

struct reading {
    const char *text;
    struct hl_url *url;
    char *unused; /* of the block */
    struct hl_text *error;
    hilock_status status;
};

__attribute__((format(printf, 3, 4))) static void refuse(struct reading *reading, const char *at, const char *format,
                                                         ...)
{
    struct hl_text what;
    va_list list;
    if (reading->status != HILOCK_OK)
        return;
    va_start(list, format);
    hl_text_set_list(&what, format, list);
    va_end(list);
    reading->status = hl_text_refuse(reading->error, HILOCK_INVALID, "bad url at character %d: %.200s",
                                     (int)(at - reading->text) + 1, what.bytes);
}

/* ---- the scheme ---- */

static const struct scheme {
    const char *name;
    int is_tls;
    enum hl_url_scheme scheme;
} schemes[] = {
    {"redis", 0, HL_URL_REDIS},
    {"unix", 0, HL_URL_UNIX},
    {"rediss", 1, HL_URL_REDIS},
    {"redis+sentinel", 0, HL_URL_SENTINEL},
    {"rediss+sentinel", 1, HL_URL_SENTINEL},
    {"redis+cluster", 0, HL_URL_CLUSTER},
    {"rediss+cluster", 1, HL_URL_CLUSTER},
};

/* A url without its possible secrets: cut between the scheme and the last '@', and from a second ':' or a '?' on. The
 * text before "://" is a scheme only if it has no separator of a url: else it may have a user and a password. */
static void refuse_scheme(struct reading *reading)
{
    const char *colon = reading->text + strcspn(reading->text, ":/?#@"), *sign = strrchr(reading->text, '@');
    const char *head_end = strncmp(colon, "://", 3) == 0 ? colon + 3 : reading->text, *tail = sign ? sign : head_end;
    struct hl_quoted head = hl_quote(reading->text, (size_t)(head_end - reading->text));
    size_t tail_length = strcspn(tail, ":?");
    reading->status = hl_text_refuse(
        reading->error, HILOCK_INVALID,
        "bad url \"%.40s%s%.60s%s\": the scheme must be redis, rediss, unix, redis+sentinel, rediss+sentinel, "
        "redis+cluster or rediss+cluster",
        head.bytes, sign ? ".." : "", hl_quote(tail, tail_length).bytes, tail[tail_length] ? ".." : "");
}

/* Returns what follows; NULL: refused. */
static const char *take_scheme(struct reading *reading)
{
    const char *end = strstr(reading->text, "://");
    for (size_t i = 0; end && i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].name);
        if ((size_t)(end - reading->text) != length || strncasecmp(reading->text, schemes[i].name, length) != 0)
            continue;
        reading->url->scheme = schemes[i].scheme;
        reading->url->is_tls = schemes[i].is_tls;
        return end + 3;
    }
    refuse_scheme(reading);
    return NULL;
}

/* ---- the pieces ---- */

static char *take_text(struct reading *reading, const char *from, const char *to)
{
    char *start = reading->unused;
    for (const char *at = from; at < to; at++) {
        char digits[3] = "";
        if (*at == '%' && to - at > 2 && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
            memcpy(digits, at + 1, 2);
            if (strcmp(digits, "00") == 0)
                refuse(reading, at, "%%00 cannot be part of a name, password or path");
            *reading->unused++ = (char)strtoul(digits, NULL, 16);
            at += 2;
            continue;
        }
        if (*at == '%')
            refuse(reading, at, "%% must be followed by two hexadecimal digits; %% itself is written %%25");
        *reading->unused++ = *at;
    }
    *reading->unused++ = '\0';
    return start;
}

/* Never shown, even if it is a number: the url may lack an '@', and this may be the password. */
static void take_number(struct reading *reading, const char *from, const char *to, const char *name, long min, long max,
                        int *ret_number)
{
    long number = 0;
    const char *at = from;
    for (; at < to && *at >= '0' && *at <= '9'; at++)
        number = number > max ? number : number * 10 + (*at - '0');
    if (at < to || from == to || number < min || number > max)
        refuse(reading, from, "%s must be %ld..%ld", name, min, max);
    else
        *ret_number = (int)number;
}

static void take_db(struct reading *reading, const char *from)
{
    take_number(reading, from, from + strlen(from), "db", 0, INT_MAX, &reading->url->db);
}

static void take_userinfo(struct reading *reading, const char *from, const char *to)
{
    const char *colon = memchr(from, ':', (size_t)(to - from)), *user_end = colon ? colon : to;
    const char *sign = memchr(from, '@', (size_t)(to - from));
    if (sign)
        refuse(reading, sign, "@ in a user name or password must be written %%40");
    if (user_end > from)
        reading->url->user = take_text(reading, from, user_end);
    if (colon && colon + 1 < to)
        reading->url->password = take_text(reading, colon + 1, to);
}

/* ---- hosts ---- */

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
    enum hl_url_scheme scheme = reading->url->scheme;
    const char *close = *from == '[' ? memchr(from, ']', (size_t)(to - from)) : NULL;
    const char *colon = memchr(from, ':', (size_t)(to - from)), *end = close ? close + 1 : colon ? colon : to;
    const char *name = close ? from + 1 : from, *name_end = close ? close : end;
    if (*from == '[' && !close)
        refuse(reading, from, "[ must be closed by ]");
    if (end < to && *end != ':')
        refuse(reading, end, "only :port or %s may follow the address", scheme == HL_URL_REDIS ? "/db" : "a comma");
    if (!close && end < to && memchr(end + 1, ':', (size_t)(to - end - 1)))
        refuse(reading, from, "an IPv6 address must stand in brackets, as [::1]");
    if (from == end)
        refuse(reading, from, "the host is missing");
    if (name_end - name > HOST_MAX)
        refuse(reading, name, "host of %d letters: at most %d", (int)(name_end - name), HOST_MAX);
    for (const char *at = name; !close && at < name_end; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-._", *at))
            refuse(reading, at,
                   "a host has letters, digits, '-', '.' and '_' only; an IPv6 address stands in brackets");
    host->host = take_text(reading, name, name_end);
    if (close && !is_ipv6(host->host))
        refuse(reading, name, "an IPv6 address must stand in the brackets, a zone as [fe80::1%%25eth0]");
    host->port = scheme == HL_URL_SENTINEL ? SENTINEL_PORT_DEFAULT : PORT_DEFAULT;
    if (end < to)
        take_number(reading, end + 1, to, "port", 1, 65535, &host->port);
}

/* user:password@host:port,host:port.. Returns where no host can go on. */
static const char *take_hosts(struct reading *reading, const char *from)
{
    const char *end = from + strcspn(from, "/?#"), *sign = memrchr(from, '@', (size_t)(end - from)), *comma;
    if (strchr(end, '@'))
        refuse(reading, end, "%c in a user name or password must be written %%%02X", *end, (unsigned)*end);
    if (sign)
        take_userinfo(reading, from, sign);
    for (const char *at = sign ? sign + 1 : from; at; at = comma ? comma + 1 : NULL) {
        comma = reading->url->scheme == HL_URL_REDIS ? NULL : memchr(at, ',', (size_t)(end - at));
        if (reading->url->hosts_count == HL_URL_HOSTS_MAX) {
            refuse(reading, at, "at most %d hosts", HL_URL_HOSTS_MAX);
            break;
        }
        take_host(reading, at, comma ? comma : end);
    }
    return end;
}

/* ---- what follows them ---- */

static void take_master(struct reading *reading, const char *from)
{
    const char *end = from + strcspn(from, "/?#");
    if (from == end)
        refuse(reading, from, "the master's name is missing: /master or /master/db may follow the sentinels");
    reading->url->master = take_text(reading, from, end);
    if (*end && *end != '/')
        refuse(reading, end, "%c in the master's name must be written %%%02X", *end, (unsigned)*end);
    else if (*end)
        take_db(reading, end + 1);
}

static void take_tail(struct reading *reading, const char *tail)
{
    int is_redis = reading->url->scheme == HL_URL_REDIS;
    if (!*tail || strcmp(tail, "/") == 0)
        return;
    if (reading->url->scheme == HL_URL_CLUSTER && strcmp(tail, "/0") != 0)
        refuse(reading, tail, "%s",
               *tail == '/' ? "a cluster has no databases but 0: leave it out"
                            : "nothing may follow the nodes of a cluster");
    else if (*tail != '/')
        refuse(reading, tail, "%c is not known here: only %s", *tail,
               is_redis ? "/db may follow the host" : "/master or /master/db may follow the sentinels");
    else if (reading->url->scheme == HL_URL_SENTINEL)
        take_master(reading, tail + 1);
    else
        take_db(reading, tail + 1);
}

static void take_unix(struct reading *reading, const char *from)
{
    const char *path = from + strcspn(from, "/?#"), *end = path + strcspn(path, "?#");
    char *text;
    if (path > from && path[-1] != '@')
        refuse(reading, from,
               "an absolute path must follow, as unix:///run/redis.sock, before it at most user:password@ (with "
               "/ written %%2F)");
    if (*path != '/')
        refuse(reading, path, "an absolute path must follow, as unix:///run/redis.sock");
    if (path > from)
        take_userinfo(reading, from, path - 1);
    reading->url->hosts[reading->url->hosts_count++].host = text = take_text(reading, path, end);
    if (strlen(text) > PATH_MAX_BYTES)
        refuse(reading, path, "path of %zu bytes: a unix socket's has at most %d", strlen(text), (int)PATH_MAX_BYTES);
    if (*end == '#')
        refuse(reading, end, "# in a path is written %%23");
    else if (*end && strncmp(end + 1, "db=", 3) != 0)
        refuse(reading, end + 1, "only db=<number> may follow the ?, in a path ? is written %%3F");
    else if (*end)
        take_db(reading, end + 4);
}

/* ---- the whole ---- */

static void check_alphabet(struct reading *reading)
{
    for (const char *at = reading->text; *at; at++)
        if (*at <= ' ' || *at > '~')
            refuse(reading, at, "blanks, control characters and letters outside ASCII must be %%-escaped");
}

hilock_status hl_url_parse(struct hl_url *ret, const struct hl_memory *memory, const char *text,
                           struct hl_text *ret_error)
{
    struct hl_url url = {.db = 0};
    struct reading reading = {text ? text : "redis://127.0.0.1:6379/0", &url, NULL, ret_error, HILOCK_OK};
    const char *rest;
    size_t length = strnlen(reading.text, URL_MAX + 1);
    if (length > URL_MAX)
        return hl_text_refuse(ret_error, HILOCK_INVALID, "bad url: longer than %d characters", URL_MAX);
    rest = take_scheme(&reading);
    check_alphabet(&reading);
    if (reading.status != HILOCK_OK)
        return reading.status;
    url.block_size = length + 1; /* decoding shortens; each piece but the last has a separator behind it */
    url.block = reading.unused = hl_memory_new(memory, url.block_size);
    if (!url.block)
        return hl_text_refuse(ret_error, HILOCK_NO_MEMORY, "out of memory");
    if (url.scheme == HL_URL_UNIX)
        take_unix(&reading, rest);
    else
        take_tail(&reading, take_hosts(&reading, rest));
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
