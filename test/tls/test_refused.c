/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without TLS: every rediss URL is refused, and told is what to install; nothing is tried in plain. What such a build cannot show is
 * named, and skipped. */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <hilock/hilock.h>
#include <stdio.h>
#include <string.h>

static const char *const urls[] = {"rediss://127.0.0.1", "rediss+sentinel://127.0.0.1/mymaster", "rediss+cluster://127.0.0.1"};
static const char *const quorum_urls[] = {"redis://127.0.0.1:1", "rediss://127.0.0.1:2", NULL};

static int is_refused(struct event_base *base, const struct hilock_client_options *options)
{
    struct hilock_error error = {""};
    hilock_client *client = NULL;
    hilock_status status = hilock_client_open_libevent(&client, base, options, &error);
    int is_so = status == HILOCK_UNSUPPORTED && !client && strstr(error.text, "rediss:// needs hiredis 1.1 or later built with TLS; this is ") &&
                strstr(error.text, "install libhiredis-dev 1.1 or later") && strstr(error.text, "and build hilock again");
    printf("%s: %s: %s\n", is_so ? "ok" : "NOT SO", hilock_status_name(status), error.text);
    return is_so;
}

int main(void)
{
    struct event_base *base = event_base_new();
    int wrong = 0;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        wrong += !is_refused(base, HILOCK_CLIENT_OPTIONS(.url = urls[i]));
    wrong += !is_refused(base, HILOCK_CLIENT_OPTIONS(.quorum_urls = quorum_urls));
    event_base_free(base);
    return wrong;
}
