/* SPDX-License-Identifier: BSD-3-Clause */
/* log - see log.h. */
#include "client/log.h"

#include <stdio.h>

enum { SPAN_US = 1000000 };

/* What a line that stands for many calls them; NULL: every line of this kind is written. Places in hl_log.kinds. */
static const struct limited { enum hl_what what; const char *words; } limited[HL_LOG_KINDS] = {
    {HL_REFUSED, "calls were refused"},
    {HL_RELEASE_REFUSED, "releases were refused, and are tried again"},
    {HL_HOLD_RENEWAL_FAILED, "renewals failed"},
    {HL_HOLD_LOST, "holds were lost"},
    {HL_RELEASE_SETTLED, "unanswered releases were settled"},
    {HL_HOLD_UNDONE, "grants came too late and were given back"},
    {HL_CLOCK_ANOMALY, "leases at the store were not what we made them"},
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
    struct hl_text line;
    unsigned more = kind->more;
    if (!more)
        return;
    hl_text_set(&line, "%u more %s in the meantime; one line a second is written", more,
                limited[kind - client->log.kinds].words);
    client->log.more -= more;
    kind->more = 0;
    put(client, kind->level, line.bytes);
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
