/* SPDX-License-Identifier: BSD-3-Clause */
/* words - the texts of this folder that users read, all in one place. Each says what happened, to what, and what to do.
 * They get values, never the structs of other files. `quote` is text from a server, quoted already. Log lines have the
 * name of the node in front, so most texts do not repeat it. */
#ifndef HL_NODE_WORDS_H
#define HL_NODE_WORDS_H

#include <stdint.h>

#include "base/text.h"

/* ---- why a link was given up (node.c, session.c, subscriptions.c) ---- */

extern const char hl_words_timed_out[], hl_words_subscription_timed_out[], hl_words_connect_memory[],
    hl_words_resolve_memory[], hl_words_command_memory[], hl_words_no_address[];

void hl_words_unresolved(struct hl_text *to, const char *host, const char *reason);
void hl_words_no_connection(struct hl_text *to, int is_tls, unsigned timeout_ms);
void hl_words_login_refused(struct hl_text *to, int is_auth, const char *quote);

/* ---- a node ---- */

extern const char hl_words_rests[];
/* A node answers requests with these texts as if a server had sent them as errors. wire/ reads the first word of
 * each. */
extern const char hl_words_no_confirm_link[], hl_words_guarded[];

void hl_words_guard(struct hl_text *to, const char *node, unsigned up_s, unsigned left_s);
void hl_words_restarted(struct hl_text *to, const char *node, unsigned ago_s);
void hl_words_server_changed(struct hl_text *to, const char *node);
void hl_words_eviction(struct hl_text *to, const char *policy);
void hl_words_subscriptions_lost(struct hl_text *to, const char *why, int was_open);

/* ---- a right is missing (handshake.c): the command that was refused, and what is lost without it ---- */

extern const char hl_words_without_role[], hl_words_without_sharded[], hl_words_without_counts[],
    hl_words_without_time[], hl_words_without_name[], hl_words_without_info[], hl_words_without_info_guarded[],
    hl_words_no_uptime[];

void hl_words_refused(struct hl_text *to, const char *command, const char *quote, const char *loss);
void hl_words_no_place(struct hl_text *to, const char *quote);

/* ---- the wrong server (wrong_server.c, cluster.c) ---- */

extern const char hl_words_read_only[], hl_words_replica[], hl_words_unready[], hl_words_moved_to_itself[];

void hl_words_no_master(struct hl_text *to, const char *role); /* role NULL: the reply to ROLE has none */
void hl_words_links_apart(struct hl_text *to, const char *link);

/* ---- several servers (cluster.c, sentinel.c, masters.c) ---- */

extern const char hl_words_slots_lost[], hl_words_slots_moved[], hl_words_another_server[];

void hl_words_no_slot_table(struct hl_text *to, const char *node, const char *quote); /* quote NULL: no error */
void hl_words_unserved(struct hl_text *to, const char *node, unsigned slots, unsigned first);
void hl_words_redirections(struct hl_text *to, unsigned count, const char *quote); /* an error reply, read by wire */
void hl_words_took_over(struct hl_text *to, const char *server, const char *from);
void hl_words_master_before(struct hl_text *to, const char *from);
void hl_words_no_answer_of(struct hl_text *to, const char *node, const char *what, const char *master);
void hl_words_same_server(struct hl_text *to, const char *other);

#endif
