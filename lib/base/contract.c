/* SPDX-License-Identifier: BSD-3-Clause */
/* contract - see contract.h. */
#include "base/contract.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void hl_contract_broken(const char *claim, const char *file, int line)
{
    fprintf(stderr, "hilock: %s:%d: broken invariant: %s\n", file, line, claim);
    abort();
}
