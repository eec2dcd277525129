/* SPDX-License-Identifier: BSD-3-Clause */
/* words - every text of this folder that a user reads: why a call was refused, the lines of the log, and the details of
 * a client's events. Each text says what happened, to what, and what to do.
 *
 * A function gets values and returns the finished text. Names and other text from outside arrive quoted. A text without
 * values is a constant. The help texts of the statistics for Prometheus stand with their table, in stats.c. */
#ifndef HL_CLIENT_WORDS_H
#define HL_CLIENT_WORDS_H

#include "base/text.h"

/* ---- refusals of a client ---- */

extern const char hl_words_no_client_place[], hl_words_bad_loop[], hl_words_no_memory_to_open[],
    hl_words_client_closed[], hl_words_wrong_thread[], hl_words_forked[], hl_words_turn_wrong_thread[],
    hl_words_turn_forked[];
struct hl_text hl_words_closing(const char *what);
struct hl_text hl_words_too_many_closers(unsigned most);

/* ---- refusals of options ---- */

extern const char hl_words_no_options[], hl_words_no_on_lost[], hl_words_bad_allocator[], hl_words_long_prefix[],
    hl_words_key_without_certificate[], hl_words_bad_tls_name[];
struct hl_text hl_words_bad_size(size_t size, const char *macro);
struct hl_text hl_words_unknown_members(size_t known, const char *version);
/* also: a constant that the option accepts beyond its range; NULL: there is none */
struct hl_text hl_words_bad_span(const char *option, uint32_t value, int most, const char *also);
struct hl_text hl_words_bad_value(const char *option, uint32_t value, uint32_t least, uint32_t most, uint32_t normal);
/* whose: whose lease a 0 stands for, "client's" or another */
struct hl_text hl_words_bad_lease(uint32_t lease_ms, int least_ms, int most_ms, const char *whose);
struct hl_text hl_words_lease_beyond_guard(uint32_t lease_ms, uint32_t guard_ms);
struct hl_text hl_words_bad_guard(uint32_t guard_ms, int least_ms);
struct hl_text hl_words_bad_log_level(int level);
struct hl_text hl_words_bad_label(const char *label, int most);
struct hl_text hl_words_bad_prefix(const char *prefix);
struct hl_text hl_words_hold_max_below_lease(uint32_t hold_max_ms, uint32_t lease_ms);
struct hl_text hl_words_min_validity_beyond_lease(uint32_t min_validity_ms, uint32_t lease_ms);
struct hl_text hl_words_bad_holders_max(uint32_t holders_max, int most);
struct hl_text hl_words_share_local_alone(uint32_t share_local_ms);
struct hl_text hl_words_share_local_beyond_lease(uint32_t share_local_ms, uint32_t lease_ms);
struct hl_text hl_words_bad_replicas(uint32_t replicas, int most);
struct hl_text hl_words_replica_timeout_alone(uint32_t timeout_ms);
struct hl_text hl_words_replica_timeout_beyond_lease(uint32_t timeout_ms, uint32_t lease_ms);
struct hl_text hl_words_bad_choices(int kind, int renew, int wake);
struct hl_text hl_words_bad_reentrant(int reentrant);

/* ---- refusals of a deployment; number: the place in quorum_urls, from 1 ---- */

extern const char hl_words_url_and_quorum[];
struct hl_text hl_words_bad_master(unsigned number);
struct hl_text hl_words_master_twice(unsigned number, unsigned other);
struct hl_text hl_words_needed_without_quorum(unsigned needed);
struct hl_text hl_words_bad_master_count(unsigned count, int most);
struct hl_text hl_words_bad_needed(unsigned needed, unsigned count);
struct hl_text hl_words_login_without_sentinel(int is_password);
struct hl_text hl_words_tls_without_rediss(const char *option, int is_quorum);

/* ---- refusals of a new handle ---- */

extern const char hl_words_no_lock_place[], hl_words_no_names[], hl_words_no_name[], hl_words_no_memory_for_lock[],
    hl_words_fair_on_quorum[], hl_words_replicas_on_quorum[], hl_words_multi_on_quorum[], hl_words_fair_multi[],
    hl_words_reentrant_multi[], hl_words_share_on_quorum[], hl_words_share_multi[], hl_words_share_simple[];
struct hl_text hl_words_bad_name_length(size_t length, unsigned most);
struct hl_text hl_words_reserved_name(const char *name);
struct hl_text hl_words_bad_braces(const char *name);
struct hl_text hl_words_name_twice(const char *name, unsigned first, unsigned second);
struct hl_text hl_words_bad_name_count(unsigned count, int most);
struct hl_text hl_words_multi_name_length(size_t length);

/* ---- refusals of a call on a handle ---- */

extern const char hl_words_no_single_holder[], hl_words_no_validity_place[], hl_words_bad_holder_empty[],
    hl_words_cannot_share[], hl_words_cannot_list[], hl_words_no_on_holder[];
struct hl_text hl_words_shares_already(const char *name);
struct hl_text hl_words_downgrade_reentered(const char *name, uint32_t count);
struct hl_text hl_words_no_callback(const char *call);
struct hl_text hl_words_no_memory_for(const char *call);
struct hl_text hl_words_not_held(const char *name);
struct hl_text hl_words_not_waiting(const char *name);
struct hl_text hl_words_in_use(const char *name, int is_waiting);
struct hl_text hl_words_reentry_while_waiting(const char *name);
struct hl_text hl_words_too_many_entries(const char *name);
/* waiting: how many count against the limit; of_them_undoing: those whose wait has ended, but not yet at the store */
struct hl_text hl_words_too_many_waiters(unsigned waiting, unsigned of_them_undoing);
struct hl_text hl_words_too_many_waiters_of(const char *name, unsigned waiting);
struct hl_text hl_words_long_holder(int most);
struct hl_text hl_words_holder_is_field(const char *holder);

/* ---- lines of the log, and details of events ---- */

/* what such a line begins with */
extern const char hl_words_lead_lost[], hl_words_lead_failover[], hl_words_lead_refused[];
/* what many lines of one kind are called in the line that counts those left out (hl_words_left_out) */
extern const char hl_words_many_refused[], hl_words_many_releases_refused[], hl_words_many_renewals_failed[],
    hl_words_many_lost[], hl_words_many_settled[], hl_words_many_undone[], hl_words_many_anomalies[];
struct hl_text hl_words_connected(const char *node);
/* holds: how many are still valid; the first of them ends in first_ms */
struct hl_text hl_words_outage(const char *node, const char *why, uint32_t retry_ms, unsigned holds, uint32_t first_ms);
struct hl_text hl_words_of_node(const char *node, const char *what);
struct hl_text hl_words_renewal_failed(const char *name, unsigned in_a_row, const char *why, uint32_t left_ms);
struct hl_text hl_words_renewed_again(const char *name, unsigned failures);
struct hl_text hl_words_wait_begun(const char *name);
struct hl_text hl_words_inquiry(const char *call, const char *name, hilock_status status, const char *detail);
struct hl_text hl_words_acquire_ended(const char *name, hilock_status status, uint32_t waited_ms, unsigned requests);
struct hl_text hl_words_released(const char *name, uint32_t held_ms);
struct hl_text hl_words_turn_handed_on(const char *name, unsigned turn, uint32_t since_grant_ms);
struct hl_text hl_words_turn_passed_over(const char *name);
struct hl_text hl_words_places_removed(const char *name, unsigned unheard, unsigned overdue, unsigned lapsed);
struct hl_text hl_words_undone(const char *name);
struct hl_text hl_words_left_out(unsigned more, const char *what);

#endif
