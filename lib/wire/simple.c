/* SPDX-License-Identifier: BSD-3-Clause */
/* simple - see simple.h. The heads of the scripts list their arguments and answers. */
#include "wire/simple.h"

#include "wire/holder.h"
#include "wire/scripts.h"

/* Begins a command. script NULL: the native command is used. */
static void begin(struct hl_command *command, const struct hl_script *script, const char *native,
                  const struct hl_target *target)
{
    if (script)
        hl_command_evalsha(command, script, 1);
    else
        hl_command_begin(command, native);
    hl_command_add(command, target->name, target->name_length);
}

enum hl_form hl_simple_acquire(struct hl_command *command, const struct hl_target *target,
                               const struct hl_acquire_params *params)
{
    begin(command, params->is_second ? &hl_script_simple_acquire : NULL, "SET", target);
    hl_holder_add(command, target->uuid, target->id, target->label);
    if (!params->is_second) {
        hl_command_add_word(command, "NX");
        hl_command_add_word(command, "PX");
    }
    hl_command_add_number(command, params->lease_ms);
    return params->is_second ? HL_FORM_SCRIPT : HL_FORM_NATIVE;
}

enum hl_form hl_simple_renew(struct hl_command *command, const struct hl_target *target,
                             const struct hl_renew_params *params)
{
    begin(command, &hl_script_simple_renew, NULL, target);
    hl_holder_add(command, target->uuid, target->id, target->label);
    hl_command_add_number(command, params->lease_ms);
    return HL_FORM_SCRIPT;
}

enum hl_form hl_simple_release(struct hl_command *command, const struct hl_target *target,
                               const struct hl_release_params *params)
{
    (void)params;
    begin(command, &hl_script_simple_release, NULL, target);
    hl_holder_add(command, target->uuid, target->id, target->label);
    return HL_FORM_SCRIPT;
}

enum hl_form hl_simple_force(struct hl_command *command, const struct hl_target *target,
                             const struct hl_force_params *params)
{
    begin(command, &hl_script_simple_release, NULL, target);
    hl_command_add(command, params->holder, params->holder_length);
    return HL_FORM_FORCED;
}

enum hl_form hl_simple_peek(struct hl_command *command, const struct hl_target *target,
                            const struct hl_queue_entry *entry, int is_list)
{
    (void)entry, (void)is_list;
    begin(command, &hl_script_simple_peek, NULL, target);
    return HL_FORM_SCRIPT;
}

/* A script that finds the name held answers like a peek. */
struct hl_response hl_simple_acquired(const struct hl_reply *reply, enum hl_form form)
{
    const struct hl_response held = hl_response_peeked(reply, form);
    int is_ours = form == HL_FORM_NATIVE ? reply->type == HL_REPLY_STATUS && hl_reply_is(reply, "OK")
                                         : reply->type == HL_REPLY_INTEGER && reply->integer == 1;
    if (is_ours)
        return (struct hl_response){.result = HL_YES};
    if (form == HL_FORM_NATIVE && reply->type == HL_REPLY_NIL)
        return (struct hl_response){.result = HL_AGAIN};
    return form == HL_FORM_SCRIPT && held.result == HL_NO ? held : hl_response_fault(reply);
}

struct hl_response hl_simple_renewed(const struct hl_reply *reply, enum hl_form form)
{
    return hl_response_renewed(reply, form);
}

struct hl_response hl_simple_released(const struct hl_reply *reply, enum hl_form form)
{
    if (reply->type != HL_REPLY_INTEGER || reply->integer < 0 || reply->integer > 1)
        return hl_response_of_hold(reply, form);
    return (struct hl_response){.result = reply->integer ? HL_YES : HL_NO};
}

const struct hl_kind hl_simple_kind = {
    .kind = HILOCK_SIMPLE,
    .queueing = HL_QUEUES_NOT,
    .wrong_kind = "is not a lock string: another program's key, or a MUTEX or FAIR lock of the same name",
    .acquire = hl_simple_acquire,
    .renew = hl_simple_renew,
    .release = hl_simple_release,
    .force = hl_simple_force,
    .peek = hl_simple_peek,
    .acquired = hl_simple_acquired,
    .renewed = hl_simple_renewed,
    .released = hl_simple_released,
};
