/* SPDX-License-Identifier: BSD-3-Clause */
/* server_info - see server_info.h. INFO is lines of "name:value" that end with CR LF. Its bytes come from the server
 * and may be anything. */
#include "node/server_info.h"

#include <string.h>

enum { SECOND_US = 1000000, UP_MAX_S = 1000000000, SURE_US = 2000000 };

struct value { const char *bytes; size_t length; }; /* length 0: there is none */

/* Finds a value in INFO; `name` includes the ":". */
static struct value value_of(const struct hl_reply *info, const char *name)
{
    const char *line = info->bytes;
    size_t left = info->type == HL_REPLY_STRING ? info->length : 0, name_length = strlen(name);
    while (left) {
        const char *stop = memchr(line, '\n', left);
        size_t length = stop ? (size_t)(stop - line) : left;
        if (length > name_length && memcmp(line, name, name_length) == 0)
            return (struct value){line + name_length, length - name_length - (line[length - 1] == '\r')};
        left -= length + (stop != NULL);
        line += length + (stop != NULL);
    }
    return (struct value){"", 0};
}

/* Copies a value. A value that is too long counts as missing, because no run id and no policy is that long. */
static void keep(char *to, size_t room, struct value value)
{
    size_t length = value.length < room ? value.length : 0;
    memcpy(to, value.bytes, length);
    to[length] = '\0';
}

static int is_number(struct value value, uint64_t *ret_number)
{
    return value.length && hl_reply_decimal(value.bytes, value.length, ret_number) == value.length;
}

void hl_server_info_read_run(char ret_run_id[HL_RUN_ID_MAX + 1], const struct hl_reply *reply)
{
    keep(ret_run_id, HL_RUN_ID_MAX + 1, value_of(reply, "run_id:"));
}

int hl_server_info_is_replica(const struct hl_reply *reply)
{
    const struct value role = value_of(reply, "role:");
    return role.length == 5 && memcmp(role.bytes, "slave", 5) == 0;
}

/* A different run id shows that this is another run. Without run ids an uptime that is shorter than the time since the
 * last reading shows it. */
enum hl_server_info_news hl_server_info_read_server(struct hl_server_info *server_info, const struct hl_reply *reply,
                                                    uint64_t now_us, uint64_t old_link_reply_at_us)
{
    char run_id[HL_RUN_ID_MAX + 1];
    uint64_t up_s = 0;
    if (!is_number(value_of(reply, "uptime_in_seconds:"), &up_s)) {
        server_info->read_us = 0;
        server_info->started_us = (int64_t)now_us;
        return HL_SERVER_INFO_UNREADABLE;
    }
    hl_server_info_read_run(run_id, reply);
    int has_id = *server_info->run_id && *run_id;
    int is_same = has_id && strcmp(server_info->run_id, run_id) == 0;
    int is_younger = server_info->read_us && up_s * SECOND_US + SECOND_US < now_us - server_info->read_us;
    int is_another = has_id ? !is_same : is_younger;
    /* SURE_US: the uptime is in whole seconds, and the server's clock may have been set by a little */
    int64_t began_us = (int64_t)now_us - (int64_t)(up_s < UP_MAX_S ? up_s : UP_MAX_S) * SECOND_US;
    int is_older = has_id && !is_same && began_us + SURE_US < (int64_t)old_link_reply_at_us;
    up_s -= up_s > 0;
    if (!server_info->read_us || !is_same)
        server_info->started_us = (int64_t)now_us - (int64_t)(up_s < UP_MAX_S ? up_s : UP_MAX_S) * SECOND_US;
    if (is_another && server_info->started_us < (int64_t)old_link_reply_at_us)
        server_info->started_us = (int64_t)old_link_reply_at_us;
    memcpy(server_info->run_id, run_id, sizeof run_id);
    server_info->read_us = now_us;
    if (is_older)
        return HL_SERVER_INFO_ANOTHER;
    return is_another ? HL_SERVER_INFO_NEWS : HL_SERVER_INFO_AS_BEFORE;
}

enum hl_server_info_news hl_server_info_read_memory(struct hl_server_info *server_info, const struct hl_reply *reply)
{
    const struct value policy = value_of(reply, "maxmemory_policy:");
    char before[sizeof server_info->policy];
    uint64_t limit = 1;
    if (!policy.length)
        return HL_SERVER_INFO_UNREADABLE;
    is_number(value_of(reply, "maxmemory:"), &limit);
    memcpy(before, server_info->policy, sizeof before);
    keep(server_info->policy, sizeof server_info->policy, policy);
    if (limit == 0 || strcmp(server_info->policy, "noeviction") == 0)
        *server_info->policy = '\0';
    return *server_info->policy && strcmp(before, server_info->policy) != 0 ? HL_SERVER_INFO_NEWS
                                                                            : HL_SERVER_INFO_AS_BEFORE;
}
