/* SPDX-License-Identifier: BSD-3-Clause */
/* validity - the public calls on a hold as other threads see it. All but the first may be called on any thread, and
 * touch no client and no lock. */
#include "client/client.h"
#include "base/quote.h"
#include "lock/lease.h"
#include "lock/lock.h"
#include "lock/validity.h"

hilock_status hilock_lock_validity(hilock_lock *lock, hilock_validity **ret_validity)
{
    hilock_status status = lock ? hl_cell_admit(lock->terms->cell) : HILOCK_INVALID;
    struct hl_core *core = status == HILOCK_OK ? lock->terms->cell->core : NULL;
    struct hilock_client *client = (struct hilock_client *)(void *)core;
    if (status != HILOCK_OK)
        return status;
    if (!core)
        return HILOCK_CLOSED;
    if (!ret_validity)
        return hl_client_refuse(client, HILOCK_INVALID, "ret_validity is NULL: give a place for the validity");
    status = lock->ops->validity(core, lock, ret_validity);
    if (status == HILOCK_NOT_HELD)
        return hl_client_refuse(client, status,
                                "handle of \"%s\" does not hold: never acquired, released before, or lost",
                                hl_quote(lock->name->bytes, lock->name->length).bytes);
    return status == HILOCK_OK ? status : hl_client_refuse(client, status, "out of memory for a validity");
}

uint32_t hilock_validity_remaining_ms(const hilock_validity *validity)
{
    return validity ? hl_lease_span_ms(hl_validity_left_us(validity)) : 0;
}

hilock_validity *hilock_validity_ref(hilock_validity *validity)
{
    if (validity)
        hl_validity_ref(validity);
    return validity;
}

void hilock_validity_unref(hilock_validity *validity)
{
    if (validity)
        hl_validity_unref(validity);
}
