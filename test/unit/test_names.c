/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that look alike are different locks, one client may wait for any of them at once, and no name is a key that another lock keeps. */
#include "played.h"

/* Both are notified on Redisson's channel of {a}. */
WITH_CLIENT(one_client_waits_for_two_names_of_one_channel)
{
    s->is_tampered = 1;
    store_take(&s->store, "a", "another", 600000);
    store_take(&s->store, "{a}", "another", 600000);
    struct handle *a = asking(p, "a", "a", NULL), *b = handle_new(p, "b", "{a}", NULL);
    acquire(b, HILOCK_FOREVER);
    run_ms(s, 10);
    SAME(s, asked_for(s, "SUBSCRIBE redisson_lock__channel:"), 1);
    TELLS(s, "a:WAITING b:WAITING");
    store_free_name(&s->store, "{a}");
    TELLS_AFTER(s, 10, "b:OK");
    release_quietly(b);
    handle_free(b);
    run_ms(s, 3000);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{a}"), 1); /* the other one listens still */
    store_free_name(&s->store, "a");
    TELLS_AFTER(s, 10, "a:OK");
    handle_free(a);
    run_ms(s, 3000);
    SAME(s, store_listeners(&s->store, "redisson_lock__channel:{a}"), 0);
}

static void is_refused(struct fixture *s, struct client *p, const char *name, const char *full)
{
    hilock_lock *lock = NULL;
    char words[200];
    snprintf(words, sizeof words, "bad name \"%s\": \"hilock:\" and \"redisson_lock\" begin keys that stand beside other locks", full);
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
