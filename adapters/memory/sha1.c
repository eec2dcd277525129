/* SPDX-License-Identifier: BSD-3-Clause */
/* sha1 - see sha1.h. */
#include "sha1.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56, ROUNDS = 80 };

static uint32_t rotated(uint32_t word, int bits) { return word << bits | word >> (32 - bits); }

static uint32_t choice(int round, const uint32_t s[5])
{
    if (round < 20)
        return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5a827999;
    if (round >= 40 && round < 60)
        return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8f1bbcdc;
    return (s[1] ^ s[2] ^ s[3]) + (round < 40 ? 0x6ed9eba1u : 0xca62c1d6u);
}

static void digest_block(uint32_t state[5], const unsigned char block[BLOCK])
{
    uint32_t words[ROUNDS], s[5];
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
    for (int i = 16; i < ROUNDS; i++)
        words[i] = rotated(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t first = rotated(s[0], 5) + choice(i, s) + s[4] + words[i];
        s[4] = s[3], s[3] = s[2], s[2] = rotated(s[1], 30), s[1] = s[0], s[0] = first;
    }
    for (int i = 0; i < 5; i++)
        state[i] += s[i];
}

void sim_sha1_of(const char *text, size_t length, char ret_digits[SIM_SHA1_DIGITS + 1])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    unsigned char last[BLOCK] = {0};
    size_t whole = length - length % BLOCK, rest = length - whole;
    for (size_t at = 0; at < whole; at += BLOCK)
        digest_block(state, (const unsigned char *)text + at);
    memcpy(last, text + whole, rest);
    last[rest] = 0x80;
    if (rest >= LENGTH_AT) {
        digest_block(state, last);
        memset(last, 0, sizeof last);
    }
    for (int i = 0; i < 8; i++)
        last[LENGTH_AT + i] = (unsigned char)((uint64_t)length * 8 >> (56 - 8 * i));
    digest_block(state, last);
    for (int i = 0; i < SIM_SHA1_DIGITS; i++)
        ret_digits[i] = "0123456789abcdef"[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    ret_digits[SIM_SHA1_DIGITS] = '\0';
}
