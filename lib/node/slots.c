/* SPDX-License-Identifier: BSD-3-Clause */
/* slots - see slots.h. */
#include "node/slots.h"

#include <stdio.h>
#include <string.h>

/* {host or nil, port, id, ..} */
static int read_server(const struct hl_reply *server, struct hl_slots_master *ret)
{
    const struct hl_reply *host = hl_reply_item(server, 0, HL_REPLY_STRING),
                          *port = hl_reply_item(server, 1, HL_REPLY_INTEGER);
    const struct hl_reply *id = hl_reply_item(server, 2, HL_REPLY_STRING);
    char digits[24];
    int length;
    if (!port || port->integer <= 0 || (!host && !hl_reply_item(server, 0, HL_REPLY_NIL)))
        return 0;
    length = snprintf(digits, sizeof digits, "%lld", (long long)port->integer);
    ret->id = id ? id->bytes : "";
    ret->id_length = id ? id->length : 0;
    return hl_address_read(&ret->address, host ? host->bytes : "", host ? host->length : 0, digits, (size_t)length);
}

/* {from, to, {master}, {replica}, ..}: how many slots it has; 0: no room for them, or not slots. */
static unsigned read_range(const struct hl_reply *range, unsigned room, hl_slots_fn *tell, void *arg)
{
    const struct hl_reply *from = hl_reply_item(range, 0, HL_REPLY_INTEGER),
                          *to = hl_reply_item(range, 1, HL_REPLY_INTEGER);
    const struct hl_reply *server = hl_reply_item(range, 2, HL_REPLY_ARRAY);
    struct hl_slots_master master;
    if (!from || !to || !server || from->integer < 0 || to->integer < from->integer || to->integer >= HL_SLOTS ||
        to->integer - from->integer >= room || !read_server(server, &master))
        return 0;
    tell(arg, (unsigned)from->integer, (unsigned)to->integer, &master);
    return (unsigned)(to->integer - from->integer) + 1;
}

unsigned hl_slots_read(const struct hl_reply *reply, hl_slots_fn *tell, void *arg)
{
    unsigned told = 0;
    for (size_t i = 0; reply->type == HL_REPLY_ARRAY && i < reply->count && i < HL_SLOTS; i++)
        told += read_range(&reply->items[i], HL_SLOTS_TOLD_MAX - told, tell, arg);
    return told;
}

int hl_slots_redirect(const struct hl_reply *error, const char *code, unsigned *ret_slot, struct hl_address *ret)
{
    size_t head = strlen(code) + 1, used;
    const char *at = error->bytes, *end = error->bytes + error->length, *colon, *host;
    uint64_t slot;
    if (error->type != HL_REPLY_ERROR || !hl_reply_starts(error, code) || error->length <= head || at[head - 1] != ' ')
        return 0;
    at += head;
    used = hl_reply_decimal(at, (size_t)(end - at), &slot);
    if (!used || slot >= HL_SLOTS || at + used == end || at[used] != ' ')
        return 0;
    host = at + used + 1;
    colon = memrchr(host, ':', (size_t)(end - host));
    if (!colon)
        return 0;
    *ret_slot = (unsigned)slot;
    at = colon + 1;
    if (colon - host >= 2 && *host == '[' && colon[-1] == ']') {
        host++;
        colon--;
    }
    return hl_address_read(ret, host, (size_t)(colon - host), at, (size_t)(end - at));
}
