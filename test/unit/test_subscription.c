/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: subscribed when wanted, again after a loss, left when nobody wants them; and a stream out of step is not
 * believed. Names that look alike are different locks, though they share a channel, and no name is a key that another
 * lock keeps. */
#include "client/client.h"
#include "play.h"

#define CHANNEL "redisson_lock__channel:{stock}"
#define TO_OTHERS "SUBSCRIBE redisson_lock__channel:" /* besides there is the channel of grants, once for a client */

static struct handle *waits(struct client *p, const char *tag, const char *name)
{
    store_take(&p->fixture->store, name, "another", 600000);
    return asking(p, tag, name, NULL);
}

HAVING(wanted_again_while_it_leaves_it_comes_back, waits(fixture_connect(s, NULL), "a", "stock"))
{
    run_ms(s, 10);
    struct plan *slow = PLAN(s, .on = "UNSUBSCRIBE", .holds = 1);
    cancel(a);
    run_ms(s, 250);
    SAME(s, asked(s, "UNSUBSCRIBE"), 1);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, asked_for(s, TO_OTHERS), 1);
    plan_let_go(&s->plans, slow);
    run_ms(s, 10);
    SAME(s, asked_for(s, TO_OTHERS), 2);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 10, "a:WAITING a:CANCELLED a:WAITING a:OK");
}

WITH_CLIENT(a_refused_channel_is_asked_for_again_by_the_next_who_waits)
{
    struct plan *denied = PLAN(s, .on = "SUBSCRIBE", .error = "NOPERM No permissions to access a channel", .times = PLAN_ALWAYS);
    struct handle *a = waits(p, "a", "stock");
    run_ms(s, 10);
    SAME(s, denied->met, 2);
    cancel(a);
    run_ms(s, 2000);
    plan_end(denied);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, asked(s, "SUBSCRIBE"), 1);
    SAME(s, store_listeners(&s->store, CHANNEL), 1);
}

HAVING(refused_when_nobody_wants_it_any_more_it_is_forgotten, waits(fixture_connect(s, NULL), "a", "stock"))
{
    PLAN(s, .on = "SUBSCRIBE", .fate.there_us = 2000000);
    run_ms(s, 10);
    struct plan *slow = PLAN(s, .on = "UNSUBSCRIBE", .error = "NOPERM", .times = PLAN_ALWAYS);
    cancel(a);
    run_ms(s, 5000);
    SAME(s, slow->met, 1);
    acquire(a, HILOCK_FOREVER);
    run_ms(s, 10);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 10, "a:WAITING a:CANCELLED a:WAITING a:OK");
}

/* None of them is answered when the link dies. */
WITH_CLIENT(what_was_not_answered_is_asked_for_on_the_new_link)
{
    struct plan *slow = PLAN(s, .on = "SUBSCRIBE", .holds = 1, .times = PLAN_ALWAYS);
    s->is_untold = 1;
    for (int i = 0; i < 300; i++)
        waits(p, "a", formatted("n%d", i));
    run_ms(s, 10);
    SAME(s, asked(s, "SUBSCRIBE"), 300 + 1);
    plan_let_go(&s->plans, slow);
    net_reset(&s->net, NULL, NET_STREAMS);
    run_ms(s, 100);
    SAME(s, asked(s, "SUBSCRIBE"), 2 * (300 + 1));
    for (int i = 0; i < 300; i++)
        SAME(s, store_listeners(&s->store, formatted("redisson_lock__channel:{n%d}", i)), 1);
}

/* An answer may be slow as long as the link says something. */
A_PLAY(a_slow_answer_on_a_lively_link_is_waited_for)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 500));
    waits(p, "a", "one");
    run_ms(s, 10);
    PLAN(s, .on = "SUBSCRIBE", .fate.there_us = 1500000);
    waits(p, "b", "two");
    for (int i = 0; i < 16; i++) {
        run_ms(s, 100);
        store_publish(&s->store, "redisson_lock__channel:{one}", "0");
    }
    SAME(s, s->place->tried, 2);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{two}"), 1);
}

static void breaks_the_stream(struct fixture *s, struct hl_reply *said)
{
    struct client *p = fixture_connect(s, NULL);
    struct handle *a = waits(p, "a", "stock");
    store_forget(&s->store);
    run_ms(s, 10);
    net_say(&s->net, &p->loop, NET_STREAMS, said);
    run_ms(s, 200);
    SAME(s, asked_for(s, TO_OTHERS), 2);
    HOLDS(s, hilock_client_is_connected(p->client));
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 10, "a:WAITING a:OK");
    handle_free(a);
    run_ms(s, 5);
    say_free(said);
}

A_PLAY(a_stream_out_of_step_is_given_up)
{
    breaks_the_stream(s, say_array(3, say_string("subscribe"), say_string(CHANNEL), say_integer(1)));
    breaks_the_stream(s, say_array(3, say_string("unsubscribe"), say_string(CHANNEL), say_integer(1)));
    breaks_the_stream(s, say_integer(1));
    breaks_the_stream(s, say_nil());
    breaks_the_stream(s, say_array(0));
    breaks_the_stream(s, say_array(1, say_string("subscribe")));
    breaks_the_stream(s, say_array(4, say_string("pmessage"), say_string("*"), say_string(CHANNEL), say_string("0")));
    breaks_the_stream(s, say_error("ERR out of the blue"));
}

/* While its SUBSCRIBE is on the way. */
static void is_no_answer(struct fixture *s, struct hl_reply *said)
{
    PLAN(s, .on = "SUBSCRIBE", .fate.there_us = 100000);
    struct client *p = fixture_connect(s, NULL);
    waits(p, "a", "stock");
    run_ms(s, 10);
    unsigned tried = s->place->tried;
    net_say(&s->net, &p->loop, NET_STREAMS, said);
    run_ms(s, 60);
    SAME(s, s->place->tried, tried + 1);
    client_abandon(p);
    store_clear(&s->store);
    say_free(said);
}

A_PLAY(what_answers_no_command_of_that_channel_ends_the_stream)
{
    is_no_answer(s, say_array(3, say_string("subscribe"), say_string("another channel"), say_integer(1)));
    is_no_answer(s, say_array(3, say_string("subscribe"), say_string("hilock:probe"), say_integer(1)));
    is_no_answer(s, say_array(3, say_string("unsubscribe"), say_string(CHANNEL), say_integer(1)));
    is_no_answer(s, say_array(3, say_string("ssubscribe"), say_string(CHANNEL), say_integer(1)));
    is_no_answer(s, say_array(1, say_string("subscribe")));
}

static void is_ignored(struct fixture *s, struct client *p, struct hl_reply *said, unsigned asks)
{
    size_t before = asked(s, "mutex_acquire");
    net_say(&s->net, &p->loop, NET_STREAMS, said);
    run_ms(s, 5);
    SAME(s, asked(s, "mutex_acquire") - before, asks);
    SAME(s, asked_for(s, TO_OTHERS), 1);
    say_free(said);
}

WITH_CLIENT(messages_that_are_none_are_ignored)
{
    waits(p, "a", "stock");
    run_ms(s, 10);
    is_ignored(s, p, say_array(3, say_string("message"), say_string("another channel"), say_string("0")), 0);
    is_ignored(s, p, say_array(3, say_string("message"), say_string("hilock:probe"), say_string("0")), 0);
    is_ignored(s, p, say_array(2, say_string("message"), say_string(CHANNEL)), 0);
    is_ignored(s, p, say_array(3, say_string("message"), say_nil(), say_string("0")), 0);
    is_ignored(s, p, say_array(3, say_string("message"), say_string(CHANNEL), say_integer(0)), 0);
    is_ignored(s, p, say_array(3, say_string("message"), say_string(CHANNEL), say_string("0")), 1);
}

WITH_CLIENT(a_flood_of_messages_asks_no_faster_than_answers_come)
{
    waits(p, "a", "stock");
    run_ms(s, 10);
    for (int i = 0; i < 5000; i++)
        store_publish(&s->store, CHANNEL, "0");
    run_ms(s, 10);
    HOLDS(s, asked(s, "mutex_acquire") <= 2 + 2);
}

A_PLAY(an_unanswered_SUBSCRIBE_breaks_the_link_in_its_time)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 800));
    struct plan *lost = PLAN(s, .on = "SUBSCRIBE", .fate.is_lost = 1);
    waits(p, "a", "stock");
    while (!lost->met)
        run_us(s, 1);
    run_us(s, 799999);
    HOLDS(s, !strstr(p->log, "a subscription timed out"));
    run_us(s, 1);
    HOLDS(s, strstr(p->log, "a subscription timed out"));
    SAME(s, asked_for(s, TO_OTHERS), 0);
    run_ms(s, 500);
    SAME(s, asked_for(s, TO_OTHERS), 1);
}

/* The link says something, and then nothing more. */
A_PLAY(an_unanswered_SUBSCRIBE_is_not_forgotten_when_the_link_falls_silent)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.command_timeout_ms = 800));
    waits(p, "a", "one");
    run_ms(s, 10);
    PLAN(s, .on = "SUBSCRIBE", .fate.there_us = 60000000);
    waits(p, "b", "two");
    run_ms(s, 300);
    store_publish(&s->store, "redisson_lock__channel:{one}", "0");
    run_ms(s, 790);
    HOLDS(s, !strstr(p->log, "a subscription timed out"));
    run_ms(s, 210); /* it is looked at after each quarter of that time */
    HOLDS(s, strstr(p->log, "a subscription timed out"));
}

/* It is where another server may take over, as in a cluster. */
WITH_CLIENT(a_server_is_not_asked_more_often_for_its_listeners)
{
    waits(p, "a", "stock");
    run_ms(s, 10);
    size_t asked_before = asked(s, "TIME");
    run_ms(s, 10000);
    SAME(s, asked(s, "TIME"), asked_before);
}

A_PLAY(a_dead_idle_stream_is_found_by_its_beat)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.keepalive_ms = 2000, .command_timeout_ms = 500));
    PLAN(s, .on = "UNSUBSCRIBE", .fate.is_lost = 1);
    waits(p, "a", "stock");
    run_ms(s, 2100);
    SAME(s, asked_for(s, TO_OTHERS), 1);
    run_ms(s, 700);
    SAME(s, asked_for(s, TO_OTHERS), 2);
    SAME(s, asked(s, "UNSUBSCRIBE"), 0);
    run_ms(s, 4000);
    HOLDS(s, asked(s, "UNSUBSCRIBE") >= 1);
    TEXT(s, store_line(&s->store, "UNSUBSCRIBE", 0)->text, "UNSUBSCRIBE hilock:probe");
}

A_PLAY(a_stream_without_a_channel_has_its_beat_too)
{
    handle_new(fixture_connect(s, HILOCK_CLIENT_OPTIONS(.keepalive_ms = 2000)), "x", "x", NULL); /* begins its link */
    run_ms(s, 5000);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
    HOLDS(s, asked(s, "UNSUBSCRIBE") > 0);
}

A_PLAY(a_refused_beat_keeps_nobody_from_living)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.keepalive_ms = 2000, .command_timeout_ms = 500));
    PLAN(s, .on = "UNSUBSCRIBE", .error = "NOPERM", .times = PLAN_ALWAYS);
    waits(p, "a", "stock");
    run_ms(s, 20000);
    SAME(s, asked_for(s, TO_OTHERS), 1);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 5, "a:WAITING a:OK");
}

WITH_CLIENT(the_loss_of_the_stream_is_said_once_while_it_stays_away)
{
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    run_ms(s, 1);
    PLAN(s, .on = "CLIENT", .fate.resets_before = 1, .times = PLAN_ALWAYS);
    run_ms(s, 2000);
    net_reset(&s->net, NULL, NET_STREAMS);
    run_ms(s, 1);
    unsigned lines = p->lines;
    TEXT(s, strstr(p->line, "subscriptions: Connection reset by peer") ? "said" : p->line, "said");
    run_ms(s, 20000);
    SAME(s, p->lines, lines);
}

/* A link on which the server said nothing was good if it was open for more than a second. */
WITH_CLIENT(a_stream_that_was_cut_soon_is_tried_as_slowly_as_before)
{
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    for (unsigned is_longer = 0; is_longer < 2; is_longer++) {
        s->place->mood = NET_REFUSES;
        net_reset(&s->net, NULL, NET_STREAMS);
        run_ms(s, 3000);
        s->place->mood = NET_LISTENS;
        size_t before = asked(s, "CLIENT");
        while (asked(s, "CLIENT") == before)
            run_ms(s, 1);
        run_to(s, asked_at_us(s, "CLIENT", -1) + 1000000 + is_longer); /* news of both takes the same time */
        unsigned tried = s->place->tried;
        net_reset(&s->net, NULL, NET_STREAMS);
        run_ms(s, 60);
        SAME(s, s->place->tried - tried, is_longer);
        run_ms(s, 3000);
    }
}

/* A server cuts who does not read fast enough for its client-output-buffer-limit, again and again. */
WITH_CLIENT(the_first_of_many_cuts_of_the_stream_is_said)
{
    handle_new(p, "x", "x", NULL); /* begins its subscription link */
    for (int i = 0; i < 5; i++) {
        run_ms(s, 2000);
        net_reset(&s->net, NULL, NET_STREAMS);
    }
    run_ms(s, 2000);
    SAME(s, client_lines(p, "subscriptions: Connection reset by peer; if commands flow: is client-output-buffer-limit pubsub too small?"), 1);
    net_reset(&s->net, NULL, NET_ALL); /* the server was away: what comes after that is news */
    run_ms(s, 2000);
    net_reset(&s->net, NULL, NET_STREAMS);
    run_ms(s, 1);
    HOLDS(s, client_lines(p, "subscriptions: Connection reset by peer") >= 2);
}

/* Both are notified on Redisson's channel of {a}. */
WITH_CLIENT(one_client_waits_for_two_names_of_one_channel)
{
    s->is_tampered = 1;
    store_take(&s->store, "a", "another", 600000);
    store_take(&s->store, "{a}", "another", 600000);
    struct handle *a = asking(p, "a", "a", NULL), *b = asking(p, "b", "{a}", NULL);
    run_ms(s, 10);
    SAME(s, asked_for(s, "SUBSCRIBE redisson_lock__channel:"), 1);
    TELLS(s, "a:WAITING b:WAITING");
    store_free_name(&s->store, "{a}");
    TELLS_IN(s, 10, "b:OK");
    release_quietly(b);
    handle_free(b);
    run_ms(s, 3000);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{a}"), 1); /* the other one listens still */
    store_free_name(&s->store, "a");
    TELLS_IN(s, 10, "a:OK");
    handle_free(a);
    run_ms(s, 3000);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{a}"), 0);
}

static void is_refused(struct fixture *s, struct client *p, const char *name, const char *full)
{
    hilock_lock *lock = NULL;
    char words[200];
    snprintf(words, sizeof words, "bad name \"%s\": names that begin with \"hilock:\" or \"redisson_lock\" are reserved for keys beside other locks", full);
    SAME(s, hilock_lock_create(&lock, p->client, name, HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_BAD_NAME);
    HOLDS(s, !lock && strstr(hilock_client_refusal(p->client), words));
}

A_PLAY(keys_of_other_locks_are_no_names)
{
    struct client *p = fixture_connect(s, NULL), *q = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.name_prefix = "hil"));
    is_refused(s, p, "hilock:token:{x}", "hilock:token:{x}");
    is_refused(s, p, "redisson_lock_queue:{x}", "redisson_lock_queue:{x}");
    is_refused(s, q, "ock:token={x}", "hilock:token={x}");
    held(p, "a", "hilock", NULL);
    held(q, "b", "hilock:token:{x}", NULL); /* hilhilock:.. */
}

/* ---- all who listen are called in the order they came, and any of them may go while they are ---- */

static struct hl_listener *ears[3];
static char heard[8];
static int goes[3]; /* which one each closes: itself, another, or -1 */

static void hear(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    int me = *(int *)arg, gone = goes[me];
    (void)message;
    if (event != HL_CHANNEL_MESSAGE)
        return;
    heard[strlen(heard)] = (char)('a' + me);
    goes[me] = -1;
    if (gone < 0)
        return;
    hl_listener_close(ears[gone]);
    ears[gone] = NULL;
}

static const char *heard_of(struct fixture *s, struct client *p, int first_goes, int second_goes, int third_goes)
{
    static int numbers[] = {0, 1, 2};
    struct hl_route *route = p->client->core.route;
    memset(heard, 0, sizeof heard);
    for (int i = 0; i < 3; i++)
        ears[i] = hl_listener_open(&route->ops->node_at(route, 0)->subscriptions, "news", 4, hear, &numbers[i]);
    goes[0] = first_goes;
    goes[1] = second_goes;
    goes[2] = third_goes;
    run_ms(s, 10);
    store_publish(&s->store, "news", "x");
    run_ms(s, 10);
    for (int i = 0; i < 3; i++)
        hl_listener_close(ears[i]);
    return heard;
}

WITH_CLIENT(all_who_listen_are_called_though_some_go)
{
    run_ms(s, 10);
    TEXT(s, heard_of(s, p, -1, -1, -1), "abc");
    TEXT(s, heard_of(s, p, 0, 1, 2), "abc");
    TEXT(s, heard_of(s, p, 1, -1, -1), "ac");
    TEXT(s, heard_of(s, p, 2, -1, -1), "ab");
    TEXT(s, heard_of(s, p, -1, 0, 1), "abc");
    TEXT(s, heard_of(s, p, 1, -1, 0), "ac");
}
