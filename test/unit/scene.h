/* SPDX-License-Identifier: BSD-3-Clause */
/* scene - a play in the world of test/world: one server, parties (processes with a client each) and hands (lock handles) that write down
 * what they are told. A test sets the scene, runs time, and claims what must hold:
 *     struct party *shop = scene_open(&s, NULL);
 *     struct hand *a = hand_new(shop, "a", "stock", NULL);
 *     acquire(a, HILOCK_FOREVER);
 *     run_ms(&s, 1);
 *     TELLS(&s, "a:OK");
 * A claim that fails is printed and remembered, and the play goes on: scene_end says whether all held. It also claims what must hold in
 * every scene: nothing is left behind, no text shows a secret, and (unless the store was tampered with) no handle believes in a hold that
 * the server does not have, or not for so long. */
#ifndef TEST_UNIT_SCENE_H
#define TEST_UNIT_SCENE_H

#include "secret.h"
#include "world/plan.h"

struct scene;
struct hand;

enum { SCENE_TEXT = 400, SCENE_SERVERS_MAX = 12, SCENE_MASTERS_MAX = 5 };
#define SCENE_SECRET TEST_SECRET

struct party {
    TAILQ_ENTRY(party) entry;
    struct scene *scene;
    struct world_loop loop;
    struct net_port port;
    char uuid[37];
    hilock_client *client; /* NULL: gone, or never opened */
    hilock_status status;  /* of the opening */
    struct hilock_error error;
    int tells;             /* client events go into the story */
    int is_closed, is_closing;
    uint64_t closed_at_us;
    struct hilock_event event; /* latest of the client; its texts below */
    char event_detail[SCENE_TEXT], event_node[SCENE_TEXT];
    unsigned lines;
    char line[SCENE_TEXT]; /* latest logged */
    char *log;             /* all of it */
    size_t log_used, log_room;
    void (*on_closed)(struct party *party); /* inside the callback */
};

struct hand {
    TAILQ_ENTRY(hand) entry;
    struct scene *scene;
    struct party *party;
    hilock_lock *lock; /* NULL: freed */
    const char *const *names; /* of a multi; NULL: one name */
    char tag[24];
    struct hilock_result result; /* latest; its texts are copies */
    struct hilock_event event;   /* latest */
    char holder[SCENE_TEXT], detail[SCENE_TEXT];
    uint64_t at_us;              /* of the latest callback */
    int calls;                   /* callbacks, ever */
    const char *when;            /* the callback inside which `then` runs, as in the story; NULL: the next */
    void (*then)(struct hand *hand);
};

struct scene {
    struct world world;
    struct net net;
    struct store store;
    struct store *more[SCENE_SERVERS_MAX]; /* scene_server */
    unsigned more_count;
    unsigned masters_count; /* that decide by votes: belief is held against them all; 1: there is no quorum */
    struct net_place *place;
    struct plans plans;
    struct world_memory memory;
    TAILQ_HEAD(, party) parties;
    TAILQ_HEAD(hands, hand) hands;
    unsigned parties_ever, hands_count;
    char *story;
    size_t story_used, story_room;
    int is_broken; /* how often; the first few are printed */
    int is_tampered; /* the store was changed behind the clients' backs: belief is not held against it */
    int is_untold;   /* no story is written: too many hands */
};

extern int scene_is_quiet; /* failed claims are not printed: they are expected */
enum { SCENE_WOUND_MAX = 100 };
extern char *scene_wound;  /* NULL, or room for so many bytes of the first claim that fails, with ' for each quotation mark */
extern const char scene_where[]; /* the server's address */
extern const char *const scene_urls[SCENE_MASTERS_MAX]; /* of the servers, the first at scene_where */

void scene_begin(struct scene *scene);
struct store *scene_server(struct scene *scene, const char *where); /* one more: each belief must be kept by one of them */
void scene_masters(struct scene *scene, unsigned count); /* so many servers: scene_urls names them */
struct store *store_at(struct scene *scene, unsigned i);
int scene_end(struct scene *scene); /* ends what still lives. 1: all claims held */

/* options: what the scene does not need itself (allocator, log, events). May be NULL. */
struct party *scene_open(struct scene *scene, const struct hilock_client_options *options); /* begun; connected in 1 ms */
struct party *scene_connect(struct scene *scene, const struct hilock_client_options *options); /* and run until it is */
struct hand *hand_new(struct party *party, const char *tag, const char *name, const struct hilock_lock_options *options);

struct hand *multi_new(struct party *party, const char *tag, const char *const *names, const struct hilock_lock_options *options); /* names outlive it */

hilock_status acquire(struct hand *hand, uint32_t wait_ms);
hilock_status release(struct hand *hand);       /* with a callback */
hilock_status release_quietly(struct hand *hand);
hilock_status cancel(struct hand *hand);
hilock_status peek(struct hand *hand);
hilock_status force(struct hand *hand, const char *holder); /* force_release */
hilock_status extend(struct hand *hand, uint32_t lease_ms);
void hand_free(struct hand *hand);
void hand_drop(struct hand *hand);
hilock_status party_close(struct party *party, uint32_t drain_ms);
void party_abandon(struct party *party);
void when(struct hand *hand, const char *told, void (*then)(struct hand *hand)); /* inside that callback, once */
struct hand *held(struct party *party, const char *tag, const char *name, const struct hilock_lock_options *options); /* a new one that has it now */

void run_us(struct scene *scene, uint64_t span_us);
void run_ms(struct scene *scene, uint64_t span_ms);
void run_to(struct scene *scene, uint64_t at_us);
int run_until_told(struct scene *scene, uint64_t most_ms); /* until the story goes on; 0: it did not */
uint64_t scene_us(const struct scene *scene);

struct plan *plan(struct scene *scene, struct plan plan); /* plan_add */
#define PLAN(scene, ...) plan((scene), (struct plan){__VA_ARGS__})

/* What tells a party of its grant, said by hand: it counts from its heartbeat `number`, and was made so many ms after that. */
enum { PUSH_TEXT = 300 };
void push_text(char to[PUSH_TEXT], const struct party *party, const char *name, int id, int number, unsigned since_ms, uint64_t token);
unsigned push_grant(const struct party *party, const char *name, int id, int number, unsigned since_ms, uint64_t token); /* how many heard */

size_t asked(const struct scene *scene, const char *word);              /* commands that the server executed */
uint64_t asked_at_us(const struct scene *scene, const char *word, int nth); /* when; nth -1: the latest */
uint64_t sent_at_us(const struct scene *scene, const char *word, int nth);  /* when it left, at the usual latency */
int is_ours(struct scene *scene, const char *name);                     /* some party's id is the holder at the server */

int scene_claim(struct scene *scene, int holds, const char *claim, const char *file, int line);
int scene_tells(struct scene *scene, const char *story, const char *file, int line); /* exactly this since the last look */
int scene_same(struct scene *scene, uint64_t is, uint64_t should, const char *claim, const char *file, int line);
int scene_text(struct scene *scene, const char *is, const char *should, const char *file, int line);
int scene_believes(struct scene *scene, const struct hand *hand, uint64_t deadline_us, const char *file, int line); /* until exactly then */
#define HOLDS(scene, claim) scene_claim((scene), (claim) != 0, #claim, __FILE__, __LINE__)
#define SAME(scene, is, should) scene_same((scene), (uint64_t)(is), (uint64_t)(should), #is " == " #should, __FILE__, __LINE__)
#define TEXT(scene, is, should) scene_text((scene), (is), (should), __FILE__, __LINE__)
#define BELIEVES(scene, hand, deadline_us) scene_believes((scene), (hand), (deadline_us), __FILE__, __LINE__)
#define TELLS(scene, story) scene_tells((scene), (story), __FILE__, __LINE__)

void scene_hush(struct scene *scene); /* what was told so far is no matter */
void scene_write(struct scene *scene, const char *tag, const char *what); /* into the story */

#endif
