/* SPDX-License-Identifier: BSD-3-Clause */
/* scene_hear - what the answers tell a scene: whose lock it may speak of next, and how much of what matters has happened. */
#include "scene.h"
#include "wire/queued.h"
#include "wire/scripts.h"

void scene_hear(struct scene *scene, const struct line *line, const struct hl_reply *reply)
{
    if (line->command.script == &hl_script_mutex_acquire) {
        scene->granted += reply->type == HL_REPLY_INTEGER;
        scene->held += reply->type == HL_REPLY_ARRAY;
        scene->late += reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "LATE ");
        if (reply->type == HL_REPLY_INTEGER) {
            scene->tokens[line->name][line->holder] = (uint64_t)reply->integer;
            scene->latest_name = line->name;
            scene->latest_holder = line->holder;
        }
    }
    if (line->command.script == &hl_script_mutex_acquire) {
        const struct hl_response said = hl_queued_acquired(reply, HL_FORM_SCRIPT);
        scene->fair_taken += said.result == HL_YES && said.token;
        scene->fair_queued += said.result == HL_NO && said.position > 1;
        if (said.result == HL_NO)
            scene->tickets[line->name][line->holder] = said.ticket;
        if (said.result == HL_YES || said.result == HL_NO) { /* most of the next is about this name */
            scene->latest_name = line->name;
            scene->latest_holder = line->holder;
        }
    }
    scene->fair_handed += line->command.script == &hl_script_mutex_release && reply->type == HL_REPLY_INTEGER && reply->integer < -1;
    if (reply->type == HL_REPLY_INTEGER && reply->integer != 0) {
        scene->renewed += line->command.script == &hl_script_renew;
        scene->released += line->command.script == &hl_script_mutex_release;
        scene->simple_taken += line->command.script == &hl_script_simple_acquire;
        scene->simple_renewed += line->command.script == &hl_script_simple_renew;
        scene->simple_released += line->command.script == &hl_script_simple_release;
    }
    if (reply->type == HL_REPLY_ERROR && hl_reply_starts(reply, "NOSCRIPT") && !scene->to_load && scene_below(scene, 4) == 0)
        scene->to_load = scene_scripts();
}
