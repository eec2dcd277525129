/* SPDX-License-Identifier: BSD-3-Clause */
/* listing - see listing.h. */
#include "lock/listing.h"

#include "core/lease.h"

struct listed { uint64_t token; uint32_t remaining_ms; size_t at; /* of its text in `texts` */ };

struct hl_listing {
    struct hl_memory memory; /* the client's, which may be gone when the listing is freed */
    hilock_holder_fn *on_holder;
    size_t count, told; /* how many there are; of how many the user was told */
    struct listed *all; /* NULL: none */
    char *texts;        /* each ends with a zero byte */
};

struct hl_listing *hl_listing_new(const struct hilock_lock *lock, hilock_holder_fn *on_holder)
{
    const struct hl_memory memory = lock->terms->cell->memory;
    struct hl_listing *listing = hl_memory_new(&memory, sizeof *listing);
    if (listing)
        *listing = (struct hl_listing){.memory = memory, .on_holder = on_holder};
    return listing;
}

void hl_listing_free(struct hl_listing *listing)
{
    struct hl_memory memory;
    if (!listing)
        return;
    memory = listing->memory;
    hl_memory_free(&memory, listing->all);
    hl_memory_free(&memory, listing->texts);
    hl_memory_free(&memory, listing);
}

static size_t kept(const struct hl_listed *listed) /* a holder that is longer is cut, as by a peek */
{
    return listed->holder_length < HL_PEEKED_HOLDER_MAX ? listed->holder_length : HL_PEEKED_HOLDER_MAX;
}

int hl_listing_read(struct hl_listing *listing, const struct hl_reply *reply)
{
    struct hl_listed listed;
    size_t count = 0, length = 0, at = 0;
    for (; hl_response_listed(reply, count, &listed); count++)
        length += kept(&listed) + 1;
    if (!count)
        return 0;
    listing->all = hl_memory_new(&listing->memory, count * sizeof *listing->all);
    listing->texts = hl_memory_new(&listing->memory, length);
    if (!listing->all || !listing->texts)
        return -1;
    for (; listing->count < count && hl_response_listed(reply, listing->count, &listed); listing->count++) {
        listing->all[listing->count] = (struct listed){
            .token = listed.token, .at = at,
            .remaining_ms = listed.has_no_ttl ? HILOCK_FOREVER : hl_lease_span_ms(listed.left_ms * 1000)};
        memcpy(&listing->texts[at], listed.holder, kept(&listed)); /* the rest is zero */
        at += kept(&listed) + 1;
    }
    return 0;
}

/* The callback may abandon the client, which frees the listing: so what it is shown is a copy. */
int hl_listing_tell_next(struct hl_listing *listing, struct hilock_lock *lock, void *user)
{
    char holder[HL_PEEKED_HOLDER_MAX + 1];
    const struct listed *listed;
    if (listing->told == listing->count)
        return 0;
    listed = &listing->all[listing->told++];
    (void)memccpy(holder, &listing->texts[listed->at], '\0', sizeof holder);
    hl_notice_give_holder(lock, listing->on_holder,
                          &(struct hilock_holder_info){.size = sizeof(struct hilock_holder_info), .holder = holder,
                                                       .holder_label = hl_holder_label(holder),
                                                       .fencing_token = listed->token,
                                                       .remaining_ms = listed->remaining_ms}, user);
    return 1;
}
