/* SPDX-License-Identifier: BSD-3-Clause */
/* epochs - see epochs.h. "<id> <address> <flags> <master> <ping> <pong> <config-epoch> <link> <slot>...", a line for
 * each node. */
#include "node/epochs.h"

#include <string.h>

enum { FIELD_ID = 0, FIELD_FLAGS = 2, FIELD_EPOCH = 6 };

struct part { const char *bytes; size_t length; };

/* Returns what comes before the next of these bytes; *left begins after it. */
static struct part cut(struct part *left, char at)
{
    const char *end = memchr(left->bytes, at, left->length);
    struct part part = {left->bytes, end ? (size_t)(end - left->bytes) : left->length};
    size_t used = part.length + (end != NULL);
    left->bytes += used;
    left->length -= used;
    return part;
}

static int is_master(struct part flags)
{
    while (flags.length) {
        struct part flag = cut(&flags, ',');
        if (flag.length == 6 && memcmp(flag.bytes, "master", 6) == 0)
            return 1;
    }
    return 0;
}

static int read_line(struct part line, struct hl_dated *ret)
{
    struct part fields[FIELD_EPOCH + 1], epoch;
    for (int i = 0; i <= FIELD_EPOCH; i++)
        fields[i] = cut(&line, ' ');
    epoch = fields[FIELD_EPOCH];
    if (fields[FIELD_ID].length != HL_EPOCHS_ID || !is_master(fields[FIELD_FLAGS]) || !epoch.length ||
        hl_reply_decimal(epoch.bytes, epoch.length, &ret->epoch) != epoch.length)
        return 0;
    memcpy(ret->id, fields[FIELD_ID].bytes, HL_EPOCHS_ID);
    return 1;
}

void hl_epochs_read(struct hl_epochs *ret_epochs, const struct hl_reply *reply)
{
    struct part left = {reply->bytes, reply->type == HL_REPLY_STRING ? reply->length : 0};
    ret_epochs->count = 0;
    while (left.length && ret_epochs->count < HL_EPOCHS_MAX)
        if (read_line(cut(&left, '\n'), &ret_epochs->list[ret_epochs->count]))
            ret_epochs->count++;
}

uint64_t hl_epochs_of(const struct hl_epochs *epochs, const char *id, size_t length)
{
    for (unsigned i = 0; i < epochs->count && length == HL_EPOCHS_ID; i++)
        if (memcmp(epochs->list[i].id, id, HL_EPOCHS_ID) == 0)
            return epochs->list[i].epoch + 1;
    return 0;
}
