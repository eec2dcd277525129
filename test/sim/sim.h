/* SPDX-License-Identifier: BSD-3-Clause */
/* sim - one seed's cast: what it is made of and how it is run. The order of dependence is world <- server <- network <- process <- actor <-
 * run; check looks at all of them. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "client/client.h"
#include "memory/store.h"
#include "sets.h"
#include "world.h"
#include "world/net.h"

enum { SIM_PROCESSES_MAX = 20, SIM_ACTORS_MAX = 6, SIM_NAMES_MAX = 10, SIM_NAME_LENGTH = 16, SIM_PLACES_MAX = 9, SIM_PORT = 7000, SIM_HANDLES_MAX = 36 };

#define SIM_HOST "127.0.0.1"

struct sim;

/* ---- deployment.c: where the locks of a seed live ---- */

enum sim_deployment { SIM_SINGLE, SIM_QUORUM, SIM_SENTINEL, SIM_CLUSTER, SIM_DEPLOYMENTS };

struct sim_choice { /* what is asked of every seed, instead of chance */
    int has_deployment;
    enum sim_deployment deployment;
    int is_crowd, is_hot; /* the plays of run.c */
    int is_struck;        /* hot, with faults (share.c) */
    int is_load, is_heirs; /* the plays of load.c and heirs.c, and nothing else of this */
    int has_replicas; /* in the worlds of sets: some ask for them */
    int is_unguarded; /* no restart guard, and nothing of what that costs is excused: overlaps are to be found */
    unsigned strains; /* a bit for each */
};
void sim_deployment_choose(struct sim *sim, const struct sim_choice *choice);
const char *sim_deployment_name(enum sim_deployment deployment);
int sim_deployment_find(const char *name, enum sim_deployment *ret_deployment);
struct hilock_client_options sim_deployment_options(const struct sim *sim); /* where it connects to, and the guard */
struct sim_name;
struct sim_place;
unsigned sim_deciding(const struct sim *sim, const struct sim_name *name); /* how many places decide about a name */
struct sim_place *sim_decides(struct sim *sim, const struct sim_name *name, unsigned i);

/* ---- swarm: each seed enables a random set of faults; one in ten none ---- */

struct sim_swarm {
    uint64_t mean_gap_us;     /* between faults of the world; 0: none at all */
    int resets, cuts, delays, refusals, stalls, restarts_kept, restarts_empty, flushes, script_flushes, errors, steps, shortens, freezes,
        suspends, kills, failovers;
    uint32_t latency_us, tail_us; /* of a message: least, and mean of what comes on top */
};
void sim_swarm_choose(struct sim *sim, const struct sim_choice *choice);
void sim_faults_start(struct sim *sim); /* faults.c: from now on, until the heal */
void sim_faults_heal(struct sim *sim);
struct sim_process;
void sim_faults_connecting(struct sim_process *process); /* a link of it begins */

/* ---- strains.c: what some seeds have besides ---- */

enum sim_strain {
    STRAIN_NAMES,     /* names that are alike */
    STRAIN_INFLIGHT,  /* one or two requests at a time */
    STRAIN_SENDS,     /* links refuse some */
    STRAIN_MEMORY,    /* allocations fail, one of many or for a while */
    STRAIN_CALLBACKS, /* some of the user's go on for up to 1.5 leases */
    STRAIN_HOLES,     /* of a cluster: slots without a server */
    STRAIN_JAVA,      /* programs of another library, at a single server */
    STRAIN_SHARE,     /* some names are held by several handles together. Only when it is asked for: no other seed plays anything else for it */
    SIM_STRAINS
};
int sim_strain_find(const char *word, enum sim_strain *ret_strain);
const char *sim_strain_word(enum sim_strain strain);
void sim_strains_choose(struct sim *sim);
void sim_strains_start(struct sim *sim); /* from now on, until the heal */
int sim_has_strain(const struct sim *sim, enum sim_strain strain);
int sim_strain_sends(void *process);                   /* 0: refused */
int sim_strain_refuses(void *process);                 /* an allocation of it */
/* It is NO_MEMORY, and an allocation has been refused since so many were. */
int sim_strain_excuses(struct sim_process *process, uint64_t lacks, hilock_status status);
void sim_strain_lingers(struct sim_process *process);  /* last in a callback of the user's: some take their time */

/* ---- names.c ---- */

void sim_names_choose(struct sim *sim); /* their texts */
void sim_names_refused(struct sim_process *process, const struct hilock_lock_options *options); /* I5: bad ones are */

/* ---- sharing.c: S1..S10 ---- */

enum { SIM_SHARES_MAX = 48 };
enum sim_mode { MODE_FOREIGN, MODE_ALONE, MODE_SHARED }; /* foreign: nobody has it, or another program */
struct sim_share { char holder[HL_HOLDER_MAX]; size_t length; uint64_t token, end_us; }; /* end: by the server's clock; 0: it has none */
struct sim_sharing_look { /* what the store has of a name */
    enum sim_mode mode;
    int64_t left_us, ends_left_us;
    uint64_t life_us; /* of the name, by the server's clock; 0: it has no end */
    unsigned count, ends, members; /* holders; those of them with an end; ends in all */
    struct sim_share shares[SIM_SHARES_MAX];
};
struct sim_sharing { /* of a name */
    uint32_t usual;             /* the holders_max of most of its handles; 0: any */
    uint32_t local_ms;          /* the share_local_ms of its readers */
    const struct store *store;  /* that the rest is about; NULL: nothing is known */
    uint64_t begun_us, token_highest;
    int is_meddled;             /* what it has may have been lost or shortened in part */
    struct sim_sharing_look before;
    const struct sim_actor *first; /* in the queue, as last seen */
    uint64_t fits_since_us;
};
struct sim_actor;
void sim_sharing_choose(struct sim *sim); /* which names */
uint32_t sim_sharing_number(const struct sim_actor *actor); /* holders_max of its next handle */
uint32_t sim_sharing_local_ms(const struct sim_actor *actor, uint32_t holders_max); /* share_local_ms of that handle */
/* 1: it has the share of another one of its client, and passes others for that: S10. */
int sim_sharing_joined(const struct sim_actor *actor, const struct hilock_result *result);
int sim_shares(const struct sim_actor *actor); /* its handle may hold together with others; after a downgrade, too */
int sim_sharing_downgrades(struct sim_actor *actor); /* its turn to let go: 1: it goes on as one that shares */
/* 1: that name is shared, and the share of this holder ends then, by the server's clock. */
int sim_sharing_end(const struct store *store, const char *name, const char *holder, size_t length, uint64_t *ret_end_us);
void sim_sharing_executed(struct sim *sim, const struct store *store, const struct message *request, const struct hl_reply *reply);
void sim_sharing_passed(struct sim *sim, struct sim_name *name); /* now and then */

/* ---- java.c ---- */

enum { SIM_JAVAS_MAX = 3, SIM_JAVA_NAMES = 3 };
struct sim_java {
    struct sim *sim;
    struct store_peer *peer; /* of the channel of names[had], while it waits; NULL: it does not */
    char holder[16];
    unsigned names[SIM_JAVA_NAMES], count, had, served; /* served: since the heal */
    uint64_t until_us;       /* true time: then it gives back what it has */
    struct world_event next;
};
void sim_java_start(struct sim *sim);
void sim_java_cut(struct sim *sim); /* their server is gone, or restarts */
void sim_java_end(struct sim *sim); /* they give back what they have, and stop */
int sim_java_wants(const struct sim *sim, const struct sim_name *name);
struct sim_actor;
void sim_java_passed(struct sim_actor *actor); /* I20: now and then */

/* ---- server.c ---- */

struct sim_place;

struct sim_place { /* an address, and the server there */
    struct sim *sim;
    unsigned index;
    struct net_place *at;
    struct store *store;            /* the server that a new link reaches */
    struct store *former;           /* a replaced master, which goes on for clients that are still linked to it; NULL */
    struct sim_store_data *replica; /* what the next one knows, once it is on its way */
    int is_away;                    /* crashed, and not back yet */
    uint64_t started_us;            /* true time of its latest restart; 0: none */
    uint64_t set_back_us;           /* its clock was, since then: by so much too short an uptime it may have told */
    uint64_t refuses_until_us;      /* it answers errors */
    uint64_t forgot_us;             /* true time of its latest crash with loss of data, which the restart guard is for; 0: none */
};
struct store *sim_server_new(struct sim_place *place);
void sim_server_free(struct store *store);
void sim_place_init(struct sim *sim, unsigned index);
void sim_place_done(struct sim_place *place);
void sim_server_restart(struct sim_place *place, int keeps_data); /* its links are reset */
void sim_server_started(struct sim_place *place);                 /* again, now */
int sim_server_is_stalled(const struct sim_place *place);

/* ---- kept.c ---- */

struct sim_actor;
/* For how long, in true time, the actor's present hold is believed in by that part of it, and kept for it by the place that decides, under its
 * token. 0: it does not stand. */
struct sim_kept { const struct sim_name *name; const struct sim_place *place; uint64_t believed_us, kept_us; int is_known; }; /* known: the id is there */
int sim_kept(const struct sim_actor *actor, unsigned part, struct sim_kept *ret);
/* For how long, in true time, that part of it must be kept though failovers lose writes: all replicas have confirmed it. */
uint64_t sim_confirmed_us(const struct sim_actor *actor, unsigned part);
int sim_is_tainted(const struct sim_actor *actor); /* any of its names, since it began */
int sim_is_kept(const struct sim_actor *actor, uint64_t token); /* the hold it believed in after the latest turn, at any server */
int sim_is_free(struct sim *sim, const struct sim_name *name); /* and can be had */
int sim_can_be_had(struct sim *sim, const struct sim_name *name); /* enough places are there, and under no restart guard */
uint64_t sim_tainted_us(struct sim *sim, const struct sim_name *name); /* true time since which two may hold it, for what was lost; 0: none */
unsigned sim_keys_left(struct sim *sim);          /* that are not tokens, in total */
unsigned sim_subscriptions_left(struct sim *sim);

/* ---- failover.c ---- */

void sim_failover_start(struct sim_place *place, struct hl_random *random); /* a replica that lags takes over soon */
void sim_failover_end(struct sim_place *place); /* the former master, if any, falls silent */
void sim_taint(struct sim_place *place);        /* what it has acknowledged may not be so */

/* ---- network.c ---- */

void sim_network_init(struct sim *sim);
void sim_network_reset_some(struct sim *sim, struct hl_random *random); /* one link, chosen by chance */
void sim_network_cut_some(struct sim *sim, struct hl_random *random);
int sim_network_is_cut(const struct sim_process *process); /* a link of it */
void sim_network_heal(struct sim *sim);                                 /* cut links are reset */

/* ---- process.c ---- */

struct sim_process {
    struct sim *sim;
    unsigned index;
    struct world_memory memory;
    struct world_loop loop;     /* its clock is BOOTTIME; frozen, it runs nothing before its lane's until_us */
    uint64_t turned_us;         /* true time of the latest turn of its loop */
    uint64_t lingered_us;       /* true time at which a callback began in this turn that took its time; 0: none */
    uint64_t turn;              /* how many */
    hilock_client *client;      /* NULL: between two lives */
    int is_closing;
    uint64_t short_until_us; /* out of memory until then */
    uint64_t struck_us;      /* true time at which it was last seen dead, frozen or cut off */
    struct sim_served served[SIM_NAMES_MAX];
    unsigned answered_epoch;        /* of the latest master that a Sentinel has named to it */
};
void sim_process_init(struct sim_process *process, struct sim *sim, unsigned index);
void sim_process_open(struct sim_process *process);
void sim_process_kill(struct sim_process *process); /* its memory goes; nothing is sent */
int sim_process_is_frozen(const struct sim_process *process);
uint64_t sim_process_now_us(const struct sim_process *process);
void sim_process_turned(struct sim_process *process); /* after each event given to it: checks what it believes */

/* ---- actor.c ---- */

enum sim_actor_state { ACTOR_RESTS, ACTOR_WAITS, ACTOR_HOLDS };

enum { SIM_PARTS_MAX = (int)SIM_NAMES_MAX > (int)SIM_PLACES_MAX ? (int)SIM_NAMES_MAX : (int)SIM_PLACES_MAX };
struct sim_actor { /* one would-be holder: wait, hold, write, release, now and then something else */
    struct sim_process *process;
    char who[24]; /* "p3.1": the second actor of the fourth process */
    unsigned name;
    unsigned names[SIM_NAMES_MAX], names_count; /* of a multi; else name alone */
    uint64_t tokens[SIM_NAMES_MAX];             /* while it holds; of a quorum's hold and of kinds that have none: 0 */
    unsigned replicas;                          /* that are to confirm a grant */
    uint64_t confirmed_us[SIM_NAMES_MAX];       /* while it holds: local time until which what they confirmed lasts; 0: it is not known */
    hilock_lock *lock;
    enum sim_actor_state state;
    struct world_event next;
    int is_answered_by_cancel, is_releasing; /* is_releasing: how many answers are due */
    int served;        /* since the heal */
    int is_renewed;    /* as its lock was made */
    uint32_t lease_ms, least_ms, hold_max_ms; /* least: min_validity */
    hilock_kind kind;
    uint64_t ticket;   /* FAIR: in the queue, as known after the latest turn; 0: none */
    uint64_t placed_us; /* when that ticket was first known */
    int was_pushed;    /* FAIR: a grant to the present wait was pushed on its channel */
    uint64_t overtakers; /* FAIR: those others, by their place in sim->actors */
    uint64_t bound_since_us; /* true time from which its wait is judged by its place; 0: it is not */
    uint32_t bound_places;   /* the place that it had then */
    unsigned overtaken; /* FAIR: grants to others in this wait, that it could have had. Of hot names: of any that it wants */
    uint64_t token;
    unsigned turn;     /* of the hold at the store: the token that is kept there, and so many */
    uint64_t ends_us;  /* local time at which a wait must be over; 0: a try; UINT64_MAX: never */
    uint64_t believed_id, part_ids[SIM_PARTS_MAX], part_tokens[SIM_PARTS_MAX]; /* after the latest turn; of a part that was not ours 0 and UINT64_MAX */
    uint64_t deadline_us; /* local time until which it believed after the latest turn; 0: it did not hold */
    int is_reentrant, is_entering, is_extending; /* the latter two: an answer is due */
    uint32_t entries, extended_ms;         /* entries: re-entries answered OK and not released */
    uint64_t grants, entered_grant, extending_grant; /* grants: ever; which of them was entered, and extended */
    int is_downgraded, is_downgrading;     /* a downgrade was accepted, and not refused; its answer is due */
    uint64_t downgraded_grant;
    hilock_validity *validity;             /* of the hold validity_id of the client validity_uuid; NULL: none */
    uint64_t validity_id, validity_grant;
    char validity_uuid[HL_UUID_LENGTH];
    uint64_t behind_java_us, behind_java_id; /* true time since which it keeps this hold behind another program */
    uint64_t named_us; /* true time since which its handle has these names */
    uint64_t asked_us; /* true time of the latest acquire */
    uint64_t lacks;    /* allocations that its process had been refused by then */
    uint64_t begun_us; /* true time at which the request left that was granted */
};
void sim_actor_init(struct sim_actor *actor, struct sim_process *process, unsigned index);
void sim_actor_start(struct sim_actor *actor); /* its process has a client */
void sim_actor_die(struct sim_actor *actor);   /* its process was killed, or closed */

void sim_actor_lost(struct sim_actor *actor); /* reported: by on_lost, or in its place */

/* ---- inside.c: of a handle that holds ---- */

struct hl_hold;
unsigned sim_inside_count(const struct sim_actor *actor); /* its parts */
int sim_inside_is_handed_on(const struct sim_actor *actor); /* what it holds was another handle's of its client */
const struct hl_hold *sim_inside_hold(const struct sim_actor *actor, unsigned i); /* NULL: that one is not held */
uint64_t sim_inside_deadline_us(const struct sim_actor *actor); /* local; 0: it does not believe */
uint64_t sim_inside_end_us(const struct sim_actor *actor);      /* the same, also of a loss that is still to be reported */
uint64_t sim_inside_left_us(const struct sim_actor *actor);     /* as reported to its user */
uint64_t sim_inside_id(const struct sim_actor *actor);          /* of this hold, and no other of the handle */

/* ---- bound.c: I18 ---- */

void sim_bound_asks(struct sim_actor *actor);
void sim_bound_granted(struct sim_actor *actor);
void sim_bound_let_go(const struct sim_actor *actor);
void sim_bound_turned(struct sim_actor *actor);

/* ---- held.c ---- */

enum sim_held { HELD_GOES_ON, HELD_LETS_GO, HELD_HAS_ENDED };
void sim_held_begin(struct sim_actor *actor);
enum sim_held sim_held_step(struct sim_actor *actor); /* its turn to let go: it may do something else */
void sim_held_silence(struct sim_actor *actor);
void sim_held_die(struct sim_actor *actor);           /* its lock is freed */
void sim_check_validity(struct sim_actor *actor);     /* I2 */

/* ---- queue.c ---- */

size_t sim_queue_holder(const struct sim_actor *actor, uint64_t id, char holder[HL_HOLDER_MAX]); /* as the store has it, of any kind */
void sim_queue_asks(struct sim_actor *actor);    /* an acquire begins */
void sim_queue_turned(struct sim_actor *actor);
struct hl_queue_place *sim_queue_wait(const struct sim_actor *actor); /* where it stands; NULL: nowhere, or it is decided */
uint64_t sim_queue_calm_us(const struct sim *sim, const struct sim_name *name); /* since when no fault concerns its waiters; 0: one does */
void sim_queue_said(struct sim *sim, const struct sim_reply *push); /* by the store, to somebody */
void sim_queue_granted(struct sim_actor *actor); /* I7 */
void sim_queue_leaves(const struct sim_actor *actor); /* gives up, if it waits */
void sim_queue_dies(struct sim_actor *actor);         /* its process is about to */

/* ---- contest.c ---- */

void sim_contest_asks(struct sim_actor *actor);    /* an acquire begins */
void sim_contest_granted(struct sim_actor *actor); /* I16 */

/* ---- share.c: I19 ---- */

void sim_share_granted(const struct sim_actor *actor);
void sim_share_passed(struct sim *sim); /* now and then */

/* ---- check.c ---- */

struct sim_name {
    char text[SIM_NAME_LENGTH];
    hilock_kind kind;            /* of all that want it */
    unsigned slot, set;          /* of a cluster: its hash slot; which set has it */
    uint64_t unsettled_us;       /* true time at which its slot moved, or its set failed over, last */
    int is_mixed;                /* FAIR, but some want it as a MUTEX */
    uint64_t token_highest;      /* of the grants, in the order of the store */
    uint64_t resource_us; /* and the true time at which that grant was asked for */
    uint64_t resource_token;     /* highest that the fenced resource has accepted */
    uint64_t granted_us;         /* true time at which the latest grant was asked for */
    uint64_t kept_by_struck_us;  /* true time at which a process that was struck was last seen to keep a vote for it */
    uint64_t shared_since_us;    /* true time since which its grants are counted: */
    unsigned shares[SIM_PROCESSES_MAX];
    uint64_t free_since_us;      /* true time; 0: held */
    uint64_t tenure_since_us;    /* true time at which the latest hold was reported to its first handle */
    uint64_t tenure_us;          /* the longest of them, until its last handle let go */
    struct { uint64_t since_us, id; } unknown[SIM_PLACES_MAX]; /* a hold that its client knows nothing of; 0: none */
    uint64_t stray_us, stray_id; /* FAIR: of the queue, and its client knows nothing of it: since when */
    uint64_t tainted_us[SIM_PLACES_MAX]; /* true time of the latest meddling there (data lost, lease shortened) */
    uint64_t meddled_us;         /* of a set: the same, but for what its failovers lost */
    int clock_stepped_back;
    int is_shared;               /* several handles may hold it together */
    struct sim_sharing sharing;
    uint64_t token_alone;        /* highest that was granted to one that has it alone */
    uint64_t resource_alone;     /* highest of those that the resource has accepted */
    uint64_t resource_alone_us;  /* when the hold that wrote it began */
};
void sim_check_beliefs(struct sim_process *process); /* I1, I2 after each turn */
void sim_check_grant(struct sim_actor *actor, const struct hilock_result *result); /* I3, I5 */
void sim_check_write(struct sim_actor *actor, int is_late); /* I4 */
int sim_wants(const struct sim_actor *actor, unsigned name);
void sim_check_loss(struct sim_actor *actor, const struct hilock_event *event); /* I5, I13 */
void sim_check_waited(struct sim_process *process, uint64_t id); /* I15: asked over a link that WAIT blocks */
void sim_check_order(struct sim_actor *actor); /* I5: before any callback but a loss */
void sim_check_released(struct sim_actor *actor); /* I5: a release is answered once */
void sim_check_names(struct sim *sim); /* I6, I8, I11: now and then */
void sim_check_log(struct sim *sim, const char *line); /* I12 */
void sim_check_end(struct sim *sim); /* I9: all is closed */

/* ---- run.c ---- */

struct sim {
    struct sim_world world;
    struct sim_swarm swarm;
    struct sim_choice choice;
    enum sim_deployment deployment;
    unsigned needed;      /* of the places that decide about a name: so many must say yes */
    const char *urls[SIM_PLACES_MAX + 1]; /* of a quorum; NULL ends them. Of Sentinels, and of a cluster: one */
    int has_guard;        /* its restart guard is on: */
    uint32_t guard_ms;    /* as long as any lease may be, extended ones included; 0: off */
    struct sim_place places[SIM_PLACES_MAX];
    struct sim_sets sets;
    struct sim_process processes[SIM_PROCESSES_MAX];
    struct sim_actor actors[SIM_HANDLES_MAX];
    struct sim_name names[SIM_NAMES_MAX];
    struct sim_java javas[SIM_JAVAS_MAX];
    unsigned places_count, processes_count, actors_count, names_count, javas_count;
    int has_extras; /* actors extend, enter again, keep validities */
    int has_multis; /* some want several names at once */
    int has_replicas; /* some want replicas to confirm, and replicas fall behind */
    int is_crowd; /* one multi each of twenty processes, over ten names */
    int is_hot; /* a few names that many want again at once, and no fault (contest.c) */
    uint64_t contests; /* grants of them */
    int is_duel; /* two handles of two processes and one name: no other's messages repair what was missed */
    struct net net;
    int is_healed, is_ending, is_over; /* is_over: all is closed and checked */
    uint64_t healed_us;
    uint64_t ghost_us; /* true time at which a dead link's renewal last found its hold */
    uint32_t lease_ms, command_timeout_ms, turns_max; /* lease: the longest of any handle */
    uint32_t inflight_max; /* requests at a time; 0: many */
    unsigned strains;      /* a bit for each */
    int is_lingering;      /* a callback takes its time */
};

/* The world goes on until then. Also from within a callback that takes its time. */
void sim_pass(struct sim *sim, uint64_t until_us);

struct sim_outcome {
    uint64_t seed, hash, steps, virtual_us;
    uint64_t sometimes[SIM_SOMETIMES_COUNT];
    int is_broken;
    char why[SIM_WHY_MAX];
};
void sim_run(uint64_t seed, const struct sim_choice *choice, FILE *trace, struct sim_outcome *ret_outcome);

#endif
