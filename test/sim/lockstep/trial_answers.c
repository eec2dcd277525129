/* SPDX-License-Identifier: BSD-3-Clause */
/* trial_answers - what the answers tell a trial: whose lock it may speak of next, and how much of what matters has happened. */
#include "trial.h"
#include "wire/queued.h"
#include "wire/scripts.h"

void trial_answers(struct trial *trial, const struct line *line, const struct hl_reply *reply)
{
    if (line->command.script == &hl_script_mutex_acquire) {
        trial->granted += reply->type == HL_REPLY_INTEGER;
        trial->held += reply->type == HL_REPLY_ARRAY;
        trial->late += reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "LATE ");
        if (reply->type == HL_REPLY_INTEGER) {
            trial->tokens[line->name][line->holder] = (uint64_t)reply->integer;
            trial->latest_name = line->name;
            trial->latest_holder = line->holder;
        }
    }
    if (line->command.script == &hl_script_mutex_acquire) {
        const struct hl_response said = hl_queued_acquired(reply, HL_FORM_SCRIPT);
        trial->fair_taken += said.result == HL_YES && said.token;
        trial->fair_queued += said.result == HL_NO && said.position > 1;
        if (said.result == HL_NO)
            trial->tickets[line->name][line->holder] = said.ticket;
        if (said.result == HL_YES || said.result == HL_NO) { /* most of the next is about this name */
            trial->latest_name = line->name;
            trial->latest_holder = line->holder;
        }
    }
    trial->fair_handed += line->command.script == &hl_script_mutex_release && reply->type == HL_REPLY_INTEGER && reply->integer < -1;
    if (reply->type == HL_REPLY_INTEGER && reply->integer != 0) {
        trial->renewed += line->command.script == &hl_script_renew;
        trial->released += line->command.script == &hl_script_mutex_release;
        trial->simple_taken += line->command.script == &hl_script_simple_acquire;
        trial->simple_renewed += line->command.script == &hl_script_simple_renew;
        trial->simple_released += line->command.script == &hl_script_simple_release;
    }
    if (reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "NOSCRIPT") && !trial->to_load && trial_below(trial, 4) == 0)
        trial->to_load = trial_scripts();
}
