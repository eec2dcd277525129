/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - see slot.h. The CRC is CCITT's with polynomial 0x1021 and no reflection ("XMODEM"), computed four bits at a
 * time. */
#include "base/slot.h"

#include <stdint.h>
#include <string.h>

static unsigned crc16(const char *bytes, size_t length)
{
    static const uint16_t table[] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
                                     0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    unsigned crc = 0;
    for (size_t i = 0; i < 2 * length; i++) {
        unsigned half = (unsigned char)bytes[i / 2] >> (i % 2 ? 0 : 4) & 15;
        crc = (crc << 4 & 0xffff) ^ table[crc >> 12 ^ half];
    }
    return crc;
}

unsigned hl_slot_of(const char *key, size_t length)
{
    const char *open = memchr(key, '{', length);
    const char *close = open ? memchr(open, '}', (size_t)(key + length - open)) : NULL;
    int has_tag = close && close > open + 1;
    return (has_tag ? crc16(open + 1, (size_t)(close - open - 1)) : crc16(key, length)) % HL_SLOTS;
}

/* A tag is four letters from @ to O. The low four bits of each are free, which makes 16 bits, and the CRC maps them one
 * to one. So start from the slot of "@@@@" (0x3639), and for each bit of the slot that differs flip the bits of the tag
 * that the table has for it. */
void hl_slot_tag(unsigned slot, char to[HL_SLOT_TAG + 1])
{
    static const uint16_t turned[] = {0x1afa, 0x06ed, 0x277b, 0x110c, 0x2a91, 0x39c0, 0x1f63,
                                      0x277f, 0x1104, 0x2208, 0x1bea, 0x04cd, 0x233b, 0x198c};
    unsigned bits = 0, differs = slot ^ 0x3639;
    for (unsigned i = 0; i < sizeof turned / sizeof *turned; i++)
        bits ^= differs >> i & 1 ? turned[i] : 0u;
    for (unsigned i = 0; i < HL_SLOT_TAG; i++)
        to[i] = (char)('@' | (bits >> (12 - 4 * i) & 15));
    to[HL_SLOT_TAG] = 0;
}
