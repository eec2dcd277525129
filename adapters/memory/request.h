/* SPDX-License-Identifier: BSD-3-Clause */
/* request - commands as they arrive over a link (RESP2, or words on a line), and answers as they leave. A request is
 * bounded. Any bytes are a whole request, or a part of one, or end their link. */
#ifndef SIM_STORE_REQUEST_H
#define SIM_STORE_REQUEST_H

#include "reply.h"

enum { SIM_REQUEST_MAX = 1 << 20 }; /* bytes of one */

enum sim_request_state { SIM_REQUEST_WHOLE, SIM_REQUEST_PART, SIM_REQUEST_BAD };

struct sim_request {
    int argc; /* 0: nothing is asked, go on behind it */
    const char **argv; /* into the bytes that were read */
    size_t *lengths;
    size_t room;
    size_t bytes; /* it took so many */
};

/* The first one of these bytes. Zeroed before its first use; what it holds is used again by the next call. */
enum sim_request_state sim_request_read(struct sim_request *request, const char *bytes, size_t length);
void sim_request_done(struct sim_request *request);

struct sim_buffer { char *bytes; size_t length, room; };

void sim_buffer_add(struct sim_buffer *buffer, const void *bytes, size_t length);
void sim_buffer_take(struct sim_buffer *buffer, size_t length); /* these have gone */
void sim_buffer_done(struct sim_buffer *buffer);
void sim_buffer_say(struct sim_buffer *buffer, const struct sim_reply *reply); /* as RESP2 */

#endif
