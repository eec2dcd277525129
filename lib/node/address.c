/* SPDX-License-Identifier: BSD-3-Clause */
/* address - see address.h. */
#include "node/address.h"

#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "base/reply.h"

struct hl_address hl_address_of(const char *host, int port)
{
    struct hl_address address = {.port = port};
    HL_REQUIRE(strlen(host) <= HL_ADDRESS_HOST_MAX); /* base/url.c refuses a longer one */
    memcpy(address.host, host, strlen(host));
    return address;
}

static int is_visible(const char *host, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (host[i] <= ' ' || host[i] > '~')
            return 0;
    return 1;
}

int hl_address_read(struct hl_address *ret, const char *host, size_t host_length, const char *port, size_t port_length)
{
    uint64_t number;
    if (host_length == 1 && *host == '?')
        host_length = 0;
    if (host_length > HL_ADDRESS_HOST_MAX || !is_visible(host, host_length))
        return 0;
    if (port_length == 0 || hl_reply_decimal(port, port_length, &number) != port_length || number == 0 ||
        number > 65535)
        return 0;
    *ret = (struct hl_address){.port = (int)number}; /* no older byte is left */
    memcpy(ret->host, host, host_length);
    return 1;
}

int hl_address_is_same(const struct hl_address *a, const struct hl_address *b)
{
    return a->port == b->port && strcmp(a->host, b->host) == 0;
}

void hl_address_write(char to[HL_ADDRESS_TEXT_MAX], const struct hl_address *address)
{
    const char *format = hl_address_is_path(address) ? "%s" : strchr(address->host, ':') ? "[%s]:%d" : "%s:%d";
    snprintf(to, HL_ADDRESS_TEXT_MAX, format, address->host, address->port);
}
