/* memory.h - a store inside this process, for tests of programs that use hilock. Link
 * hilock-memory, which needs Lua 5.1; the core library knows nothing of it.
 *
 * It answers as one Redis server does: it runs the scripts that clients send, so waiting, leases,
 * loss, tokens and queues are real, for all clients that are opened with its URL, on any loop and
 * in any process. Its data is gone when it is closed. It can be broken on purpose: clients then see
 * what a real server would do, over their links, in later turns of their loops. Several make a
 * quorum.
 *
 * It is for tests: no TLS, one database (0 to 15 are the same), only the commands and options that
 * hilock sends. When a process runs out of memory it aborts. */
#ifndef HILOCK_MEMORY_H
#define HILOCK_MEMORY_H

#include <hilock/hilock.h>
#include <hilock/loop.h>

HILOCK_BEGIN

typedef struct hilock_memory hilock_memory;

struct hilock_memory_options {
    size_t size;
    const char *path;     /* of the socket; one that is there is replaced. NULL: in a fresh
                             directory below TMPDIR */
    const char *password; /* of the user "default"; the URL does not have it. NULL: none is needed,
                             and any is good */
};

/* Serves on this loop. Its thread makes all calls below, and it must turn for clients to be
 * answered. The table is the store's own (hilock_libevent_loop fills one): it owns loop->ctx from
 * HILOCK_OK on, and resolves no names. Time at the store is the loop's clock: with a test's own
 * clock, leases run out when the test says so. It says that it has been up for a day, so no restart
 * guard is on. options and ret_error may be NULL. Refusals: INVALID, NO_MEMORY (also watches,
 * timers, sockets, directories). */
HILOCK_API HILOCK_CHECKED hilock_status
hilock_memory_open(hilock_memory **ret_memory, const struct hilock_loop *loop,
                   const struct hilock_memory_options *options, struct hilock_error *ret_error);

/* Ends it now, with its links, its socket and its directory. Close the clients first: those that
 * are still open lose their server, and close slowly. NULL is allowed. */
HILOCK_API void hilock_memory_close(hilock_memory *memory);

/* For a client's `url`: "unix:///tmp/hilock-memory-x8Yz1Q/store". Good until it is closed. */
HILOCK_API const char *hilock_memory_url(const hilock_memory *memory);

/* ---- leases: names are those of locks, prefix included, ended by a zero ---------------------- */

/* The lease ends at the store now, for any holder, and without a message: a holder learns it when
 * it renews, extends or releases, a waiter when it asks again. HILOCK_NOT_HELD: it was free;
 * nothing happened. */
HILOCK_API hilock_status hilock_memory_expire(hilock_memory *memory, const char *name);

/* Takes the lock from any holder and gives it to another program: to "holder", any text, as an
 * RLock (of thread 1, "holder:1", if the text names none) or (SIMPLE) a SET, for lease_ms from now
 * (HILOCK_FOREVER: it never runs out). No message is sent. HILOCK_INVALID: NULL, an empty text,
 * lease_ms 0, an unknown kind. */
HILOCK_API hilock_status
hilock_memory_take(hilock_memory *memory, hilock_kind kind, const char *name, const char *holder,
                   uint32_t lease_ms);

/* Makes each client ask now about all that it holds: so a loss by expire, take or lose is reported
 * at once, and not at the next renewal, a third of the lease later. Its links end and come again,
 * as in a short outage: within 50 ms of the loop's time. */
HILOCK_API void hilock_memory_verify(hilock_memory *memory);

/* Deletes everything, the memory of tokens too: FLUSHALL, or a failover to an empty replica. */
HILOCK_API void hilock_memory_lose(hilock_memory *memory);

/* Sets the store's clock ahead of the loop's by that much more: leases end that much earlier at the
 * store than their holders believe. */
HILOCK_API void hilock_memory_advance(hilock_memory *memory, uint32_t ms);

/* ---- time: a clock that jumps ---------------------------------------------------------------- */

/* For tests on a loop with a real clock: the time of the store, and of clients, goes on as ever and
 * jumps when the test says so, so a lease of 30 s is over at once. Wrap each table that an adapter
 * has filled, then pass it to hilock_memory_open or hilock_client_open, which own it as before:
 *     hilock_libevent_loop(&loop, base); hilock_memory_clock_wrap(clock, &loop);
 *     hilock_client_open(&client, &loop, options, NULL);
 * All on one thread. Free it last, when the store, the clients and their validities are gone. */
typedef struct hilock_memory_clock hilock_memory_clock;
HILOCK_API hilock_memory_clock *hilock_memory_clock_new(void);
/* Refusals: INVALID: NULL, a table of another size, or of another adapter than the first. */
HILOCK_API HILOCK_CHECKED hilock_status hilock_memory_clock_wrap(hilock_memory_clock *clock,
                                                                 struct hilock_loop *loop);
/* What is due then runs on the next turn. Jump by less than a third of the lease at a time, with
 * turns between, and holds are renewed; jump past a deadline, and it is as if the process had been
 * stopped so long (HILOCK_REASON_SUSPENDED or EXPIRED). NULL is allowed. */
HILOCK_API void hilock_memory_clock_jump(hilock_memory_clock *clock, uint32_t ms);
HILOCK_API void hilock_memory_clock_free(hilock_memory_clock *clock); /* NULL is allowed */

/* ---- links ----------------------------------------------------------------------------------- */

/* Ends all links; what was not answered is lost. Clients reconnect, at once or after their
 * pause. */
HILOCK_API void hilock_memory_disconnect(hilock_memory *memory);

/* Restarts the server: links end, scripts are forgotten, and it has been up since now, which a
 * restart guard heeds. keeps_data 0: it comes back empty. */
HILOCK_API void hilock_memory_restart(hilock_memory *memory, int keeps_data);

/* Delays all answers and messages from now on by ms, in their order; requests take effect when they
 * come. 0: at once again, but what was delayed still comes when it was due. */
HILOCK_API void hilock_memory_delay(hilock_memory *memory, uint32_t ms);

/* 1: hangs: it reads nothing and writes nothing, and its links stay. 0: goes on, with all that came
 * meanwhile. */
HILOCK_API void hilock_memory_hang(hilock_memory *memory, int hangs);

/* Answers the next `count` requests for a lock with this error, which begins with its code: "OOM
 * command not allowed when used memory > 'maxmemory'.". HILOCK_FOREVER: all, until the next call;
 * 0: none. Greetings of new links and PUBLISH are answered as ever. HILOCK_INVALID: with a count
 * above 0, an error that is NULL, empty, longer than 250 bytes or of several lines. */
HILOCK_API hilock_status hilock_memory_refuse(hilock_memory *memory, uint32_t count,
                                              const char *error);

/* ---- questions: they change nothing ---------------------------------------------------------- */

/* The holder, as hilock_peek names it; "" when it is free. Good until the next call for
 * this store, or turn of its loop. */
HILOCK_API const char *hilock_memory_holder(hilock_memory *memory, const char *name);
/* Of its lease. 0: it is free; HILOCK_FOREVER: it has no end. */
HILOCK_API uint32_t hilock_memory_remaining_ms(hilock_memory *memory, const char *name);
HILOCK_API uint32_t hilock_memory_links(const hilock_memory *memory); /* open connections */
/* Executed so far, those of greetings too. */
HILOCK_API uint64_t hilock_memory_commands(const hilock_memory *memory);

#ifndef __cplusplus
#define HILOCK_MEMORY_OPTIONS(...) \
    (&(const struct hilock_memory_options){.size = sizeof(struct hilock_memory_options), \
                                           __VA_ARGS__})
#endif

HILOCK_END

#endif
