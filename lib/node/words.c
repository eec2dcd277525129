/* SPDX-License-Identifier: BSD-3-Clause */
/* words - see words.h. */
#include "node/words.h"

/* ---- why a link was given up ---- */

const char hl_words_timed_out[] = "a command timed out";
const char hl_words_subscription_timed_out[] = "a subscription timed out";
const char hl_words_connect_memory[] = "out of memory while connecting";
const char hl_words_resolve_memory[] = "out of memory while resolving";
const char hl_words_command_memory[] = "out of memory for a command";
const char hl_words_no_address[] = "it has no address";

void hl_words_unresolved(struct hl_text *to, const char *host, const char *reason)
{
    hl_text_set(to, "cannot resolve %s: %s", host, reason);
}

void hl_words_no_connection(struct hl_text *to, int is_tls, unsigned timeout_ms)
{
    hl_text_set(to, "no %s within %u ms", is_tls ? "TLS connection" : "connection", timeout_ms);
}

void hl_words_login_refused(struct hl_text *to, int is_auth, const char *quote)
{
    hl_text_set(to, "%s refused: %s", is_auth ? "AUTH" : "login", quote);
}

/* ---- a node ---- */

const char hl_words_rests[] = "its links are closed, because nothing needs them now";
const char hl_words_no_confirm_link[] = "OOM this client has no memory for the link over which replicas confirm";
const char hl_words_guarded[] = "GUARD the store is under its restart guard";

void hl_words_guard(struct hl_text *to, const char *node, unsigned up_s, unsigned left_s)
{
    hl_text_set(to, "%s started %u s ago: it grants nothing for another %u s (restart_guard_ms)", node, up_s, left_s);
}

void hl_words_restarted(struct hl_text *to, const char *node, unsigned ago_s)
{
    hl_text_set(to, "%s restarted %u s ago or less: locks that it did not keep are free there", node, ago_s);
}

void hl_words_server_changed(struct hl_text *to, const char *node)
{
    hl_text_set(to, "%s now leads to another server: holds are verified there", node);
}

void hl_words_eviction(struct hl_text *to, const char *policy)
{
    hl_text_set(to, "maxmemory-policy is %s: the store may evict locks; set noeviction", policy);
}

void hl_words_subscriptions_lost(struct hl_text *to, const char *why, int was_open)
{
    hl_text_set(to, "subscriptions: %s%s", why,
                was_open ? "; if commands flow: is client-output-buffer-limit pubsub too small?" : "");
}

/* ---- a right is missing ---- */

const char hl_words_without_role[] = ": a master that was replaced is noticed only when it refuses a write";
const char hl_words_without_sharded[] = ": messages go over plain channels, which Redisson does not hear";
const char hl_words_without_counts[] =
    "PUBSUB NUMSUB refused: a waiter that was killed counts as one that stands still";
const char hl_words_without_time[] = ": requests carry no time after which they must not run";
const char hl_words_without_name[] = ": CLIENT LIST does not show whose connections these are";
const char hl_words_without_info[] = ": restarts, evictions and a name that leads elsewhere may go unnoticed";
const char hl_words_without_info_guarded[] =
    ": restarts, evictions and a name that leads elsewhere may go unnoticed, and restart_guard_ms counts from each "
    "connection";
const char hl_words_no_uptime[] = "no uptime_in_seconds in it";

void hl_words_refused(struct hl_text *to, const char *command, const char *quote, const char *loss)
{
    hl_text_set(to, "%s refused: %s%s", command, quote, loss);
}

void hl_words_no_place(struct hl_text *to, const char *quote)
{
    hl_text_set(to, "the wait queue is refused: %s: so MUTEX handles poll; give the user the rights in operate.md",
                quote);
}

/* ---- the wrong server ---- */

const char hl_words_read_only[] = "it is read-only: not a master any more";
const char hl_words_replica[] = "not a master: its role is slave";
const char hl_words_unready[] =
    "it has answered LOADING or MASTERDOWN for seconds: its name may lead to another server by now";
const char hl_words_moved_to_itself[] = "it sends requests to its own address: another server is there now";

void hl_words_no_master(struct hl_text *to, const char *role)
{
    hl_text_set(to, "not a master: %s%s", role ? "its role is " : "ROLE gave no role", role ? role : "");
}

void hl_words_links_apart(struct hl_text *to, const char *link)
{
    hl_text_set(to, "its link for %s leads to another server than its latest link", link);
}

/* ---- several servers ---- */

const char hl_words_slots_lost[] = "another server has its slots now";
const char hl_words_slots_moved[] = "a server has lost all of its slots to others, or has them back";
const char hl_words_another_server[] = "another server";

void hl_words_no_slot_table(struct hl_text *to, const char *node, const char *quote)
{
    hl_text_set(to, "%s returned no slot table: %s", node, quote ? quote : "is cluster mode enabled?");
}

void hl_words_unserved(struct hl_text *to, const char *node, unsigned slots, unsigned first)
{
    hl_text_set(to, "%s names no server for %u hash slots, the first is %u: locks there have to wait", node, slots,
                first);
}

void hl_words_redirections(struct hl_text *to, unsigned count, const char *quote)
{
    hl_text_set(to, "ELSEWHERE %u redirections, the last: %s", count, quote);
}

void hl_words_took_over(struct hl_text *to, const char *server, const char *from)
{
    hl_text_set(to, "%s took over from %.120s", server, from);
}

void hl_words_master_before(struct hl_text *to, const char *from)
{
    hl_text_set(to, "%.120s was the master before", from);
}

void hl_words_no_answer_of(struct hl_text *to, const char *node, const char *what, const char *master)
{
    hl_text_set(to, "%s returned no %s for %s", node, what, master);
}

void hl_words_same_server(struct hl_text *to, const char *other)
{
    hl_text_set(to, "is the same server as %s: both votes would be lost together; give independent servers", other);
}
