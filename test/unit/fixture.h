/* SPDX-License-Identifier: BSD-3-Clause */
/* fixture - a play in the world of test/world: one server, clients and handles that record
 * their callbacks. A test sets the fixture, runs time, and claims what must hold:
 *     struct client *shop = fixture_open(&s, NULL);
 *     struct handle *a = handle_new(shop, "a", "stock", NULL);
 *     acquire(a, HILOCK_FOREVER);
 *     run_ms(&s, 1);
 *     TELLS(&s, "a:OK");
 * A claim that fails is printed and remembered, and the play goes on: fixture_end says whether all held. It also claims what must hold in
 * every fixture: nothing is left behind, no text shows a secret, and (unless the store was tampered with) no handle believes in a hold that
 * the server does not have, or not for so long. */
#ifndef TEST_UNIT_FIXTURE_H
#define TEST_UNIT_FIXTURE_H

#include "secret.h"
#include "world/plan.h"

struct fixture;
struct handle;

enum { FIXTURE_TEXT = 400, FIXTURE_SERVERS_MAX = 12, FIXTURE_MASTERS_MAX = 5 };
#define FIXTURE_SECRET TEST_SECRET

struct client {
    TAILQ_ENTRY(client) entry;
    struct fixture *fixture;
    struct world_loop loop;
    char uuid[37];
    hilock_client *client; /* NULL: gone, or never opened */
    hilock_status status;  /* of the opening */
    struct hilock_error error;
    int tells;             /* client events go into the story */
    int is_closed, is_closing;
    uint64_t closed_at_us;
    struct hilock_event event; /* latest of the client; its texts below */
    char event_detail[FIXTURE_TEXT], event_node[FIXTURE_TEXT];
    unsigned lines;
    char line[FIXTURE_TEXT]; /* latest logged */
    hilock_log_level level;  /* of that line */
    char *log;             /* all of it */
    size_t log_used, log_room;
    void (*on_closed)(struct client *client); /* inside the callback */
};

struct handle {
    TAILQ_ENTRY(handle) entry;
    struct fixture *fixture;
    struct client *client;
    hilock_lock *lock; /* NULL: freed */
    const char *const *names; /* of a multi; NULL: one name */
    char tag[24];
    struct hilock_result result; /* latest; its texts are copies */
    struct hilock_event event;   /* latest */
    char holder[FIXTURE_TEXT], label[FIXTURE_TEXT], detail[FIXTURE_TEXT];
    uint64_t at_us;              /* of the latest callback */
    int calls;                   /* callbacks, ever */
    const char *when;            /* the callback inside which `then` runs, as in the story; NULL: the next */
    void (*then)(struct handle *handle);
};

struct fixture {
    struct world world;
    struct net net;
    struct store store;
    struct store *more[FIXTURE_SERVERS_MAX]; /* fixture_server */
    unsigned more_count;
    unsigned epochs; /* config-epochs of a cluster that were given since the beginning */
    unsigned masters_count; /* that decide by votes: belief is held against them all; 1: there is no quorum */
    struct net_place *place;
    struct plans plans;
    struct world_memory memory;
    TAILQ_HEAD(, client) clients;
    TAILQ_HEAD(handles, handle) handles;
    unsigned clients_ever, handles_count;
    char *story;
    size_t story_used, story_room;
    int is_broken; /* how often; the first few are printed */
    int is_tampered; /* the store was changed behind the clients' backs: belief is not held against it */
    int is_untold;   /* no story is written: too many handles */
};

extern int fixture_is_quiet; /* failed claims are not printed: they are expected */
enum { FIXTURE_WOUND_MAX = 100 };
extern char *fixture_wound;  /* NULL, or room for so many bytes of the first claim that fails, with ' for each quotation mark */
extern const char fixture_where[]; /* the server's address */
extern const char *const fixture_urls[FIXTURE_MASTERS_MAX]; /* of the servers, the first at fixture_where */

void fixture_begin(struct fixture *fixture);
struct store *fixture_server(struct fixture *fixture, const char *where); /* one more: each belief must be kept by one of them */
void fixture_masters(struct fixture *fixture, unsigned count); /* so many servers: fixture_urls names them */
struct store *store_at(struct fixture *fixture, unsigned i);
int fixture_end(struct fixture *fixture); /* ends what still lives. 1: all claims held */

/* options: what the fixture does not need itself (allocator, log, events). May be NULL. */
struct client *fixture_open(struct fixture *fixture, const struct hilock_client_options *options); /* begun; connected in 1 ms */
struct client *fixture_connect(struct fixture *fixture, const struct hilock_client_options *options); /* and run until it is */
struct client *the_client(struct fixture *fixture); /* the first, which is connected if there was none */
struct handle *handle_new(struct client *client, const char *tag, const char *name, const struct hilock_lock_options *options);

struct handle *multi_new(struct client *client, const char *tag, const char *const *names, const struct hilock_lock_options *options); /* names outlive it */

hilock_status acquire(struct handle *handle, uint32_t wait_ms);
struct handle *acquiring(struct handle *handle, uint32_t wait_ms); /* it is accepted */
int is_held(const struct handle *handle);
hilock_status release(struct handle *handle);       /* with a callback */
void release_quietly(struct handle *handle); /* without one, whether it is held or not */
hilock_status cancel(struct handle *handle);
hilock_status peek(struct handle *handle);
hilock_status force(struct handle *handle, const char *holder); /* force_release */
hilock_status extend(struct handle *handle, uint32_t lease_ms);
hilock_status downgrade(struct handle *handle);
void handle_free(struct handle *handle);
void handle_drop(struct handle *handle);
hilock_status client_close(struct client *client, uint32_t drain_ms);
void client_abandon(struct client *client);
struct hilock_stats counts_of(const struct client *client);
void frozen_ms(struct client *client, uint64_t span_ms); /* it stands still for so long, and goes on */
unsigned client_lines(const struct client *client, const char *words); /* how often they were logged */
void when(struct handle *handle, const char *told, void (*then)(struct handle *handle)); /* inside that callback, once */
struct handle *lone(struct fixture *fixture); /* "a", for "stock", of a client that is connected */
/* A new one that waits for as long as it takes. */
struct handle *asking(struct client *client, const char *tag, const char *name,
                      const struct hilock_lock_options *options);
struct handle *held(struct client *client, const char *tag, const char *name, const struct hilock_lock_options *options); /* a new one that has it now */

void cut_off(struct fixture *fixture); /* the server refuses connections, and no link outlives that */
void run_us(struct fixture *fixture, uint64_t span_us);
void run_ms(struct fixture *fixture, uint64_t span_ms);
void run_to(struct fixture *fixture, uint64_t at_us);
void unheard_ms(struct fixture *fixture, uint64_t span_ms); /* what is reported meanwhile is forgotten */
int run_until_told(struct fixture *fixture, uint64_t most_ms); /* until the story goes on; 0: it did not */
uint64_t fixture_us(const struct fixture *fixture);

struct plan *plan(struct fixture *fixture, struct plan plan); /* plan_add */
#define PLAN(fixture, ...) plan((fixture), (struct plan){__VA_ARGS__})

/* What tells a client of its grant, said by hand: it counts from its heartbeat `number`, and was made so many ms after that. */
const char *push_text(const struct client *client, const char *name, int id, int number, unsigned since_ms,
                      uint64_t token);
unsigned push_grant(const struct client *client, const char *name, int id, int number, unsigned since_ms, uint64_t token); /* how many heard */

size_t asked(const struct fixture *fixture, const char *word);              /* commands that the server executed */
uint64_t asked_at_us(const struct fixture *fixture, const char *word, int nth); /* when; nth -1: the latest */
uint64_t sent_at_us(const struct fixture *fixture, const char *word, int nth);  /* when it left, at the usual latency */
size_t asked_for(const struct fixture *fixture, const char *text); /* commands that the server executed and that begin so */
int is_ours(struct fixture *fixture, const char *name);                     /* some client's id is the holder at the server */
unsigned waiters_of(struct handle *handle); /* who stand in the queue of its name, by its peek */

int fixture_claim(struct fixture *fixture, int holds, const char *claim, const char *file, int line);
int fixture_tells(struct fixture *fixture, const char *story, const char *file, int line); /* exactly this since the last look */
int fixture_same(struct fixture *fixture, uint64_t is, uint64_t should, const char *claim, const char *file, int line);
int fixture_text(struct fixture *fixture, const char *is, const char *should, const char *file, int line);
int fixture_believes(struct fixture *fixture, const struct handle *handle, uint64_t deadline_us, const char *file, int line); /* until exactly then */
#define HOLDS(fixture, claim) fixture_claim((fixture), (claim) != 0, #claim, __FILE__, __LINE__)
#define SAME(fixture, is, should) fixture_same((fixture), (uint64_t)(is), (uint64_t)(should), #is " == " #should, __FILE__, __LINE__)
#define TEXT(fixture, is, should) fixture_text((fixture), (is), (should), __FILE__, __LINE__)
#define BELIEVES(fixture, handle, deadline_us) fixture_believes((fixture), (handle), (deadline_us), __FILE__, __LINE__)
#define TELLS(fixture, story) fixture_tells((fixture), (story), __FILE__, __LINE__)
/* What every fixture claims. */
#define OVERBELIEF "a handle believes in no more than the server has"
/* It runs so long, and tells exactly this. */
#define TELLS_IN(fixture, span_ms, story) (run_ms((fixture), (span_ms)), TELLS((fixture), (story)))

const char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2))); /* good until thirty more */

void fixture_hush(struct fixture *fixture); /* forgets earlier reports */
void fixture_write(struct fixture *fixture, const char *tag, const char *what); /* into the story */

#endif
