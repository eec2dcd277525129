/* SPDX-License-Identifier: BSD-3-Clause */
/* log - see log.h. */
#include "client/log.h"

#include <stdio.h>

#include "client/words.h"

enum { SPAN_US = 1000000 };

/* The kinds of which one line a second is written, with the words for those that were left out. Lines of every other
 * kind are all written. The index of a kind is the same in hl_log.kinds. */
static const struct limited { enum hl_what what; const char *words; } limited[HL_LOG_KINDS] = {
    {HL_REFUSED, hl_words_many_refused},
    {HL_RELEASE_REFUSED, hl_words_many_releases_refused},
    {HL_HOLD_RENEWAL_FAILED, hl_words_many_renewals_failed},
    {HL_HOLD_LOST, hl_words_many_lost},
    {HL_RELEASE_SETTLED, hl_words_many_settled},
    {HL_HOLD_UNDONE, hl_words_many_undone},
    {HL_CLOCK_ANOMALY, hl_words_many_anomalies},
};

static void put(const struct hilock_client *client, hilock_log_level level, const char *line)
{
    char whole[HL_TEXT_MAX + HL_LABEL_MAX + 3];
    const char *label = client->core.label;
    snprintf(whole, sizeof whole, "%s%s%s", label, *label ? ": " : "", line);
    client->options.on_log(level, whole, client->options.user);
}

static struct hl_log_kind *kind_of(struct hilock_client *client, enum hl_what what)
{
    for (unsigned i = 0; i < HL_LOG_KINDS; i++)
        if (limited[i].what == what)
            return &client->log.kinds[i];
    return NULL;
}

static void count_out(struct hilock_client *client, struct hl_log_kind *kind)
{
    unsigned more = kind->more;
    if (!more)
        return;
    client->log.more -= more;
    kind->more = 0;
    put(client, kind->level, hl_words_left_out(more, limited[kind - client->log.kinds].words).bytes);
}

void hl_log_write(struct hilock_client *client, enum hl_what what, hilock_log_level level, const char *line)
{
    struct hl_log_kind *kind = level < HILOCK_LOG_DEBUG ? kind_of(client, what) : NULL;
    uint64_t now_us = kind ? hl_now_us(&client->core.host) : 0;
    if (kind && kind->began_us && now_us - kind->began_us < SPAN_US) {
        kind->level = !kind->more || level < kind->level ? level : kind->level;
        kind->more++;
        client->log.more++;
        return;
    }
    if (kind) {
        count_out(client, kind);
        kind->began_us = now_us;
    }
    put(client, level, line);
}

void hl_log_catch_up(struct hilock_client *client)
{
    uint64_t now_us = client->log.more ? hl_now_us(&client->core.host) : 0;
    for (unsigned i = 0; client->log.more && i < HL_LOG_KINDS; i++)
        if (now_us - client->log.kinds[i].began_us >= SPAN_US)
            count_out(client, &client->log.kinds[i]);
}
