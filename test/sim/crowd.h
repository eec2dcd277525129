/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd - many clients with many handles at one server, and little else: no fault but those that its owner makes. What
 * one seed of sim.h looks at in depth would cost too much here. The owner moves the handles (on_turn) and judges. */
#ifndef SIM_CROWD_H
#define SIM_CROWD_H

#include "sim.h"
#include "world/busy.h"

struct crowd;

struct crowd_client {
    struct crowd *crowd;
    unsigned index;
    struct world_memory memory;
    struct world_loop loop;
    hilock_client *client; /* NULL: it was killed, or has ended */
    char uuid[HL_UUID_LENGTH + 1];
    uint64_t stopped_at_us, died_us, thawed_us; /* true times: of its latest stop, of its death, and at which that stop ends; 0: never */
    uint64_t stopped_us;         /* its longest stop in this life */
};

enum crowd_state { CROWD_RESTS, CROWD_WAITS, CROWD_HOLDS };

struct crowd_handle {
    struct crowd_client *client;
    hilock_lock *lock; /* NULL: its client is gone */
    enum crowd_state state;
    struct world_event next; /* its owner's turn with it */
    uint64_t asked_us;
    uint32_t wait_ms;
};

struct crowd {
    struct sim_world world;
    struct net net;
    struct store store;
    struct busy busy;
    unsigned times; /* a script takes so many times of what it took on a machine at rest; 0: a server takes no time */
    struct crowd_client *clients;
    struct crowd_handle *handles;
    unsigned clients_count, handles_count;
    uint64_t scripts, scripts_us;    /* run at a server that takes time, and the time that they took */
    uint64_t touched, touched_most;  /* by scripts, and by one of them: */
    const char *touched_by;
    void *owner;
    void (*on_turn)(struct crowd_handle *handle);
    void (*on_answer)(struct crowd_handle *handle, const struct hilock_result *result); /* its state is set already */
    void (*on_lost)(struct crowd_handle *handle);
    void (*on_executed)(struct crowd_client *client, const struct message *request); /* by the server; NULL */
};

void crowd_init(struct crowd *crowd, uint64_t seed, FILE *trace);
void crowd_open(struct crowd *crowd, unsigned clients, unsigned each); /* and handles, each without a lock */
void crowd_make(struct crowd_handle *handle, const char *name, const struct hilock_lock_options *options);
void crowd_next_us(struct crowd_handle *handle, uint64_t delay_us);
void crowd_acquire(struct crowd_handle *handle, uint32_t wait_ms);
void crowd_release(struct crowd_handle *handle);
void crowd_run_to(struct crowd *crowd, uint64_t until_us);
void crowd_judge_scripts(struct crowd *crowd); /* I23 */
/* Stopped for so long: it goes on by itself. Killed: its memory goes, nothing is sent, and its handles have no locks
 * until it is open again, as another client. */
void crowd_stop(struct crowd_client *client, uint64_t span_us);
void crowd_kill(struct crowd_client *client);
void crowd_reopen(struct crowd_client *client);
int crowd_is_stopped(const struct crowd_client *client);
size_t crowd_places(const struct crowd *crowd, const char *name); /* in its queue at the store */
void crowd_close(struct crowd *crowd); /* all are closed: I9, nothing may be left of them */
void crowd_done(struct crowd *crowd, uint64_t seed, struct sim_outcome *ret_outcome);

/* ---- load.c, heirs.c ---- */

void sim_load_run(uint64_t seed, FILE *trace, struct sim_outcome *ret_outcome);
void sim_heirs_run(uint64_t seed, FILE *trace, struct sim_outcome *ret_outcome);

#endif
