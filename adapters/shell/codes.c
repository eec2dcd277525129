/* SPDX-License-Identifier: BSD-3-Clause */
/* codes - see codes.h. A status that only a newer library has becomes EX_SOFTWARE. */
#include "codes.h"

int code_of(hilock_status status)
{
    static const struct { hilock_status status; int code; } codes[] = {
        {HILOCK_OK, EX_OK},
        {HILOCK_TIMED_OUT, CODE_NOT_HAD},
        {HILOCK_INVALID, EX_USAGE},
        {HILOCK_BAD_NAME, EX_USAGE},
        {HILOCK_WRONG_KIND, EX_DATAERR},
        {HILOCK_LOST, EX_DATAERR},
        {HILOCK_UNREACHABLE, EX_UNAVAILABLE},
        {HILOCK_UNWRITABLE, EX_UNAVAILABLE},
        {HILOCK_NOT_REPLICATED, EX_UNAVAILABLE},
        {HILOCK_QUEUE_FULL, EX_UNAVAILABLE},
        {HILOCK_UNKNOWN, EX_UNAVAILABLE},
        {HILOCK_NO_MEMORY, EX_OSERR},
        {HILOCK_SERVER, EX_PROTOCOL},
        {HILOCK_PROTOCOL, EX_PROTOCOL},
        {HILOCK_DENIED, EX_NOPERM},
        {HILOCK_UNSUPPORTED, EX_CONFIG},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            return codes[i].code;
    return EX_SOFTWARE;
}

const char *advice_of(hilock_status status)
{
    if (status == HILOCK_DENIED)
        return "are user and password right? hilock doctor names the rights that are missing";
    if (status == HILOCK_UNREACHABLE)
        return "is it the right URL, and does the server run? hilock doctor looks closer";
    return NULL;
}
