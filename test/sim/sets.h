/* SPDX-License-Identifier: BSD-3-Clause */
/* sets - places that are not alone: a master and its replicas (sets.c), the Sentinels that name it (sentinels.c), sets that share the slots of a
 * cluster (cluster.c). What is true is kept here; what a place thinks is in its store (store/peers.h), and may be old.
 * Invariant: of a set one place decides at a time, and of a name one set; sim_decides says which. */
#ifndef SIM_SETS_H
#define SIM_SETS_H

#include "memory/peers.h"
#include "world.h"

struct sim;
struct message;
struct sim_name;
struct sim_place;
struct sim_process;
struct store_peer;

enum { SIM_SETS_MAX = 3, SIM_SET_PLACES_MAX = 3, SIM_SENTINELS = 3, SIM_SETS_PLACES = 6 };

enum sim_failover { /* what becomes of the master */
    FAILOVER_HANDED_OVER, /* nothing: it waits until another one knows all, and becomes a replica */
    FAILOVER_FORCED,      /* a replica that lags takes over, and it soon becomes one */
    FAILOVER_KILLED,      /* dead, and back after a while */
    FAILOVER_STOPPED,     /* stopped, and it goes on with what it was asked as if nothing had been */
    FAILOVER_CUT_OFF      /* cut off from the other servers: it goes on for its clients until it learns of that */
};

struct sim_replica { /* of a set, or its master's own, which is not looked at */
    struct sim_set *set;
    struct sim_place *place;
    struct sim_store_data *behind; /* it hears nothing, and has this, which was its master's after so many writes. NULL: it keeps up */
    uint64_t writes;
};

enum sim_set_step { SET_IS_QUIET, SET_LAGS, SET_IS_STRUCK, SET_IS_REPLACED, SET_HAS_STALE };

struct sim_set {
    struct sim *sim;
    struct sim_place *places[SIM_SET_PLACES_MAX];
    struct sim_replica replicas[SIM_SET_PLACES_MAX]; /* of each place */
    unsigned index, count;
    struct sim_place *master; /* that decides */
    struct sim_place *next;   /* the one that will */
    struct sim_place *former; /* that was replaced, and does not know it yet; NULL */
    enum sim_set_step step;
    enum sim_failover kind;
    unsigned epoch;           /* how many masters there were before */
    uint64_t config_epoch;    /* of a cluster: of its master */
    uint64_t known_us;        /* true time from which on all places but the former one know the master */
};

struct sim_move { /* of a slot, key by key */
    int is_on, is_slow, is_leaving; /* leaving: the source knows that it goes */
    unsigned slot;
    struct sim_name *name;          /* that it is about */
    struct sim_set *from, *to;
};

struct sim_hole { int is_on, is_total; unsigned first, last; }; /* slots without a server; total: none is served then */

struct sim_sentinel {
    struct sim *sim;
    struct sim_place *place;
    unsigned told;           /* the epoch of the latest switch that it reported */
    struct sim_place *names; /* the master that it named then */
};

struct sim_served { const struct sim_set *set; unsigned epoch; }; /* the server of a process */

struct sim_sets {
    struct sim_set list[SIM_SETS_MAX];
    unsigned count; /* 0: every place is alone */
    struct sim_move move;
    struct sim_hole hole;
    struct sim_sentinel sentinels[SIM_SENTINELS];
    int is_lossy;          /* failovers lose what was acknowledged last */
    int is_out_of_step;    /* clocks of places are apart: what was acknowledged may end sooner at the next master */
    uint8_t owners[SIM_SLOTS]; /* of a cluster: which set */
    uint64_t newest_epoch;     /* of a cluster's masters */
};

void sim_sets_init(struct sim *sim);  /* the places are there */
void sim_sets_start(struct sim *sim); /* from now on, until the heal */
void sim_sets_heal(struct sim *sim);
void sim_sets_done(struct sim *sim);

struct sim_set *sim_set_of(const struct sim_place *place); /* NULL: it is alone, or a Sentinel */
struct sim_place *sim_sets_decide(struct sim *sim, const struct sim_name *name);
int sim_set_moves(const struct sim_set *set);      /* a slot goes to it, or from it */
int sim_is_former(const struct sim_place *place); /* replaced, and goes on as a master */
int sim_is_unsettled(struct sim *sim, const struct sim_name *name); /* its slot moves, or its set fails over */
void sim_sets_taint(struct sim_place *place);     /* all names that it decides about */
void sim_sets_taint_name(struct sim *sim, struct sim_name *name);
void sim_sets_meddle(struct sim *sim, struct sim_name *name); /* and not because a failover lost something */
/* Each place from that one on hears of it at a time of its own; then all know the masters. */
void sim_sets_hear(struct sim *sim, struct hl_random *random, unsigned first, uint64_t most_us,
                   void (*hear)(void *place));
/* the stores' event: others hear it too */
void sim_sets_said(void *place, int is_sharded, const struct sim_said *said);

/* A command was executed there for a process: I14. */
void sim_sets_answered(struct sim_process *process, struct store_peer *peer, const struct message *request,
                       const struct hl_reply *reply);
struct sim_name *sim_name_in(struct sim *sim, const struct message *request); /* that it is about; NULL: none */

/* ---- replicas.c ---- */

void sim_replicas_start(struct sim *sim);               /* now and then one falls behind, until the heal */
void sim_replica_fall_behind(struct sim_replica *replica);
void sim_replica_catch_up(struct sim_replica *replica);
/* How many replicas have what that connection wrote last. They need a moment to say so, more than a moment if it is
 * much. If it wrote nothing, the connected ones count, behind or not: so it is from Redis 7.2 on. */
unsigned sim_replicas_having(const struct store_peer *peer, uint64_t *ret_look_us);
unsigned sim_replicas_max(const struct sim *sim); /* that a name can ask for: all there are */

/* ---- sentinels.c ---- */

void sim_sentinels_init(struct sim *sim);
void sim_sentinels_hear(struct sim *sim, struct hl_random *random); /* one at once, the others in a while */
void sim_sentinels_lose_one(struct sim *sim, struct hl_random *random);
void sim_sentinels_told(struct sim_process *process, const struct sim_place *place, const struct hl_reply *reply); /* that place, to that process */
void sim_sentinels_heal(struct sim *sim);

/* ---- cluster.c ---- */

void sim_cluster_init(struct sim *sim);
void sim_cluster_hear(struct sim *sim, struct hl_random *random); /* all of them, in a while */
void sim_cluster_learn(struct sim_place *place);                  /* all that is true, now */
void sim_cluster_date(struct sim_set *set);                       /* its master is elected, or gets a slot: none has a newer config-epoch */
void sim_cluster_move(struct sim *sim, struct hl_random *random); /* a slot */
void sim_cluster_hole(struct sim *sim, struct hl_random *random); /* some slots have no server for a while */
void sim_cluster_heal(struct sim *sim);

#endif
