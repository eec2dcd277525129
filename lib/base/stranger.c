/* SPDX-License-Identifier: BSD-3-Clause */
/* stranger - see stranger.h. */
#include "base/stranger.h"

#include <string.h>

#include "base/words.h"

static const struct hl_stranger http = {HILOCK_PROTOCOL, hl_words_http};
static const struct hl_stranger tls = {HILOCK_PROTOCOL, hl_words_tls};
static const struct hl_stranger other = {HILOCK_PROTOCOL, hl_words_other};
const struct hl_stranger hl_stranger_scriptless = {HILOCK_SERVER, hl_words_scriptless};
const struct hl_stranger hl_stranger_sentinel = {HILOCK_SERVER, hl_words_sentinel};
const struct hl_stranger hl_stranger_no_sentinel = {HILOCK_SERVER, hl_words_no_sentinel};
const struct hl_stranger hl_stranger_cluster_node = {HILOCK_SERVER, hl_words_cluster_node};
const struct hl_stranger hl_stranger_no_cluster = {HILOCK_SERVER, hl_words_no_cluster};

static const struct hl_stranger *const strangers[] = {
    &http, &tls, &other, &hl_stranger_scriptless, &hl_stranger_sentinel, &hl_stranger_no_sentinel,
    &hl_stranger_cluster_node, &hl_stranger_no_cluster};

/* Compares only the bytes that have come so far, because they may come one by one. */
static int may_begin(const char *bytes, size_t length, const char *head)
{
    size_t compared = length < strlen(head) ? length : strlen(head);
    return compared && memcmp(bytes, head, compared) == 0;
}

/* A TLS server may answer bytes that are not TLS with an alert: content type 21, version 3.x. */
const struct hl_stranger *hl_stranger_of_bytes(const char *bytes, size_t length)
{
    if (length && strchr("+-:$*", *bytes))
        return NULL; /* these are the first letters of a Redis reply */
    if (may_begin(bytes, length, "HTTP/") || may_begin(bytes, length, "<"))
        return &http;
    return may_begin(bytes, length, "\x15\x03") ? &tls : &other;
}

int hl_stranger_lacks_command(const char *bytes, size_t length)
{
    static const char words[] = "unknown command";
    return memmem(bytes, length, words, sizeof words - 1) != NULL;
}

/* Looks for a sentinel first, because a sentinel has no scripts either. */
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
