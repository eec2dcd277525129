/* SPDX-License-Identifier: BSD-3-Clause */
/* downgrade - see downgrade.h. */
#include "hold/downgrade.h"

/* Returns one reference to a copy of these terms that shares the name with any number; NULL without memory. */
static struct hl_terms *sharing_copy(const struct hl_terms *terms)
{
    struct hl_terms *copy = hl_memory_new(&terms->cell->memory, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *terms;
    copy->refs = 1;
    hl_cell_ref(copy->cell);
    copy->kind = terms->kind->sharing;
    copy->holders_max = HL_HOLDERS_ANY;
    return copy;
}

/* Gives the hold other terms, and takes over the caller's reference to them. */
static void use_terms(struct hl_hold *hold, struct hl_terms *terms)
{
    hl_terms_unref(hold->terms);
    hold->terms = terms;
}

void hl_downgrade_revert(struct hl_hold *hold)
{
    struct hl_terms *terms = hl_hold_handle(hold)->terms; /* it has its name alone, so it has one handle */
    terms->refs++;
    use_terms(hold, terms);
    hold->downgrade = DOWNGRADE_NONE;
}

int hl_downgrade_accept(struct hl_hold *hold)
{
    struct hl_terms *terms = sharing_copy(hold->terms);
    if (!terms)
        return -1;
    use_terms(hold, terms);
    hold->downgrade = DOWNGRADE_ASKED;
    return 0;
}

enum hl_form hl_downgrade_encode(const struct hl_hold *hold, struct hl_command *command,
                                 const struct hl_target *target)
{
    struct hl_core *core = hl_hold_core(hold);
    struct hl_node *node = hold->request.node;
    return hold->terms->kind->downgrade(command, target,
                                        &(struct hl_downgrade_params){
                                            .is_sharded = hl_node_parent(node)->subscriptions.is_sharded,
                                            .token_ttl_ms = core->limits.token_ttl_ms,
                                            .own = hl_hold_own_listeners(core, hold->name, node),
                                            .lease_ms = hold->asked_ms, .token = hold->token});
}

/* From its first write on, the script makes no call that a server may refuse for one of these reasons. */
static int had_no_effect(hilock_status status) { return status == HILOCK_UNWRITABLE || status == HILOCK_DENIED; }

void hl_downgrade_on_answer(struct hl_hold *hold, const struct hl_response *said)
{
    if (hold->form != HL_FORM_DOWNGRADE)
        return;
    if (said->result == HL_YES)
        hold->downgrade = DOWNGRADE_DONE;
    else if (said->result == HL_FAULT && had_no_effect(said->fault.status) && hold->downgrade == DOWNGRADE_ASKED)
        hl_downgrade_revert(hold);
}

void hl_downgrade_on_silence(struct hl_hold *hold)
{
    if (hold->form == HL_FORM_DOWNGRADE && hold->downgrade == DOWNGRADE_ASKED)
        hold->downgrade = DOWNGRADE_UNANSWERED;
}

hilock_status hl_downgrade_on_refusal(struct hl_hold *hold, unsigned attempts, hilock_status status)
{
    if (!hl_downgrade_is_due(hold))
        return status;
    if (attempts)
        return HILOCK_UNKNOWN;
    hl_downgrade_revert(hold);
    return status;
}
