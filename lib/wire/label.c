/* SPDX-License-Identifier: BSD-3-Clause */
/* label - see label.h. */
#include "wire/label.h"

#include <string.h>

/* No space, because spaces separate the words of a waiter at the store, and no colon, because colons separate the parts
 * of a holder. */
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+@/=,";

int hl_label_is_good(const char *label)
{
    size_t length = strspn(label, letters);
    return label[length] == '\0' && length > 0 && length <= HL_LABEL_MAX;
}

void hl_label_mend(char *label)
{
    for (; *label; label++)
        if (!strchr(letters, *label))
            *label = '-';
}
