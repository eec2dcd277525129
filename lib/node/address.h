/* SPDX-License-Identifier: BSD-3-Clause */
/* address - where a server is: host and port, or the path of a unix socket. An address from another server is hostile
 * (R9), and is refused if it cannot be an address. */
#ifndef HL_NODE_ADDRESS_H
#define HL_NODE_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

enum { HL_ADDRESS_HOST_MAX = 253, HL_ADDRESS_TEXT_MAX = HL_ADDRESS_HOST_MAX + 16 };

struct hl_address { /* all zero: unknown */
    char host[HL_ADDRESS_HOST_MAX + 1]; /* a host or a path */
    int port;                           /* 0: host is a path */
};

static inline int hl_address_is_path(const struct hl_address *address) { return *address->host && !address->port; }

/* Reads an address. Returns 1 if it can be one. A host that is empty or "?" means the host at which that server was
 * reached; both become "". */
int hl_address_read(struct hl_address *ret, const char *host, size_t length, uint64_t port);
int hl_address_is_same(const struct hl_address *a, const struct hl_address *b);
/* Writes "10.0.0.5:6379", "[::1]:6379" or "/run/redis.sock". Different addresses have different texts. */
void hl_address_write(char to[HL_ADDRESS_TEXT_MAX], const struct hl_address *address);

#endif
