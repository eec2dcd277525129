/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger - see ledger.h. */
#include "ledger.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

struct grant {
    uint64_t begun_us, ended_us, token;
    unsigned lock;
    pid_t pid;
};

struct ledger {
    size_t bytes, grants_max;
    unsigned locks;
    _Atomic size_t count, met;
    _Atomic uint64_t words[LEDGER_WORDS];
    _Atomic size_t *slots; /* one a lock: 1 + the grant that is on, or 0 */
    struct grant *grants;
};

struct ledger *ledger_new(unsigned locks, size_t grants_max)
{
    size_t slots_at = (sizeof(struct ledger) + 63) & ~(size_t)63;
    size_t grants_at = slots_at + locks * sizeof(_Atomic size_t);
    size_t bytes = grants_at + grants_max * sizeof(struct grant);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct ledger *ledger = (struct ledger *)(void *)memory;
    CHECK(memory != MAP_FAILED);
    ledger->bytes = bytes;
    ledger->locks = locks;
    ledger->grants_max = grants_max;
    ledger->slots = (_Atomic size_t *)(void *)(memory + slots_at);
    ledger->grants = (struct grant *)(void *)(memory + grants_at);
    return ledger;
}

void ledger_free(struct ledger *ledger) { munmap(ledger, ledger->bytes); }

_Atomic uint64_t *ledger_word(struct ledger *ledger, unsigned index) { return &ledger->words[index]; }

size_t ledger_begin(struct ledger *ledger, unsigned lock, uint64_t token)
{
    uint64_t now_us = check_now_us();
    size_t grant = atomic_fetch_add(&ledger->count, 1);
    CHECK(lock < ledger->locks && grant < ledger->grants_max);
    ledger->grants[grant] = (struct grant){.begun_us = now_us, .token = token, .lock = lock, .pid = getpid()};
    if (atomic_exchange(&ledger->slots[lock], grant + 1) != 0)
        atomic_fetch_add(&ledger->met, 1);
    return grant;
}

void ledger_end(struct ledger *ledger, size_t grant)
{
    if (atomic_exchange(&ledger->slots[ledger->grants[grant].lock], 0) != grant + 1)
        atomic_fetch_add(&ledger->met, 1);
    ledger->grants[grant].ended_us = check_now_us();
}

static int by_lock_and_begin(const void *left, const void *right)
{
    const struct grant *a = left, *b = right;
    if (a->lock != b->lock)
        return a->lock < b->lock ? -1 : 1;
    if (a->begun_us != b->begun_us)
        return a->begun_us < b->begun_us ? -1 : 1;
    return a->token < b->token ? -1 : a->token > b->token;
}

static uint64_t overlap_us(const struct grant *before, const struct grant *after)
{
    uint64_t ends_us = before->ended_us < after->ended_us ? before->ended_us : after->ended_us;
    return ends_us > after->begun_us ? ends_us - after->begun_us : 0;
}

/* Sorted by lock and begin. */
static void judge_grant(struct verdict *verdict, const struct grant *before, const struct grant *grant)
{
    verdict->open += grant->ended_us == 0;
    if (!before || before->lock != grant->lock)
        return;
    verdict->overlaps += before->ended_us > grant->begun_us;
    verdict->overlap_us = overlap_us(before, grant) > verdict->overlap_us ? overlap_us(before, grant) : verdict->overlap_us;
    verdict->backward += before->token >= grant->token;
    verdict->changes += before->pid != grant->pid;
}

static int is_among(const struct grant *grant, uint64_t locks) { return locks == UINT64_MAX || (grant->lock < 64 && (locks & LEDGER_ONE(grant->lock))); }

struct verdict ledger_judge_some(struct ledger *ledger, uint64_t locks, uint64_t from_us, uint64_t to_us)
{
    struct verdict verdict = {.grants = 0};
    const struct grant *grants = ledger->grants;
    for (size_t i = 0; i < atomic_load(&ledger->count); i++) {
        if (grants[i].begun_us < from_us || grants[i].begun_us >= to_us || !is_among(&grants[i], locks))
            continue;
        verdict.grants++;
        judge_grant(&verdict, i ? &grants[i - 1] : NULL, &grants[i]);
    }
    return verdict;
}

struct verdict ledger_judge(struct ledger *ledger)
{
    qsort(ledger->grants, atomic_load(&ledger->count), sizeof *ledger->grants, by_lock_and_begin);
    struct verdict verdict = ledger_judge_some(ledger, UINT64_MAX, 0, UINT64_MAX);
    verdict.met = atomic_load(&ledger->met);
    return verdict;
}

uint64_t ledger_first_after(const struct ledger *ledger, uint64_t locks, uint64_t at_us)
{
    size_t count = atomic_load(&ledger->count);
    uint64_t first = 0;
    for (size_t i = 0; i < count; i++) {
        const struct grant *grant = &ledger->grants[i];
        if (is_among(grant, locks) && grant->begun_us > at_us && (!first || grant->begun_us < first))
            first = grant->begun_us;
    }
    return first;
}
