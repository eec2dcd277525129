/* SPDX-License-Identifier: BSD-3-Clause */
/* url - where the locks live, as one line of text:
 *
 *   redis://[user[:password]@]host[:port][/db]      an IPv6 address stands in brackets
 *   unix://[user[:password]@]/path[?db=number]
 *   redis+sentinel://[user[:password]@]host[:port],..[/master[/db]]   user and password are the master's
 *   redis+cluster://[user[:password]@]host[:port],..
 *   rediss, rediss+sentinel, rediss+cluster: the same over TLS
 *
 * User, password, path and master may have %-escapes. Pure: nothing is looked up. A refusal names the place and what is
 * expected there. It shows nothing that could be a user or a password, even one that should have been escaped. */
#ifndef HL_BASE_URL_H
#define HL_BASE_URL_H

#include "base/memory.h"
#include "base/text.h"

enum hl_url_scheme { HL_URL_REDIS, HL_URL_UNIX, HL_URL_SENTINEL, HL_URL_CLUSTER };
enum { HL_URL_HOSTS_MAX = 16 };

struct hl_url_host {
    char *host; /* a name, or an address without brackets, with its zone. UNIX: the path: absolute, fit for a socket */
    int port;   /* 0: of a path */
};

struct hl_url {
    enum hl_url_scheme scheme;
    int is_tls;
    char *user, *password; /* NULL: none, or empty */
    struct hl_url_host hosts[HL_URL_HOSTS_MAX]; /* hosts_count of them; REDIS, UNIX: one */
    unsigned hosts_count;
    char *master;          /* SENTINEL: what they call it; NULL: not given */
    int db;
    char *block;    /* all strings in one block, so that it can be wiped */
    size_t block_size;
};

/* text NULL: redis://127.0.0.1:6379/0. OK, INVALID, NO_MEMORY. */
hilock_status hl_url_parse(struct hl_url *ret, const struct hl_memory *memory, const char *text,
                           struct hl_text *ret_error);
int hl_url_is_address(const char *host); /* numeric: it needs no resolving */
void hl_url_done(struct hl_url *url, const struct hl_memory *memory); /* wipes and frees; all zero is allowed */

#endif
