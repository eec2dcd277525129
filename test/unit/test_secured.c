/* SPDX-License-Identifier: BSD-3-Clause */
/* rediss: the name that each server's certificate must have, in every deployment; and no link ever falls back to plain. */
#include "play.h"
#include "stage.h"

static void all_speak_tls(struct fixture *s)
{
    for (unsigned i = 0; i < s->net.places_count; i++)
        s->net.places[i].is_tls = 1;
}

/* A subscription link as well. */
static void works(struct fixture *s, struct client *p)
{
    store_take(&s->store, "taken", "another", 600000);
    asking(p, "a", "stock", NULL);
    asking(p, "b", "taken", NULL);
    TELLS_IN(s, 100, "a:OK b:WAITING");
    SAME(s, s->net.secured, 1);
}

A_PLAY(a_certificate_is_of_the_urls_host_or_of_the_name_in_the_options)
{
    static const struct { const char *url, *option, *name; } servers[] = {
        {"rediss://locks.example", NULL, "locks.example"},
        {"rediss://127.0.0.1", NULL, "127.0.0.1"},
        {"rediss://127.0.0.1", "shop.example", "shop.example"},
    };
    all_speak_tls(s);
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = servers[i].url,
                                                                 .tls_server_name = servers[i].option));
        p->loop.name = (struct world_name){.takes_us = 100, .addresses = {"127.0.0.1"}};
        s->place->tried = 0;
        works(s, p);
        SAME(s, s->place->tried, 2);
        TEXT(s, s->place->tls_host, servers[i].name);
        client_abandon(p);
        store_clear(&s->store);
    }
}

A_PLAY(sentinels_and_the_master_have_their_own)
{
    sentinels_set(s);
    all_speak_tls(s);
    works(s, fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "rediss+sentinel://10.0.0.11,10.0.0.12,10.0.0.13/mymaster")));
    TEXT(s, s->net.places[FIRST_SENTINEL + 0].tls_host, "10.0.0.11");
    TEXT(s, s->net.places[FIRST_SENTINEL + 2].tls_host, "10.0.0.13");
    TEXT(s, s->place->tls_host, "127.0.0.1");
    sentinels_fail_over(s, 3, 1, 1);
    run_ms(s, 100);
    TEXT(s, s->net.places[1].tls_host, "10.0.0.2");
}

A_PLAY(servers_of_a_cluster_have_their_own)
{
    cluster_set(s);
    all_speak_tls(s);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "rediss+cluster://127.0.0.1,10.0.0.2"));
    for (unsigned i = 0; i < CLUSTER_MASTERS; i++)
        asking(p, "a", cluster_name(i, 0), NULL);
    TELLS_IN(s, 100, "a:OK a:OK a:OK");
    TEXT(s, s->net.places[0].tls_host, "127.0.0.1");
    TEXT(s, s->net.places[1].tls_host, "10.0.0.2");
    TEXT(s, s->net.places[2].tls_host, "10.0.0.3");
}

A_PLAY(masters_of_a_quorum_speak_as_their_urls_say)
{
    static const char *const urls[] = {"rediss://127.0.0.1", "redis://10.0.1.1", "rediss://10.0.1.2", NULL};
    fixture_server(s, "10.0.1.1:6379");
    fixture_server(s, "10.0.1.2:6379");
    s->net.places[0].is_tls = s->net.places[2].is_tls = 1;
    s->is_tampered = 1; /* belief is held against one server only */
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.quorum_urls = urls, .quorum_needed = 3,
                                                             .restart_guard_ms = HILOCK_GUARD_OFF));
    acquiring(handle_new(p, "a", "stock", NULL), 1000);
    TELLS_IN(s, 100, "a:OK");
    TEXT(s, s->net.places[0].tls_host, "127.0.0.1");
    TEXT(s, s->net.places[1].tls_host, "");
    TEXT(s, s->net.places[2].tls_host, "10.0.1.2");
}

A_PLAY(silence_in_a_handshake_is_given_up)
{
    uint64_t begun_us = fixture_us(s);
    all_speak_tls(s);
    s->place->mood = NET_IS_SILENT;
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "rediss://127.0.0.1", .connect_timeout_ms = 700));
    p->tells = 1;
    HOLDS(s, run_until_told(s, 2000));
    TELLS(s, "down");
    SAME(s, fixture_us(s), begun_us + 700000);
    HOLDS(s, strstr(p->event_detail, "no TLS connection within 700 ms"));
}

A_PLAY(a_client_that_is_abandoned_gives_its_settings_back)
{
    all_speak_tls(s);
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "rediss://127.0.0.1"));
    SAME(s, s->net.secured, 1);
    client_abandon(p);
    SAME(s, s->net.secured, 0);
}
