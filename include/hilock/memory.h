/* memory.h - a store inside this process, for the tests of a program that uses hilock. Link hilock-memory, which needs Lua 5.1; the core library
 * knows nothing of it.
 *
 * It answers as a Redis server that stands alone: it runs the scripts that the clients send, so waiting, leases, loss, tokens and queues are the
 * real ones, between all clients that are opened with its URL, whichever loop or process they are in. What it holds is gone when it is closed. And it
 * can be broken on purpose: what it does then, clients learn as from a real server, over their links, in later turns of their loops.
 *
 * It is for tests: no TLS, one database (0 to 15 are the same), no options of commands that hilock does not send. Where a process has no memory left it
 * ends it. Several of them at a time make a quorum. */
#ifndef HILOCK_MEMORY_H
#define HILOCK_MEMORY_H

#include <hilock/hilock.h>

HILOCK_BEGIN

typedef struct hilock_memory hilock_memory;

struct hilock_memory_options {
    size_t size;
    const char *path;     /* NULL: a socket in a fresh directory below TMPDIR. Else a socket is made there, in place of one that is there */
    const char *password; /* NULL: none is asked for, and any is good. Of the user "default"; the URL has it not */
};

/* Serves on this loop, whose thread makes all calls below, and which must turn for clients to be answered. It has a table of its own
 * (hilock_libevent_loop makes one), owns loop->ctx from HILOCK_OK on, and resolves no names. Time at the store is the loop's clock, so where that is
 * a test's own, leases run out when the test says. It counts as having been up for a day: no restart guard is on.
 * options may be NULL, so may ret_error. HILOCK_INVALID, HILOCK_NO_MEMORY (watches, timers, sockets, directories). */
HILOCK_API HILOCK_CHECKED hilock_status hilock_memory_open(hilock_memory **ret_memory, const struct hilock_loop *loop,
                                                           const struct hilock_memory_options *options, struct hilock_error *ret_error);

/* Ends it now, with its links, its socket and its directory. Clients that are open see a server that went away, and take their time to close: so they
 * are closed first. NULL is allowed. */
HILOCK_API void hilock_memory_close(hilock_memory *memory);

/* For the `url` of a client: "unix:///tmp/hilock-memory-x8Yz1Q/store". Good until it is closed. */
HILOCK_API const char *hilock_memory_url(const hilock_memory *memory);

/* ---- leases: names are those of the locks, prefix included, ended by a zero ---------------------------------------------- */

/* The lease ends at the store now, whoever has it, and nobody is notified: a holder learns it when it renews, extends or releases, a waiter when it
 * asks again. HILOCK_NOT_HELD: nobody had it, and nothing happened. */
HILOCK_API hilock_status hilock_memory_expire(hilock_memory *memory, const char *name);

/* Another program has it now, in place of whoever had: "holder", which may be any text, as an RLock or, for HILOCK_SIMPLE, as a SET. lease_ms from now;
 * HILOCK_FOREVER: it never runs out. Nobody is notified, as above. HILOCK_INVALID: NULL, an empty text, lease_ms 0, or a kind that is not known. */
HILOCK_API hilock_status hilock_memory_take(hilock_memory *memory, hilock_kind kind, const char *name, const char *holder, uint32_t lease_ms);

/* All is lost, the memory of tokens too, as by FLUSHALL, or by a failover to an empty replica. */
HILOCK_API void hilock_memory_lose(hilock_memory *memory);

/* The store's clock goes ahead of the loop's by so much more, from now on: leases at the store are over so much earlier than their holders believe. */
HILOCK_API void hilock_memory_advance(hilock_memory *memory, uint32_t ms);

/* ---- links ----------------------------------------------------------------------------------------------------------------- */

/* All links end now; what was not answered is lost. Clients connect again at once, or after their pause. */
HILOCK_API void hilock_memory_disconnect(hilock_memory *memory);

/* The server is started again: all links end, scripts are forgotten, and it is up since now, which a restart guard heeds. It keeps its data, or has
 * none. */
HILOCK_API void hilock_memory_restart(hilock_memory *memory, int keeps_data);

/* What the store says from now on comes so much later: answers and messages, in their order. 0: at once; what was delayed still comes when it was due.
 * Requests take effect as they come. */
HILOCK_API void hilock_memory_delay(hilock_memory *memory, uint32_t ms);

/* 1: it hangs from now on: it reads nothing and says nothing, and its links stand. 0: it goes on, with all that came meanwhile. */
HILOCK_API void hilock_memory_hang(hilock_memory *memory, int hangs);

/* The next `count` requests for a lock (not of a new link's greeting, nor PUBLISH) are answered with this error, which begins with its code:
 * "OOM command not allowed when used memory > 'maxmemory'.". HILOCK_FOREVER: all, until it is called again; 0: none. HILOCK_INVALID: error is NULL,
 * empty, longer than 250 bytes or of several lines, with a count above 0. */
HILOCK_API hilock_status hilock_memory_refuse(hilock_memory *memory, uint32_t count, const char *error);

/* ---- questions: of what the store has now, which changes nothing ---------------------------------------------------------- */

/* Who has it: as hilock_peek names the holder, "" when it is free. Good until the next call for this store, or turn of its loop. */
HILOCK_API const char *hilock_memory_holder(hilock_memory *memory, const char *name);
HILOCK_API uint32_t hilock_memory_remaining_ms(hilock_memory *memory, const char *name); /* of its lease; 0: free, HILOCK_FOREVER: no end */
HILOCK_API uint32_t hilock_memory_links(const hilock_memory *memory);                    /* open connections */
HILOCK_API uint64_t hilock_memory_commands(const hilock_memory *memory);                 /* executed so far, those of greetings too */

#ifndef __cplusplus
#define HILOCK_MEMORY_OPTIONS(...) (&(const struct hilock_memory_options){.size = sizeof(struct hilock_memory_options), __VA_ARGS__})
#endif

HILOCK_END

#endif
