/* SPDX-License-Identifier: BSD-3-Clause */
/* queued - see queued.h. The heads of the scripts list their arguments and answers. */
#include "wire/queued.h"

#include <stdio.h>

#include "base/platform.h"
#include "wire/field.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/scripts.h"

/* ---- commands. Several terms go into one argument: each costs the server as much as half a command. ---- */

/* The keys of a script behind the name: those with these prefixes. */
static const char *const no_more[] = {NULL}, *const with_queue[] = {hl_key_queue, NULL},
                  *const with_share[] = {hl_key_share, NULL}, *const with_token[] = {hl_key_queue, hl_key_token, NULL},
                  *const with_places[] = {hl_key_queue, hl_key_token, hl_key_place, NULL},
                  *const of_share[] = {hl_key_queue, hl_key_token, hl_key_share, NULL},
                  *const of_share_with_places[] = {hl_key_queue, hl_key_token, hl_key_share, hl_key_place, NULL};

static void begin(struct hl_command *command, const struct hl_script *script, const char *const *more,
                  const struct hl_target *target)
{
    unsigned count = 0;
    while (more[count])
        count++;
    hl_command_evalsha(command, script, 1 + count);
    hl_command_add(command, target->name, target->name_length);
    for (; *more; more++) {
        char *key = hl_command_room(command, target->name_length + HL_KEY_PREFIX_MAX);
        hl_command_add(command, key, hl_key_write(key, *more, target->name, target->name_length));
    }
}

static void add_lapsed(struct hl_command *command, const struct hl_lapsed *lapsed)
{
    hl_command_begin_text(command);
    hl_command_append_number(command, "", lapsed->window_ms);
    for (unsigned i = 0; i < lapsed->count; i++) {
        hl_command_append_text(command, " ");
        hl_command_append_text(command, i ? lapsed->of[i].client : lapsed->holder);
        hl_command_append_number(command, " ", lapsed->of[i].at_us);
    }
}

/* The script compares not_after as sixteen digits, which suffice until the year 2286. */
static void add_acquire(struct hl_command *command, const struct hl_target *target,
                        const struct hl_acquire_params *params)
{
    static const uint64_t never_us = 9999999999999999;
    static const char zeros[] = "0000000000000000";
    int is_limited = params->not_after_ms && params->not_after_ms < never_us / 1000;
    uint64_t not_after_us = is_limited ? params->not_after_ms * 1000 : never_us;
    char digits[HL_DECIMAL_MAX];
    _Static_assert(sizeof zeros - 1 == HL_NOT_AFTER_DIGITS, "the script cuts it off by its length");
    hl_holder_add(command, target->uuid, target->id, target->label);
    hl_command_add_number(command, params->lease_ms);
    hl_command_begin_text(command);
    hl_command_append_number(command, &zeros[hl_command_decimal(digits, not_after_us)], not_after_us);
    if (params->may_take_left)
        hl_command_append_text(command, " " HL_GUEST);
    else if (params->entry.due_s) {
        if (params->ticket || params->queue_max == HL_QUEUE_MAX)
            hl_command_append_number(command, " ", params->ticket);
        else
            hl_command_append_number(command, " -", params->queue_max);
        hl_record_add_entry(command, &params->entry);
        if (params->heartbeat.number)
            hl_record_add_heartbeat(command, &params->heartbeat);
    }
    hl_command_add_number(command, params->token_ttl_ms * HL_RESERVED_END + params->reserved);
}

enum hl_form hl_queued_acquire(struct hl_command *command, const struct hl_target *target,
                               const struct hl_acquire_params *params)
{
    int names_places = params->names_all_keys && params->heartbeat.number;
    begin(command, &hl_script_mutex_acquire, names_places ? with_places : with_token, target);
    add_acquire(command, target, params);
    return HL_FORM_SCRIPT;
}

static enum hl_form acquire_share(struct hl_command *command, const struct hl_target *target,
                                  const struct hl_acquire_params *params)
{
    int names_places = params->names_all_keys && params->heartbeat.number;
    begin(command, &hl_script_mutex_acquire, names_places ? of_share_with_places : of_share, target);
    add_acquire(command, target, params);
    hl_command_begin_text(command);
    hl_command_append_number(command, params->is_sharded ? HL_SHARDED : "", params->holders_max);
    return HL_FORM_SCRIPT;
}

static void add_renewal(struct hl_command *command, const struct hl_target *target,
                        const struct hl_renew_params *params)
{
    hl_command_add_number(command, params->lease_ms);
    hl_holder_add(command, target->uuid, target->id, target->label);
    hl_command_add_number(command, params->token);
}

enum hl_form hl_queued_renew(struct hl_command *command, const struct hl_target *target,
                             const struct hl_renew_params *params)
{
    begin(command, &hl_script_renew, no_more, target);
    add_renewal(command, target, params);
    if (params->most_ms) {
        hl_command_add_number(command, params->most_ms);
        hl_command_add_number(command, params->not_after_ms);
    }
    return HL_FORM_SCRIPT;
}

static enum hl_form renew_share(struct hl_command *command, const struct hl_target *target,
                                const struct hl_renew_params *params)
{
    begin(command, &hl_script_share_renew, with_share, target);
    add_renewal(command, target, params);
    return HL_FORM_SCRIPT;
}

/* Adds the unlock channel, and the command that publishes there. */
static void add_channel(struct hl_command *command, const struct hl_target *target, int is_sharded)
{
    char *channel = hl_command_room(command, target->name_length + HL_KEY_PREFIX_MAX);
    hl_command_add(command, channel, hl_key_write(channel, hl_key_channel, target->name, target->name_length));
    hl_command_add_word(command, is_sharded ? "SPUBLISH" : "PUBLISH");
}

enum hl_form hl_queued_force(struct hl_command *command, const struct hl_target *target,
                             const struct hl_force_params *params)
{
    begin(command, &hl_script_mutex_force, params->is_second ? no_more : with_queue, target);
    hl_command_add(command, params->holder, params->holder_length);
    add_channel(command, target, params->is_sharded);
    return HL_FORM_FORCED;
}

/* While a hash slot moves, the server refuses a script whose keys are not all on one side, and keys of the queue that
 * do not exist may be on neither. This form names one key only: it frees the name, and the heartbeat of the first
 * waiter finds the name free. */
static enum hl_form release_narrowly(struct hl_command *command, const struct hl_target *target, int is_sharded)
{
    begin(command, &hl_script_free, no_more, target);
    hl_holder_add(command, target->uuid, target->id, target->label);
    add_channel(command, target, is_sharded);
    return HL_FORM_NARROW;
}

/* Adds the first two arguments of a release; the caller may continue the second. */
static void add_release(struct hl_command *command, const struct hl_target *target, int is_sharded, unsigned own,
                        uint64_t token_ttl_ms)
{
    hl_holder_add(command, target->uuid, target->id, target->label);
    hl_command_begin_text(command);
    hl_command_append_number(command, is_sharded ? HL_SHARDED : "", own);
    hl_command_append_number(command, " ", token_ttl_ms);
}

static void add_place_to_leave(struct hl_command *command, const struct hl_queue_entry *entry)
{
    if (!entry->due_s)
        return;
    hl_command_begin_text(command);
    hl_record_add_entry(command, entry);
}

enum hl_form hl_queued_release(struct hl_command *command, const struct hl_target *target,
                               const struct hl_release_params *params)
{
    char holder[HL_HOLDER_MAX];
    if (params->is_second)
        return release_narrowly(command, target, params->is_sharded);
    begin(command, &hl_script_mutex_release, with_token, target);
    add_release(command, target, params->is_sharded, params->own, params->token_ttl_ms);
    if (!params->next.entry.due_s) {
        add_place_to_leave(command, &params->entry);
        return HL_FORM_SCRIPT;
    }
    hl_command_append_number(command, " ", params->next.lease_ms);
    hl_command_begin_text(command);
    hl_command_append(command, holder, hl_holder_write(holder, target->uuid, params->next.id, target->label));
    hl_record_add_entry(command, &params->next.entry);
    if (params->next.queue_max != HL_QUEUE_MAX) {
        hl_command_add_word(command, "");
        hl_command_add_number(command, params->next.queue_max);
    }
    return HL_FORM_NEXT;
}

static enum hl_form release_share(struct hl_command *command, const struct hl_target *target,
                                  const struct hl_release_params *params)
{
    if (params->is_second)
        return release_narrowly(command, target, params->is_sharded);
    begin(command, &hl_script_share_release, of_share, target);
    add_release(command, target, params->is_sharded, params->own, params->token_ttl_ms);
    add_place_to_leave(command, &params->entry);
    return HL_FORM_SCRIPT;
}

static enum hl_form downgrade(struct hl_command *command, const struct hl_target *target,
                              const struct hl_downgrade_params *params)
{
    begin(command, &hl_script_share_downgrade, of_share, target);
    add_release(command, target, params->is_sharded, params->own, params->token_ttl_ms);
    hl_command_add_number(command, params->lease_ms);
    hl_command_add_number(command, params->token);
    return HL_FORM_DOWNGRADE;
}

enum hl_form hl_queued_recheck(struct hl_command *command, const struct hl_target *target,
                               const struct hl_recheck_params *params)
{
    begin(command, &hl_script_mutex_release, with_token, target);
    add_release(command, target, params->is_sharded, params->own, params->token_ttl_ms);
    hl_command_add_word(command, "");
    if (params->lapsed->count)
        add_lapsed(command, params->lapsed);
    return HL_FORM_SCRIPT;
}

enum hl_form hl_queued_peek(struct hl_command *command, const struct hl_target *target,
                            const struct hl_queue_entry *entry, int is_list)
{
    begin(command, &hl_script_mutex_peek, with_queue, target);
    hl_command_begin_text(command);
    if (entry->due_s) {
        char holder[HL_HOLDER_MAX];
        hl_command_append(command, holder, hl_holder_write(holder, target->uuid, target->id, target->label));
        hl_record_add_entry(command, entry);
    }
    if (is_list)
        hl_command_add_word(command, "all");
    return HL_FORM_SCRIPT;
}

/* ---- answers ---- */

/* choose.lua makes the sum of the three counts. */
static struct hl_removed removed_of(int64_t sum)
{
    return (struct hl_removed){(uint32_t)(sum / HL_REMOVED_UNHEARD % 1000), (uint32_t)(sum / HL_REMOVED_OVERDUE % 1000),
                               (uint32_t)(sum / HL_REMOVED_LAPSED % 1000)};
}

static uint64_t time_at(const struct hl_reply *reply, size_t i)
{
    const struct hl_reply *item = hl_reply_item(reply, i, HL_REPLY_STRING);
    uint64_t time_us;
    return item && hl_field_is_number((struct hl_field){item->bytes, item->length}, &time_us) ? time_us : 0;
}

/* Returns 1 for "<client>:<thread>", perhaps with more behind it: this is how hilock and Redisson write a holder. */
static int spells_holder(const struct hl_reply *holder)
{
    const char *at = holder->bytes, *end = at + holder->length;
    while ((at = memchr(at, ':', (size_t)(end - at))) != NULL) {
        at++;
        const char *digits = at < end && *at == '-' ? at + 1 : at, *behind = digits;
        while (behind < end && *behind >= '0' && *behind <= '9')
            behind++;
        if (behind > digits && (behind == end || *behind == ':'))
            return 1;
    }
    return 0;
}

/* The answer for a hash whose first field is no holder: it is data of another program, and nobody will release it. The
 * script has taken a place in the queue all the same, so something may be left there. */
static struct hl_response not_a_lock(void)
{
    return (struct hl_response){.result = HL_FAULT, .fault = {HL_FAULT_LASTING, HILOCK_WRONG_KIND, 0}, .quote = ""};
}

/* Reads {-1 - PTTL, holder, hands_over, place, ticket, length[, java_waiter or holders[, now[, removed]]]}. A first
 * number of 1: there is no holder, and the name is left to others for hands_over ms. */
static struct hl_response waits(const struct hl_reply *reply)
{
    const struct hl_reply *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    const struct hl_reply *java_waiter = hl_reply_item(reply, 6, HL_REPLY_STRING);
    int has_java_waiter = java_waiter && java_waiter->length && java_waiter->length <= HL_JAVA_WAITER_MAX, is_left;
    int64_t code, hands, place, ticket, length, removed = 0, holders = 0;
    struct hl_response said;
    if (!holder || !hl_response_number(reply, 0, -HL_NUMBER_MAX, &code) || !hl_response_number(reply, 2, 0, &hands) ||
        !hl_response_number(reply, 3, 0, &place) || !hl_response_number(reply, 4, 0, &ticket) ||
        !hl_response_number(reply, 5, 0, &length) || code > 1 || place > UINT32_MAX || length > UINT32_MAX)
        return hl_response_fault(reply);
    if (code <= 0 && !(hands & HL_HANDS_OVER) && holder->length && !spells_holder(holder))
        return not_a_lock();
    (void)hl_response_number(reply, 6, 1, &holders);
    (void)hl_response_number(reply, 8, 0, &removed);
    is_left = code > 0;
    said = (struct hl_response){.result = HL_NO,
                                .left_ms = is_left ? (uint64_t)hands : code < 0 ? (uint64_t)(-1 - code) : 0,
                                .has_no_ttl = code == 0, .holder = holder->bytes, .holder_length = holder->length,
                                .ticket = (uint64_t)ticket, .position = (uint32_t)place, .waiters = (uint32_t)length,
                                .holder_grants_next = is_left || (hands & HL_HANDS_OVER),
                                .has_more = !is_left && (hands & HL_HAS_MORE),
                                .java_waiter = has_java_waiter ? java_waiter->bytes : NULL,
                                .java_waiter_length = java_waiter ? java_waiter->length : 0,
                                .holders = (uint32_t)(holders < UINT32_MAX ? holders : UINT32_MAX),
                                .server_us = time_at(reply, 7), .removed = removed_of(removed)};
    if (!is_left && (hands & HL_GRANTED_NOW) && said.server_us && !said.has_no_ttl)
        said.handover = (struct hl_handover){said.left_ms, said.server_us, said.holder, said.holder_length};
    return said;
}

/* Reads a token, a token and what was removed, "LATE seconds microseconds", or the holder. */
struct hl_response hl_queued_acquired(const struct hl_reply *reply, enum hl_form form)
{
    static const char head[] = HL_ERROR_LATE " ";
    size_t used = sizeof head - 1;
    uint64_t seconds, microseconds;
    int64_t token, removed;
    (void)form;
    if (reply->type == HL_REPLY_INTEGER && reply->integer > 0 && reply->integer <= HL_NUMBER_MAX)
        return (struct hl_response){.result = HL_YES, .token = (uint64_t)reply->integer};
    if (reply->type == HL_REPLY_ARRAY && reply->count == 2 && hl_response_number(reply, 0, 1, &token) &&
        hl_response_number(reply, 1, 0, &removed))
        return (struct hl_response){.result = HL_YES, .token = (uint64_t)token, .removed = removed_of(removed)};
    if (reply->type != HL_REPLY_ERROR || !hl_reply_starts(reply, head))
        return waits(reply);
    used += hl_reply_decimal(reply->bytes + used, reply->length - used, &seconds);
    if (used == sizeof head - 1 || used == reply->length || reply->bytes[used++] != ' ' ||
        !hl_reply_decimal(reply->bytes + used, reply->length - used, &microseconds))
        return hl_response_fault(reply);
    return (struct hl_response){.result = HL_LATE, .server_us = seconds * 1000000 + microseconds};
}

int hl_queued_next(const struct hl_reply *reply, struct hl_reply *ret_next)
{
    if (reply->type != HL_REPLY_ARRAY || reply->count < 2)
        return 0;
    *ret_next = reply->items[1];
    if (reply->count > 2)
        *ret_next = (struct hl_reply){.type = HL_REPLY_ARRAY, .items = reply->items + 1, .count = reply->count - 1};
    return 1;
}

/* Reads what a release did. 0: the hold was not of this id. 1 + n: it is freed, and n listened. Below 0: see
 * protocol.h. */
static struct hl_response released(int64_t code)
{
    return (struct hl_response){.result = code ? HL_YES : HL_NO, .was_publish_denied = code == HL_FREED_UNHEARD,
                                .has_more = code == HL_FREED_MORE,
                                .handover = {.window_ms = code == HL_FREED_LEFT ? HL_LEFT_LOOK_MS : 0}};
}

/* Reads "<code>[ <window_ms> <us> <holder>][ <removed>]". A look that is answered HL_FREED_MORE ended no hold, so
 * nothing of its id is left. */
static struct hl_response released_in_words(const struct hl_reply *reply)
{
    struct hl_field text = {reply->bytes, reply->length}, word, holder;
    struct hl_response said;
    struct hl_handover handover = {0};
    uint64_t digits, removed = 0;
    int is_below, is_good;
    if (!hl_field_take(&text, &word))
        return hl_response_fault(reply);
    is_below = *word.at == '-';
    is_good = hl_field_is_number((struct hl_field){word.at + is_below, word.length - (size_t)is_below}, &digits);
    said = released(is_below ? -(int64_t)digits : (int64_t)digits);
    if (is_good && memchr(text.at, ' ', text.length)) {
        is_good = hl_field_take_number(&text, &handover.window_ms) && hl_field_take_number(&text, &handover.at_us) &&
                  hl_field_take(&text, &holder) && handover.window_ms && handover.at_us;
        if (is_good)
            said.handover = (struct hl_handover){handover.window_ms, handover.at_us, holder.at, holder.length};
        said.server_us = handover.at_us;
    }
    if (is_good && text.length)
        is_good = hl_field_take_number(&text, &removed) && !text.length;
    said.removed = removed_of((int64_t)removed);
    return is_good ? said : hl_response_fault(reply);
}

/* WRONGTYPE may be about a key of the queue; the second form, which names only the key of the lock, decides. If the
 * release asked for the next hold, a grant to another waiter stands in the answer to that acquire. */
struct hl_response hl_queued_released(const struct hl_reply *reply, enum hl_form form)
{
    struct hl_reply next;
    if (form == HL_FORM_NEXT && hl_queued_next(reply, &next))
        reply = &reply->items[0];
    if (reply->type == HL_REPLY_INTEGER && reply->integer >= -HL_NUMBER_MAX && reply->integer <= HL_NUMBER_MAX)
        return released(reply->integer);
    if (reply->type == HL_REPLY_STRING && form != HL_FORM_NARROW && form != HL_FORM_FORCED)
        return released_in_words(reply);
    if (form != HL_FORM_NARROW && reply->type == HL_REPLY_ERROR &&
        (hl_reply_starts(reply, "TRYAGAIN") || (form != HL_FORM_FORCED && hl_reply_has_code(reply, "WRONGTYPE"))))
        return (struct hl_response){.result = HL_AGAIN, .is_for_now = hl_reply_starts(reply, "TRYAGAIN")};
    return hl_response_of_hold(reply, form);
}

/* Reads the answer to a renewal of a share, or to the downgrade of a hold. The latter is that of a release that freed
 * nothing. */
static struct hl_response renewed_share(const struct hl_reply *reply, enum hl_form form)
{
    if (form == HL_FORM_DOWNGRADE && reply->type == HL_REPLY_STRING)
        return released_in_words(reply);
    return hl_response_renewed(reply, form);
}

/* ---- the kinds ---- */

#define IN_COMMON \
    .wrong_kind = "is not a lock hash: another program's key, or another kind of lock (SIMPLE, or Redisson's for " \
                  "readers and writers)", \
    .recheck = hl_queued_recheck, .force = hl_queued_force, .peek = hl_queued_peek, \
    .acquired = hl_queued_acquired, .released = hl_queued_released
#define ALONE \
    .acquire = hl_queued_acquire, .renew = hl_queued_renew, .release = hl_queued_release, \
    .renewed = hl_response_renewed, IN_COMMON
#define SHARES \
    .queueing = HL_QUEUES_HANDLES, .holding = HL_HOLDS_SHARED, \
    .acquire = acquire_share, .renew = renew_share, .release = release_share, \
    .downgrade = downgrade, .renewed = renewed_share, IN_COMMON

const struct hl_kind hl_queued_mutex = {.kind = HILOCK_MUTEX, .queueing = HL_QUEUES_CLIENTS,
                                        .sharing = &hl_queued_mutex_share, ALONE};
const struct hl_kind hl_queued_fair = {.kind = HILOCK_FAIR, .queueing = HL_QUEUES_HANDLES,
                                       .sharing = &hl_queued_fair_share, ALONE};
const struct hl_kind hl_queued_mutex_share = {.kind = HILOCK_MUTEX, SHARES};
const struct hl_kind hl_queued_fair_share = {.kind = HILOCK_FAIR, SHARES};
