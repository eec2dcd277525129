/* SPDX-License-Identifier: BSD-3-Clause */
/* Every refusal, call by call: its status, and a sentence that says what was wrong and what to do. A refused call does nothing: it sends
 * nothing, calls nobody back, keeps no memory, gives nothing out, and leaves the handle as it was. */
#include "client/client.h"
#include "play.h"

#define ON_LOST .on_lost = hilock_lost_ignored
#define OPTIONS(...) {.size = sizeof(struct hilock_lock_options), __VA_ARGS__}
#define NEGATIVE ((uint32_t)-1000)
#define NEGATIVE_WORDS "4294966296 is out of range: must be at most 2147483647"

enum { NAME_ROOM = 1100 };

/* A client that holds all it may: one waits, one holds, one is idle; of three others one is closing, one is gone, one has a restart guard. */
struct stage {
    struct fixture *fixture;
    hilock_client *client, *closing, *guarded;
    hilock_lock *idle, *waiting, *held;
    hilock_lock *late_idle, *late_held; /* of the one that closes */
    hilock_lock *orphan;
    char long_name[NAME_ROOM];
    const char *many[66]; /* names */
    struct { struct hilock_lock_options known; char unknown[8]; } newer;
    hilock_lock *made; /* what a call gave out: nothing */
    hilock_validity *seen;
};

struct row {
    const char *what;
    const char *names[4]; /* of what is to be made, if that is all */
    struct hilock_lock_options options;
    hilock_status (*call)(struct stage *stage, const struct row *row);
    hilock_status status;
    const char *wrong, *mend; /* in the sentence; NULL: there is no client to ask for one */
    int whose;                /* sentence: the client's, the closing one's, the guarded one's */
};
enum { CLOSING = 1, GUARDED = 2 };

static void never(const struct hilock_result *result, void *user)
{
    (void)result;
    fixture_claim(user, 0, "a refused call never calls back", __FILE__, __LINE__);
}

static void never_one(const struct hilock_holder_info *info, void *user)
{
    (void)info;
    fixture_claim(user, 0, "a refused call lists nobody", __FILE__, __LINE__);
}

static void never_closed(void *user) { fixture_claim(user, 0, "a refused close closes nothing", __FILE__, __LINE__); }

#define LOCK(name, ...) .names = {name}, .options = OPTIONS(__VA_ARGS__), .call = lock
#define NAMES(...) .names = {__VA_ARGS__, NULL}
#define MULTI(...) .options = OPTIONS(__VA_ARGS__), .call = multi
#define CALL(what, expression, ...) \
    static hilock_status what(struct stage *t, const struct row *row) { return (void)t, (void)row, expression; }
#define ROW(what, expression, ...) {#what, .call = what, __VA_ARGS__},

CALL(lock, hilock_lock_create(&t->made, t->client, row->names[0], &row->options), )
CALL(multi, hilock_multi_create(&t->made, t->client, row->names, &row->options), )

/* ---- create ---- */

#define CREATES(X) \
    X(a_name_too_long, hilock_lock_create(&t->made, t->client, t->long_name, HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_BAD_NAME, "bad name of 1104 bytes", "must be 1..1024 with the prefix", 0) \
    X(a_name_too_long_with_its_prefix, hilock_lock_create(&t->made, t->client, t->long_name, HILOCK_LOCK_OPTIONS(ON_LOST, .name_length = 1020)), HILOCK_BAD_NAME, "bad name of 1025 bytes", "must be 1..1024 with the prefix", 0) \
    X(no_options, hilock_lock_create(&t->made, t->client, "x", NULL), HILOCK_INVALID, "options is NULL: on_lost at least must be given", "use HILOCK_LOCK_OPTIONS(.on_lost = ...)", 0) \
    X(nowhere_to_put_it, hilock_lock_create(NULL, t->client, "x", HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_INVALID, "ret_lock is NULL", "pass the address of", 0) \
    X(no_client, hilock_lock_create(&t->made, NULL, "x", HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_INVALID, NULL, NULL, 0) \
    X(a_client_that_closes, hilock_lock_create(&t->made, t->closing, "x", HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_CLOSED, "the client is closing: no new locks", "open another client", CLOSING) \
    X(options_of_no_size, hilock_lock_create(&t->made, t->client, "x", &(struct hilock_lock_options){ON_LOST}), HILOCK_INVALID, "options.size is 0", "use HILOCK_LOCK_OPTIONS(...), or set it to sizeof options", 0) \
    X(options_of_too_small_a_size, hilock_lock_create(&t->made, t->client, "x", &(struct hilock_lock_options){.size = 3, ON_LOST}), HILOCK_INVALID, "options.size is 3", "use HILOCK_LOCK_OPTIONS(...), or set it to sizeof options", 0) \
    X(options_with_more_than_is_known, hilock_lock_create(&t->made, t->client, "x", &t->newer.known), HILOCK_INVALID, "options has unknown members set beyond byte", "this is hilock 0.1.0, the program was built for a newer one", 0) \
    X(a_lease_longer_than_the_guard, hilock_lock_create(&t->made, t->guarded, "x", HILOCK_LOCK_OPTIONS(ON_LOST, .lease_ms = 60000)), HILOCK_INVALID, "lease_ms 60000 is longer than restart_guard_ms 40000: a restarted store could grant the lock to others too early", "raise the guard", GUARDED) \
    X(a_multi_that_shares, hilock_multi_create(&t->made, t->client, (const char *[]){"a", "b", NULL}, HILOCK_LOCK_OPTIONS(ON_LOST, .holders_max = 2)), HILOCK_UNSUPPORTED, "holders_max is not supported for a multi", "leave it 0", 0) \
    X(a_multi_of_65_names, hilock_multi_create(&t->made, t->client, t->many, HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_INVALID, "bad names: at least 65 given, must be 2..64", "for one name use", 0) \
    X(a_multi_without_names, hilock_multi_create(&t->made, t->client, NULL, HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_INVALID, "names is NULL", "give 2..64 names", 0) \
    X(a_multi_of_a_client_that_closes, hilock_multi_create(&t->made, t->closing, (const char *[]){"a", "b", NULL}, HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_CLOSED, "the client is closing: no new locks", "open another client", CLOSING) \
    X(a_multi_of_no_client, hilock_multi_create(&t->made, NULL, NULL, NULL), HILOCK_INVALID, NULL, NULL, 0)
CREATES(CALL)

static const struct row creates[] = {
    {"no on_lost", LOCK("x", .lease_ms = 5000), HILOCK_INVALID, "on_lost is NULL: a hold can end without you", "give a function, or hilock_lost_ignored if you check hilock_lock_remaining_ms() before every write", 0},
    {"a lease of 50 ms", LOCK("x", ON_LOST, .lease_ms = 50), HILOCK_INVALID, "bad lease_ms 50: must be", "100..86400000, or 0 for the client's", 0},
    {"a lease of over 24 h", LOCK("x", ON_LOST, .lease_ms = 86400001), HILOCK_INVALID, "bad lease_ms 86400001: must be", "100..86400000", 0},
    {"a negative lease", LOCK("x", ON_LOST, .lease_ms = NEGATIVE), HILOCK_INVALID, "lease_ms " NEGATIVE_WORDS, "at most", 0},
    {"hold_max below the lease", LOCK("x", ON_LOST, .lease_ms = 5000, .hold_max_ms = 3000), HILOCK_INVALID, "hold_max_ms 3000 is less than lease_ms 5000", "lower the lease or raise the limit", 0},
    {"a negative hold_max", LOCK("x", ON_LOST, .hold_max_ms = NEGATIVE), HILOCK_INVALID, "hold_max_ms " NEGATIVE_WORDS, "at most", 0},
    {"a hold_max of -1", LOCK("x", ON_LOST, .hold_max_ms = (uint32_t)-1), HILOCK_INVALID, "hold_max_ms 4294967295", "at most", 0},
    {"a negative min_validity", LOCK("x", ON_LOST, .min_validity_ms = NEGATIVE), HILOCK_INVALID, "min_validity_ms " NEGATIVE_WORDS, "at most", 0},
    {"a validity that no lease gives", LOCK("x", ON_LOST, .lease_ms = 1000, .min_validity_ms = 1000), HILOCK_INVALID, "min_validity_ms 1000 is more than a lease_ms of 1000 can give", "no grant would ever be good enough", 0},
    {"a negative wait_report", LOCK("x", ON_LOST, .wait_report_ms = NEGATIVE), HILOCK_INVALID, "wait_report_ms " NEGATIVE_WORDS, "at most", 0},
    {"a negative pause between polls", LOCK("x", ON_LOST, .kind = HILOCK_SIMPLE, .poll_min_ms = NEGATIVE), HILOCK_INVALID, "poll_min_ms " NEGATIVE_WORDS, "at most", 0},
    {"a negative jitter", LOCK("x", ON_LOST, .wake = HILOCK_WAKE_POLL, .poll_jitter_ms = NEGATIVE), HILOCK_INVALID, "poll_jitter_ms " NEGATIVE_WORDS, "at most", 0},
    {"no such kind", LOCK("x", ON_LOST, .kind = (hilock_kind)7), HILOCK_INVALID, "bad kind 7", "use the names of the header", 0},
    {"no such renew", LOCK("x", ON_LOST, .renew = (hilock_renew)2), HILOCK_INVALID, "renew 2", "use the names of the header", 0},
    {"no such wake", LOCK("x", ON_LOST, .wake = (hilock_wake)2), HILOCK_INVALID, "wake 2", "use the names of the header", 0},
    {"reentrant twice", LOCK("x", ON_LOST, .reentrant = 2), HILOCK_INVALID, "bad reentrant 2", "must be 0 or 1", 0},
    {"reentrant less than not", LOCK("x", ON_LOST, .reentrant = -1), HILOCK_INVALID, "bad reentrant -1", "must be 0 or 1", 0},
    {"more holders than can be counted", LOCK("x", ON_LOST, .holders_max = 1000001), HILOCK_INVALID, "bad holders_max 1000001: must be 1..1000000", "0 for a handle that holds alone, or HILOCK_ANY_NUMBER", 0},
    {"permits of a string", LOCK("x", ON_LOST, .kind = HILOCK_SIMPLE, .holders_max = 2), HILOCK_UNSUPPORTED, "holders_max is not supported with SIMPLE: a string has one holder", "use MUTEX or FAIR", 0},
    {"more replicas than anybody has", LOCK("x", ON_LOST, .replicas = 65), HILOCK_INVALID, "bad replicas 65: must be 1..64", "or 0 for no confirmation", 0},
    {"time for no replica", LOCK("x", ON_LOST, .replica_timeout_ms = 100), HILOCK_INVALID, "replica_timeout_ms is 100, but replicas is 0", "no replica would be waited for", 0},
    {"replicas that take longer than the lease", LOCK("x", ON_LOST, .replicas = 1, .lease_ms = 3000, .replica_timeout_ms = 3001), HILOCK_INVALID, "replica_timeout_ms 3001 is longer than lease_ms 3000", "the grant would be over before it is confirmed", 0},
    {"readers who share in a client, but hold alone", LOCK("x", ON_LOST, .share_local_ms = 50), HILOCK_INVALID, "share_local_ms is 50, but holders_max is not HILOCK_ANY_NUMBER", "or leave share_local_ms 0", 0},
    {"permits that count on one share", LOCK("x", ON_LOST, .share_local_ms = 50, .holders_max = 5), HILOCK_INVALID, "only readers can count on one share", "set holders_max to that", 0},
    {"readers who pass a writer for half a lease", LOCK("x", ON_LOST, .share_local_ms = 1500, .lease_ms = 3000, .holders_max = HILOCK_ANY_NUMBER), HILOCK_INVALID, "share_local_ms 1500 is more than a third of lease_ms 3000: writers would wait for too long", "lower it or raise the lease", 0},
    {"a negative time to share", LOCK("x", ON_LOST, .share_local_ms = NEGATIVE, .holders_max = HILOCK_ANY_NUMBER), HILOCK_INVALID, "share_local_ms " NEGATIVE_WORDS, "at most", 0},
    {"an empty name", LOCK("", ON_LOST), HILOCK_BAD_NAME, "bad name of 0 bytes", "must be 1..1024 with the prefix", 0},
    {"a name without an end", LOCK("x", ON_LOST, .name_length = SIZE_MAX), HILOCK_BAD_NAME, "bad name of", "must be 1..1024 with the prefix", 0},
    {"a brace that closes", LOCK("x}y", ON_LOST), HILOCK_BAD_NAME, "bad name \"shop:x}y\": use no braces at all, or let the first '{' open a non-empty {...}", "otherwise its keys fall into different hash slots", 0},
    {"a brace that opens", LOCK("a{x", ON_LOST), HILOCK_BAD_NAME, "bad name \"shop:a{x\": use no braces", "open a non-empty {...}", 0},
    {"an empty tag", LOCK("a{}b{c}", ON_LOST), HILOCK_BAD_NAME, "bad name \"shop:a{}b{c}\": use no braces", "open a non-empty {...}", 0},
    {"a brace behind a zero", LOCK("a\0}b", ON_LOST, .name_length = 4), HILOCK_BAD_NAME, "bad name \"shop:a\\x00}b\": use no braces", "open a non-empty {...}", 0},
    {"no name", LOCK(NULL, ON_LOST), HILOCK_INVALID, "name is NULL", "give", 0},
    {"a multi of one name", NAMES("a"), MULTI(ON_LOST), HILOCK_INVALID, "bad names: 1 given, must be 2..64", "for one name use hilock_lock_create", 0},
    {"a multi with a name twice", NAMES("a", "b", "a"), MULTI(ON_LOST), HILOCK_BAD_NAME, "bad names: \"shop:a\" is given twice, as number 1 and number 3", "give each name once", 0},
    {"a multi with an empty name", NAMES("a", ""), MULTI(ON_LOST), HILOCK_BAD_NAME, "bad name of 0 bytes", "must be 1..1024 with the prefix", 0},
    {"a multi with a brace", NAMES("a", "x}y"), MULTI(ON_LOST), HILOCK_BAD_NAME, "bad name \"shop:x}y\"", "open a non-empty {...}", 0},
    {"a fair multi", NAMES("a", "b"), MULTI(ON_LOST, .kind = HILOCK_FAIR), HILOCK_UNSUPPORTED, "FAIR is not supported for a multi", "use MUTEX or SIMPLE", 0},
    {"a reentrant multi", NAMES("a", "b"), MULTI(ON_LOST, .reentrant = 1), HILOCK_UNSUPPORTED, "reentrant is not supported for a multi", "leave reentrant 0", 0},
    {"a multi with a length", NAMES("a", "b"), MULTI(ON_LOST, .name_length = 1), HILOCK_INVALID, "bad name_length 1: the names of a multi end with a zero byte", "leave it 0", 0},
    {"a multi without on_lost", NAMES("a", "b"), MULTI(.lease_ms = 1000), HILOCK_INVALID, "on_lost is NULL", "give a function", 0},
    CREATES(ROW)
};

/* ---- acquire, release, cancel, close ---- */

#define CALLS(X) \
    X(acquire_of_NULL, hilock_acquire(NULL, 0, never, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(no_on_result, hilock_acquire(t->idle, 0, NULL, NULL), HILOCK_INVALID, "on_result is NULL", "hilock_acquire needs a callback", 0) \
    X(a_wait_of_minus_1, hilock_acquire(t->idle, (uint32_t)-1, never, t->fixture), HILOCK_INVALID, "wait_ms 4294967295", "or HILOCK_FOREVER", 0) \
    X(a_negative_wait, hilock_acquire(t->idle, NEGATIVE, never, t->fixture), HILOCK_INVALID, "wait_ms " NEGATIVE_WORDS, "or HILOCK_FOREVER", 0) \
    X(a_second_acquire_of_one_that_waits, hilock_acquire(t->waiting, 0, never, t->fixture), HILOCK_IN_USE, "handle of \"shop:theirs\" already waits", "make one handle per would-be holder, or set reentrant", 0) \
    X(a_second_acquire_of_one_that_holds, hilock_acquire(t->held, HILOCK_FOREVER, never, t->fixture), HILOCK_IN_USE, "handle of \"shop:ours\" already holds", "make one handle per would-be holder, or set reentrant", 0) \
    X(more_who_wait_than_may, hilock_acquire(t->idle, HILOCK_FOREVER, never, t->fixture), HILOCK_TOO_MANY_WAITERS, "1 acquires already wait (waiters_max)", "shed load or raise it", 0) \
    X(acquire_at_a_client_that_closes, hilock_acquire(t->late_idle, HILOCK_FOREVER, never, t->fixture), HILOCK_CLOSED, "the client is closing: no new acquires", "open another client", CLOSING) \
    X(acquire_at_one_that_is_gone, hilock_acquire(t->orphan, 0, never, t->fixture), HILOCK_CLOSED, NULL, NULL, 0) \
    X(release_of_NULL, hilock_release(NULL, never, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(release_of_an_idle_one, hilock_release(t->idle, never, t->fixture), HILOCK_NOT_HELD, "handle of \"shop:theirs\" does not hold", "never acquired, already released, or lost", 0) \
    X(release_at_a_client_that_is_gone, hilock_release(t->orphan, never, t->fixture), HILOCK_CLOSED, NULL, NULL, 0) \
    X(extend_of_NULL, hilock_extend(NULL, 0, never, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(an_extend_that_nobody_hears_of, hilock_extend(t->held, 0, NULL, NULL), HILOCK_INVALID, "on_result is NULL", "hilock_extend needs a callback", 0) \
    X(an_extend_too_short, hilock_extend(t->held, 99, never, t->fixture), HILOCK_INVALID, "bad lease_ms 99", "must be 100..86400000, or 0 for the lock's", 0) \
    X(an_extend_too_long, hilock_extend(t->held, 86400001, never, t->fixture), HILOCK_INVALID, "bad lease_ms 86400001", "must be 100..86400000, or 0 for the lock's", 0) \
    X(extend_of_an_idle_one, hilock_extend(t->idle, 0, never, t->fixture), HILOCK_NOT_HELD, "handle of \"shop:theirs\" does not hold", "never acquired, already released, or lost", 0) \
    X(extend_at_a_client_that_is_gone, hilock_extend(t->orphan, 0, never, t->fixture), HILOCK_CLOSED, NULL, NULL, 0) \
    X(downgrade_of_NULL, hilock_downgrade(NULL, never, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(a_downgrade_that_nobody_hears_of, hilock_downgrade(t->held, NULL, NULL), HILOCK_INVALID, "on_result is NULL", "hilock_downgrade needs a callback", 0) \
    X(downgrade_of_an_idle_one, hilock_downgrade(t->idle, never, t->fixture), HILOCK_NOT_HELD, "handle of \"shop:theirs\" does not hold", "never acquired, already released, or lost", 0) \
    X(downgrade_at_a_client_that_is_gone, hilock_downgrade(t->orphan, never, t->fixture), HILOCK_CLOSED, NULL, NULL, 0) \
    X(validity_of_NULL, hilock_lock_validity(NULL, &t->seen), HILOCK_INVALID, NULL, NULL, 0) \
    X(nowhere_to_put_a_validity, hilock_lock_validity(t->held, NULL), HILOCK_INVALID, "ret_validity is NULL", "pass the address of", 0) \
    X(validity_of_an_idle_one, hilock_lock_validity(t->idle, &t->seen), HILOCK_NOT_HELD, "handle of \"shop:theirs\" does not hold", "never acquired, already released, or lost", 0) \
    X(validity_at_a_client_that_is_gone, hilock_lock_validity(t->orphan, &t->seen), HILOCK_CLOSED, NULL, NULL, 0) \
    X(cancel_of_NULL, hilock_cancel(NULL), HILOCK_INVALID, NULL, NULL, 0) \
    X(cancel_of_an_idle_one, hilock_cancel(t->idle), HILOCK_NOT_PENDING, "handle of \"shop:theirs\" does not wait", "hilock_lock_drop", 0) \
    X(cancel_of_one_that_holds, hilock_cancel(t->held), HILOCK_NOT_PENDING, "handle of \"shop:ours\" does not wait", "hilock_lock_drop", 0) \
    X(cancel_at_a_client_that_is_gone, hilock_cancel(t->orphan), HILOCK_CLOSED, NULL, NULL, 0) \
    X(peek_of_NULL, hilock_peek(NULL, never, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(peek_that_nobody_hears_of, hilock_peek(t->idle, NULL, NULL), HILOCK_INVALID, "on_result is NULL", "hilock_peek needs a callback", 0) \
    X(peek_at_a_client_that_closes, hilock_peek(t->late_idle, never, t->fixture), HILOCK_CLOSED, "the client is closing: no new inquiries", "open another client", CLOSING) \
    X(peek_at_one_that_is_gone, hilock_peek(t->orphan, never, t->fixture), HILOCK_CLOSED, NULL, NULL, 0) \
    X(holders_of_NULL, hilock_holders(NULL, never_one, never, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(holders_told_to_nobody, hilock_holders(t->idle, NULL, never, t->fixture), HILOCK_INVALID, "on_holder is NULL", "pass a function that is told each holder", 0) \
    X(holders_without_an_end, hilock_holders(t->idle, never_one, NULL, t->fixture), HILOCK_INVALID, "on_result is NULL", "hilock_holders needs a callback", 0) \
    X(holders_at_a_client_that_closes, hilock_holders(t->late_idle, never_one, never, t->fixture), HILOCK_CLOSED, "the client is closing: no new inquiries", "open another client", CLOSING) \
    X(holders_at_one_that_is_gone, hilock_holders(t->orphan, never_one, never, t->fixture), HILOCK_CLOSED, NULL, NULL, 0) \
    X(force_release_of_NULL, hilock_force_release(NULL, NULL, never, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(force_release_of_no_holder, hilock_force_release(t->idle, "", never, t->fixture), HILOCK_INVALID, "bad holder of 0 bytes", "pass the holder that hilock_peek reported", 0) \
    X(force_release_of_an_endless_holder, hilock_force_release(t->idle, t->long_name, never, t->fixture), HILOCK_INVALID, "bad holder of more than ", "pass the holder that hilock_peek reported", 0) \
    X(force_release_of_what_is_no_holder, hilock_force_release(t->idle, "mode", never, t->fixture), HILOCK_INVALID, "bad holder \"mode\"", "pass the holder that hilock_peek reported", 0) \
    X(force_release_at_a_client_that_closes, hilock_force_release(t->late_idle, NULL, never, t->fixture), HILOCK_CLOSED, "the client is closing: no new inquiries", "open another client", CLOSING) \
    X(force_release_at_one_that_is_gone, hilock_force_release(t->orphan, NULL, never, t->fixture), HILOCK_CLOSED, NULL, NULL, 0) \
    X(close_of_NULL, hilock_client_close(NULL, 0, never_closed, t->fixture), HILOCK_INVALID, NULL, NULL, 0) \
    X(a_drain_of_minus_1, hilock_client_close(t->client, (uint32_t)-1, never_closed, t->fixture), HILOCK_INVALID, "drain_ms 4294967295", "or HILOCK_FOREVER", 0) \
    X(a_negative_drain, hilock_client_close(t->client, NEGATIVE, never_closed, t->fixture), HILOCK_INVALID, "drain_ms " NEGATIVE_WORDS, "or HILOCK_FOREVER", 0)
CALLS(CALL)

static const struct row calls[] = {CALLS(ROW)};

/* ---- the stage ---- */

static hilock_lock *make(struct fixture *s, hilock_client *client, const char *name)
{
    hilock_lock *lock = NULL;
    SAME(s, hilock_lock_create(&lock, client, name, HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_OK);
    return lock;
}

static void quiet(const struct hilock_result *result, void *user) { (void)result, (void)user; }

static void set(struct stage *t, struct fixture *s)
{
    struct client *client = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.name_prefix = "shop:", .waiters_max = 1)), *closing = fixture_connect(s, NULL),
                 *gone = fixture_connect(s, NULL), *guarded = fixture_connect(s, HILOCK_CLIENT_OPTIONS(.restart_guard_ms = 40000));
    memset(t, 0, sizeof *t);
    memset(t->long_name, 'n', sizeof t->long_name - 1);
    for (int i = 0; i < 65; i++)
        t->many[i] = "same";
    t->newer.known = (struct hilock_lock_options){.size = sizeof t->newer, ON_LOST};
    t->newer.unknown[3] = 1;
    t->fixture = s;
    t->client = client->client;
    t->closing = closing->client;
    t->guarded = guarded->client;
    t->held = make(s, t->client, "ours");
    t->waiting = make(s, t->client, "theirs");
    t->idle = make(s, t->client, "theirs");
    t->late_idle = make(s, t->closing, "late");
    t->late_held = make(s, t->closing, "later");
    t->orphan = make(s, gone->client, "orphan");
    store_take(&s->store, "shop:theirs", "another", 60000);
    SAME(s, hilock_acquire(t->held, HILOCK_FOREVER, quiet, NULL), HILOCK_OK);
    SAME(s, hilock_acquire(t->late_held, HILOCK_FOREVER, quiet, NULL), HILOCK_OK);
    run_ms(s, 5);
    SAME(s, hilock_acquire(t->waiting, HILOCK_FOREVER, quiet, NULL), HILOCK_OK);
    SAME(s, client_close(closing, HILOCK_FOREVER), HILOCK_OK);
    SAME(s, client_close(gone, 0), HILOCK_OK);
    run_ms(s, 5);
    HOLDS(s, gone->is_closed && !closing->is_closed);
    fixture_hush(s);
}

static void strike(struct stage *t)
{
    hilock_lock *const all[] = {t->idle, t->waiting, t->held, t->late_idle, t->late_held, t->orphan};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        hilock_lock_free(all[i]);
}

static void try_row(struct stage *t, const struct row *row)
{
    struct fixture *s = t->fixture;
    size_t blocks = s->memory.blocks, commands = s->store.lines_count;
    int was_broken = s->is_broken;
    hilock_client *client = row->whose == CLOSING ? t->closing : row->whose == GUARDED ? t->guarded : t->client;
    SAME(s, row->call(t, row), row->status);
    if (row->wrong && !strstr(hilock_client_refusal(client), row->wrong))
        TEXT(s, hilock_client_refusal(client), row->wrong);
    if (row->mend && !strstr(hilock_client_refusal(client), row->mend))
        TEXT(s, hilock_client_refusal(client), row->mend);
    HOLDS(s, !t->made && !t->seen);
    SAME(s, hilock_lock_state(t->idle), HILOCK_STATE_IDLE);
    SAME(s, hilock_lock_state(t->waiting), HILOCK_STATE_WAITING);
    SAME(s, hilock_lock_state(t->held), HILOCK_STATE_HELD);
    SAME(s, s->memory.blocks, blocks);
    run_ms(s, 1);
    SAME(s, s->store.lines_count, commands);
    TELLS(s, "");
    if (s->is_broken != was_broken)
        fprintf(stderr, "  ... in \"%s\"\n", row->what);
}

static void try_rows(struct fixture *s, const struct row *rows, size_t count)
{
    struct stage stage;
    set(&stage, s);
    for (size_t i = 0; i < count; i++)
        try_row(&stage, &rows[i]);
    strike(&stage);
}

A_PLAY(nothing_is_made) { try_rows(s, creates, sizeof creates / sizeof *creates); }

/* Whatever the answer was, the lock may be freed: a refusal gives NULL, also to whom it asks nothing else. */
A_PLAY(a_refusal_gives_no_lock)
{
    const char *const names[] = {"a", "", NULL};
    struct stage stage;
    set(&stage, s);
    stage.made = stage.idle;
    SAME(s, hilock_lock_create(&stage.made, stage.client, "", HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_BAD_NAME);
    HOLDS(s, !stage.made);
    stage.made = stage.idle;
    SAME(s, hilock_lock_create(&stage.made, NULL, "x", NULL), HILOCK_INVALID);
    HOLDS(s, !stage.made);
    stage.made = stage.idle;
    SAME(s, hilock_multi_create(&stage.made, stage.client, names, HILOCK_LOCK_OPTIONS(ON_LOST)), HILOCK_BAD_NAME);
    HOLDS(s, !stage.made);
    strike(&stage);
}

A_PLAY(nothing_is_done) { try_rows(s, calls, sizeof calls / sizeof *calls); }
