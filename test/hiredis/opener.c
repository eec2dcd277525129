/* SPDX-License-Identifier: BSD-3-Clause */
/* opener - opens a client and lets it try to connect, in a program that may have a second hiredis. Its first argument
 * is what must come of it: "works", where no function of the second is reached, or "refused", with the sentence that
 * says how to link. Built with OPENER_MODULE it is a module, which its host loads. */
#include <event2/event.h>
#include <hilock/adapters/libevent.h>
#include <stdio.h>
#include <string.h>

int opener_run(const char *wanted);

static void on_down(const struct hilock_event *event, void *user)
{
    if (event->kind == HILOCK_EVENT_DISCONNECTED)
        *(int *)user = 1;
}

static int refused(hilock_status status, const char *text)
{
    printf("%s: %s\n", hilock_status_name(status), text);
    return status == HILOCK_UNSUPPORTED && *text != '/' && strstr(text, "second hiredis") && strstr(text, "-Dhiredis=bundled");
}

/* There is no server at this path: a link is begun, fails, and ends. */
int opener_run(const char *wanted)
{
    struct event_base *base = event_base_new();
    struct hilock_error error = {""};
    hilock_client *client;
    int is_down = 0;
    if (!base)
        return 1;
    hilock_status status = hilock_client_open_libevent(
        &client, base,
        HILOCK_CLIENT_OPTIONS(.url = "unix:///nowhere/hilock", .on_event = on_down, .user = &is_down), &error);
    if (status == HILOCK_OK) {
        while (!is_down && event_base_loop(base, EVLOOP_ONCE) == 0)
            ;
        hilock_client_abandon(client);
    }
    event_base_free(base);
    if (strcmp(wanted, "refused") == 0)
        return !(status != HILOCK_OK && refused(status, error.text));
    if (!is_down)
        fprintf(stderr, "%s: %s\n", hilock_status_name(status), error.text);
    return !is_down;
}

#ifndef OPENER_MODULE
void *redisAsyncConnect(const char *host, int port);
void *(*opener_uses)(const char *host, int port);

/* The program uses its own hiredis, too: so the linker takes it. */
int main(int argc, char **argv)
{
#ifdef OPENER_USES
    opener_uses = redisAsyncConnect;
#endif
    return argc == 2 ? opener_run(argv[1]) : 2;
}
#endif
