/* SPDX-License-Identifier: BSD-3-Clause */
/* address - see address.h. */
#include "node/address.h"

#include <stdio.h>
#include <string.h>

int hl_address_read(struct hl_address *ret, const char *host, size_t length, uint64_t port)
{
    if (length == 1 && *host == '?')
        length = 0;
    if (length > HL_ADDRESS_HOST_MAX || port == 0 || port > 65535)
        return 0;
    for (size_t i = 0; i < length; i++)
        if (host[i] <= ' ' || host[i] > '~')
            return 0;
    *ret = (struct hl_address){.port = (int)port}; /* also clears what `ret` had before */
    memcpy(ret->host, host, length);
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
