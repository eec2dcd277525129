/* SPDX-License-Identifier: BSD-3-Clause */
/* The master that Sentinel names: found, followed, left; and hostile sentinels. */
#include "play.h"
#include "stage.h"

#define WITH_SENTINELS(name)                        \
    static void name##_with(struct fixture *s);     \
    A_PLAY(name)                                    \
    {                                               \
        sentinels_set(s);                           \
        name##_with(s);                             \
    }                                               \
    static void name##_with(struct fixture *s)

WITH_SENTINELS(the_master_is_asked_for_and_its_role)
{
    struct client *p = sentinels_connect(s);
    SAME(s, asked(s, "ROLE"), 1);
    SAME(s, client_lines(p, "returned no"), 0);
    SAME(s, store_count(replica_of(s), NULL), 0);
    SAME(s, store_listeners(sentinel_at(s, 0), "+switch-master"), 1);
    size_t questions = asked_all(s, "SENTINEL");
    run_ms(s, 5000);
    SAME(s, asked_all(s, "SENTINEL"), questions);
    held(p, "a", "stock", NULL);
    HOLDS(s, is_ours(s, "stock"));
}

WITH_SENTINELS(a_request_waits_until_somebody_knows_the_master)
{
    for (unsigned i = 0; i < SENTINELS; i++)
        s->net.places[FIRST_SENTINEL + i].mood = NET_REFUSES;
    struct handle *a = handle_new(fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL)), "a", "stock", NULL);
    acquire(a, 1000);
    TELLS_IN(s, 1100, "a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "master mymaster could not be asked within 1000 ms: sentinel 10.0.0.1") && strstr(a->detail, "Connection refused"));
    acquire(a, HILOCK_FOREVER);
    s->net.places[FIRST_SENTINEL + 1].mood = NET_LISTENS;
    TELLS_IN(s, 2500, "a:OK");
}

WITH_SENTINELS(a_sentinel_that_names_no_master_is_quoted)
{
    PLAN(s, .on = "SENTINEL", .times = PLAN_ALWAYS, .fate.refusal = say_integer(7));
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL));
    run_ms(s, 50);
    HOLDS(s, client_lines(p, "returned no ") && client_lines(p, " for mymaster"));
}

WITH_SENTINELS(a_hold_that_the_new_master_does_not_know_is_lost_by_the_failover)
{
    struct handle *a = held(sentinels_connect(s), "a", "stock", NULL);
    s->is_tampered = 1;
    sentinels_fail_over(s, 1, 1, 0);
    TELLS_IN(s, 1000, "a:LOST TAKEN");
    HOLDS(s, strstr(a->detail, "; 10.0.0.2:6379 took over ") && strstr(a->detail, "(a failover)"));
}

/* The takeover was longer ago than a lease, so the loss has another reason. */
WITH_SENTINELS(a_loss_long_after_a_failover_is_not_said_to_be_its)
{
    struct handle *a = held(sentinels_connect(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    store_copy(replica_of(s), &s->store);
    sentinels_fail_over(s, SENTINELS, 1, 0);
    TELLS_IN(s, 5000, "");
    s->is_tampered = 1;
    store_delete(replica_of(s), "stock");
    TELLS_IN(s, 1100, "a:LOST TAKEN");
    HOLDS(s, !strstr(a->detail, "took over"));
}

WITH_SENTINELS(a_switch_is_followed_at_once)
{
    struct client *p = sentinels_connect(s);
    struct handle *a = held(p, "a", "stock", NULL);
    store_copy(replica_of(s), &s->store);
    p->tells = 1;
    sentinels_fail_over(s, 1, 1, 0); /* one sentinel says so, the others know nothing yet */
    TELLS_IN(s, 10, "failover down up");
    SAME(s, store_count(replica_of(s), "renew"), 1);
    HOLDS(s, hilock_lock_remaining_ms(a->lock) > 29000);
    HOLDS(s, strstr(p->log, "failover: 10.0.0.2:6379 took over from 127.0.0.1:6379"));
    HOLDS(s, strstr(p->log, "127.0.0.1:6379 was the master before"));
    SAME(s, counts_of(p).nodes, 1);
    SAME(s, counts_of(p).nodes_up, 1);
    struct hilock_stats stats = counts_of(p);
    SAME(s, stats.failovers, 1);
}

/* Sentinels that were never through a failover tell the epoch 0: an old one, when others know of the first. */
WITH_SENTINELS(the_first_failover_of_all_is_followed_and_not_back)
{
    for (unsigned i = 0; i < SENTINELS; i++)
        store_knows(sentinel_at(s, i), "127.0.0.1", 6379, 0);
    struct client *p = sentinels_connect(s);
    p->tells = 1;
    sentinels_fail_over(s, 1, 1, 0);
    TELLS_IN(s, 9000, "failover down up");
    held(p, "a", "stock", NULL);
    HOLDS(s, !is_ours(s, "stock"));
}

/* They are cut off from it, perhaps, and outnumber it. */
WITH_SENTINELS(the_newest_epoch_counts_though_the_other_sentinels_never_hear_of_it)
{
    struct client *p = sentinels_connect(s);
    p->tells = 1;
    sentinels_fail_over(s, 1, 1, 0);
    TELLS_IN(s, 60000, "failover down up");
}

WITH_SENTINELS(a_promotion_is_asked_after)
{
    struct client *p = sentinels_connect(s);
    sentinels_fail_over(s, 1, 0, 0);
    store_publish(sentinel_at(s, 0), "+promoted-slave",
                  "slave 10.0.0.2:6379 10.0.0.2 6379 @ mymaster 127.0.0.1 6379");
    run_ms(s, 10);
    held(p, "a", "stock", NULL);
    HOLDS(s, !is_ours(s, "stock"));
}

/* Its link ends between the config-epoch and the address, and then there is a switch: with the epoch from before it the
 * new address would be one opinion against another. */
WITH_SENTINELS(half_a_question_ends_with_its_link)
{
    struct client *p = sentinels_connect(s);
    struct plan *half = PLAN(s, .on = "SENTINEL", .at = sentinel_at(s, 0), .after = 1, .fate.resets_before = 1);
    store_publish(sentinel_at(s, 0), "+promoted-slave", "slave 10.0.0.2:6379 10.0.0.2 6379 @ mymaster 127.0.0.1 6379");
    while (!half->met)
        run_us(s, 10);
    sentinels_fail_over(s, 1, 0, 0);
    p->tells = 1;
    TELLS_IN(s, 500, "failover down up");
}

/* Nobody tells that it has come to an end, and its address swallows what it is sent. */
WITH_SENTINELS(while_the_master_is_away_sentinels_are_asked_again_and_again)
{
    sentinels_connect(s);
    s->place->mood = NET_IS_SILENT;
    net_reset_at(&s->net, &s->store, NET_ALL);
    run_ms(s, 3000);
    sentinels_fail_over(s, SENTINELS, 0, 0);
    run_ms(s, 510);
    HOLDS(s, store_count(replica_of(s), "mutex_acquire") + store_count(replica_of(s), "ROLE") > 0);
}

/* The sentinels know the next master by then. */
/* The sentinels go on naming it. */
WITH_SENTINELS(a_master_that_refuses_writes_is_asked_within_bounds)
{
    struct client *p = sentinels_connect(s);
    struct plan *refused = PLAN(s, .on = "mutex_acquire", .error = "READONLY You can't write against a read only replica.",
                                .times = PLAN_ALWAYS);
    acquire(handle_new(p, "a", "stock", NULL), HILOCK_TRY);
    TELLS_IN(s, 3000, "a:UNWRITABLE");
    SAME(s, refused->met, 1 + 5);
}

WITH_SENTINELS(when_the_master_is_lost_sentinels_are_asked_at_once)
{
    struct client *p = sentinels_connect(s);
    sentinels_fail_over(s, SENTINELS, 0, 0);
    s->place->mood = NET_REFUSES;
    p->tells = 1;
    net_reset_at(&s->net, &s->store, NET_ALL);
    TELLS_IN(s, 10, "down failover up");
    SAME(s, store_count(replica_of(s), "CLIENT"), 1); /* nobody needs a link for subscriptions */
}

WITH_SENTINELS(a_server_that_does_not_tell_its_role_is_taken_for_the_master)
{
    PLAN(s, .on = "ROLE", .error = "NOPERM this user has no permissions to run the 'role' command", .times = PLAN_ALWAYS);
    struct client *p = sentinels_connect(s);
    held(p, "a", "stock", NULL);
    SAME(s, s->place->tried, 2);
    HOLDS(s, client_lines(p, "ROLE refused: NOPERM this user has no permissions to run the 'role' command: a master that "
                             "was replaced is noticed only when it refuses a write"));
}

/* As for a moment after a failover, or before a replica of old is one. */
WITH_SENTINELS(a_master_that_is_none_is_left_and_quoted)
{
    static const struct { const char *role, *told; } roles[] = {
        {"slave", "not a master: its role is slave"}, {"sentinel", "not a master: its role is sentinel"},
        {NULL, "not a master: ROLE gave no role"},
    };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        struct plan *odd = PLAN(s, .on = "ROLE", .times = PLAN_ALWAYS,
                                .fate.answer = roles[i].role ? say_array(1, say_string(roles[i].role)) : say_integer(1));
        struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL));
        run_ms(s, 10);
        HOLDS(s, client_lines(p, roles[i].told) && !hilock_client_is_connected(p->client));
        plan_end(odd);
        run_ms(s, 1000);
        HOLDS(s, hilock_client_is_connected(p->client));
        client_abandon(p);
    }
}

WITH_SENTINELS(a_sentinel_that_is_lost_is_told_of_once)
{
    struct client *p = sentinels_connect(s);
    s->net.places[FIRST_SENTINEL].mood = NET_REFUSES;
    net_reset_at(&s->net, sentinel_at(s, 0), NET_ALL);
    run_ms(s, 20000);
    SAME(s, client_lines(p, "sentinel 10.0.0.11:26379: Connection reset by peer"), 1);
    SAME(s, client_lines(p, "sentinel 10.0.0.11:26379"), 2); /* and its subscriptions */
    HOLDS(s, hilock_client_is_connected(p->client));
}

WITH_SENTINELS(who_waits_is_told_when_the_master_refuses_the_login)
{
    struct client *p = sentinels_connect(s);
    store_take(&s->store, "stock", "another", 600000);
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 100, "a:WAITING");
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    PLAN(s, .on = "CLIENT", .at = &s->store, .error = "NOAUTH Authentication required.", .times = PLAN_ALWAYS);
    net_reset_at(&s->net, &s->store, NET_ALL);
    TELLS_IN(s, 500, "a:DENIED");
}

/* It told the switch and ended. The others do not know of it yet, and name the master before. */
WITH_SENTINELS(the_last_word_of_a_sentinel_is_believed_until_others_had_time_to_hear)
{
    struct client *p = sentinels_connect(s);
    run_ms(s, 100);
    p->tells = 1;
    sentinels_fail_over(s, 1, 1, 0);
    TELLS_IN(s, 100, "failover down up");
    s->net.places[FIRST_SENTINEL].mood = NET_REFUSES;
    net_reset_at(&s->net, sentinel_at(s, 0), NET_ALL);
    TELLS_IN(s, 100, "");
    net_reset_at(&s->net, replica_of(s), NET_ALL); /* so the others are asked */
    TELLS_IN(s, 5000, "down up");
}

WITH_SENTINELS(sentinels_that_were_set_up_anew_are_believed)
{
    for (unsigned i = 0; i < SENTINELS; i++)
        store_knows(sentinel_at(s, i), "127.0.0.1", 6379, 50);
    struct handle *a = handle_new(sentinels_connect(s), "a", "stock", NULL);
    sentinels_fail_over(s, 3, 0, 1);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 15000, "a:OK");
    HOLDS(s, is_at(replica_of(s), a));
}

/* They name the same master as before, so their epochs are taken up alone: the next failover is newer. */
WITH_SENTINELS(a_failover_among_sentinels_that_were_set_up_anew_is_followed)
{
    for (unsigned i = 0; i < SENTINELS; i++)
        store_knows(sentinel_at(s, i), "127.0.0.1", 6379, 50);
    struct client *p = sentinels_connect(s);
    for (unsigned i = 0; i < SENTINELS; i++)
        store_knows(sentinel_at(s, i), "127.0.0.1", 6379, 1);
    run_ms(s, 40000);
    p->tells = 1;
    sentinels_fail_over(s, 1, 1, 0);
    TELLS_IN(s, 100, "failover down up");
}

WITH_SENTINELS(without_a_sentinel_the_master_that_is_known_is_as_good)
{
    struct handle *a = held(sentinels_connect(s), "a", "stock", NULL);
    a->client->tells = 1;
    for (unsigned i = 0; i < SENTINELS; i++) {
        s->net.places[FIRST_SENTINEL + i].mood = NET_REFUSES;
        net_reset_at(&s->net, sentinel_at(s, i), NET_ALL);
    }
    release(a);
    TELLS_IN(s, 20000, "a:released");
    HOLDS(s, hilock_client_is_connected(a->client->client));
}

/* One of three is no majority, though it is the only one that answers: it may just have been away. */
WITH_SENTINELS(one_that_was_set_up_anew_is_not_believed)
{
    for (unsigned i = 0; i < SENTINELS; i++)
        store_knows(sentinel_at(s, i), "127.0.0.1", 6379, 50);
    sentinels_connect(s);
    sentinels_fail_over(s, 1, 0, 0);
    s->net.places[FIRST_SENTINEL + 1].mood = s->net.places[FIRST_SENTINEL + 2].mood = s->place->mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_ALL);
    run_ms(s, 30000);
    SAME(s, store_count(replica_of(s), NULL), 0);
}

/* One of them calls the same master by another address, or got another by hand: no failover, because the epoch is the same. */
WITH_SENTINELS(one_who_names_another_master_of_the_same_epoch_is_outvoted)
{
    sim_store_set_replica(replica_of(s)->core, 0);
    store_knows(sentinel_at(s, 1), REPLICA_HOST, 6379, 1);
    struct client *p = sentinels_connect(s);
    run_ms(s, 2000);
    held(p, "a", "stock", NULL);
    fixture_hush(s);
    p->tells = 1;
    TELLS_IN(s, 60000, "");
    HOLDS(s, is_ours(s, "stock"));
}

/* It serves as an answer to the second half, too. */
A_PLAY(an_epoch_that_is_no_number_is_not_believed)
{
    sentinels_set(s);
    PLAN(s, .on = "SENTINEL", .times = PLAN_ALWAYS,
         .fate.answer = say_array(4, say_string("127.0.0.1"), say_string("6379"), say_string("config-epoch"), say_string("soon")));
    acquire(handle_new(fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL)), "a", "stock", NULL), 500);
    TELLS_IN(s, 600, "a:UNREACHABLE");
}

/* It would mean the sentinel's own host. */
WITH_SENTINELS(a_master_without_a_host_is_none)
{
    PLAN(s, .on = "SENTINEL", .times = PLAN_ALWAYS,
         .fate.answer = say_array(4, say_string(""), say_string("6379"), say_string("config-epoch"), say_string("5")));
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL));
    run_ms(s, 50);
    HOLDS(s, client_lines(p, "returned no address for mymaster"));
}

A_PLAY(a_master_that_nobody_knows_is_told)
{
    struct handle *a;
    sentinels_set(s);
    a = handle_new(fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis+sentinel://10.0.0.11/nobody")), "a", "stock", NULL);
    acquire(a, 500);
    TELLS_IN(s, 600, "a:UNREACHABLE");
    HOLDS(s, strstr(a->detail, "master nobody could not be asked within 500 ms: sentinel 10.0.0.11:26379: ERR No such master"));
}

/* It ends every wait, also one without an end. */
A_PLAY(a_server_that_is_no_sentinel_is_reported_once)
{
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis+sentinel://127.0.0.1:6379/mymaster", .log_level = HILOCK_LOG_WARN));
    p->tells = 1;
    asking(p, "a", "stock", NULL);
    TELLS_IN(s, 20000, "a:SERVER down");
    HOLDS(s, strstr(p->event_detail, "master mymaster: sentinel 127.0.0.1:6379: it is not a sentinel: "));
    HOLDS(s, strstr(p->log, "master mymaster: sentinel 127.0.0.1:6379: it is not a sentinel: "));
    HOLDS(s, asked(s, "SENTINEL") > 40 && asked(s, "SENTINEL") < 100);
}

static const char unknown[] = "ERR No such master with that name";

WITH_SENTINELS(a_master_that_sentinels_come_to_know_is_found)
{
    struct plan *plans[SENTINELS];
    for (unsigned i = 0; i < SENTINELS; i++)
        plans[i] = PLAN(s, .on = "SENTINEL", .at = sentinel_at(s, i), .error = unknown,
                        .times = PLAN_ALWAYS);
    struct client *p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL));
    p->tells = 1;
    run_ms(s, 5000);
    plan_end(plans[1]);
    TELLS_IN(s, 1000, "down up");
}

WITH_SENTINELS(sentinels_have_a_login_of_their_own)
{
    struct client *p;
    for (unsigned i = 0; i < SENTINELS; i++)
        sim_store_set_password(sentinel_at(s, i)->core, FIXTURE_SECRET "2");
    sim_store_set_password(s->store.core, FIXTURE_SECRET);
    char password[] = FIXTURE_SECRET, sentinel_password[] = FIXTURE_SECRET "2";
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "redis+sentinel://10.0.0.11", .password = password, .sentinel_password = sentinel_password));
    memset(password, 'x', strlen(password)); /* both were copied */
    memset(sentinel_password, 'x', strlen(sentinel_password));
    run_ms(s, 5);
    HOLDS(s, hilock_client_is_connected(p->client));
}

static struct hl_reply *odd(int i)
{
    static char long_host[400];
    memset(long_host, 'x', sizeof long_host - 1);
    switch (i) {
    case 0: return say_nil();
    case 1: return say_array(0);
    case 2: return say_array(1, say_string("10.0.0.2"));
    case 3: return say_array(2, say_string("10.0.0.2"), say_string("0"));
    case 4: return say_array(2, say_string("10.0.0.2"), say_string("65536"));
    case 5: return say_array(2, say_string("10.0.0.2"), say_string("63x"));
    case 6: return say_array(2, say_string(""), say_string("6379"));
    case 7: return say_array(2, say_string(long_host), say_string("6379"));
    case 8: return say_array(2, say_bytes("10\0" "2", 4), say_string("6379"));
    case 9: return say_array(2, say_array(1, say_string("10.0.0.2")), say_integer(6379));
    case 10: return say_integer(6379);
    case 11: return say_status("OK");
    case 12: return say_error("ERR no");
    default: return NULL;
    }
}

WITH_SENTINELS(odd_answers_lead_nowhere)
{
    static const char *const messages[] = {
        "", "mymaster", "mymaster 127.0.0.1 6379 10.0.0.2", "mymaster 127.0.0.1 6379 10.0.0.2 0", "mymaster 127.0.0.1 6379  6379",
        "yourmaster 127.0.0.1 6379 10.0.0.2 6379", "mymaster 10.9.9.9 6379 10.0.0.2 6379"};
    struct hl_reply *reply;
    struct client *p = sentinels_connect(s);
    for (int i = 0; (reply = odd(i)) != NULL; i++) {
        struct plan *first = PLAN(s, .on = "SENTINEL", .fate.answer = reply);
        run_ms(s, 16000);
        SAME(s, first->met, 1);
        PLAN(s, .on = "SENTINEL", .fate.answer = odd(i), .after = SENTINELS);
        run_ms(s, 16000);
    }
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        store_publish(sentinel_at(s, 0), "+switch-master", messages[i]);
    run_ms(s, 100);
    SAME(s, store_count(replica_of(s), NULL), 0);
    HOLDS(s, hilock_client_is_connected(p->client));
}

/* All that was released of late is said again to the next master, one by one; what is held cannot wait for that. */
WITH_SENTINELS(a_renewal_goes_before_releases_that_are_said_again)
{
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.url = SENTINEL_URL, .inflight_max = 1));
    held(p, "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    for (int i = 0; i < 100; i++) {
        release(held(p, "b", formatted("other%d", i), NULL));
    }
    unheard_ms(s, 10);
    PLAN(s, .on = "mutex_release", .at = replica_of(s), .fate.there_us = 50000, .times = PLAN_ALWAYS);
    store_copy(replica_of(s), &s->store);
    sentinels_fail_over(s, 3, 1, 1);
    run_ms(s, 3000);
    HOLDS(s, store_count(replica_of(s), "mutex_release") > 20);
    HOLDS(s, store_count(replica_of(s), "renew") >= 2);
    TELLS(s, "");
}

WITH_SENTINELS(a_failover_that_takes_long_loses_no_release)
{
    struct handle *a = held(sentinels_connect(s), "a", "stock", NULL);
    store_copy(replica_of(s), &s->store);
    release(a);
    run_ms(s, 5000);
    cut_off(s);
    run_ms(s, 8000);
    sentinels_fail_over(s, 3, 1, 0);
    run_ms(s, 100);
    TEXT(s, store_holder(replica_of(s), "stock"), "");
}

/* Neither its lease nor its place in the queue would last until then. */
WITH_SENTINELS(what_is_over_is_not_repeated)
{
    struct handle *a = held(sentinels_connect(s), "a", "stock", NULL);
    release(a);
    run_ms(s, 5000);
    cut_off(s);
    run_ms(s, 100);
    s->place->mood = NET_LISTENS;
    run_ms(s, 70000);
    sentinels_fail_over(s, 3, 1, 0);
    run_ms(s, 100);
    SAME(s, store_count(replica_of(s), "mutex_release"), 0);
}
