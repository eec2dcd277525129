/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on a lock: which names it may have, what the getters return, which handles a visit reaches.
 * test_refusals.c has the refusals. */
#include "play.h"

static hilock_status create(struct client *p, const char *name, size_t length, hilock_lock **ret_lock)
{
    return hilock_lock_create(ret_lock, p->client, name, HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .name_length = length));
}

static void nothing(const struct hilock_result *result, void *user) { (void)result, (void)user; }

GIVEN(a_name_is_of_any_bytes_up_to_its_limit, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.name_prefix = "shop:")))
{
    char name[1100];
    hilock_lock *lock;
    memset(name, 'n', sizeof name);
    SAME(s, create(p, name, 1019, &lock), HILOCK_OK);
    hilock_lock_free(lock);
    SAME(s, create(p, "a\0b", 3, &lock), HILOCK_OK);
    HOLDS(s, memcmp(hilock_lock_name(lock), "shop:a\0b", 9) == 0);
    SAME(s, hilock_acquire(lock, HILOCK_TRY, nothing, NULL), HILOCK_OK);
    held(p, "a", "a", NULL); /* another name */
    SAME(s, hilock_lock_state(lock), HILOCK_STATE_HELD);
    hilock_lock_free(lock);
}

A_PLAY(texts_are_copied)
{
    char prefix[] = "shop:", name[] = "lamp";
    struct client *p = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.name_prefix = prefix));
    struct handle *a = handle_new(p, "a", name, NULL);
    memset(name, 'x', strlen(name));
    memset(prefix, 'x', strlen(prefix));
    TEXT(s, hilock_lock_name(a->lock), "shop:lamp");
    TEXT(s, hilock_lock_name(handle_new(p, "b", "desk", NULL)->lock), "shop:desk");
}

HAVING(what_is_NULL_is_nothing, lone(s))
{
    SAME(s, hilock_lock_remaining_ms(NULL), 0);
    SAME(s, hilock_lock_token(NULL), 0);
    SAME(s, hilock_multi_token(NULL, 0), 0);
    SAME(s, hilock_multi_token(a->lock, 0), 0); /* it is no multi */
    SAME(s, hilock_lock_state(NULL), HILOCK_STATE_IDLE);
    TEXT(s, hilock_lock_name(NULL), "");
    HOLDS(s, !hilock_lock_user(NULL));
    HOLDS(s, !hilock_client_is_connected(NULL));
    TEXT(s, hilock_client_uuid(NULL), "");
    TEXT(s, hilock_client_refusal(NULL), "the client is closed");
    hilock_lock_free(NULL);
    hilock_lock_drop(NULL);
    hilock_client_each_lock(NULL, NULL, NULL);
    hilock_lock_describe(a->lock, NULL);
    hilock_client_stats(p->client, NULL);
}

GIVEN(no_more_wait_than_waiters_max, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.waiters_max = 3, .name_waiters_max = 2)))
{
    store_take(&s->store, "stock", "another", 60000);
    SAME(s, acquire(handle_new(p, "a", "stock", NULL), 0x7fffffff), HILOCK_OK);
    SAME(s, acquire(handle_new(p, "b", "stock", NULL), HILOCK_FOREVER), HILOCK_OK);
    SAME(s, acquire(handle_new(p, "c", "stock", NULL), HILOCK_FOREVER), HILOCK_TOO_MANY_WAITERS);
    TEXT(s, hilock_client_refusal(p->client), "2 acquires of \"stock\" already wait (name_waiters_max): shed load or raise it");
    SAME(s, acquire(handle_new(p, "d", "other", NULL), HILOCK_FOREVER), HILOCK_OK);
    SAME(s, acquire(handle_new(p, "e", "third", NULL), HILOCK_FOREVER), HILOCK_TOO_MANY_WAITERS);
    TEXT(s, hilock_client_refusal(p->client), "3 acquires already wait (waiters_max): shed load or raise it");
    TELLS_IN(s, 5, "a:WAITING b:WAITING d:OK");
    SAME(s, acquire(handle_new(p, "f", "third", NULL), HILOCK_FOREVER), HILOCK_OK);
}

HAVING(getters_follow_the_life_of_a_hold, asking(the_client(s), "a", "stock", HILOCK_LOCK_OPTIONS(.lease_ms = 3000)))
{
    struct hilock_lock_info info = {.size = sizeof info};
    run_us(s, 150);
    hilock_lock_describe(a->lock, &info);
    SAME(s, info.state, HILOCK_STATE_WAITING);
    SAME(s, info.hold_count, 0);
    SAME(s, info.remaining_ms, 0);
    run_ms(s, 700);
    hilock_lock_describe(a->lock, &info);
    TEXT(s, info.name, "stock");
    SAME(s, info.name_length, 5);
    SAME(s, info.kind, HILOCK_MUTEX);
    SAME(s, info.state, HILOCK_STATE_HELD);
    SAME(s, info.age_ms, 699);
    SAME(s, info.remaining_ms, hilock_lock_remaining_ms(a->lock));
    SAME(s, info.hold_count, 1);
    SAME(s, info.fencing_token, hilock_lock_token(a->lock));
    HOLDS(s, info.user == a);
}

struct visited { char text[512]; };

static void visit(const struct hilock_lock_info *info, void *user)
{
    struct visited *visited = user;
    size_t used = strlen(visited->text);
    snprintf(visited->text + used, sizeof visited->text - used, "%s%s:%d", used ? " " : "", info->name, (int)info->state);
}

WITH_CLIENT(each_lock_visits_who_waits_and_who_holds_once)
{
    struct visited visited = {""};
    handle_new(p, "idle", "idle", NULL);
    held(p, "a", "one", NULL);
    store_take(&s->store, "two", "another", 60000);
    asking(p, "b", "two", NULL);
    asking(p, "c", "one", NULL);
    run_ms(s, 5);
    struct handle *d = asking(p, "d", "three", NULL);
    cancel(d); /* decided, and waiting until its callback has run */
    hilock_client_each_lock(NULL, visit, &visited);
    hilock_client_each_lock(p->client, NULL, &visited);
    TEXT(s, visited.text, "");
    hilock_client_each_lock(p->client, visit, &visited);
    HOLDS(s, strstr(visited.text, "one:2"));
    HOLDS(s, strstr(visited.text, "one:1"));
    HOLDS(s, strstr(visited.text, "two:1"));
    HOLDS(s, strstr(visited.text, "three:1"));
    SAME(s, strlen(visited.text), strlen("one:2 two:1 one:1 three:1"));
}

/* Whatever is refused, nothing stays; of one name and of several, with options that no handle had before. */
WITH_CLIENT(a_handle_without_memory_leaves_nothing)
{
    static const char *const names[] = {"a", "b", "c", NULL};
    for (int is_multi = 0; is_multi < 2; is_multi++) {
        size_t blocks = s->memory.blocks;
        hilock_lock *lock = NULL;
        unsigned refused = 0;
        for (uint32_t lease_ms = 1000; !lock && refused < 50; lease_ms++) {
            const struct hilock_lock_options *options = HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .lease_ms = lease_ms);
            s->memory.fails = 1;
            s->memory.fail_at = s->memory.asked + 1 + refused;
            hilock_status status = is_multi ? hilock_multi_create(&lock, p->client, names, options) : hilock_lock_create(&lock, p->client, "a", options);
            s->memory.fail_at = 0;
            if (status == HILOCK_OK)
                break;
            SAME(s, status, HILOCK_NO_MEMORY);
            TEXT(s, hilock_client_refusal(p->client), "out of memory for a lock");
            HOLDS(s, s->memory.blocks <= blocks + 1); /* the terms that the next handle may have */
            refused++;
        }
        HOLDS(s, refused >= 3);
        hilock_lock_free(lock);
    }
}
