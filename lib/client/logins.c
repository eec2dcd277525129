/* SPDX-License-Identifier: BSD-3-Clause */
/* logins - see logins.h. */
#include "client/logins.h"

#include <stdio.h>

#include "client/options.h"

/* a login is two texts: user, password */
enum { PREFIX, CLIENT_NAME, TLS_NAME, LOGINS, KEPT = LOGINS + 2 * (HL_MASTERS_MAX + 1) };

/* The sentinels' login is the first, then comes that of each url. */
static void collect(const char **texts, const struct hl_urls *urls, const struct hilock_client_options *options)
{
    texts[PREFIX] = options->name_prefix ? options->name_prefix : "";
    texts[TLS_NAME] = options->tls_server_name;
    texts[LOGINS] = options->sentinel_username;
    texts[LOGINS + 1] = options->sentinel_password;
    for (unsigned i = 0; i < urls->count; i++) {
        const char **login = texts + LOGINS + 2 * (i + 1);
        login[0] = options->username ? options->username : urls->of[i].user;
        login[1] = options->password ? options->password : urls->of[i].password;
    }
}

/* Moves them into one block. 0; -1: no memory. */
static int keep(struct hilock_client *client, const char **texts)
{
    char *next;
    for (unsigned i = 0; i < KEPT; i++)
        client->strings_size += texts[i] ? strlen(texts[i]) + 1 : 0;
    client->strings = next = hl_memory_new(&client->core.host.memory, client->strings_size);
    for (unsigned i = 0; next && i < KEPT; i++) {
        size_t size = texts[i] ? strlen(texts[i]) + 1 : 0;
        texts[i] = texts[i] ? memcpy(next, texts[i], size) : NULL;
        next += size;
    }
    return next ? 0 : -1;
}

int hl_logins_keep(struct hilock_client *client, const struct hl_urls *urls,
                   const struct hilock_client_options *options)
{
    char name[HL_UUID_LENGTH + HL_LABEL_MAX + 16];
    const char *texts[KEPT] = {[CLIENT_NAME] = name}, **secret = client->secrets;
    snprintf(name, sizeof name, "hilock:%s:%s", client->core.label, client->core.uuid);
    collect(texts, urls, options);
    if (keep(client, texts) != 0)
        return -1;
    client->prefix = texts[PREFIX];
    client->prefix_length = strlen(client->prefix);
    client->tls_server_name = texts[TLS_NAME];
    for (unsigned i = 0; i <= urls->count; i++) {
        struct hl_login *login = i ? &client->logins[i - 1] : &client->sentinel_login;
        const char *user = texts[LOGINS + 2 * i];
        login->username = user && *user ? user : NULL;
        login->password = texts[LOGINS + 2 * i + 1];
        login->client_name = texts[CLIENT_NAME];
        login->database = i ? urls->of[i - 1].db : 0;
    }
    for (unsigned i = LOGINS; i < KEPT; i++)
        if (texts[i] && *texts[i])
            *secret++ = texts[i];
    client->core.host.secrets = client->secrets;
    return 0;
}

void hl_logins_forget(struct hilock_client *client)
{
    if (client->strings)
        hl_memory_wipe(client->strings, client->strings_size);
    hl_memory_free(&client->core.host.memory, client->strings);
}
