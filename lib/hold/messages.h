/* SPDX-License-Identifier: BSD-3-Clause */
/* messages - the sentences of results and events: what happened, to which name, and what comes next. Never a password,
 * never a whole holder id. */
#ifndef HL_HOLD_MESSAGES_H
#define HL_HOLD_MESSAGES_H

#include "base/text.h"
#include "hold/hold.h"

const char *hl_message_silence_of(const struct hl_node *node); /* why it does not answer */
/* A server's words about a fault, after the missing right, if they name it. */
struct hl_text hl_message_of_server(const struct hl_core *core, const char *quote, size_t length);
/* note: the server's words, quoted. */
void hl_message_of_refusal(struct hl_core *core, const struct hl_name *name, const struct hl_kind *kind,
                         hilock_status status, const char *note, struct hl_text *text);
void hl_message_of_loss(struct hl_core *core, const struct hl_hold *hold, struct hl_text *text);
void hl_message_of_settling(const struct hl_hold *hold, uint32_t waited_ms, struct hl_text *text); /* was UNKNOWN */

#endif
