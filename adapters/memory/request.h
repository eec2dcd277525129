/* SPDX-License-Identifier: BSD-3-Clause */
/* request - reads commands as they arrive over a link (RESP2, or words on a line), and writes answers. The size of a
 * request is bounded. Whatever bytes arrive, they are a whole request, or a part of one, or they end their link. */
#ifndef SIM_STORE_REQUEST_H
#define SIM_STORE_REQUEST_H

#include "reply.h"

enum { SIM_REQUEST_MAX = 1 << 20 }; /* the most bytes of one request */

enum sim_request_state { SIM_REQUEST_WHOLE, SIM_REQUEST_PART, SIM_REQUEST_BAD };

struct sim_request {
    int argc; /* 0: an empty request, to be skipped */
    const char **argv; /* pointers into the bytes that were read */
    size_t *lengths;
    size_t room;
    size_t bytes; /* how many bytes the request takes up */
};

/* Reads the first request of these bytes. The struct must be zeroed before its first use; the next call uses its memory
 * again. */
enum sim_request_state sim_request_read(struct sim_request *request, const char *bytes, size_t length);
void sim_request_done(struct sim_request *request);

struct sim_buffer { char *bytes; size_t length, room; };

void sim_buffer_add(struct sim_buffer *buffer, const void *bytes, size_t length);
void sim_buffer_take(struct sim_buffer *buffer, size_t length); /* removes the first bytes, which have been sent */
void sim_buffer_done(struct sim_buffer *buffer);
void sim_buffer_say(struct sim_buffer *buffer, const struct sim_reply *reply); /* appends the answer in RESP2 */

#endif
