/* memory.h - a store inside this process, for tests of programs that use hilock. Link
 * hilock-memory, which needs Lua 5.1; the core library does not need it.
 *
 * It answers as one Redis server does. It runs the scripts that clients send, so waiting, leases,
 * losses, tokens and queues are real. Any client may open it by its URL, on any loop and in any
 * process. Its data is gone when it is closed. You can break it on purpose: clients then see what a
 * real server would do, over their connections, in later turns of their loops. Several stores make
 * a quorum.
 *
 * It is for tests only: no TLS, one database (0 to 15 are the same), and only the commands and
 * options that hilock sends. If the process runs out of memory, the store aborts it. */
#ifndef HILOCK_MEMORY_H
#define HILOCK_MEMORY_H

#include <hilock/hilock.h>
#include <hilock/loop.h>

HILOCK_BEGIN

typedef struct hilock_memory hilock_memory;

struct hilock_memory_options {
    size_t size;
    const char *path;     /* where the socket is made; one that is there is replaced. NULL: in
                             a new directory below TMPDIR */
    const char *password; /* that of the user "default"; the URL does not contain it. NULL:
                             none is needed, and any is accepted */
};

/* Opens a store that serves on this loop. Only the loop's thread may make the calls below, and the
 * loop must turn, or clients get no answers. Give the store a struct hilock_loop of its own
 * (hilock_libevent_loop fills one); once the call has returned HILOCK_OK, the store owns loop->ctx.
 * The store resolves no names. The store's time is the loop's clock: with a test's own clock,
 * leases run out when the test wants it. The store claims to be up for a day, so no restart guard
 * is on. options and ret_error may be NULL.
 * Refusals: INVALID, NO_MEMORY (also for watches, timers, sockets and directories). */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_memory_open(hilock_memory **ret_memory, const struct hilock_loop *loop,
                   const struct hilock_memory_options *options, struct hilock_error *ret_error);

/* Ends the store now, with its connections, its socket and its directory. Close the clients first:
 * those that are still open lose their server, and close slowly. NULL is allowed. */
HILOCK_API void hilock_memory_close(hilock_memory *memory);

/* For a client's `url`: "unix:///tmp/hilock-memory-x8Yz1Q/store". Good until the store is
 * closed. */
HILOCK_API const char *hilock_memory_url(const hilock_memory *memory);

/* ---- leases: names are those of locks, prefix included, ended by a zero ---------------------- */

/* Ends the lease at the store now, whoever holds it (of a shared name the leases of all that share
 * it), and without a message: the holder learns of it when it renews, extends or releases, a waiter
 * when it asks again. HILOCK_NOT_HELD: the name was free, and nothing happened. */
HILOCK_API hilock_status hilock_memory_expire(hilock_memory *memory, const char *name);

/* Takes the lock from whoever holds it and gives it to another program, for lease_ms from now
 * (HILOCK_FOREVER: without an end). `holder` is any text. For MUTEX and FAIR that program holds it
 * as an RLock, of thread 1 ("holder:1") if the text names no thread; for SIMPLE by a SET. No
 * message is sent. HILOCK_INVALID: NULL, an empty text, lease_ms 0, an unknown kind. */
HILOCK_API hilock_status
hilock_memory_take(hilock_memory *memory, hilock_kind kind, const char *name, const char *holder,
                   uint32_t lease_ms);

/* Makes each client ask now about all that it holds. So a loss by expire, take or lose is reported
 * at once, and not at the next renewal, a third of the lease later. For that the clients'
 * connections are ended and come again, as in a short outage, within 50 ms of the loop's time. */
HILOCK_API void hilock_memory_verify(hilock_memory *memory);

/* Deletes everything, the last tokens too, as FLUSHALL does, or a failover to an empty replica. */
HILOCK_API void hilock_memory_lose(hilock_memory *memory);

/* Sets the store's clock forward by this much, in addition to earlier calls: leases end at the
 * store earlier by that than their holders believe. */
HILOCK_API void hilock_memory_advance(hilock_memory *memory, uint32_t ms);

/* ---- time: a clock that jumps ---------------------------------------------------------------- */

/* For tests on a loop with a real clock. The time of the store and of the clients goes on as
 * always, and jumps when the test wants it: a lease of 30 s is over at once. Wrap each struct
 * hilock_loop that an adapter has filled, and pass it to hilock_memory_open or hilock_client_open,
 * which own it then:
 *     hilock_libevent_loop(&loop, base); hilock_memory_clock_wrap(clock, &loop);
 *     hilock_client_open(&client, &loop, options, NULL);
 * All must be on one thread. Free the clock last, when the store, the clients and their validities
 * are gone. */
typedef struct hilock_memory_clock hilock_memory_clock;
HILOCK_API hilock_memory_clock *hilock_memory_clock_new(void);
/* Refusals: INVALID: NULL, a table of another size, or of another adapter than the first. */
HILOCK_API HILOCK_CHECKED hilock_status hilock_memory_clock_wrap(hilock_memory_clock *clock,
                                                                 struct hilock_loop *loop);
/* Makes the time jump; what is due then runs on the next turn. If you jump by less than a third of
 * the lease at a time, with turns between, holds are renewed. If you jump past a deadline, it is as
 * if the process had been stopped for so long (HILOCK_REASON_SUSPENDED or EXPIRED). NULL is
 * allowed. */
HILOCK_API void hilock_memory_clock_jump(hilock_memory_clock *clock, uint32_t ms);
HILOCK_API void hilock_memory_clock_free(hilock_memory_clock *clock); /* NULL is allowed */

/* ---- links ----------------------------------------------------------------------------------- */

/* Ends all connections; what was not answered is lost. Clients reconnect, at once or after a
 * pause. */
HILOCK_API void hilock_memory_disconnect(hilock_memory *memory);

/* Restarts the server: connections end, scripts are forgotten, and its uptime begins anew, so a
 * restart guard is on. With keeps_data 0 it comes back empty. */
HILOCK_API void hilock_memory_restart(hilock_memory *memory, int keeps_data);

/* Delays all answers and messages by ms from now on, in their order. Requests take effect when they
 * come. 0 ends this; what is delayed already still comes when it was due. */
HILOCK_API void hilock_memory_delay(hilock_memory *memory, uint32_t ms);

/* 1: the server hangs: it reads and writes nothing, and its connections stay. 0: it goes on, with
 * all that came meanwhile. */
HILOCK_API void hilock_memory_hang(hilock_memory *memory, int hangs);

/* Answers the next `count` requests for a lock with this error (HILOCK_FOREVER: all of them until
 * the next call of this; 0: none). The error begins with its code: "OOM command not allowed when
 * used memory > 'maxmemory'.". What a client sends as it connects, and PUBLISH, are answered as
 * always. HILOCK_INVALID: count is above 0, and the error is NULL, empty, longer than 250 bytes, or
 * has several lines. */
HILOCK_API hilock_status hilock_memory_refuse(hilock_memory *memory, uint32_t count,
                                              const char *error);

/* ---- questions: they change nothing ---------------------------------------------------------- */

/* The holder, as hilock_peek names it: of several that share the name, the one whose lease ends
 * last. "" if the name is free. Good until the next call for this store, or the next turn of its
 * loop. */
HILOCK_API const char *hilock_memory_holder(hilock_memory *memory, const char *name);
/* How many hold the name; more than 1 if handles share it. 0: it is free. A share whose lease is
 * over does not count. */
HILOCK_API uint32_t hilock_memory_holders(hilock_memory *memory, const char *name);
/* What is left of the lease, of several that share the name of the longest one. 0: the name is
 * free; HILOCK_FOREVER: the lease has no end. */
HILOCK_API uint32_t hilock_memory_remaining_ms(hilock_memory *memory, const char *name);
HILOCK_API uint32_t hilock_memory_links(const hilock_memory *memory); /* open connections */
/* How many commands were executed so far, also those that clients send as they connect. */
HILOCK_API uint64_t hilock_memory_commands(const hilock_memory *memory);

#ifndef __cplusplus
#define HILOCK_MEMORY_OPTIONS(...) \
    (&(const struct hilock_memory_options){.size = sizeof(struct hilock_memory_options), \
                                           __VA_ARGS__})
#endif

HILOCK_END

#endif
