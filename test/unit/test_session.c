/* SPDX-License-Identifier: BSD-3-Clause */
/* One link kept up: resolved, connected, logged in, and after a loss again, ever more patiently. */
#include "base/words.h"
#include "play.h"

GIVEN(open_says_nothing_but_the_name_without_a_password, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = "shop-7")))
{
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    run_ms(s, 1);
    const char *line = formatted("CLIENT SETNAME hilock:shop-7:%s", p->uuid);
    TEXT(s, store_line(&s->store, NULL, 0)->text, line);
    TEXT(s, store_line(&s->store, "CLIENT", 1)->text, line); /* both links */
    SAME(s, asked(s, "AUTH"), 0);
    SAME(s, asked(s, "SELECT"), 0);
}

/* The options' user goes before the url's; a password alone is the default user's. */
A_PLAY(user_and_database_are_said_first)
{
    static const struct { const char *user, *url, *given_user, *given, *said; } logins[] = {
        {"shop", "redis://shop:" FIXTURE_SECRET "@127.0.0.1/7", NULL, NULL, "AUTH shop " FIXTURE_SECRET},
        {"other", "redis://shop:wrong@127.0.0.1/7", "other", FIXTURE_SECRET, "AUTH other " FIXTURE_SECRET},
        {"unused", "redis://127.0.0.1/7", NULL, FIXTURE_SECRET, "AUTH " FIXTURE_SECRET},
    };
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
        sim_store_set_user(s->store.core, logins[i].user, FIXTURE_SECRET);
        store_forget(&s->store);
        fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = logins[i].url, .username = logins[i].given_user,
                                                 .password = logins[i].given));
        TEXT(s, store_line(&s->store, NULL, 0)->text, logins[i].said);
        TEXT(s, store_line(&s->store, "SELECT", 0)->text, "SELECT 7");
        for (int script = 0; script < (int)asked(s, "SCRIPT"); script++)
            SAME(s, store_line(&s->store, "SCRIPT", script)->db, 7);
    }
}

A_PLAY(a_refused_login_ends_the_link_and_the_wait)
{
    static const struct { const char *on, *error, *told; } logins[] = {
        {"AUTH", "WRONGPASS", "a:DENIED"},
        {"SELECT", "ERR DB index is out of range", "a:SERVER"},
        {"SELECT", "NOPERM this user has no permissions", "a:DENIED"},
        {"CLIENT", "NOAUTH Authentication required.", "a:DENIED"},
    };
    const struct hilock_client_options options = {.size = sizeof options, .url = "redis://127.0.0.1/3",
                                                  .password = FIXTURE_SECRET};
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
        struct plan *refused = PLAN(s, .on = logins[i].on, .error = logins[i].error,
                                    .times = PLAN_ALWAYS);
        struct client *p = fixture_open(s, &options);
        struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), 2000);
        TELLS_IN(s, 3000, logins[i].told);
        HOLDS(s, strstr(a->detail, logins[i].error));
        SAME(s, asked(s, "mutex_acquire") + asked(s, "SCRIPT") + asked(s, "TIME"), 0);
        client_abandon(p);
        plan_end(refused);
    }
}

/* Whoever sets the password right at the server need not restart the client: also an acquire that has to queue is asked. */
A_PLAY(a_login_that_is_accepted_later_lets_acquires_through)
{
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    PLAN(s, .on = "AUTH", .error = "WRONGPASS invalid username-password pair", .times = 2);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET, .inflight_max = 1));
    struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), HILOCK_FOREVER);
    TELLS_IN(s, 2, "a:DENIED");
    run_ms(s, 1000);
    acquire(a, HILOCK_TRY);
    acquire(handle_new(p, "b", "other", NULL), HILOCK_TRY);
    TELLS_IN(s, 2, "a:OK b:OK");
}

/* A refusal that passes by itself is no answer to what is asked after it, a lasting one is. */
A_PLAY(an_acquire_after_a_refused_login_waits_only_where_waiting_helps)
{
    static const struct { const char *error, *told; } logins[] = {
        {"ERR max number of clients reached", "a:OK"},
        {"ERR AUTH <password> called without any password configured for the default user.", "a:DENIED"},
        {"WRONGPASS invalid username-password pair", "a:DENIED"},
        {"NOAUTH Authentication required.", "a:DENIED"},
        {"NOPERM this user has no permissions", "a:DENIED"},
    };
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    for (size_t i = 0; i < sizeof logins / sizeof *logins; i++) {
        struct plan *refused = PLAN(s, .on = "AUTH", .error = logins[i].error);
        struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET));
        while (!refused->met)
            run_us(s, 10);
        run_ms(s, 1);
        acquire(handle_new(p, "a", "stock", NULL), HILOCK_FOREVER);
        TELLS_IN(s, 100, logins[i].told);
        client_abandon(p);
        store_clear(&s->store);
    }
}

/* It knows INFO, and nothing of locks. */
A_PLAY(a_sentinel_where_a_server_should_be_ends_every_wait)
{
    PLAN(s, .on = "INFO", .fate.answer = say_string("# Server\r\nredis_mode:sentinel\r\n"), .times = PLAN_ALWAYS);
    struct client *p = fixture_open(s, NULL);
    struct handle *a = asking(p, "a", "stock", NULL);
    TELLS_IN(s, 10, "a:SERVER");
    HOLDS(s, strstr(a->detail, hl_words_sentinel));
    SAME(s, client_lines(p, "INFO refused"), 0); /* nothing else is told of it */
    HOLDS(s, !hilock_client_is_connected(p->client));
}

/* The link for commands has said it. */
A_PLAY(what_is_no_server_is_not_told_of_subscriptions_too)
{
    s->place->stranger = hl_words_http;
    struct client *p = fixture_open(s, NULL);
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    run_ms(s, 2000);
    HOLDS(s, client_lines(p, hl_words_http));
    SAME(s, client_lines(p, "subscriptions: "), 0);
}

/* The refusal of its acquire was about to be reported. */
A_PLAY(a_client_whose_login_is_refused_can_be_abandoned_right_after_an_acquire)
{
    PLAN(s, .on = "AUTH", .error = "WRONGPASS invalid username-password pair", .times = PLAN_ALWAYS);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET));
    struct handle *a = handle_new(p, "a", "stock", NULL);
    run_ms(s, 100);
    acquire(a, HILOCK_FOREVER);
    client_abandon(p);
    TELLS_IN(s, 100, "");
}

/* Old servers, proxies and renamed commands repeat what they do not know; some change or cut it. */
A_PLAY(a_refused_login_is_quoted_without_the_password)
{
    static const struct { const char *url, *error, *told; } quotes[] = {
        {"redis://shop:hunter@127.0.0.1", "ERR unknown command 'AUTH', with args beginning with: 'shop' 'hunter' ",
         "ERR unknown command"},
        {"redis://:hunter2-and-much-more@127.0.0.1", "ERR unknown command 'AUTH', with args beginning with: 'hunter2-",
         "ERR unknown"},
        {"redis://:HUNTER@127.0.0.1", "HUNTER", "***"},
    };
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        struct plan *refused = PLAN(s, .on = "AUTH", .error = quotes[i].error,
                                    .times = PLAN_ALWAYS);
        struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = quotes[i].url));
        struct handle *a = acquiring(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
        run_ms(s, 3000);
        HOLDS(s, strstr(a->detail, quotes[i].told) && !strcasestr(a->detail, "hunter"));
        HOLDS(s, strstr(p->log, quotes[i].told) && !strcasestr(p->log, "hunter"));
        HOLDS(s, strstr(p->event_detail, quotes[i].told) && !strcasestr(p->event_detail, "hunter"));
        client_abandon(p);
        plan_end(refused);
        fixture_hush(s);
    }
}

/* All else that a server says. */
A_PLAY(a_password_is_in_no_other_quote_either)
{
    static const char error[] = "ERR who is shop, and what is " FIXTURE_SECRET "?";
    struct client *p;
    sim_store_set_user(s->store.core, "shop", FIXTURE_SECRET);
    PLAN(s, .on = "INFO", .error = error, .times = PLAN_ALWAYS);
    PLAN(s, .on = "CLIENT", .error = "ERR unknown command: shop " FIXTURE_SECRET);
    PLAN(s, .on = "CLIENT", .error = "NOPERM shop may not, nor may " FIXTURE_SECRET);
    PLAN(s, .on = "SCRIPT", .error = error, .times = 1);
    PLAN(s, .on = "TIME", .error = error, .times = 1);
    PLAN(s, .on = "SUBSCRIBE", .error = error, .times = 1);
    p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = "redis://shop:" FIXTURE_SECRET "@127.0.0.1", .log_level = HILOCK_LOG_DEBUG));
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    PLAN(s, .on = "renew", .error = error, .times = 2);
    run_ms(s, 15000);
    PLAN(s, .on = "mutex_release", .error = error);
    release(a);
    PLAN(s, .on = "mutex_acquire", .error = error);
    acquiring(handle_new(p, "c", "other", NULL), 1000);
    PLAN(s, .on = "mutex_peek", .error = error);
    peek(a);
    run_ms(s, 2000);
    HOLDS(s, strstr(p->log, "ERR who is ***, and what is ***?"));
    HOLDS(s, !strstr(p->log, "shop"));
}

/* A server without that command repeats it. That no text has it is claimed of every text. */
WITH_CLIENT(a_holder_that_comes_back_is_not_told_whole)
{
    struct handle *a = handle_new(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE));
    char error[FIXTURE_TEXT];
    snprintf(error, sizeof error, "ERR unknown command 'SET', with args beginning with: 'stock' '%s:1' 'NX' 'PX' ", p->uuid);
    const char *told = formatted("beginning with: 'stock' '%.8s..:1' 'NX'", p->uuid);
    PLAN(s, .on = "SET", .error = error);
    acquire(a, 1000);
    TELLS_IN(s, 100, "a:SERVER");
    HOLDS(s, strstr(a->detail, told));
}

/* It is of use to operators alone. */
A_PLAY(a_name_that_may_not_be_given_is_told_of_and_lived_without)
{
    PLAN(s, .on = "CLIENT", .error = "NOPERM this user has no permissions to run the 'client|setname' command", .times = PLAN_ALWAYS);
    struct client *p = fixture_connect(s, NULL);
    held(p, "a", "stock", NULL);
    SAME(s, client_lines(p, "CLIENT SETNAME refused: NOPERM this user has no permissions to run the 'client|setname' "
                            "command: CLIENT LIST does not show whose connections these are"), 1);
}

A_PLAY(a_loading_server_is_waited_for)
{
    PLAN(s, .on = "CLIENT", .error = "LOADING Redis is loading the dataset in memory", .times = 6);
    struct client *p = fixture_open(s, NULL);
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 5000, "a:OK");
}

A_PLAY(pauses_double_with_a_random_half_up_to_retry_max)
{
    uint64_t last_us = 0, longest = 0, most[] = {50, 100, 200, 400, 800, 1000, 1000, 1000};
    unsigned tried = 0;
    s->place->mood = NET_REFUSES;
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.retry_max_ms = 1000));
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    p->tells = 1;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        HOLDS(s, run_until_told(s, 3000));
        TELLS(s, "down");
        HOLDS(s, strstr(p->event_detail, "Connection refused" "; next try in "));
        HOLDS(s, p->event.retry_ms >= most[i] / 2 && p->event.retry_ms <= most[i]);
        if (i) {
            uint64_t paused_us = fixture_us(s) - last_us - s->net.connect_us;
            HOLDS(s, paused_us >= most[i - 1] * 500 && paused_us <= most[i - 1] * 1000);
            longest = paused_us > longest ? paused_us : longest;
        }
        last_us = fixture_us(s);
    }
    HOLDS(s, longest > 500000);
    tried = s->place->tried;
    run_ms(s, 60000);
    HOLDS(s, s->place->tried - tried >= 2 * 60 && s->place->tried - tried <= 2 * 121);
}

/* A proxy may repeat the password, in capitals, as if it were the code of an error. */
A_PLAY(of_a_refused_login_no_more_is_shown_than_a_code_may_have)
{
    struct plan *refused = PLAN(s, .on = "AUTH", .error = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", .times = PLAN_ALWAYS);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET));
    run_ms(s, 100);
    HOLDS(s, strstr(p->log, "ABCDEFGHIJKLMNOP") && !strstr(p->log, "ABCDEFGHIJKLMNOPQ"));
    plan_end(refused);
    PLAN(s, .on = "AUTH", .error = "AZZA@[ and more", .times = PLAN_ALWAYS); /* capitals, and nothing beside them */
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.password = FIXTURE_SECRET));
    run_ms(s, 100);
    HOLDS(s, strstr(p->log, "AZZA") && !strstr(p->log, "AZZA@"));
}

WITH_CLIENT(a_link_that_breaks_again_and_again_is_retried_slower)
{
    PLAN(s, .on = "TIME", .fate.resets_after = 1, .times = PLAN_ALWAYS);
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 30000);
    HOLDS(s, asked(s, "TIME") < 40);
    HOLDS(s, !hilock_client_is_connected(p->client));
}

static struct client *given_up_in_700_ms(struct fixture *s, const char *words)
{
    uint64_t begun_us = fixture_us(s);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.connect_timeout_ms = 700));
    p->tells = 1;
    HOLDS(s, run_until_told(s, 2000));
    TELLS(s, "down");
    SAME(s, fixture_us(s), begun_us + 700000);
    HOLDS(s, strstr(p->event_detail, words));
    return p;
}

A_PLAY(silence_is_given_up_after_connect_timeout)
{
    s->place->mood = NET_IS_SILENT;
    client_abandon(given_up_in_700_ms(s, "no connection within 700 ms; next try in "));
    s->place->mood = NET_LISTENS;
    PLAN(s, .on = "CLIENT", .fate.answer_is_lost = 1);
    given_up_in_700_ms(s, "next try in ");
    TELLS_IN(s, 100, "up");
}

A_PLAY(a_name_is_resolved_and_its_addresses_are_tried_in_turn)
{
    struct net_place *third = net_listen(&s->net, "10.0.0.3:6380", &s->store);
    net_listen(&s->net, "10.0.0.1:6380", &s->store)->mood = NET_REFUSES;
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example:6380"));
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    p->loop.name = (struct world_name){.takes_us = 5000, .addresses = {"10.0.0.1", "fe80::7", "10.0.0.3", "10.0.0.4"}};
    run_ms(s, 7);
    HOLDS(s, hilock_client_is_connected(p->client));
    SAME(s, third->tried, 2);
    SAME(s, p->loop.queries_begun, 2);
}

/* The first swallows what it is sent. What was good is stayed with. */
A_PLAY(an_address_that_is_silent_hides_no_other)
{
    struct client *p;
    struct net_place *silent = net_listen(&s->net, "10.0.0.1:6380", &s->store), *good = net_listen(&s->net, "10.0.0.3:6380", &s->store);
    silent->mood = NET_IS_SILENT;
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example:6380", .connect_timeout_ms = 1000));
    p->loop.name = (struct world_name){.takes_us = 5000, .addresses = {"10.0.0.1", "10.0.0.3"}};
    run_ms(s, 2500);
    HOLDS(s, hilock_client_is_connected(p->client));
    SAME(s, silent->tried, 1);
    run_ms(s, 2000);
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 100);
    HOLDS(s, hilock_client_is_connected(p->client));
    SAME(s, silent->tried, 1);
    good->mood = NET_IS_SILENT;
    silent->mood = NET_LISTENS;
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_ms(s, 2500);
    HOLDS(s, hilock_client_is_connected(p->client));
}

A_PLAY(a_name_that_does_not_resolve_is_tried_again)
{
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example"));
    p->tells = 1;
    TELLS_IN(s, 2, "down");
    HOLDS(s, strstr(p->event_detail, "cannot resolve locks.example: no such name; next try in "));
    p->loop.name.addresses[0] = "not an address";
    unheard_ms(s, 200);
    HOLDS(s, strstr(p->event_detail, "cannot resolve locks.example: it has no address; next try in "));
    p->loop.name.addresses[0] = "127.0.0.1";
    TELLS_IN(s, 500, "up");
}

A_PLAY(a_query_without_an_answer_is_cancelled)
{
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example", .connect_timeout_ms = 300));
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    p->loop.name.is_silent = 1;
    run_ms(s, 310);
    SAME(s, p->loop.queries, 0);
    SAME(s, p->loop.queries_cancelled, 2);
    run_ms(s, 100);
    SAME(s, p->loop.queries, 2);
    client_close(p, 0);
    TELLS_IN(s, 5000, "closed");
    SAME(s, p->loop.queries, 0);
}

/* A name may have more addresses than anybody needs. */
A_PLAY(of_many_addresses_the_first_eight_are_tried)
{
    struct net_place *ninth = net_listen(&s->net, "10.0.0.9:6379", &s->store);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example"));
    p->loop.name = (struct world_name){.addresses = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5",
                                                     "10.0.0.6", "10.0.0.7", "10.0.0.8", "10.0.0.9"}};
    for (int i = 1; i < 9; i++)
        net_listen(&s->net, formatted("10.0.0.%d:6379", i), &s->store)->mood = NET_REFUSES;
    p->tells = 1;
    HOLDS(s, run_until_told(s, 100));
    TELLS(s, "down");
    for (int i = 0; i < 8; i++)
        SAME(s, s->net.places[2 + i].tried, 1);
    unheard_ms(s, 3000);
    SAME(s, ninth->tried, 0);
    for (int i = 0; i < 8; i++)
        HOLDS(s, s->net.places[2 + i].tried > 2);
    s->net.places[9].mood = NET_LISTENS;
    run_ms(s, 3000);
    HOLDS(s, hilock_client_is_connected(p->client));
}

static int refuses(void *arg)
{
    (void)arg;
    return 0;
}

/* The link was there, and there was no memory for the first command. */
A_PLAY(a_greeting_that_found_no_memory_is_tried_again_soon)
{
    struct client *p = fixture_open(s, NULL);
    s->memory.sends = refuses;
    run_ms(s, 10);
    s->memory.sends = NULL;
    run_ms(s, 100);
    HOLDS(s, client_lines(p, "out of memory while connecting"));
    HOLDS(s, hilock_client_is_connected(p->client));
}

/* What the loop had no memory for is no matter of the time that a connection may take. */
A_PLAY(a_name_that_could_not_be_asked_for_is_asked_for_again_soon)
{
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis://locks.example"));
    p->loop.name.addresses[0] = "127.0.0.1";
    s->memory.is_out = 1;
    run_ms(s, 10);
    s->memory.is_out = 0;
    run_ms(s, 100);
    HOLDS(s, strstr(p->log, "out of memory while resolving"));
    HOLDS(s, hilock_client_is_connected(p->client));
}

A_PLAY(an_address_and_a_unix_socket_are_not_resolved)
{
    static const struct { const char *url, *where; int db; } places[] = {
        {"redis://10.0.0.7:6380", "10.0.0.7:6380", 0},
        {"redis://[fd00::7]", "[fd00::7]:6379", 0},
        {"redis://[fe80::7%25eth0]", "[fe80::7%eth0]:6379", 0},
        {"unix:///run/locks.sock?db=2", "/run/locks.sock", 2},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        net_listen(&s->net, places[i].where, &s->store);
        struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = places[i].url));
        held(p, "a", places[i].where, NULL);
        SAME(s, p->loop.queries_begun, 0);
        SAME(s, store_line(&s->store, "mutex_acquire", -1)->db, places[i].db);
    }
}
