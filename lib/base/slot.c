/* SPDX-License-Identifier: BSD-3-Clause */
/* slot - see slot.h. The CRC is CCITT's with polynomial 0x1021 and no reflection ("XMODEM"), a byte a step; it is
 * linear, so the entries for single bits give the whole table. */
#include "base/slot.h"

#include <stdint.h>
#include <string.h>

#define BIT(i, bit, crc) (((i) >> (bit) & 1) * (crc))
#define ENTRY(i)                                                                                                       \
    (BIT(i, 0, 0x1021) ^ BIT(i, 1, 0x2042) ^ BIT(i, 2, 0x4084) ^ BIT(i, 3, 0x8108) ^                                  \
     BIT(i, 4, 0x1231) ^ BIT(i, 5, 0x2462) ^ BIT(i, 6, 0x48c4) ^ BIT(i, 7, 0x9188))
#define ENTRIES_4(i) ENTRY(i), ENTRY((i) + 1), ENTRY((i) + 2), ENTRY((i) + 3)
#define ENTRIES_16(i) ENTRIES_4(i), ENTRIES_4((i) + 4), ENTRIES_4((i) + 8), ENTRIES_4((i) + 12)
#define ENTRIES_64(i) ENTRIES_16(i), ENTRIES_16((i) + 16), ENTRIES_16((i) + 32), ENTRIES_16((i) + 48)

static const uint16_t table[256] = {ENTRIES_64(0), ENTRIES_64(64), ENTRIES_64(128), ENTRIES_64(192)};

static unsigned crc16(const char *bytes, size_t length)
{
    unsigned crc = 0;
    for (size_t i = 0; i < length; i++)
        crc = (crc << 8 & 0xffff) ^ table[crc >> 8 ^ (unsigned char)bytes[i]];
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

/* A tag has letters from @ to O, whose low four bits are free: 16 bits, which the CRC maps one to one. Begin with the
 * slot of "@@@@", and flip the bits of the tag for each bit of the slot that differs. */
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
