/* SPDX-License-Identifier: BSD-3-Clause */
/* logins - see logins.h. */
#include "client/logins.h"

#include <stdio.h>

#include "client/options.h"

static size_t put(char *to, size_t *used, const char *text)
{
    size_t at = *used, length = strlen(text) + 1;
    if (to)
        memcpy(to + at, text, length);
    *used += length;
    return at;
}

/* One login's strings; with NULL only their room is counted. */
static void put_login(char *to, size_t *used, struct hl_login *login, const char *user, const char *password)
{
    size_t user_at = put(to, used, user ? user : ""), password_at = put(to, used, password ? password : "");
    if (!to)
        return;
    login->username = user && *user ? to + user_at : NULL;
    login->password = password ? to + password_at : NULL;
}

/* name: of the connections. */
static size_t put_strings(struct hilock_client *client, const struct hl_urls *urls,
                          const struct hilock_client_options *options, const char *name)
{
    char *to = client->strings;
    size_t used = 0, prefix_at = put(to, &used, options->name_prefix ? options->name_prefix : ""),
           name_at = put(to, &used, name);
    size_t tls_at = put(to, &used, options->tls_server_name ? options->tls_server_name : "");
    for (unsigned i = 0; i < urls->count; i++) {
        const struct hl_url *url = &urls->of[i];
        put_login(to, &used, &client->logins[i], options->username ? options->username : url->user,
                  options->password ? options->password : url->password);
        client->logins[i].database = url->db;
        client->logins[i].client_name = to ? to + name_at : NULL;
    }
    put_login(to, &used, &client->sentinel_login, options->sentinel_username, options->sentinel_password);
    client->sentinel_login.client_name = to ? to + name_at : NULL;
    client->prefix = to ? to + prefix_at : NULL;
    client->tls_server_name = to && options->tls_server_name ? to + tls_at : NULL;
    return used;
}

static void collect_secrets(struct hilock_client *client)
{
    const char **next = client->secrets;
    for (unsigned i = 0; i <= HL_MASTERS_MAX; i++) {
        const struct hl_login *login = i < HL_MASTERS_MAX ? &client->logins[i] : &client->sentinel_login;
        if (login->username)
            *next++ = login->username;
        if (login->password && *login->password)
            *next++ = login->password;
    }
    client->core.host.secrets = client->secrets;
}

int hl_logins_keep(struct hilock_client *client, const struct hl_urls *urls,
                   const struct hilock_client_options *options)
{
    char name[HL_UUID_LENGTH + HL_LABEL_MAX + 16];
    snprintf(name, sizeof name, "hilock:%s:%s", client->core.label, client->core.uuid);
    client->strings_size = put_strings(client, urls, options, name);
    client->strings = hl_memory_new(&client->core.host.memory, client->strings_size);
    if (!client->strings)
        return -1;
    put_strings(client, urls, options, name);
    client->prefix_length = strlen(client->prefix);
    collect_secrets(client);
    return 0;
}

void hl_logins_forget(struct hilock_client *client)
{
    if (client->strings)
        hl_memory_wipe(client->strings, client->strings_size);
    hl_memory_free(&client->core.host.memory, client->strings);
}
