/* SPDX-License-Identifier: BSD-3-Clause */
/* R7: no way to sleep through a release. R8: a grant is checked again behind every queue. */
#include "safety.h"

SAFETY(R7_NO_SECOND_TRY, subscribe_confirm_ask_again_sleep, "asked(s, 'mutex_acquire') == 2")
{
    struct handle *a = handle_new(the_client(s), "a", "stock", NULL);
    handle_new(the_client(s), "x", "other", HILOCK_LOCK_OPTIONS(.kind = HILOCK_FAIR)); /* it listens for its grants */
    run_ms(s, 5);
    store_take(&s->store, "stock", "another", 60000);
    store_forget(&s->store);
    uint64_t begun_us = fixture_us(s);
    acquire(a, HILOCK_FOREVER);
    TELLS_IN(s, 2300, "a:WAITING");
    SAME(s, asked(s, "mutex_acquire"), 2);
    SAME(s, sent_at_us(s, "mutex_acquire", 0), begun_us);
    SAME(s, sent_at_us(s, "SUBSCRIBE", 0), begun_us + 200);
    SAME(s, sent_at_us(s, "mutex_acquire", 1), begun_us + 400);
    TEXT(s, store_line(&s->store, "SUBSCRIBE", 0)->text, "SUBSCRIBE redisson_lock__channel:{stock}");
}

/* Nobody listens on its channel by then, so its place is taken out of the queue, and the name is free. */
SAFETY(R7_NO_HEARTBEAT_WHEN_HEARD, freed_before_the_subscription_stood_it_is_still_noticed, "a:OK")
{
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", NULL);
    asking(fixture_connect(s, NULL), "a", "stock", NULL);
    PLAN(s, .on = "SUBSCRIBE", .on_stream = 1, .fate.there_us = 1000);
    fixture_hush(s);
    run_us(s, 500);
    SAME(s, asked(s, "SUBSCRIBE"), 0);
    release_quietly(h);
    run_us(s, 500);
    TELLS(s, "a:WAITING");
    TELLS_IN(s, 2, "a:OK");
}

/* The message is heard, the answer that is older than it comes after. */
SAFETY(R7_NEWS_FORGOTTEN, a_message_between_question_and_answer_counts, "a:OK")
{
    s->is_tampered = 1;
    store_take(&s->store, "stock", "another", 60000);
    asking(the_client(s), "a", "stock", NULL);
    TELLS_IN(s, 4, "a:WAITING");
    PLAN(s, .on = "mutex_acquire", .fate.back_us = 5000);
    store_publish(&s->store, "redisson_lock__channel:{stock}", "0"); /* for nothing: asks again, and gets "held" in 5 ms */
    run_ms(s, 2);
    store_free_name(&s->store, "stock");
    TELLS_IN(s, 5, "a:OK");
}

/* Deaf (it may not subscribe), it learns of the reconnect alone that things may have changed. */
SAFETY_WITH_CLIENT(R7_NO_RETRY_AT_RECONNECT, who_waits_tries_again_when_the_link_is_back, "a:OK")
{
    s->is_tampered = 1;
    store_take_simple(&s->store, "stock", "another", 60000);
    asking(p, "a", "stock", HILOCK_LOCK_OPTIONS(.kind = HILOCK_SIMPLE, .poll_min_ms = 20000)); /* it sleeps for long */
    TELLS_IN(s, 10, "a:WAITING");
    net_reset(&s->net, NULL, NET_ALL);
    store_delete(&s->store, "stock");
    TELLS_IN(s, 100, "a:OK");
}

/* Its turn comes when there is no memory, and nothing that is heard later would make it ask. */
SAFETY_WITH_CLIENT(SHORTAGE_FOREVER, who_had_no_memory_asks_when_there_is_some, "a:CANCELLED b:OK")
{
    store_take(&s->store, "stock", "another", 2000);
    struct handle *a = asking(p, "a", "stock", NULL);
    asking(p, "b", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 20000)); /* not made alike */
    unheard_ms(s, 10);
    s->memory.is_out = s->memory.spares_links = 1;
    cancel(a);
    run_ms(s, 10);
    s->memory.is_out = 0;
    TELLS_IN(s, 5000, "a:CANCELLED b:OK");
}

/* The place of its client in the queue at the store is before that of another one. */
SAFETY_WITH_CLIENT(PLACE_LOST_BY_CANCEL, who_gives_up_leaves_its_place_to_who_stands_behind_it, "a:CANCELLED b:OK")
{
    struct handle *h = held(fixture_connect(s, NULL), "h", "stock", NULL), *a = asking(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    run_ms(s, 10);
    asking(fixture_connect(s, NULL), "c", "stock", NULL);
    unheard_ms(s, 10);
    cancel(a);
    run_ms(s, 10);
    release_quietly(h);
    TELLS_IN(s, 10, "a:CANCELLED b:OK");
}
