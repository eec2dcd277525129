/* sd-event.h - hilock on sd-event. Link hilock-sd-event; the core library links no loop. */
#ifndef HILOCK_ADAPTERS_SD_EVENT_H
#define HILOCK_ADAPTERS_SD_EVENT_H

#include <hilock/hilock.h>

HILOCK_BEGIN

struct sd_event;
struct hilock_loop;

/* hilock_client_open on this loop. The client holds a reference to it until on_closed; the program
 * runs it until then (sd_event_loop ends by sd_event_exit only: call that from on_closed). hilock's
 * only source, "hilock", has the priority SD_EVENT_PRIORITY_IMPORTANT, so that renewals and losses
 * are not starved. After a pause of the process on_lost runs before those of the program's own
 * timers that came due in it and have a lower priority, as SD_EVENT_PRIORITY_NORMAL is.
 * sd-event has no resolver: a thread resolves a host name by getaddrinfo, with all signals blocked,
 * and lives until that ends; a numeric address needs none. One client per loop and deployment. An
 * sd_event does not survive a fork: a child abandons, and makes a loop of its own. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_client_open_sd_event(hilock_client **ret_client, struct sd_event *event,
                            const struct hilock_client_options *options,
                            struct hilock_error *ret_error);

/* Ends a client whose loop the program has stopped turning, as after the join of its thread: adopts
 * it for this thread (hilock_client_adopt), closes it, and turns event until it is gone; what else
 * is on that loop runs meanwhile. Not inside a callback of the loop. If it cannot be turned the
 * client is abandoned. Refusals: as for hilock_client_adopt and hilock_client_close. */
HILOCK_API hilock_status
hilock_client_close_sd_event(hilock_client *client, struct sd_event *event, uint32_t drain_ms);

/* The plain loop table, for a program that opens by hilock_client_open. On success the caller
 * passes it on or calls its free_ctx. Refusals: INVALID, NO_MEMORY. */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_sd_event_loop(struct hilock_loop *ret_loop, struct sd_event *event);

HILOCK_END

#endif
