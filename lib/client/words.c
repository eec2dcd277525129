/* SPDX-License-Identifier: BSD-3-Clause */
/* words - see words.h. */
#include "client/words.h"

#include <stdio.h>

__attribute__((format(printf, 1, 2))) static struct hl_text say(const char *format, ...)
{
    struct hl_text text;
    va_list list;
    va_start(list, format);
    vsnprintf(text.bytes, sizeof text.bytes, format, list);
    va_end(list);
    return text;
}

/* ---- refusals of a client ---- */

const char hl_words_no_client_place[] = "ret_client is NULL: pass the address of a hilock_client pointer";
const char hl_words_bad_loop[] =
    "loop is NULL, its size is too small, or it lacks a function: let an adapter fill struct hilock_loop "
    "(hilock/loop.h)";
const char hl_words_no_memory_to_open[] = "out of memory";
const char hl_words_client_closed[] = "the client is closed";
const char hl_words_wrong_thread[] =
    "called from another thread than the one that turns this client's loop: open one client per loop, or post the call "
    "to that loop; if the loop has moved to this thread, call hilock_client_adopt";
const char hl_words_forked[] =
    "forked child: these handles belong to the parent; call event_reinit and hilock_client_abandon, then open a new "
    "client";
const char hl_words_turn_wrong_thread[] =
    "another thread than before turns this client's loop: nothing is renewed or answered until this thread calls "
    "hilock_client_adopt, or the former thread turns the loop again";
const char hl_words_turn_forked[] =
    "a forked child turns this client's loop: the client belongs to the parent, so nothing is renewed or answered "
    "here; open the client after fork or daemon(), or call event_reinit and hilock_client_abandon in the child";

struct hl_text hl_words_closing(const char *what)
{
    return say("the client is closing: no new %s; open another client for them", what);
}

struct hl_text hl_words_too_many_closers(unsigned most)
{
    return say("the client has %u on_closed callbacks already, and takes no more: pass NULL", most);
}

/* ---- refusals of options ---- */

const char hl_words_no_options[] =
    "options is NULL: on_lost at least must be given, use HILOCK_LOCK_OPTIONS(.on_lost = ...)";
const char hl_words_no_on_lost[] =
    "on_lost is NULL: a hold can end without you; give a function, or hilock_lost_ignored if you check "
    "hilock_lock_remaining_ms() before every write";
const char hl_words_bad_allocator[] = "allocator lacks a function: give allocate, reallocate and release, or none";
const char hl_words_long_prefix[] = "name_prefix is too long: the prefix and a name must fit in 1024 bytes together";
const char hl_words_key_without_certificate[] =
    "tls_key_file is set, but tls_cert_file is not: a key needs its certificate";
const char hl_words_bad_tls_name[] =
    "bad tls_server_name: must be the name or address in the server's certificate, 1..253 letters";

struct hl_text hl_words_bad_size(size_t size, const char *macro)
{
    return say("options.size is %zu: use %s(...), or set it to sizeof options", size, macro);
}

struct hl_text hl_words_unknown_members(size_t known, const char *version)
{
    return say("options has unknown members set beyond byte %zu: this is hilock %s, the program was built for a newer "
               "one; leave them 0, or install that version", known, version);
}

struct hl_text hl_words_bad_span(const char *option, uint32_t value, int most, const char *also)
{
    return say("%s %u is out of range: must be at most %d%s%s; was a negative number cast to unsigned?", option, value,
               most, also ? ", or " : "", also ? also : "");
}

struct hl_text hl_words_bad_value(const char *option, uint32_t value, uint32_t least, uint32_t most, uint32_t normal)
{
    return say("bad %s %u: must be %u..%u, or 0 for %u", option, value, least, most, normal);
}

struct hl_text hl_words_bad_lease(uint32_t lease_ms, int least_ms, int most_ms, const char *whose)
{
    return say("bad lease_ms %u: must be %d..%d, or 0 for the %s", lease_ms, least_ms, most_ms, whose);
}

struct hl_text hl_words_lease_beyond_guard(uint32_t lease_ms, uint32_t guard_ms)
{
    return say("lease_ms %u is longer than restart_guard_ms %u: a restarted store could grant the lock to others too "
               "early; raise the guard or lower the lease", lease_ms, guard_ms);
}

struct hl_text hl_words_bad_guard(uint32_t guard_ms, int least_ms)
{
    return say("bad restart_guard_ms %u: must be at least the longest lease, so %d or more; 0 or HILOCK_GUARD_OFF for "
               "no guard", guard_ms, least_ms);
}

struct hl_text hl_words_bad_log_level(int level)
{
    return say("bad log_level %d: must be HILOCK_LOG_ERROR..HILOCK_LOG_DEBUG, or 0 for WARN", level);
}

struct hl_text hl_words_bad_label(const char *label, int most)
{
    return say("bad label \"%s\": must be 1..%d letters, digits or _.-+@/=, because it is part of the holder id", label,
               most);
}

struct hl_text hl_words_bad_prefix(const char *prefix)
{
    return say("bad name_prefix \"%s\": no name can begin with it, because \"hilock:\" and \"redisson_lock\" are "
               "reserved, and the first brace of a name must open a non-empty {...}; choose another one", prefix);
}

struct hl_text hl_words_hold_max_below_lease(uint32_t hold_max_ms, uint32_t lease_ms)
{
    return say("hold_max_ms %u is less than lease_ms %u: lower the lease or raise the limit", hold_max_ms, lease_ms);
}

struct hl_text hl_words_min_validity_beyond_lease(uint32_t min_validity_ms, uint32_t lease_ms)
{
    return say("min_validity_ms %u is more than a lease_ms of %u can give: no grant would ever be good enough; lower "
               "it or raise the lease", min_validity_ms, lease_ms);
}

struct hl_text hl_words_bad_holders_max(uint32_t holders_max, int most)
{
    return say("bad holders_max %u: must be 1..%d, 0 for a handle that holds alone, or HILOCK_ANY_NUMBER", holders_max,
               most);
}

struct hl_text hl_words_share_local_alone(uint32_t share_local_ms)
{
    return say("share_local_ms is %u, but holders_max is not HILOCK_ANY_NUMBER: only readers can count on one share; "
               "set holders_max to that, or leave share_local_ms 0", share_local_ms);
}

struct hl_text hl_words_share_local_beyond_lease(uint32_t share_local_ms, uint32_t lease_ms)
{
    return say("share_local_ms %u is more than a third of lease_ms %u: writers would wait for too long; lower it or "
               "raise the lease", share_local_ms, lease_ms);
}

struct hl_text hl_words_bad_replicas(uint32_t replicas, int most)
{
    return say("bad replicas %u: must be 1..%d, or 0 for no confirmation", replicas, most);
}

struct hl_text hl_words_replica_timeout_alone(uint32_t timeout_ms)
{
    return say("replica_timeout_ms is %u, but replicas is 0: no replica would be waited for; set replicas, or leave "
               "both 0", timeout_ms);
}

struct hl_text hl_words_replica_timeout_beyond_lease(uint32_t timeout_ms, uint32_t lease_ms)
{
    return say("replica_timeout_ms %u is longer than lease_ms %u: the grant would be over before it is confirmed; "
               "lower it or raise the lease", timeout_ms, lease_ms);
}

struct hl_text hl_words_bad_choices(int kind, int renew, int wake)
{
    return say("bad kind %d, renew %d or wake %d: use the names of the header", kind, renew, wake);
}

struct hl_text hl_words_bad_reentrant(int reentrant) { return say("bad reentrant %d: must be 0 or 1", reentrant); }

/* ---- refusals of a deployment ---- */

const char hl_words_url_and_quorum[] = "url and quorum_urls are both set: give one of them";

struct hl_text hl_words_bad_master(unsigned number)
{
    return say("quorum_urls: number %u is no redis://, rediss:// or unix:// url: each must be one independent master",
               number);
}

struct hl_text hl_words_master_twice(unsigned number, unsigned other)
{
    return say("quorum_urls: number %u and number %u are the same server: it would vote twice; give each server once",
               number, other);
}

struct hl_text hl_words_needed_without_quorum(unsigned needed)
{
    return say("quorum_needed %u without quorum_urls: give the masters, or leave it 0", needed);
}

struct hl_text hl_words_bad_master_count(unsigned count, int most)
{
    return say("bad quorum_urls: %s%u given, must be 2..%d and end with NULL; for one server use url",
               count > (unsigned)most ? "at least " : "", count, most);
}

struct hl_text hl_words_bad_needed(unsigned needed, unsigned count)
{
    return say("bad quorum_needed %u of %u masters: must be %u..%u, or 0 for the majority; with fewer, two clients "
               "could hold at the same time", needed, count, count / 2 + 1, count);
}

struct hl_text hl_words_login_without_sentinel(int is_password)
{
    return say("%s is set, but the url is not redis+sentinel: no server would get it; leave it NULL",
               is_password ? "sentinel_password" : "sentinel_username");
}

struct hl_text hl_words_tls_without_rediss(const char *option, int is_quorum)
{
    return say("%s is set, but %s: nothing would be encrypted; use a rediss url, or leave the option NULL", option,
               is_quorum ? "none of quorum_urls is rediss" : "the url is not rediss");
}

/* ---- refusals of a new handle ---- */

const char hl_words_no_lock_place[] = "ret_lock is NULL: pass the address of a hilock_lock pointer";
const char hl_words_no_names[] = "names is NULL: give 2..64 names and a NULL";
const char hl_words_no_name[] = "name is NULL: give the lock's name";
const char hl_words_no_memory_for_lock[] = "out of memory for a lock";
const char hl_words_fair_on_quorum[] =
    "FAIR is not supported with quorum_urls: independent masters share no queue; use MUTEX or SIMPLE";
const char hl_words_replicas_on_quorum[] =
    "replicas is not supported with quorum_urls: the masters vote instead of replicas; leave it 0";
const char hl_words_multi_on_quorum[] =
    "a multi is not supported with quorum_urls: each of its names would need votes of its own; use one name for all of "
    "them";
const char hl_words_fair_multi[] = "FAIR is not supported for a multi: use MUTEX or SIMPLE";
const char hl_words_share_on_quorum[] =
    "holders_max is not supported with quorum_urls: masters that vote alone cannot count the holders; leave it 0";
const char hl_words_share_multi[] = "holders_max is not supported for a multi: leave it 0";
const char hl_words_share_simple[] =
    "holders_max is not supported with SIMPLE: a string has one holder; use MUTEX or FAIR";
const char hl_words_reentrant_multi[] = "reentrant is not supported for a multi: leave reentrant 0";

struct hl_text hl_words_bad_name_length(size_t length, unsigned most)
{
    return say("bad name of %zu bytes: must be 1..%u with the prefix", length, most);
}

struct hl_text hl_words_reserved_name(const char *name)
{
    return say("bad name \"%s\": names that begin with \"hilock:\" or \"redisson_lock\" are reserved for keys beside "
               "other locks; begin it otherwise", name);
}

struct hl_text hl_words_bad_braces(const char *name)
{
    return say("bad name \"%s\": use no braces at all, or let the first '{' open a non-empty {...}; otherwise its keys "
               "fall into different hash slots", name);
}

struct hl_text hl_words_name_twice(const char *name, unsigned first, unsigned second)
{
    return say("bad names: \"%s\" is given twice, as number %u and number %u; give each name once", name, first,
               second);
}

struct hl_text hl_words_bad_name_count(unsigned count, int most)
{
    return say("bad names: %s%u given, must be 2..%d and end with NULL; for one name use hilock_lock_create",
               count > (unsigned)most ? "at least " : "", count, most);
}

struct hl_text hl_words_multi_name_length(size_t length)
{
    return say("bad name_length %zu: the names of a multi end with a zero byte, leave it 0", length);
}

/* ---- refusals of a call on a handle ---- */

const char hl_words_no_single_holder[] = "a multi has no single holder: make a handle for one of its names";
const char hl_words_no_validity_place[] = "ret_validity is NULL: pass the address of a hilock_validity pointer";
const char hl_words_bad_holder_empty[] =
    "bad holder of 0 bytes: pass the holder that hilock_peek reported, or NULL for any holder";

const char hl_words_no_on_holder[] = "on_holder is NULL: pass a function that is told each holder";
const char hl_words_cannot_list[] =
    "a handle of several names or of a quorum lists no holders: make a handle for one name at one deployment";
const char hl_words_cannot_share[] =
    "a handle of SIMPLE, of several names or of a quorum cannot share its name: use one name and MUTEX or FAIR";

struct hl_text hl_words_shares_already(const char *name)
{
    return say("handle of \"%s\" shares the name already: there is nothing to downgrade", name);
}

struct hl_text hl_words_downgrade_reentered(const char *name, uint32_t count)
{
    return say("handle of \"%s\" holds with a count of %u: release all but one before the downgrade", name, count);
}

struct hl_text hl_words_no_callback(const char *call) { return say("on_result is NULL: %s needs a callback", call); }

struct hl_text hl_words_no_memory_for(const char *call) { return say("out of memory for %s", call); }

struct hl_text hl_words_not_held(const char *name)
{
    return say("handle of \"%s\" does not hold the lock: never acquired, already released, or lost", name);
}

struct hl_text hl_words_not_waiting(const char *name)
{
    return say("handle of \"%s\" does not wait: there is nothing to cancel; hilock_lock_drop works in any state", name);
}

struct hl_text hl_words_in_use(const char *name, int is_waiting)
{
    return say("handle of \"%s\" already %s: make one handle per would-be holder, or set reentrant", name,
               is_waiting ? "waits" : "holds");
}

struct hl_text hl_words_reentry_while_waiting(const char *name)
{
    return say("handle of \"%s\" already waits: it can be entered again once it holds", name);
}

struct hl_text hl_words_too_many_entries(const char *name)
{
    return say("handle of \"%s\" was entered 4294967295 times: is a release missing?", name);
}

struct hl_text hl_words_too_many_waiters(unsigned waiting, unsigned of_them_undoing)
{
    return say("%u acquires already wait%s (waiters_max): shed load or raise it", waiting,
               of_them_undoing ? ", or have ended and are still to be released at the store" : "");
}

struct hl_text hl_words_too_many_waiters_of(const char *name, unsigned waiting)
{
    return say("%u acquires of \"%s\" already wait (name_waiters_max): shed load or raise it", waiting, name);
}

struct hl_text hl_words_long_holder(int most)
{
    return say("bad holder of more than %d bytes: pass the holder that hilock_peek reported, or NULL for any holder",
               most);
}

struct hl_text hl_words_holder_is_field(const char *holder)
{
    return say("bad holder \"%s\": every lock's hash has a field of that name, which is not a holder; pass the holder "
               "that hilock_peek reported", holder);
}

/* ---- lines of the log, and details of events ---- */

const char hl_words_lead_lost[] = "lost: ";
const char hl_words_lead_failover[] = "failover: ";
const char hl_words_lead_refused[] = "refused: ";
const char hl_words_many_refused[] = "calls were refused";
const char hl_words_many_releases_refused[] = "releases were refused, and are tried again";
const char hl_words_many_renewals_failed[] = "renewals failed";
const char hl_words_many_lost[] = "holds were lost";
const char hl_words_many_settled[] = "unanswered releases were settled";
const char hl_words_many_undone[] = "grants came too late and were given back";
const char hl_words_many_anomalies[] = "leases at the store were not what this client had set";

struct hl_text hl_words_connected(const char *node) { return say("%s: connected", node); }

struct hl_text hl_words_outage(const char *node, const char *why, uint32_t retry_ms, unsigned holds, uint32_t first_ms)
{
    struct hl_text text = say("%s: %s; next try in %u ms", node, why, retry_ms);
    if (holds)
        hl_text_add(&text, "; %u hold%s at risk, the first in %u.%u s", holds, holds > 1 ? "s" : "", first_ms / 1000,
                    first_ms % 1000 / 100);
    return text;
}

struct hl_text hl_words_of_node(const char *node, const char *what) { return say("%s: %s", node, what); }

struct hl_text hl_words_renewal_failed(const char *name, unsigned in_a_row, const char *why, uint32_t left_ms)
{
    return say("renewal of \"%s\" failed %u time%s in a row: %s; still valid for %u ms", name, in_a_row,
               in_a_row == 1 ? "" : "s", why, left_ms);
}

struct hl_text hl_words_renewed_again(const char *name, unsigned failures)
{
    return say("\"%s\" is renewed again after %u failures", name, failures);
}

struct hl_text hl_words_wait_begun(const char *name) { return say("\"%s\" is held by another: waiting", name); }

struct hl_text hl_words_inquiry(const char *call, const char *name, hilock_status status, const char *detail)
{
    return say("%s of \"%s\": %s: %s", call, name, hilock_status_name(status), detail);
}

struct hl_text hl_words_acquire_ended(const char *name, hilock_status status, uint32_t waited_ms, unsigned requests)
{
    return say("acquire of \"%s\": %s after %u ms and %u request%s", name, hilock_status_name(status), waited_ms,
               requests, requests == 1 ? "" : "s");
}

struct hl_text hl_words_released(const char *name, uint32_t held_ms)
{
    return say("released \"%s\" after %u ms", name, held_ms);
}

struct hl_text hl_words_turn_handed_on(const char *name, unsigned turn, uint32_t since_grant_ms)
{
    return say("\"%s\" is handed to the next handle (turn %u, %u ms after its grant)", name, turn, since_grant_ms);
}

struct hl_text hl_words_turn_passed_over(const char *name)
{
    return say("a waiter for \"%s\" lost its turn, because this loop stood still; it keeps its ticket", name);
}

struct hl_text hl_words_places_removed(const char *name, unsigned unheard, unsigned overdue, unsigned lapsed)
{
    return say("removed from the queue of \"%s\": %u waiters that nobody listens for, %u whose heartbeat is overdue, "
               "%u that let a grant lapse", name, unheard, overdue, lapsed);
}

struct hl_text hl_words_undone(const char *name)
{
    return say("a grant of \"%s\" came too late and is given back", name);
}

struct hl_text hl_words_left_out(unsigned more, const char *what)
{
    return say("%u more %s in the meantime; one line a second is written", more, what);
}
