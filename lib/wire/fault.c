/* SPDX-License-Identifier: BSD-3-Clause */
/* fault - see fault.h. */
#include "wire/fault.h"

#include <string.h>

static int contains(const struct hl_reply *error, const char *text)
{
    return memmem(error->bytes, error->length, text, strlen(text)) != NULL;
}

static int has_one_of(const struct hl_reply *error, const char *const *codes)
{
    while (*codes && !hl_reply_has_code(error, *codes))
        codes++;
    return *codes != NULL;
}

/* Inside a script a missing right has the code ERR; the texts are that of Redis 7.0 and the later one. */
static int is_denied(const struct hl_reply *error)
{
    static const char *const codes[] = {"NOAUTH", "WRONGPASS", "NOPERM", NULL};
    return has_one_of(error, codes) || contains(error, "without any password configured") ||
           contains(error, "ACL failure in script") || contains(error, "The user executing the script can't");
}

/* Refused as a whole command, or by a script's reads, which come before its writes. A script may meet a missing right
 * halfway. */
static int has_left_nothing(const struct hl_reply *error)
{
    int is_refused_whole = hl_reply_starts(error, "NOAUTH ") || hl_reply_starts(error, "WRONGPASS ") ||
                           hl_reply_starts(error, "NOPERM ");
    return (is_refused_whole && !contains(error, "user_script")) || hl_reply_has_code(error, "WRONGTYPE");
}

struct hl_fault hl_fault_of(const struct hl_reply *error)
{
    static const char *const passing[] = {"READONLY", "LOADING",     "MASTERDOWN", "BUSY",      "OOM",   "NOREPLICAS",
                                          "MISCONF",  "CLUSTERDOWN", "TRYAGAIN",   "UNBLOCKED", "GUARD", NULL};
    if (hl_reply_has_code(error, "NOSCRIPT"))
        return (struct hl_fault){HL_FAULT_NOSCRIPT, HILOCK_SERVER, 0};
    if (has_one_of(error, passing) || contains(error, "WAIT cannot be used with replica") ||
        contains(error, "Script killed by user") || contains(error, "max number of clients"))
        return (struct hl_fault){HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0};
    if (is_denied(error))
        return (struct hl_fault){HL_FAULT_LASTING, HILOCK_DENIED, has_left_nothing(error)};
    return (struct hl_fault){HL_FAULT_LASTING,
                             hl_reply_has_code(error, "WRONGTYPE") ? HILOCK_WRONG_KIND : HILOCK_SERVER,
                             has_left_nothing(error)};
}
