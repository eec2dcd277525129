/* SPDX-License-Identifier: BSD-3-Clause */
/* words - see words.h. */
#include "core/words.h"

#include "base/stranger.h"

enum { QUIET_US = 200000 };

/* ---- servers ---- */

/* Returns 1 if a request has been on the wire for so long that a healthy server would have answered. */
static int is_quiet(const struct hl_node *node)
{
    const struct hl_request *oldest = hl_node_oldest(node);
    uint64_t since_us = oldest && oldest->sent_us > node->active_at_us ? oldest->sent_us : node->active_at_us;
    return oldest && hl_now_us(node->host) - since_us > QUIET_US;
}

const char *hl_words_silence(const struct hl_node *node)
{
    if (node->is_up)
        return is_quiet(node) ? "it is silent" : "it has not answered yet";
    if (*hl_node_why(node))
        return hl_node_why(node);
    switch (node->session.state) {
    case SESSION_RESOLVING: return "its name is not resolved yet";
    case SESSION_CONNECTING: return "no connection was made yet";
    case SESSION_PAUSED:
    case SESSION_BROKEN: return "it is not connected";
    case SESSION_GREETING:
    case SESSION_OPEN: break;
    }
    return "it is silent";
}

struct hl_text hl_words_of_server(const struct hl_core *core, const char *quote, size_t length)
{
    struct hl_text right = hl_response_right(quote, length), words;
    const struct hl_stranger *stranger = hl_stranger_named(quote, length);
    if (stranger) {
        hl_text_set(&words, "%s", stranger->words);
        return words;
    }
    hl_text_set(&words, "%s%s%s", right.bytes, *right.bytes ? " is missing: " : "",
                hl_host_quote(&core->host, quote, length).bytes);
    return words;
}

void hl_words_refusal(const struct hilock_lock *lock, hilock_status status, const char *note, struct hl_text *text)
{
    const struct hl_node *node = hl_name_node(hl_lock_core(lock), lock->name);
    if (status == HILOCK_WRONG_KIND)
        hl_text_set(text, "\"%s\" %s", hl_name_quoted(lock->name).bytes, lock->terms->kind->wrong_kind);
    else if (status == HILOCK_UNWRITABLE && node->is_up && hl_node_guard_remaining_us(node))
        hl_node_guard_words(node, text);
    else if (hl_stranger_named(note, strlen(note)) && strstr(hl_node_why(node), note) > hl_node_why(node))
        hl_text_set(text, "%s", hl_node_why(node)); /* this sentence names the server */
    else if (hl_stranger_named(note, strlen(note)))
        hl_text_set(text, "%s: %s", hl_node_name(node), note);
    else
        hl_text_set(text, "%s: %s%s%s%s", hl_node_name(node), hilock_status_text(status), *note ? ": " : "", note,
                    status != HILOCK_DENIED ? ""
                    : "; the rights it needs: operate.md, \"Rights of the server's user\"");
}

/* ---- a grant that replicas must confirm ---- */

void hl_words_too_few_replicas(struct hl_text *text, long long confirmed, unsigned wanted, unsigned timeout_ms)
{
    hl_text_set(text, "%lld of %u replicas confirmed within %u ms", confirmed, wanted, timeout_ms);
}

void hl_words_wait_refused(struct hl_text *text, const char *server_words)
{
    hl_text_set(text, "WAIT: %s", server_words);
}

/* ---- renewals, extends, and the loss of a hold ---- */

const char hl_words_acquire_late[] = "the request reached the store too late, so the store did not run it";
const char hl_words_renewal_unanswered[] = "no answer";
const char hl_words_renewal_overdue[] = "no answer yet";
const char hl_words_renewal_unsent[] = "the store is unreachable";

static void lease_differs(struct hl_text *text, const char *name, uint32_t found_ms, const char *how)
{
    hl_text_set(text, "the lease of \"%s\" was %u ms at the store, %s: did the server's clock jump, or did another "
                "program change the lease?", name, found_ms, how);
}

void hl_words_lease_shorter(struct hl_text *text, const char *name, uint32_t found_ms)
{
    lease_differs(text, name, found_ms, "less than hilock counted on");
}

void hl_words_lease_longer(struct hl_text *text, const char *name, uint32_t found_ms)
{
    lease_differs(text, name, found_ms, "longer than hilock asked for");
}

void hl_words_extend_unknown(struct hl_text *text, const char *name, const char *node, uint32_t waited_ms)
{
    hl_text_set(text, "no answer from %s within %u ms: \"%s\" may or may not be extended; rely on what was left of it",
                node, waited_ms, name);
}

void hl_words_downgrade_unknown(struct hl_text *text, const char *name, const char *node, uint32_t waited_ms)
{
    hl_text_set(text, "no answer from %s within %u ms: others may share \"%s\" by now; the next renewal finds out",
                node, waited_ms, name);
}

void hl_words_extend_unreachable(struct hl_text *text, const char *name, const char *node, uint32_t waited_ms,
                                 const char *why)
{
    hl_text_set(text, "%s could not be asked within %u ms: %s; rely on what is left of \"%s\"", node, waited_ms,
                *why ? why : "it is silent", name);
}

void hl_words_taken(struct hl_text *text, const char *name)
{
    hl_text_set(text, "TAKEN: the store no longer has our hold of \"%s\"", name);
}

void hl_words_add_takeover(struct hl_text *text, const char *node, uint32_t before_ms, int is_spread)
{
    hl_text_add(text, "; %s took over %u ms before (a failover%s)", node, before_ms,
                is_spread ? ", or its slot moved" : "");
}

void hl_words_expired(struct hl_text *text, const char *name, uint32_t lease_ms, int is_renewed, const char *node,
                      int is_connected)
{
    hl_text_set(text, is_renewed ? "EXPIRED: no renewal of \"%s\" got through (lease %u ms); %s %s"
                : "EXPIRED: the lease of \"%s\" (%u ms) is over; %s %s", name, lease_ms, node,
                is_connected ? "can be reached now" : "cannot be reached");
}

void hl_words_suspended(struct hl_text *text, const char *name, uint32_t late_ms)
{
    hl_text_set(text, "SUSPENDED: this process did not run in time; it next ran %u ms after the deadline of \"%s\"",
                late_ms, name);
}

void hl_words_held_too_long(struct hl_text *text, const char *name, uint32_t hold_max_ms)
{
    hl_text_set(text, "HOLD_MAX: \"%s\" was held for %u ms; is a release missing?", name, hold_max_ms);
}

void hl_words_drained(struct hl_text *text, const char *name)
{
    hl_text_set(text, "CLOSING: the client's drain time ran out while \"%s\" was held", name);
}

/* ---- releases ---- */

const char hl_words_publish_refused[] =
    "released, but PUBLISH was refused, so waiters were not notified: allow the user &redisson_lock__channel:*";

void hl_words_release_refused(struct hl_text *text, const char *name, const char *server_words)
{
    hl_text_set(text, "the release of \"%s\" was refused; it is repeated until its lease has run out: %s", name,
                server_words);
}

void hl_words_release_repeated(struct hl_text *text, const char *name)
{
    hl_text_set(text, "the store had acknowledged a release of \"%s\" and lost it in the failover: it is repeated",
                name);
}

void hl_words_release_confirmed(struct hl_text *text, const char *name, uint32_t waited_ms)
{
    hl_text_set(text, "the release of \"%s\" is confirmed after %u ms", name, waited_ms);
}

void hl_words_release_lapsed(struct hl_text *text, const char *name)
{
    hl_text_set(text, "the release of \"%s\" got no answer, but the lease has run out by now", name);
}

/* ---- an acquire that ends without the lock ---- */

static const char *plural(unsigned count) { return count == 1 ? "" : "s"; }

void hl_words_reserved(struct hl_text *text, const char *name)
{
    hl_text_set(text, "\"%s\" is reserved for waiters that were queued earlier", name);
}

void hl_words_held_by_us_before(struct hl_text *text, const char *name)
{
    hl_text_set(text, "\"%s\" was held by another handle of this client until a moment ago", name);
}

void hl_words_held_by_us(struct hl_text *text, const char *name)
{
    hl_text_set(text, "\"%s\" is held by another handle of this client", name);
}

struct hl_text hl_words_holders(const char *holder, uint32_t holders)
{
    struct hl_text text;
    if (holders < 2)
        hl_text_set(&text, "%s", holder);
    else
        hl_text_set(&text, "%s and %u other%s that share it", holder, holders - 1, plural(holders - 1));
    return text;
}

void hl_words_held(struct hl_text *text, const char *name, const char *holder)
{
    hl_text_set(text, "\"%s\" is held by %s", name, holder);
}

void hl_words_held_on(struct hl_text *text, const char *name, const char *holder, uint32_t waited_ms,
                      unsigned attempts)
{
    hl_text_set(text, "\"%s\" was held by %s for the whole %u ms (%u attempt%s)", name, holder, waited_ms, attempts,
                plural(attempts));
}

void hl_words_add_lease_end(struct hl_text *text, uint32_t remaining_ms)
{
    if (remaining_ms == HILOCK_FOREVER)
        hl_text_add(text, "; its lease has no end");
    else
        hl_text_add(text, "; its lease ends in %u ms", remaining_ms);
}

void hl_words_add_position(struct hl_text *text, unsigned position, unsigned waiters)
{
    if (position)
        hl_text_add(text, "; place %u of %u in its queue", position, waiters);
    else if (waiters)
        hl_text_add(text, "; %u wait%s for it", waiters, waiters == 1 ? "s" : "");
}

void hl_words_no_answer(struct hl_text *text, const char *node, uint32_t waited_ms, const char *why, unsigned attempts)
{
    hl_text_set(text, "no answer from %s within %u ms: %s (%u attempt%s); a late grant will be undone", node, waited_ms,
                why, attempts, plural(attempts));
}

void hl_words_not_asked(struct hl_text *text, const char *node, uint32_t waited_ms, const char *why)
{
    hl_text_set(text, "%s could not be asked within %u ms: %s", node, waited_ms, why);
}

void hl_words_queue_full(struct hl_text *text, const char *name, unsigned waiters, unsigned queue_max)
{
    hl_text_set(text, "%u wait for \"%s\" at the store, and queue_max is %u: shed load, or raise queue_max", waiters,
                name, queue_max);
}

void hl_words_starved(struct hl_text *text, const char *name)
{
    hl_text_set(text, "no memory to ask for \"%s\", from its turn until the wait ended: shed load", name);
}

void hl_words_unconfirmed(struct hl_text *text, unsigned wanted, uint32_t waited_ms)
{
    hl_text_set(text, "fewer than %u replicas had confirmed when the wait of %u ms ended; the grant was undone", wanted,
                waited_ms);
}

void hl_words_not_replicated(struct hl_text *text, const char *why)
{
    hl_text_set(text, "%s; the grant was undone", why);
}

/* ---- events and answers of a handle ---- */

const char hl_words_granted[] = "granted";
const char hl_words_waiting[] = "found held by another; the acquire waits";
const char hl_words_passed_over[] =
    "this client did not take its turn in time, so the next waiter got the turn; this waiter keeps its ticket";
const char hl_words_reentry_lost[] = "the hold had ended before this re-entry was answered";

void hl_words_renewed(struct hl_text *text, const char *name)
{
    hl_text_set(text, "\"%s\" is renewed again", name);
}

void hl_words_renewals_failed(struct hl_text *text, const char *name, unsigned failures, uint32_t valid_ms,
                              uint32_t next_ms)
{
    hl_text_set(text, "%u renewals of \"%s\" in a row failed; still valid for %u ms, next try in %u ms", failures, name,
                valid_ms, next_ms);
}

void hl_words_handed_on(struct hl_text *text, const char *name)
{
    hl_text_set(text, "handed to the next handle of this client that waited for \"%s\", without a command", name);
}

void hl_words_share_left(struct hl_text *text, const char *name)
{
    hl_text_set(text, "other handles of this client still count on the share of \"%s\", which goes on", name);
}

void hl_words_release_lost(struct hl_text *text, const char *name)
{
    hl_text_set(text, "the store no longer had our hold of \"%s\" when the release arrived; work done under it may "
                "have overlapped", name);
}

void hl_words_release_unknown(struct hl_text *text, const char *name)
{
    hl_text_set(text, "the release of \"%s\" was not answered; it is repeated until its lease has run out", name);
}

/* ---- inquiries ---- */

void hl_words_inquiry_unanswered(struct hl_text *text, const char *node, uint32_t waited_ms, const char *why,
                                 int may_have_ended)
{
    hl_text_set(text, "no answer from %s within %u ms: %s%s", node, waited_ms, why,
                may_have_ended ? "; the hold may have been ended" : "");
}

void hl_words_holder_too_long(struct hl_text *text, const char *name, size_t length, unsigned most)
{
    hl_text_set(text, "the holder of \"%s\" has %zu bytes; hilock can name at most %u", name, length, most);
}

void hl_words_nobody_holds(struct hl_text *text, const char *name)
{
    hl_text_set(text, "nobody holds \"%s\"", name);
}

void hl_words_holder(struct hl_text *text, const char *name, const char *holder, enum hl_find found,
                     uint32_t remaining_ms)
{
    static const char *const as[] = {[HL_FIND_OURS] = "", [HL_FIND_SHARED] = "", [HL_FIND_RLOCK] = ", with an RLock",
                                     [HL_FIND_READ] = " and perhaps others, for reading (RReadWriteLock)",
                                     [HL_FIND_WRITE] = ", for writing (RReadWriteLock)", [HL_FIND_OTHER] = ""};
    hl_text_set(text, "\"%s\" is held by %s%s", name, holder, as[found]);
    hl_words_add_lease_end(text, remaining_ms);
}

void hl_words_forced(struct hl_text *text, const char *name, const char *holder)
{
    hl_text_set(text, "the hold of %s on \"%s\" is ended; that holder notices it at its next renewal", holder, name);
}

void hl_words_not_forced(struct hl_text *text, const char *name, const char *holder)
{
    hl_text_set(text, "\"%s\" is not held by \"%s\", so no hold was ended", name, holder);
}
