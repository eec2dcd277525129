/* SPDX-License-Identifier: BSD-3-Clause */
/* slots - see slots.h. */
#include "node/slots.h"

#include <string.h>

#include "base/platform.h"

/* Reads {host or nil, port, id, ..}. */
static int read_server(const struct hl_reply *server, struct hl_slots_master *ret)
{
    const struct hl_reply *host = hl_reply_item(server, 0, HL_REPLY_STRING),
                          *port = hl_reply_item(server, 1, HL_REPLY_INTEGER);
    const struct hl_reply *id = hl_reply_item(server, 2, HL_REPLY_STRING);
    if (!port || (!host && !hl_reply_item(server, 0, HL_REPLY_NIL)))
        return 0;
    ret->id = id ? id->bytes : "";
    ret->id_length = id ? id->length : 0;
    return hl_address_read(&ret->address, host ? host->bytes : "", host ? host->length : 0, (uint64_t)port->integer);
}

/* Each range in the reply is {from, to, {master}, {replica}, ..}. */
unsigned hl_slots_read(const struct hl_reply *reply, hl_slots_fn *tell, void *arg)
{
    unsigned slots = 0;
    for (size_t i = 0; reply->type == HL_REPLY_ARRAY && i < reply->count && i < HL_SLOTS; i++) {
        const struct hl_reply *from = hl_reply_item(&reply->items[i], 0, HL_REPLY_INTEGER),
                              *to = hl_reply_item(&reply->items[i], 1, HL_REPLY_INTEGER);
        const struct hl_reply *server = hl_reply_item(&reply->items[i], 2, HL_REPLY_ARRAY);
        struct hl_slots_master master;
        if (!from || !to || !server || from->integer < 0 || to->integer < from->integer || to->integer >= HL_SLOTS ||
            to->integer - from->integer >= HL_SLOTS_ANSWERED_MAX - slots || !read_server(server, &master))
            continue;
        tell(arg, (unsigned)from->integer, (unsigned)to->integer, &master);
        slots += (unsigned)(to->integer - from->integer) + 1;
    }
    return slots;
}

struct part { const char *bytes; size_t length; };

/* Returns the part of *left before the next byte `at`, and makes *left begin after that byte. */
static struct part cut(struct part *left, char at)
{
    const char *end = memchr(left->bytes, at, left->length);
    struct part part = {left->bytes, end ? (size_t)(end - left->bytes) : left->length};
    size_t used = part.length + (end != NULL);
    left->bytes += used;
    left->length -= used;
    return part;
}

/* A line is "<id> <address> <flags> <master> <ping> <pong> <config-epoch> <link> <slot>...". */
enum { ID = 0, FLAGS = 2, EPOCH = 6 };

static int has_flag(struct part flags, const char *word)
{
    while (flags.length) {
        struct part flag = cut(&flags, ',');
        if (flag.length == strlen(word) && memcmp(flag.bytes, word, flag.length) == 0)
            return 1;
    }
    return 0;
}

void hl_slots_read_myself(char ret_id[HL_EPOCHS_ID + 1], const struct hl_reply *reply)
{
    struct part left = {reply->bytes, reply->type == HL_REPLY_STRING ? reply->length : 0};
    *ret_id = '\0';
    while (left.length) {
        struct part line = cut(&left, '\n'), id = cut(&line, ' ');
        (void)cut(&line, ' ');
        if (id.length != HL_EPOCHS_ID || !has_flag(cut(&line, ' '), "myself"))
            continue;
        memcpy(ret_id, id.bytes, HL_EPOCHS_ID);
        ret_id[HL_EPOCHS_ID] = '\0';
        return;
    }
}

static int read_line(struct part line, struct hl_dated *ret)
{
    struct part fields[EPOCH + 1];
    for (int i = 0; i <= EPOCH; i++)
        fields[i] = cut(&line, ' ');
    if (fields[ID].length != HL_EPOCHS_ID || !has_flag(fields[FLAGS], "master") || !fields[EPOCH].length ||
        hl_reply_decimal(fields[EPOCH].bytes, fields[EPOCH].length, &ret->epoch) != fields[EPOCH].length)
        return 0;
    memcpy(ret->id, fields[ID].bytes, HL_EPOCHS_ID);
    return 1;
}

unsigned hl_slots_read_epochs(struct hl_epochs *ret_epochs, const struct hl_reply *reply)
{
    struct part left = {reply->bytes, reply->type == HL_REPLY_STRING ? reply->length : 0};
    ret_epochs->count = 0;
    while (left.length && ret_epochs->count < HL_EPOCHS_MAX)
        if (read_line(cut(&left, '\n'), &ret_epochs->list[ret_epochs->count]))
            ret_epochs->count++;
    return ret_epochs->count;
}

uint64_t hl_slots_epoch_of(const struct hl_epochs *epochs, const char *id, size_t length)
{
    for (unsigned i = 0; i < epochs->count && length == HL_EPOCHS_ID; i++)
        if (memcmp(epochs->list[i].id, id, HL_EPOCHS_ID) == 0)
            return epochs->list[i].epoch + 1;
    return 0;
}

int hl_slots_redirect(const struct hl_reply *error, const char *code, unsigned *ret_slot, struct hl_address *ret)
{
    struct part left = {error->bytes, error->length}, host, port;
    struct part word = cut(&left, ' '), slot = cut(&left, ' ');
    const char *colon = memrchr(left.bytes, ':', left.length);
    uint64_t number;
    if (!hl_reply_starts(error, code) || word.length != strlen(code) || !slot.length ||
        hl_reply_decimal(slot.bytes, slot.length, &number) != slot.length || number >= HL_SLOTS || !colon)
        return 0;
    *ret_slot = (unsigned)number;
    host = (struct part){left.bytes, (size_t)(colon - left.bytes)};
    port = (struct part){colon + 1, left.length - host.length - 1};
    if (host.length >= 2 && *host.bytes == '[' && colon[-1] == ']')
        host = (struct part){host.bytes + 1, host.length - 2};
    return hl_reply_decimal(port.bytes, port.length, &number) == port.length &&
           hl_address_read(ret, host.bytes, host.length, number);
}
