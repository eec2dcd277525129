/* SPDX-License-Identifier: BSD-3-Clause */
/* standing - FAIR handles of "stock": one that has it, and one that stands in its queue. */
#ifndef TEST_UNIT_STANDING_H
#define TEST_UNIT_STANDING_H

#include "play.h"

#define FAIR(...) HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR, __VA_ARGS__)

static inline struct handle *fair(struct client *p, const char *tag) { return handle_new(p, tag, "stock", FAIR(.lease_ms = 30000)); }

/* Stands in the queue, and the clients are quiet. */
static inline struct handle *stands(struct client *p, const char *tag)
{
    struct handle *handle = acquiring(fair(p, tag), HILOCK_FOREVER);
    run_ms(p->fixture, 2);
    return handle;
}

/* Has it, and the clients are quiet. */
static inline struct handle *has(struct client *p, const char *tag)
{
    struct handle *handle = stands(p, tag);
    HOLDS(p->fixture, is_held(handle));
    fixture_hush(p->fixture);
    return handle;
}

/* Commands of that client that the store executed. */
static inline size_t asked_by(struct fixture *s, const struct client *p, const char *word)
{
    size_t count = 0;
    for (size_t i = 0; i < s->store.lines_count; i++)
        count += strcmp(s->store.lines[i].word, word) == 0 && strstr(s->store.lines[i].text, p->uuid) != NULL;
    return count;
}

#endif
