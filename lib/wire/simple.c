/* SPDX-License-Identifier: BSD-3-Clause */
/* simple - see simple.h; the heads of the scripts have their arguments and answers. */
#include "wire/simple.h"

#include "base/plant.h"
#include "wire/holder.h"
#include "wire/keys.h"
#include "wire/natives.h"
#include "wire/scripts.h"

static const uint64_t span_max = (uint64_t)1 << 53; /* Lua's numbers are exact up to here */

static void begin_script(struct hl_command *command, const struct hl_script *script, const struct hl_target *target)
{
    hl_command_evalsha(command, script, 1);
    hl_command_add(command, target->name, target->name_length);
    hl_holder_add(command, target->uuid, target->id, target->label);
}

static void begin_set(struct hl_command *command, const struct hl_target *target)
{
    hl_command_begin(command, "SET");
    hl_command_add(command, target->name, target->name_length);
    hl_holder_add(command, target->uuid, target->id, target->label);
}

enum hl_form hl_simple_acquire(struct hl_command *command, const struct hl_target *target,
                               const struct hl_params *params)
{
    if (params->is_second)
        begin_script(command, &hl_script_simple_acquire, target);
    else {
        begin_set(command, target);
        hl_command_add_word(command, "NX");
        hl_command_add_word(command, "PX");
    }
    hl_command_add_number(command, params->lease_ms);
    return params->is_second ? HL_FORM_SCRIPT : HL_FORM_NATIVE;
}

static enum hl_form renew_blindly(struct hl_command *command, const struct hl_target *target,
                                  const struct hl_params *params)
{
    begin_set(command, target);
    hl_command_add_word(command, "PX");
    hl_command_add_number(command, params->lease_ms);
    return HL_FORM_NATIVE;
}

/* SET overwrites the TTL: a lease that was perhaps extended is renewed by the script, which never shortens it. */
enum hl_form hl_simple_renew(struct hl_command *command, const struct hl_target *target, const struct hl_params *params)
{
    int is_native = params->natives && !params->is_extended;
    if (HL_PLANTED(SIMPLE_RENEWS_BLINDLY))
        return renew_blindly(command, target, params);
    if (is_native) {
        begin_set(command, target);
        hl_command_add_word(command, "IFEQ");
        hl_holder_add(command, target->uuid, target->id, target->label);
        hl_command_add_word(command, "PX");
    } else
        begin_script(command, &hl_script_simple_renew, target);
    hl_command_add_number(command, params->lease_ms);
    return is_native ? HL_FORM_NATIVE : HL_FORM_SCRIPT;
}

static enum hl_form release_blindly(struct hl_command *command, const struct hl_target *target)
{
    hl_command_begin(command, "DEL");
    hl_command_add(command, target->name, target->name_length);
    return HL_FORM_NATIVE;
}

enum hl_form hl_simple_release(struct hl_command *command, const struct hl_target *target,
                               const struct hl_params *params)
{
    int has_delifeq = (params->natives & HL_NATIVE_DELIFEQ) != 0;
    if (HL_PLANTED(SIMPLE_RELEASES_BLINDLY))
        return release_blindly(command, target);
    if (!params->natives) {
        begin_script(command, &hl_script_simple_release, target);
        return HL_FORM_SCRIPT;
    }
    hl_command_begin(command, has_delifeq ? "DELIFEQ" : "DELEX");
    hl_command_add(command, target->name, target->name_length);
    if (!has_delifeq)
        hl_command_add_word(command, "IFEQ");
    hl_holder_add(command, target->uuid, target->id, target->label);
    return HL_FORM_NATIVE;
}

static struct hl_response held(const struct hl_reply *reply)
{
    const struct hl_reply *left = hl_reply_item(reply, 0, HL_REPLY_INTEGER),
                          *value = hl_reply_item(reply, 1, HL_REPLY_STRING);
    if (!left || !value || left->integer < -1 || (left->integer > 0 && (uint64_t)left->integer > span_max))
        return hl_response_fault(reply);
    return (struct hl_response){.result = HL_NO,
                            .left_ms = left->integer < 0 ? 0 : (uint64_t)left->integer,
                            .has_no_ttl = left->integer < 0,
                            .holder = value->bytes,
                            .holder_length = value->length};
}

struct hl_response hl_simple_acquired(const struct hl_reply *reply, enum hl_form form)
{
    if (form == HL_FORM_NATIVE && reply->type == HL_REPLY_STATUS && hl_reply_is(reply, "OK"))
        return (struct hl_response){.result = HL_YES};
    if (form == HL_FORM_NATIVE && reply->type == HL_REPLY_NIL)
        return (struct hl_response){.result = HL_AGAIN};
    if (form == HL_FORM_SCRIPT && reply->type == HL_REPLY_INTEGER && reply->integer == 1)
        return (struct hl_response){.result = HL_YES};
    return form == HL_FORM_SCRIPT ? held(reply) : hl_response_fault(reply);
}

struct hl_response hl_simple_renewed(const struct hl_reply *reply, enum hl_form form)
{
    if (form == HL_FORM_NATIVE && reply->type == HL_REPLY_STATUS && hl_reply_is(reply, "OK"))
        return (struct hl_response){.result = HL_YES, .left_ms = HL_LEFT_UNKNOWN};
    if (form == HL_FORM_NATIVE && reply->type == HL_REPLY_NIL)
        return (struct hl_response){.result = HL_NO};
    if (form == HL_FORM_NATIVE || reply->type != HL_REPLY_INTEGER || reply->integer < 0 ||
        (uint64_t)reply->integer > span_max)
        return hl_response_of_hold(reply);
    return (struct hl_response){.result = reply->integer ? HL_YES : HL_NO,
                            .left_ms = reply->integer ? (uint64_t)reply->integer - 1 : 0};
}

struct hl_response hl_simple_released(const struct hl_reply *reply, enum hl_form form)
{
    (void)form; /* both answer 0 or 1 */
    if (reply->type != HL_REPLY_INTEGER || reply->integer < 0 || reply->integer > 1)
        return hl_response_of_hold(reply);
    return (struct hl_response){.result = reply->integer ? HL_YES : HL_NO};
}

/* For force_release, which reports a key of another type. */
static struct hl_response forced(const struct hl_reply *reply, enum hl_form form)
{
    return reply->type == HL_REPLY_ERROR ? hl_response_fault(reply) : hl_simple_released(reply, form);
}

static void force(struct hl_command *command, const struct hl_target *target, const struct hl_params *params,
                  const char *holder, size_t holder_length)
{
    (void)params;
    hl_command_evalsha(command, &hl_script_simple_release, 1);
    hl_command_add(command, target->name, target->name_length);
    hl_command_add(command, holder, holder_length);
}

const struct hl_kind hl_simple_kind = {
    .kind = HILOCK_SIMPLE,
    .has_natives = 1,
    .wrong_kind = "is not a lock string: another program's key, or a MUTEX or FAIR lock of the same name",
    .acquire = hl_simple_acquire,
    .renew = hl_simple_renew,
    .release = hl_simple_release,
    .acquired = hl_simple_acquired,
    .renewed = hl_simple_renewed,
    .released = hl_simple_released,
    .peek = &hl_script_simple_peek,
    .force = force,
    .forced = forced,
};
