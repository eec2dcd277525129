/* SPDX-License-Identifier: BSD-3-Clause */
/* url - where the locks live, as one line of text:
 *
 *   redis://[user[:password]@]host[:port][/db]      an IPv6 address stands in brackets
 *   unix://[user[:password]@]/path[?db=number]
 *   redis+sentinel://[user[:password]@]host[:port],..[/master[/db]]   (login of the master)
 *   redis+cluster://[user[:password]@]host[:port],..
 *   rediss, rediss+sentinel, rediss+cluster: the same over TLS
 *
 * User, password, path and master may have %-escapes. Pure: nothing is looked up. A refusal names the place and the
 * rule for that place. It never shows a user or a password, not even one that should have been escaped. */
#ifndef HL_BASE_URL_H
#define HL_BASE_URL_H

#include "base/memory.h"
#include "base/text.h"

enum hl_url_scheme { HL_URL_REDIS, HL_URL_UNIX, HL_URL_SENTINEL, HL_URL_CLUSTER };
enum { HL_URL_HOSTS_MAX = 16 };

struct hl_url_host {
    char *host; /* a name, or an address without brackets but with its zone. UNIX: an absolute path for a socket */
    int port;   /* 0: host is a path */
};

struct hl_url {
    enum hl_url_scheme scheme;
    int is_tls;
    char *user, *password; /* NULL: not given, or empty */
    struct hl_url_host hosts[HL_URL_HOSTS_MAX]; /* REDIS and UNIX have one */
    unsigned hosts_count;
    char *master;          /* SENTINEL: the sentinels' name for the master; NULL: not given */
    int db;
    char *block;    /* has all the strings, so that they can be wiped together */
    size_t block_size;
};

/* Parses a url; text NULL means redis://127.0.0.1:6379/0. Returns OK, INVALID or NO_MEMORY. */
hilock_status hl_url_parse(struct hl_url *ret, const struct hl_memory *memory, const char *text,
                           struct hl_text *ret_error);
int hl_url_is_address(const char *host); /* it is numeric and needs no resolving */
/* Wipes and frees the strings; a zeroed url is allowed. */
void hl_url_done(struct hl_url *url, const struct hl_memory *memory);

#endif
