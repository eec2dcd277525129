/* SPDX-License-Identifier: BSD-3-Clause */
/* stranger - see stranger.h. */
#include "base/stranger.h"

#include <string.h>

static const struct hl_stranger http = {
    HILOCK_PROTOCOL, "it answers as an HTTP server: give the host and port of a Redis or Valkey server"};
static const struct hl_stranger tls = {
    HILOCK_PROTOCOL, "it answers as a TLS port: the url must begin with rediss instead of redis"};
static const struct hl_stranger other = {
    HILOCK_PROTOCOL, "it does not speak the protocol of Redis: are host and port right?"};
const struct hl_stranger hl_stranger_scriptless = {
    HILOCK_SERVER, "it runs no scripts, as a proxy may: give the url of a server that has SCRIPT and EVALSHA"};
const struct hl_stranger hl_stranger_sentinel = {
    HILOCK_SERVER, "it is a sentinel: begin the url with redis+sentinel, or give the url of the server itself"};
const struct hl_stranger hl_stranger_no_sentinel = {
    HILOCK_SERVER, "it is no sentinel: give the sentinels, or begin the url with redis for one server alone"};
const struct hl_stranger hl_stranger_cluster_node = {
    HILOCK_SERVER, "it is a node of a cluster: begin the url with redis+cluster://"};
const struct hl_stranger hl_stranger_no_cluster = {
    HILOCK_SERVER, "it is not in a cluster: begin the url with redis for one server alone"};

static const struct hl_stranger *const strangers[] = {
    &http, &tls, &other, &hl_stranger_scriptless, &hl_stranger_sentinel, &hl_stranger_no_sentinel,
    &hl_stranger_cluster_node, &hl_stranger_no_cluster};

/* Bytes may come one by one: those that are here must fit. */
static int may_begin(const char *bytes, size_t length, const char *head)
{
    size_t compared = length < strlen(head) ? length : strlen(head);
    return compared && memcmp(bytes, head, compared) == 0;
}

/* A TLS server may answer bytes that are not TLS with an alert: content type 21, version 3.x. */
const struct hl_stranger *hl_stranger_of_bytes(const char *bytes, size_t length)
{
    if (length && strchr("+-:$*", *bytes))
        return NULL; /* it began well */
    if (may_begin(bytes, length, "HTTP/") || may_begin(bytes, length, "<"))
        return &http;
    return may_begin(bytes, length, "\x15\x03") ? &tls : &other;
}

int hl_stranger_lacks_command(const char *bytes, size_t length)
{
    static const char words[] = "unknown command";
    return memmem(bytes, length, words, sizeof words - 1) != NULL;
}

/* A sentinel has no scripts either. */
const struct hl_stranger *hl_stranger_of_server(const char *load_refusal, const struct hl_reply *info)
{
    static const char mode[] = "redis_mode:sentinel";
    if (info->type == HL_REPLY_STRING && memmem(info->bytes, info->length, mode, sizeof mode - 1))
        return &hl_stranger_sentinel;
    return hl_stranger_lacks_command(load_refusal, strlen(load_refusal)) ? &hl_stranger_scriptless : NULL;
}

struct hl_reply hl_stranger_reply(const char *words)
{
    return (struct hl_reply){.type = HL_REPLY_ERROR, .bytes = words, .length = strlen(words)};
}

const struct hl_stranger *hl_stranger_named(const char *words, size_t length)
{
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (strlen(strangers[i]->words) == length && memcmp(strangers[i]->words, words, length) == 0)
            return strangers[i];
    return NULL;
}
