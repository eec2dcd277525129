/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - see slot.h. CRC-16/XMODEM, computed bit by bit. */
#include "slot.h"

#include <string.h>

#include "peers.h"

static unsigned crc_of(const char *bytes, size_t length)
{
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ (crc & 0x8000 ? 0x1021u : 0u)) & 0xffff;
    }
    return crc;
}

unsigned sim_slot_of(const char *key, size_t length)
{
    const char *open = memchr(key, '{', length);
    const char *close = open ? memchr(open, '}', (size_t)(key + length - open)) : NULL;
    int is_tagged = close && close > open + 1;
    return (is_tagged ? crc_of(open + 1, (size_t)(close - open - 1)) : crc_of(key, length)) % SIM_SLOTS;
}
