/* SPDX-License-Identifier: BSD-3-Clause */
/* vitals - see vitals.h. INFO is lines of "name:value", ended by CR LF; its bytes are the server's and may be anything. */
#include "node/vitals.h"

#include <string.h>

#include "base/plant.h"

enum { SECOND_US = 1000000, UP_MAX_S = 1000000000 };

struct value { const char *bytes; size_t length; }; /* bytes NULL: no such line */

static struct value value_of(const struct hl_reply *info, const char *name)
{
    const char *line = info->bytes, *end = info->bytes + info->length;
    size_t name_length = strlen(name);
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((stop ? stop : end) - line);
        if (length && line[length - 1] == '\r')
            length--;
        if (length > name_length && memcmp(line, name, name_length) == 0 && line[name_length] == ':')
            return (struct value){line + name_length + 1, length - name_length - 1};
        line = stop ? stop + 1 : end;
    }
    return (struct value){NULL, 0};
}

/* A value that is too long is none: it is no run id and no policy. */
static void keep(char *to, size_t room, struct value value)
{
    size_t length = value.bytes && value.length < room ? value.length : 0;
    if (length)
        memcpy(to, value.bytes, length);
    to[length] = '\0';
}

static int is_number(struct value value, uint64_t *ret_number)
{
    return value.bytes && value.length && hl_reply_decimal(value.bytes, value.length, ret_number) == value.length;
}

/* By its run id; of a server that tells none, by an uptime that does not reach back to when it was last read. */
static int is_another_run(const struct hl_vitals *vitals, const char *run_id, uint64_t up_us, uint64_t now_us)
{
    if (*vitals->run_id && *run_id)
        return strcmp(vitals->run_id, run_id) != 0;
    return vitals->heard_us && up_us + SECOND_US < now_us - vitals->heard_us;
}

static int64_t latest_start_us(uint64_t up_seconds, uint64_t now_us)
{
    uint64_t up_s = up_seconds - (up_seconds > 0 && !HL_PLANTED(GUARD_A_SECOND_SHORT));
    return (int64_t)now_us - (int64_t)(up_s < UP_MAX_S ? up_s : UP_MAX_S) * SECOND_US;
}

enum hl_vital_news hl_vitals_read_server(struct hl_vitals *vitals, const struct hl_reply *reply, uint64_t now_us, uint64_t earlier_us)
{
    char run_id[HL_RUN_ID_MAX + 1];
    uint64_t up_seconds = 0;
    int is_same, is_another;
    if (reply->type != HL_REPLY_STRING || !is_number(value_of(reply, "uptime_in_seconds"), &up_seconds)) {
        vitals->heard_us = 0;
        vitals->started_us = (int64_t)now_us;
        return HL_VITALS_UNREADABLE;
    }
    keep(run_id, sizeof run_id, value_of(reply, "run_id"));
    is_same = vitals->heard_us && *run_id && strcmp(vitals->run_id, run_id) == 0;
    is_another = is_another_run(vitals, run_id, up_seconds * SECOND_US, now_us);
    if (!is_same)
        vitals->started_us = latest_start_us(up_seconds, now_us);
    if (is_another && vitals->started_us < (int64_t)earlier_us)
        vitals->started_us = (int64_t)earlier_us;
    memcpy(vitals->run_id, run_id, sizeof run_id);
    vitals->heard_us = now_us;
    return is_another ? HL_VITALS_NEWS : HL_VITALS_AS_BEFORE;
}

enum hl_vital_news hl_vitals_read_memory(struct hl_vitals *vitals, const struct hl_reply *reply)
{
    struct value policy = {NULL, 0};
    char before[sizeof vitals->policy];
    uint64_t limit = 1;
    if (reply->type == HL_REPLY_STRING)
        policy = value_of(reply, "maxmemory_policy");
    if (!policy.bytes)
        return HL_VITALS_UNREADABLE;
    is_number(value_of(reply, "maxmemory"), &limit);
    memcpy(before, vitals->policy, sizeof before);
    keep(vitals->policy, sizeof vitals->policy, policy);
    if (limit == 0 || strcmp(vitals->policy, "noeviction") == 0)
        *vitals->policy = '\0';
    return *vitals->policy && strcmp(before, vitals->policy) != 0 ? HL_VITALS_NEWS : HL_VITALS_AS_BEFORE;
}
