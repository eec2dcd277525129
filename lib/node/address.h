/* SPDX-License-Identifier: BSD-3-Clause */
/* address - where a server is: host and port, or the path of a unix socket. What another server gives is hostile (R9):
 * what cannot be an address is refused. */
#ifndef HL_NODE_ADDRESS_H
#define HL_NODE_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

enum { HL_ADDRESS_HOST_MAX = 253, HL_ADDRESS_TEXT_MAX = HL_ADDRESS_HOST_MAX + 16 };

struct hl_address { /* all zero: not known */
    char host[HL_ADDRESS_HOST_MAX + 1]; /* or the path */
    int port;                           /* 0: of a path */
};

static inline int hl_address_is_path(const struct hl_address *address) { return *address->host && !address->port; }

/* 1: it can be one. An empty host or "?" (the server means "as you reached me") becomes "". */
int hl_address_read(struct hl_address *ret, const char *host, size_t length, uint64_t port);
int hl_address_is_same(const struct hl_address *a, const struct hl_address *b);
/* "10.0.0.5:6379", "[::1]:6379", "/run/redis.sock". Different addresses have different texts. */
void hl_address_write(char to[HL_ADDRESS_TEXT_MAX], const struct hl_address *address);

#endif
