/* SPDX-License-Identifier: BSD-3-Clause */
/* place - what a trial says of a waiter's place in a queue, and remembers of the grants that releases make. */
#include <stdio.h>
#include <string.h>

#include "trial.h"
#include "wire/queued.h"

uint64_t trial_some_ms(struct trial *trial)
{
    static const uint64_t spans_ms[] = {1, 2, 3, 10, 50, 300, 3000, 3000, 30000, 30000};
    return spans_ms[trial_below(trial, sizeof spans_ms / sizeof *spans_ms)];
}

static uint64_t some_due_s(struct trial *trial) { return trial->now_us / 1000000 + (trial_below(trial, 2) ? trial_below(trial, 12) - 1 : 100000); }

static void some_channel(struct trial *trial, char to[HL_GRANT_CHANNEL_MAX])
{
    const char *channel = trial->channels[trial_below(trial, NAMES)].at;
    snprintf(to, HL_GRANT_CHANNEL_MAX, "%s", trial_below(trial, 4) == 0 || strpbrk(channel, " ") ? "" : channel);
}

/* Its text mostly stays as it was. A ticket may be one that does not exist, none, or the latest one that was given. */
void trial_stand(struct trial *trial, const struct line *line, struct hl_acquire_params *params)
{
    struct hl_queue_entry *entry = &trial->entries[line->name][line->holder];
    uint64_t kind = trial_below(trial, 8);
    if (!entry->due_s || trial_below(trial, 6) == 0) {
        *entry = (struct hl_queue_entry){.due_s = some_due_s(trial), .window_ms = (uint32_t)trial_some_ms(trial), .reserved = params->reserved, .holders_max = 1};
        some_channel(trial, entry->channel);
    }
    params->entry = *entry;
    params->ticket = kind == 0 ? trial->now_us - trial_below(trial, 3000) : kind < 6 ? trial->tickets[line->name][line->holder] : 0;
    if (kind == 7)
        return;
    params->heartbeat = (struct hl_heartbeat){.number = 2 + trial->beats++, .due_s = some_due_s(trial), .window_ms = (uint32_t)trial_some_ms(trial)};
    some_channel(trial, params->heartbeat.channel);
    params->heartbeat.listening = *params->heartbeat.channel ? HL_LISTENS : trial_below(trial, 2) ? HL_POLLS_FIRST : HL_POLLS_FAR;
}

void trial_released(struct trial *trial, const struct hl_reply *reply)
{
    const struct hl_response said = hl_queued_released(reply, HL_FORM_SCRIPT);
    if (said.result == HL_FAULT || !said.handover.holder_length || said.handover.holder_length >= HL_HOLDER_MAX)
        return;
    trial->happened[FAIR_HANDED]++;
    trial->lapsed = (struct hl_lapsed){.count = 1, .window_ms = said.handover.window_ms, .of = {{.at_us = said.handover.at_us}}};
    memcpy(trial->lapsed.holder, said.handover.holder, said.handover.holder_length);
}
