/* SPDX-License-Identifier: BSD-3-Clause */
/* table - see table.h. The keyed hash is SipHash-1-3 (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012). */
#include "base/table.h"

static uint64_t rotated(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotated(v[1], 13) ^ v[0], v[0] = rotated(v[0], 32);
    v[2] += v[3], v[3] = rotated(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotated(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotated(v[1], 17) ^ v[2], v[2] = rotated(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

/* Little-endian on every machine, because SipHash is defined on bytes. */
static uint64_t word_at(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 |
           (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
}

unsigned hl_table_hash(const struct hl_table *table, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = {table->seed[0] ^ 0x736f6d6570736575u, table->seed[1] ^ 0x646f72616e646f6du,
                     table->seed[0] ^ 0x6c7967656e657261u, table->seed[1] ^ 0x7465646279746573u};
    uint64_t last = (uint64_t)length << 56;
    size_t whole = length - length % 8;
    for (size_t i = 0; i < whole; i += 8)
        sip_word(v, word_at(at + i));
    for (size_t i = whole; i < length; i++)
        last |= (uint64_t)at[i] << 8 * (i - whole);
    sip_word(v, last);
    v[2] ^= 0xff;
    sip_round(v), sip_round(v), sip_round(v);
    return (unsigned)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

void hl_table_init(struct hl_table *table, const struct hl_memory *memory, uint64_t seed0, uint64_t seed1)
{
    *table = (struct hl_table){NULL, memory, {seed0, seed1}};
}

/* The macros of uthash convert signs, so these warnings are off. Their hooks in table.h refer to hl_table_here. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"

int hl_table_add(struct hl_table *hl_table_here, struct hl_table_entry *entry, const char *key, size_t length)
{
    HASH_ADD_KEYPTR(hh, hl_table_here->first, key, (unsigned)length, entry);
    return entry->hh.tbl ? 0 : -1;
}

struct hl_table_entry *hl_table_find(const struct hl_table *hl_table_here, const char *key, size_t length)
{
    struct hl_table_entry *entry;
    HASH_FIND(hh, hl_table_here->first, key, (unsigned)length, entry);
    return entry;
}

void hl_table_remove(struct hl_table *hl_table_here, struct hl_table_entry *entry)
{
    HASH_DEL(hl_table_here->first, entry);
}

#pragma GCC diagnostic pop

struct hl_table_entry *hl_table_next(const struct hl_table *table, const struct hl_table_entry *entry)
{
    return entry ? entry->hh.next : table->first;
}
