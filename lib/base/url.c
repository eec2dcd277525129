/* SPDX-License-Identifier: BSD-3-Clause */
/* url - see url.h. A refusal says where the url is wrong, and the rule for that place; it quotes nothing, so no
 * misplaced secret can be in it. After a refusal reading goes on, for nothing: only the first one counts. */
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

enum { URL_MAX = 8192, HOST_MAX = 253, PATH_MAX_BYTES = sizeof((struct sockaddr_un){0}.sun_path) - 1 };

_Static_assert(PATH_MAX_BYTES == HL_PLATFORM_PATH_MAX && HL_URL_HOSTS_MAX == 16, "the refusals name them");

#define AS_WORDS(number) #number
#define IN_WORDS(number) AS_WORDS(number)

static const char host_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

static const struct form {
    const char *names[2]; /* plain, and by TLS */
    int port;
    const char *text_ends; /* there a path or a master's name ends; NULL: there is none */
    const char *database;  /* stands before its number */
    int databases_max;
    const char *tail; /* the rule of what follows the hosts */
} forms[] = {
    [HL_URL_REDIS] = {{"redis://", "rediss://"}, 6379, NULL, "/", INT_MAX,
                      "only /db may follow the host, and must be 0..2147483647"},
    [HL_URL_UNIX] = {{"unix://", NULL}, 0, "?#", "?db=", INT_MAX,
                     "after at most user:password@ an absolute path of at most " IN_WORDS(HL_PLATFORM_PATH_MAX)
                     " bytes must follow, as unix:///run/redis.sock, then at most ?db=0..2147483647; ? and # in a "
                     "path are written %3F, %23"},
    [HL_URL_SENTINEL] = {{"redis+sentinel://", "rediss+sentinel://"}, 26379, "/?#", "/", INT_MAX,
                         "only /master or /master/db may follow the sentinels, db must be 0..2147483647; / ? # in the "
                         "master's name are written %2F %3F %23"},
    [HL_URL_CLUSTER] = {{"redis+cluster://", "rediss+cluster://"}, 6379, NULL, "/", 0,
                        "nothing may follow the nodes of a cluster: it has no databases but 0"},
};

struct reading {
    const char *text;
    struct hl_url *url;
    const struct form *form; /* of its scheme */
    char *unused; /* of the block */
    struct hl_text *error;
    hilock_status status;
};

static void refuse(struct reading *reading, const char *at, const char *rule)
{
    if (reading->status == HILOCK_OK)
        reading->status = hl_text_refuse(reading->error, HILOCK_INVALID, "bad url at character %d: %s",
                                         (int)(at - reading->text) + 1, rule);
}

/* Returns what follows. */
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
    refuse(reading, reading->text, "it must begin with redis://, rediss://, unix://, redis+sentinel://, "
                                   "rediss+sentinel://, redis+cluster:// or rediss+cluster://");
    return reading->text;
}

static char *take_text(struct reading *reading, const char *from, const char *to)
{
    char *start = reading->unused;
    for (const char *at = from; at < to; at++) {
        int is_escape = *at == '%' && to - at > 2 && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]);
        char digits[3] = {is_escape ? at[1] : '0', is_escape ? at[2] : '0'};
        char byte = *at == '%' ? (char)strtoul(digits, NULL, 16) : *at;
        if (!byte) /* no escape, or %00 */
            refuse(reading, at, "% must be followed by two hexadecimal digits, not 00; % itself is written %25");
        *reading->unused++ = byte;
        at += is_escape ? 2 : 0;
    }
    *reading->unused++ = '\0';
    return start;
}

static void take_number(struct reading *reading, const char *from, const char *to, int min, int max,
                        const char *rule, int *ret_number)
{
    int64_t number = 0; /* one digit more than max has */
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
        refuse(reading, from, "a host must be 1..253 letters, digits, '-', '.' and '_', or an IPv6 address in "
                              "brackets, as [::1] or [fe80::1%25eth0]; only :port may follow it");
    else if (end < to)
        take_number(reading, end + 1, to, 1, 65535, "port must be 1..65535", &host->port);
}

/* user:password@host:port,host:port.. Returns where no host can go on. */
static const char *take_places(struct reading *reading, const char *from)
{
    static const char login_rule[] = "/ ? # @ in a user name or password must be written %2F %3F %23 %40";
    const char *end = from + strcspn(from, "/?#"), *sign = memrchr(from, '@', (size_t)(end - from));
    const char *hosts = sign ? sign + 1 : from, *first_sign = memchr(from, '@', (size_t)(end - from)), *comma;
    const char *colon = memchr(from, ':', (size_t)((sign ? sign : from) - from)), *user_end = colon ? colon : sign;
    int is_unix = reading->url->scheme == HL_URL_UNIX;
    if (!is_unix && strchr(end, '@'))
        refuse(reading, end, login_rule);
    if (first_sign != sign)
        refuse(reading, first_sign, login_rule);
    if (sign && user_end > from)
        reading->url->user = take_text(reading, from, user_end);
    if (colon && colon + 1 < sign)
        reading->url->password = take_text(reading, colon + 1, sign);
    if (is_unix && hosts < end)
        refuse(reading, hosts, reading->form->tail);
    for (const char *at = is_unix ? NULL : hosts; at; at = comma ? comma + 1 : NULL) {
        comma = memchr(at, ',', (size_t)(end - at));
        if (comma && reading->url->scheme == HL_URL_REDIS)
            refuse(reading, comma, "this url has one server: several are redis+sentinel://, redis+cluster://, or "
                                   "quorum_urls");
        if (reading->url->hosts_count == HL_URL_HOSTS_MAX) {
            refuse(reading, at, "at most 16 hosts");
            break;
        }
        take_host(reading, at, comma ? comma : end);
    }
    return end;
}

/* A path or a master's name, and the number of a database. */
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
    if (length > URL_MAX)
        return hl_text_refuse(ret_error, HILOCK_INVALID, "bad url: longer than %d characters", URL_MAX);
    rest = take_scheme(&reading);
    for (const char *at = reading.text; *at; at++)
        if (*at <= ' ' || *at > '~')
            refuse(&reading, at, "blanks, control characters and letters outside ASCII must be %-escaped");
    if (reading.status != HILOCK_OK)
        return reading.status;
    url.block_size = length + 1; /* decoding shortens; each piece but the last has a separator behind it */
    url.block = reading.unused = hl_memory_new(memory, url.block_size);
    if (!url.block)
        return hl_text_refuse(ret_error, HILOCK_NO_MEMORY, "out of memory");
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
