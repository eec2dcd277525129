/* SPDX-License-Identifier: BSD-3-Clause */
/* url - see url.h. */
#include "base/url.h"
#include "base/quote.h"

#include <arpa/inet.h>
#include <limits.h>
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
};

__attribute__((format(printf, 3, 4))) static hilock_status refuse(const struct reading *reading, const char *at,
                                                                  const char *format, ...)
{
    struct hl_text what;
    va_list list;
    va_start(list, format);
    hl_text_set_list(&what, format, list);
    va_end(list);
    hl_text_set(reading->error, "bad url at character %d: %.200s", (int)(at - reading->text) + 1, what.bytes);
    return HILOCK_INVALID;
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
static void refuse_scheme(const struct reading *reading)
{
    const char *colon = reading->text + strcspn(reading->text, ":/?#@"), *sign = strrchr(reading->text, '@');
    const char *head_end = strncmp(colon, "://", 3) == 0 ? colon + 3 : reading->text, *tail = sign ? sign : head_end;
    struct hl_quoted head = hl_quote(reading->text, (size_t)(head_end - reading->text));
    size_t tail_length = strcspn(tail, ":?");
    hl_text_set(reading->error,
                "bad url \"%.40s%s%.60s%s\": the scheme must be redis, rediss, unix, redis+sentinel, rediss+sentinel, "
                "redis+cluster or "
                "rediss+cluster",
                head.bytes, sign ? ".." : "", hl_quote(tail, tail_length).bytes, tail[tail_length] ? ".." : "");
}

static hilock_status take_scheme(struct reading *reading, const char **ret_rest)
{
    const char *end = strstr(reading->text, "://");
    for (size_t i = 0; end && i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].name);
        if ((size_t)(end - reading->text) != length || strncasecmp(reading->text, schemes[i].name, length) != 0)
            continue;
        *ret_rest = end + 3;
        reading->url->scheme = schemes[i].scheme;
        reading->url->is_tls = schemes[i].is_tls;
        return HILOCK_OK;
    }
    refuse_scheme(reading);
    return HILOCK_INVALID;
}

/* ---- the pieces ---- */

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static hilock_status take_text(struct reading *reading, const char *from, const char *to, char **ret_text)
{
    char *start = reading->unused;
    for (const char *at = from; at < to; at++) {
        int high, low;
        if (*at != '%') {
            *reading->unused++ = *at;
            continue;
        }
        high = to - at > 2 ? hex_value(at[1]) : -1;
        low = to - at > 2 ? hex_value(at[2]) : -1;
        if (high < 0 || low < 0)
            return refuse(reading, at, "%% must be followed by two hexadecimal digits; %% itself is written %%25");
        if (high + low == 0)
            return refuse(reading, at, "%%00 cannot be part of a name, password or path");
        *reading->unused++ = (char)(high << 4 | low);
        at += 2;
    }
    *reading->unused++ = '\0';
    *ret_text = start;
    return HILOCK_OK;
}

/* Never shown, even if it is a number: the url may lack an '@', and this may be the password. */
static hilock_status take_number(const struct reading *reading, const char *from, const char *to, const char *name,
                                 long min, long max, int *ret_number)
{
    long number = 0;
    const char *at = from;
    for (; at < to && *at >= '0' && *at <= '9'; at++)
        number = number > max ? number : number * 10 + (*at - '0');
    if (at < to || from == to || number < min || number > max)
        return refuse(reading, from, "%s must be %ld..%ld", name, min, max);
    *ret_number = (int)number;
    return HILOCK_OK;
}

static hilock_status take_userinfo(struct reading *reading, const char *from, const char *to)
{
    const char *colon = memchr(from, ':', (size_t)(to - from)), *user_end = colon ? colon : to;
    const char *sign = memchr(from, '@', (size_t)(to - from));
    hilock_status status = HILOCK_OK;
    if (sign)
        return refuse(reading, sign, "@ in a user name or password must be written %%40");
    if (user_end > from)
        status = take_text(reading, from, user_end, &reading->url->user);
    if (status == HILOCK_OK && colon && colon + 1 < to)
        status = take_text(reading, colon + 1, to, &reading->url->password);
    return status;
}

static const char *last_sign(const char *from, const char *to) { return memrchr(from, '@', (size_t)(to - from)); }

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

static hilock_status check_host_length(const struct reading *reading, const char *from, const char *to)
{
    return to - from > HOST_MAX ? refuse(reading, from, "host of %d letters: at most %d", (int)(to - from), HOST_MAX)
                                : HILOCK_OK;
}

static hilock_status take_bracketed(struct reading *reading, const char *from, const char *to, struct hl_url_host *ret)
{
    hilock_status status = check_host_length(reading, from, to);
    if (status == HILOCK_OK)
        status = take_text(reading, from, to, &ret->host);
    if (status == HILOCK_OK && !is_ipv6(ret->host))
        return refuse(reading, from, "an IPv6 address must stand in the brackets, a zone as [fe80::1%%25eth0]");
    return status;
}

static hilock_status take_host(struct reading *reading, const char *from, const char *to, struct hl_url_host *ret)
{
    if (from == to)
        return refuse(reading, from, "the host is missing");
    if (check_host_length(reading, from, to) != HILOCK_OK)
        return HILOCK_INVALID;
    for (const char *at = from; at < to; at++)
        if (!strchr("-._", *at) && !((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') && !(*at >= '0' && *at <= '9'))
            return refuse(reading, at,
                          "a host has letters, digits, '-', '.' and '_' only; an IPv6 address stands in brackets");
    return take_text(reading, from, to, &ret->host);
}

static hilock_status take_host_and_port(struct reading *reading, const char *from, const char *to)
{
    struct hl_url_host *host = &reading->url->hosts[reading->url->hosts_count];
    const char *close = *from == '[' ? memchr(from, ']', (size_t)(to - from)) : NULL;
    const char *host_end = close ? close + 1 : memchr(from, ':', (size_t)(to - from));
    hilock_status status;
    if (*from == '[' && !close)
        return refuse(reading, from, "[ must be closed by ]");
    host_end = host_end ? host_end : to;
    if (host_end < to && *host_end != ':')
        return refuse(reading, host_end,
                      reading->url->scheme == HL_URL_REDIS ? "only :port or /db may follow the address"
                                                           : "only :port or a comma may follow the address");
    if (!close && host_end < to && memchr(host_end + 1, ':', (size_t)(to - host_end - 1)))
        return refuse(reading, from, "an IPv6 address must stand in brackets, as [::1]");
    reading->url->hosts_count++;
    host->port = reading->url->scheme == HL_URL_SENTINEL ? SENTINEL_PORT_DEFAULT : PORT_DEFAULT;
    status = close ? take_bracketed(reading, from + 1, close, host) : take_host(reading, from, host_end, host);
    if (status == HILOCK_OK && host_end < to)
        status = take_number(reading, host_end + 1, to, "port", 1, 65535, &host->port);
    return status;
}

/* user:password@host:port,host:port.. Returns in ret_end where no host can go on. */
static hilock_status take_hosts(struct reading *reading, const char *from, int is_list, const char **ret_end)
{
    const char *end = from + strcspn(from, "/?#"), *sign = last_sign(from, end), *at = sign ? sign + 1 : from, *comma;
    hilock_status status = HILOCK_OK;
    *ret_end = end;
    if (strchr(end, '@'))
        return refuse(reading, end, "%c in a user name or password must be written %%%02X", *end, (unsigned)*end);
    if (sign)
        status = take_userinfo(reading, from, sign);
    for (; status == HILOCK_OK && at; at = comma ? comma + 1 : NULL) {
        comma = is_list ? memchr(at, ',', (size_t)(end - at)) : NULL;
        if (reading->url->hosts_count == HL_URL_HOSTS_MAX)
            return refuse(reading, at, "at most %d hosts", HL_URL_HOSTS_MAX);
        status = take_host_and_port(reading, at, comma ? comma : end);
    }
    return status;
}

/* ---- redis:// ---- */

static hilock_status take_redis(struct reading *reading, const char *from)
{
    const char *end;
    hilock_status status = take_hosts(reading, from, 0, &end);
    if (status != HILOCK_OK || !*end || strcmp(end, "/") == 0)
        return status;
    if (*end != '/')
        return refuse(reading, end, "%c is not known here: only /db may follow the host", *end);
    return take_number(reading, end + 1, end + strlen(end), "db", 0, INT_MAX, &reading->url->db);
}

/* ---- unix:// ---- */

static hilock_status take_query(const struct reading *reading, const char *from)
{
    if (strncmp(from, "db=", 3) != 0)
        return refuse(reading, from, "only db=<number> may follow the ?, in a path ? is written %%3F");
    return take_number(reading, from + 3, from + strlen(from), "db", 0, INT_MAX, &reading->url->db);
}

static hilock_status take_unix(struct reading *reading, const char *from)
{
    const char *path = from + strcspn(from, "/?#"), *path_end = path + strcspn(path, "?#");
    hilock_status status = HILOCK_OK;
    if (path > from && path[-1] != '@')
        return refuse(reading, from,
                      "an absolute path must follow, as unix:///run/redis.sock, before it at most user:password@ (with "
                      "/ written %%2F)");
    if (*path != '/')
        return refuse(reading, path, "an absolute path must follow, as unix:///run/redis.sock");
    if (path > from)
        status = take_userinfo(reading, from, path - 1);
    if (status == HILOCK_OK)
        status = take_text(reading, path, path_end, &reading->url->path);
    if (status != HILOCK_OK)
        return status;
    if (strlen(reading->url->path) > PATH_MAX_BYTES)
        return refuse(reading, path, "path of %zu bytes: a unix socket's has at most %d", strlen(reading->url->path),
                      (int)PATH_MAX_BYTES);
    if (*path_end == '#')
        return refuse(reading, path_end, "# in a path is written %%23");
    return *path_end ? take_query(reading, path_end + 1) : HILOCK_OK;
}

/* ---- redis+sentinel://, redis+cluster:// ---- */

static hilock_status take_sentinel(struct reading *reading, const char *from)
{
    const char *end, *master, *master_end;
    hilock_status status = take_hosts(reading, from, 1, &end);
    if (status != HILOCK_OK || !*end || strcmp(end, "/") == 0)
        return status;
    master = end + 1;
    master_end = master + strcspn(master, "/?#");
    if (*end != '/')
        return refuse(reading, end, "%c is not known here: only /master or /master/db may follow the sentinels", *end);
    if (master == master_end)
        return refuse(reading, master, "the master's name is missing: /master or /master/db may follow the sentinels");
    status = take_text(reading, master, master_end, &reading->url->master);
    if (status != HILOCK_OK || !*master_end)
        return status;
    if (*master_end != '/')
        return refuse(reading, master_end, "%c in the master's name must be written %%%02X", *master_end,
                      (unsigned)*master_end);
    return take_number(reading, master_end + 1, master_end + strlen(master_end), "db", 0, INT_MAX, &reading->url->db);
}

static hilock_status take_cluster(struct reading *reading, const char *from)
{
    const char *end;
    hilock_status status = take_hosts(reading, from, 1, &end);
    if (status != HILOCK_OK || !*end || strcmp(end, "/") == 0 || strcmp(end, "/0") == 0)
        return status;
    return refuse(reading, end,
                  *end == '/' ? "a cluster has no databases but 0: leave it out"
                              : "nothing may follow the nodes of a cluster");
}

/* ---- the whole ---- */

static hilock_status check_alphabet(const struct reading *reading)
{
    for (const char *at = reading->text; *at; at++)
        if (*at <= ' ' || *at > '~')
            return refuse(reading, at, "blanks, control characters and letters outside ASCII must be %%-escaped");
    return HILOCK_OK;
}

static hilock_status read_url(struct reading *reading, const struct hl_memory *memory)
{
    const char *rest = NULL;
    size_t length = strnlen(reading->text, URL_MAX + 1);
    hilock_status status = HILOCK_OK;
    if (length > URL_MAX) {
        hl_text_set(reading->error, "bad url: longer than %d characters", URL_MAX);
        return HILOCK_INVALID;
    }
    status = take_scheme(reading, &rest);
    if (status == HILOCK_OK)
        status = check_alphabet(reading);
    if (status != HILOCK_OK)
        return status;
    reading->url->block_size = length + 1; /* decoding shortens; each piece but the last has a separator behind it */
    reading->url->block = reading->unused = hl_memory_new(memory, reading->url->block_size);
    if (!reading->url->block) {
        hl_text_set(reading->error, "out of memory");
        return HILOCK_NO_MEMORY;
    }
    switch (reading->url->scheme) {
    case HL_URL_REDIS: return take_redis(reading, rest);
    case HL_URL_UNIX: return take_unix(reading, rest);
    case HL_URL_SENTINEL: return take_sentinel(reading, rest);
    case HL_URL_CLUSTER: return take_cluster(reading, rest);
    }
    return HILOCK_INVALID;
}

hilock_status hl_url_parse(struct hl_url *ret, const struct hl_memory *memory, const char *text,
                           struct hl_text *ret_error)
{
    struct hl_url url = {.db = 0};
    struct reading reading = {text ? text : "redis://127.0.0.1:6379/0", &url, NULL, ret_error};
    hilock_status status = read_url(&reading, memory);
    if (status == HILOCK_OK)
        *ret = url;
    else
        hl_url_done(&url, memory);
    return status;
}

void hl_url_done(struct hl_url *url, const struct hl_memory *memory)
{
    if (url->block)
        hl_memory_wipe(url->block, url->block_size);
    hl_memory_free(memory, url->block);
    *url = (struct hl_url){0};
}
