/* SPDX-License-Identifier: BSD-3-Clause */
/* rules - safety rules as plays of their own, so that the same play can be seen to fail: against the library it must hold, and against a
 * build with the very bug planted it must not (test_live_twins.c). Each runs its client in a child. plant names the bug; NULL: none, and
 * the only choice where the library has no plants. */
#ifndef LIVE_RULES_H
#define LIVE_RULES_H

struct fixture;

/* "": it held. Else what the child's failed check said; good until the next play. Any other end of the child fails the test. */
typedef const char *rule_play(struct fixture *fixture, const char *plant);

rule_play rule_unknown_grant_is_undone;  /* R3 */
rule_play rule_error_is_no_loss;         /* R5 */
rule_play rule_loss_is_told_first;       /* R6 */
rule_play rule_refused_login_is_the_end; /* R10 */
rule_play rule_password_is_told_nowhere;

#endif
