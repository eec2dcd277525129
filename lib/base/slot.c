/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - see slot.h. The CRC is CCITT's with polynomial 0x1021 and no reflection ("XMODEM"), four bits a step. */
#include "base/slot.h"

#include <stdint.h>
#include <string.h>

static unsigned crc16(const char *bytes, size_t length)
{
    static const uint16_t table[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
                                       0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned byte = (unsigned char)bytes[i];
        crc = (crc << 4 ^ table[(crc >> 12 ^ byte >> 4) & 15]) & 0xffff;
        crc = (crc << 4 ^ table[(crc >> 12 ^ byte) & 15]) & 0xffff;
    }
    return crc;
}

unsigned hl_slot_of(const char *key, size_t length)
{
    const char *open = memchr(key, '{', length);
    const char *close = open ? memchr(open, '}', (size_t)(key + length - open)) : NULL;
    if (close && close > open + 1)
        return crc16(open + 1, (size_t)(close - open - 1)) % HL_SLOTS;
    return crc16(key, length) % HL_SLOTS;
}
