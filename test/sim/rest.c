/* SPDX-License-Identifier: BSD-3-Clause */
/* rest - how long a free name rests while somebody alive waits for it (I21, I22), by god's view of the store and of what
 * the handles believe.
 *
 * The time is counted in which nobody believes in the name, the store keeps it for nobody but by a window, and a living
 * client waits. Not counted is one window of each struck client: a client that is stopped looks alive until a promised
 * heartbeat is missed. A client that was stopped, asked again and was stopped again is struck twice: by asking it took
 * its place back, so it is granted the name once more. What remains is bounded by one window and the messages, or by a promised heartbeat more if the
 * client that made the latest grant was struck before it could look again. Behind another program the first place alone
 * listens, and the second one looks every three seconds. Whoever polls looks when its time has come. */
#include "heirs.h"

enum { WINDOW_US = 400000, WINDOW_MOST_US = 3000000, LATE_PART = 4, SLACK_US = 80000, LOOK_US = 40000, SETTLED_US = 150000, PROMISE_US = 11000000,
       MARGIN_US = 60000, DEAD_US = 20000, TOLD_US = 20000, TELLS_US = 6000, OVERDUE_US = 11200000, LATELY_US = 5000000, POLL_US = 120000, SECOND_LOOKS_US = 3200000 };

static uint64_t now_us(const struct heirs *heirs) { return heirs->crowd.world.time.now_us; }

static struct crowd_client *owner_of(struct heirs *heirs, const char *holder)
{
    for (unsigned i = 0; i < heirs->crowd.clients_count; i++)
        if (heirs->crowd.clients[i].client && strncmp(heirs->crowd.clients[i].uuid, holder, HL_UUID_LENGTH) == 0)
            return &heirs->crowd.clients[i];
    return NULL;
}

static int is_struck(const struct heirs *heirs, const struct crowd_client *client)
{
    return !client || !client->client || client->thawed_us + SETTLED_US > now_us(heirs);
}

static int has_struck(const struct heirs *heirs)
{
    for (unsigned i = 0; i < heirs->crowd.clients_count; i++)
        if (is_struck(heirs, &heirs->crowd.clients[i]))
            return 1;
    return 0;
}

/* How long a window of it may be, and its look that follows. */
static uint64_t window_us(const struct crowd_client *client)
{
    uint64_t window_us = client ? LATE_PART * client->stopped_us : WINDOW_MOST_US; /* a poller, just killed */
    window_us = window_us < WINDOW_US ? WINDOW_US : window_us > WINDOW_MOST_US ? WINDOW_MOST_US : window_us;
    return window_us + window_us / 100 + LOOK_US;
}

static int is_believed(const struct heirs *heirs)
{
    for (unsigned i = 0; i < heirs->crowd.handles_count; i++) {
        const struct crowd_handle *handle = &heirs->crowd.handles[i];
        if (handle->state == CROWD_HOLDS && handle->lock && hilock_lock_remaining_ms(handle->lock))
            return 1;
    }
    return heirs->rest.dead_until_us >= now_us(heirs);
}

static int is_awaited(const struct heirs *heirs)
{
    for (unsigned i = 0; i < heirs->crowd.handles_count; i++) {
        const struct crowd_handle *handle = &heirs->crowd.handles[i];
        if (handle->state == CROWD_WAITS && handle->wait_ms != HILOCK_TRY && !heirs->polls[handle->client->index] && handle->asked_us + SETTLED_US < now_us(heirs) && !is_struck(heirs, handle->client))
            return 1;
    }
    return 0;
}

/* Its present holder keeps others out with good reason. */
static int is_kept(const struct heirs *heirs)
{
    const struct rest *rest = &heirs->rest;
    if (!*rest->holder)
        return 0;
    if (strcmp(rest->holder, heirs_other) == 0 || (!rest->is_window && is_struck(heirs, rest->owner)))
        return 1;
    return rest->is_window && is_struck(heirs, rest->owner) && now_us(heirs) < rest->since_us + rest->window_us;
}

static void note_holder(struct heirs *heirs, struct crowd_client *by)
{
    struct rest *rest = &heirs->rest;
    const char *holder = store_holder(&heirs->crowd.store, heirs_name);
    int64_t left_ms = store_left_ms(&heirs->crowd.store, heirs_name);
    int is_new = strcmp(holder, rest->holder) != 0;
    if (!is_new) {
        rest->owner = owner_of(heirs, holder); /* it may have been killed since */
        rest->is_window &= left_ms <= WINDOW_MOST_US / 1000;
        return;
    }
    rest->is_after_other = strcmp(rest->holder, heirs_other) == 0 || (rest->is_after_other && !*rest->holder);
    snprintf(rest->holder, sizeof rest->holder, "%s", holder);
    rest->owner = owner_of(heirs, holder);
    rest->since_us = now_us(heirs);
    rest->window_us = window_us(rest->owner);
    rest->is_excused = 1;
    rest->is_window = *holder && left_ms <= WINDOW_MOST_US / 1000;
    if (by) {
        rest->maker = by;
        rest->maker_lives = heirs->lives[by->index];
    }
    sim_trace(&heirs->crowd.world, "store: %s has it for %lld ms, by c%d", *holder ? holder : "nobody", (long long)left_ms, by ? (int)by->index : -1);
    if (!*holder || strcmp(holder, heirs_other) == 0)
        return;
    if (!rest->owner) {
        if (rest->missed_at_us > now_us(heirs))
            return;
        sim_violate(&heirs->crowd.world, "I21", "%s was killed, and gets the name", holder);
    } else if (crowd_is_stopped(rest->owner) && rest->owner->stopped_at_us + OVERDUE_US < now_us(heirs)) {
        sim_violate(&heirs->crowd.world, "I21", "%s is stopped, every heartbeat that it promised is overdue, and it gets the name", holder);
    } else if (rest->is_window && is_struck(heirs, rest->owner))
        rest->is_excused = !rest->had_window[rest->owner->index]++;
}

static void forget_rest(struct rest *rest)
{
    rest->rested_us = rest->more_us = 0;
    memset(rest->had_window, 0, sizeof rest->had_window);
}

static int was_struck_lately(const struct heirs *heirs)
{
    return heirs->rest.struck_us && heirs->rest.struck_us + LATELY_US > now_us(heirs);
}

static int has_pollers(const struct heirs *heirs)
{
    for (unsigned i = 0; i < heirs->crowd.clients_count; i++)
        if (heirs->polls[i])
            return 1;
    return 0;
}

/* A window more where somebody was struck lately; where some poll, their longest step. */
static uint64_t allowed_us(const struct heirs *heirs)
{
    return SLACK_US + heirs->rest.more_us + (was_struck_lately(heirs) ? (uint64_t)WINDOW_US : has_pollers(heirs) ? POLL_US : 0);
}

void rest_looked(struct heirs *heirs, struct crowd_client *by)
{
    struct rest *rest = &heirs->rest;
    uint64_t passed_us = now_us(heirs) - rest->seen_us;
    if (heirs->is_ending)
        return;
    int is_busy = is_believed(heirs), was_kept = is_kept(heirs);
    rest->seen_us = now_us(heirs);
    if (is_busy || was_kept || (rest->is_window && !is_struck(heirs, rest->owner)) || (heirs->other_us && heirs->other_us + LATELY_US > now_us(heirs)))
        rest->busy_us = now_us(heirs);
    if (is_busy || (was_kept && !rest->is_window) || !is_awaited(heirs))
        forget_rest(rest);
    else if (!was_kept || !rest->is_excused)
        rest->rested_us += passed_us;
    if (rest->maker && (heirs->lives[rest->maker->index] != rest->maker_lives || is_struck(heirs, rest->maker)))
        rest->more_us = PROMISE_US;
    if (rest->is_after_other && was_struck_lately(heirs) && rest->more_us < SECOND_LOOKS_US)
        rest->more_us = SECOND_LOOKS_US;
    if (by && !crowd_is_stopped(by))
        rest->had_window[by->index] = 0;
    note_holder(heirs, by);
    if (is_kept(heirs) || (rest->owner && !is_struck(heirs, rest->owner) && (rest->is_window || rest->since_us + TOLD_US > now_us(heirs))))
        rest->busy_us = now_us(heirs);
    if (has_struck(heirs))
        rest->struck_us = now_us(heirs);
    if (rest->rested_us > allowed_us(heirs))
        sim_violate(&heirs->crowd.world, "I21", "nobody believes in the name, a living client waits, and it has rested for %llu us, at the store: %s",
                    (unsigned long long)rest->rested_us, *rest->holder ? rest->holder : "free");
}

/* A waiter of the same client stands before its tries: it need not ask for them; not for long if that waiter polls. */
static int has_waiter(const struct heirs *heirs, const struct crowd_client *client)
{
    for (unsigned i = 0; i < heirs->crowd.handles_count; i++)
        if (heirs->crowd.handles[i].client == client && heirs->crowd.handles[i].state == CROWD_WAITS && heirs->crowd.handles[i].wait_ms != HILOCK_TRY)
            return !heirs->polls[client->index] || heirs->rest.busy_us + POLL_US > now_us(heirs);
    return 0;
}

void rest_refused(struct heirs *heirs, const struct crowd_handle *handle)
{
    if (is_struck(heirs, handle->client) || has_waiter(heirs, handle->client) || heirs->rest.busy_us + TELLS_US >= handle->asked_us)
        return;
    sim_violate(&heirs->crowd.world, "I22", "a try of c%u is refused, and nobody has believed in the name for %llu us, at the store: %s", handle->client->index,
                (unsigned long long)(now_us(heirs) - heirs->rest.busy_us), *heirs->rest.holder ? heirs->rest.holder : "free");
}

/* The client may be opened again at once, and as one that does not poll: so it is noted here when its death can be seen
 * at the store. What it had sent may run a message later, and a poller is missed only when its next poll is due. */
void rest_kills(struct heirs *heirs, const struct crowd_client *client)
{
    struct rest *rest = &heirs->rest;
    uint64_t missed_at_us = now_us(heirs) + (heirs->polls[client->index] ? SETTLED_US : 0) + DEAD_US;
    if (missed_at_us > rest->missed_at_us)
        rest->missed_at_us = missed_at_us;
    for (unsigned i = 0; i < heirs->crowd.handles_count; i++) {
        const struct crowd_handle *handle = &heirs->crowd.handles[i];
        uint64_t left_us = handle->client == client && handle->lock ? 1000 * (uint64_t)hilock_lock_remaining_ms(handle->lock) : 0;
        if (left_us && now_us(heirs) + left_us + left_us / 50 + MARGIN_US > rest->dead_until_us)
            rest->dead_until_us = now_us(heirs) + left_us + left_us / 50 + MARGIN_US;
    }
}
