/* sd-event.h - hilock on sd-event. Link hilock-sd-event; the core library links no loop. */
#ifndef HILOCK_ADAPTERS_SD_EVENT_H
#define HILOCK_ADAPTERS_SD_EVENT_H

#include <hilock/hilock.h>

HILOCK_BEGIN

struct sd_event;
struct hilock_loop;

/* Opens a client on this loop, as hilock_client_open does. The client has a reference to the loop
 * until on_closed, and your program must run it until then. (sd_event_loop ends only by
 * sd_event_exit: call that from on_closed.) hilock's only source, "hilock", has the priority
 * SD_EVENT_PRIORITY_IMPORTANT, so renewals and losses are not starved. After a pause of the process
 * on_lost runs before those of your own timers that came due in it and have a lower priority, as
 * SD_EVENT_PRIORITY_NORMAL is.
 * sd-event has no resolver. A thread resolves a host name by getaddrinfo, with all signals blocked,
 * and ends with that; a numeric address needs no thread. Open one client for each loop and
 * deployment. An sd_event does not survive a fork: a child abandons the client, and makes a loop of
 * its own. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_client_open_sd_event(hilock_client **ret_client, struct sd_event *event,
                            const struct hilock_client_options *options,
                            struct hilock_error *ret_error);

/* Ends a client whose loop your program does not turn any more, as after it has joined the loop's
 * thread: makes it belong to this thread (hilock_client_adopt), closes it, and turns event until it
 * is gone. Whatever else is on that loop runs meanwhile. Do not call it inside a callback of the
 * loop. If the loop cannot be turned, the client is abandoned.
 * Refusals: as for hilock_client_adopt and hilock_client_close. */
HILOCK_API hilock_status
hilock_client_close_sd_event(hilock_client *client, struct sd_event *event, uint32_t drain_ms);

/* Fills in a struct hilock_loop alone, for a program that calls hilock_client_open. On success pass
 * it on, or call its free_ctx.
 * Refusals: INVALID, NO_MEMORY. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_sd_event_loop(struct hilock_loop *ret_loop, struct sd_event *event);

HILOCK_END

#endif
