/* SPDX-License-Identifier: BSD-3-Clause */
/* kind - the commands and replies of every kind of lock, as a table: it builds argv, and reads replies. The lock
 * machine uses the table of a handle's kind, and never tests for a kind by name. A request may have several forms,
 * scripts and native commands. Each function that builds a command returns the form that it chose. The answer is read
 * as that form, and an answer of another form is a fault (R9). */
#ifndef HL_WIRE_KIND_H
#define HL_WIRE_KIND_H

#include "base/command.h"
#include "wire/holder.h"
#include "wire/record.h"
#include "wire/response.h"

struct hl_target { /* the client, the name and the holder of a command; the texts stay with the caller */
    const char *name;
    size_t name_length;
    const char *uuid; /* the uuid of the client; with the number of the acquisition and the label of the client it is
                         the holder */
    uint64_t id;
    const char *label; /* NULL: there is no label */
};

/* Grants to waiters that were not used within their windows, the newest first. */
enum { HL_LAPSED_MAX = 8 };
struct hl_lapsed {
    unsigned count;
    uint64_t window_ms;             /* the window of the newest grant, as it stands at the store */
    char holder[HL_HOLDER_MAX + 1]; /* the holder of the newest grant: no other hold of its client is meant */
    struct { uint64_t at_us; char client[HL_UUID_LENGTH + 1]; } of[HL_LAPSED_MAX]; /* at_us: by the server's clock */
};

/* ---- the arguments of each command. A kind ignores those that it does not need. ---- */

struct hl_acquire_params {
    uint64_t lease_ms;
    uint64_t not_after_ms; /* the server time after which it is refused; 0: never */
    uint64_t token_ttl_ms;
    unsigned reserved;     /* how many tokens it reserves for hand-offs */
    uint32_t holders_max;  /* how many may hold the name together with this holder, itself included */
    int is_sharded;        /* the channels are sharded, as those of a cluster's slots */
    int is_second;         /* the first form was answered HL_AGAIN */
    /* only kinds with a queue use the members below */
    struct hl_queue_entry entry;   /* the place that it takes or keeps; without an entry it is a try */
    struct hl_heartbeat heartbeat; /* with an entry */
    uint64_t ticket;       /* with an entry: the ticket that it has; 0: none yet */
    uint32_t queue_max;    /* without a ticket it gets no place while so many wait */
    int may_take_left;     /* a try that may also take a name that is left to other programs */
    int names_all_keys;    /* with a heartbeat: in a cluster, where the server must see each key that is made */
};

struct hl_renew_params {
    uint64_t lease_ms;
    uint64_t token;
    uint64_t most_ms;      /* a lease longer than this becomes this; 0: no lease is shortened. SIMPLE never shortens */
    uint64_t not_after_ms; /* the server time after which most_ms has no effect */
};

enum { HL_OWN_ALL = 1000000 };

/* A release ends a hold, or removes a place from the queue. */
struct hl_release_params {
    int is_second;         /* the first form was answered HL_AGAIN */
    int is_sharded;        /* the channels are sharded, as those of a cluster's slots */
    /* only kinds with a queue use the members below */
    uint64_t token_ttl_ms;
    unsigned own;          /* how many of our own subscriptions the unlock channel has. HL_OWN_ALL: it never leaves the
                              name to others */
    struct hl_queue_entry entry; /* the place to leave */
    struct {               /* the acquire of another handle, which this release also asks for, instead of leaving a
                              place */
        struct hl_queue_entry entry; /* without an entry it asks for none */
        uint64_t id;
        uint64_t lease_ms;
        uint32_t queue_max;
    } next;
};

/* A release of an id that holds nothing: it looks whether the name is free. */
struct hl_recheck_params {
    int is_sharded;
    uint64_t token_ttl_ms;
    unsigned own;
    const struct hl_lapsed *lapsed; /* these let their grants lapse; count 0: nobody did */
};

/* An operator's request: ends the hold of the holder that is named. */
struct hl_force_params {
    int is_second, is_sharded;
    const char *holder;
    size_t holder_length;
};

/* A renewal by which a hold that has its name alone goes on as one that shares it. */
struct hl_downgrade_params {
    int is_sharded;
    uint64_t token_ttl_ms;
    unsigned own;
    uint64_t lease_ms, token;
};

typedef enum hl_form hl_acquire_fn(struct hl_command *, const struct hl_target *, const struct hl_acquire_params *);
typedef enum hl_form hl_renew_fn(struct hl_command *, const struct hl_target *, const struct hl_renew_params *);
typedef enum hl_form hl_release_fn(struct hl_command *, const struct hl_target *, const struct hl_release_params *);
typedef enum hl_form hl_recheck_fn(struct hl_command *, const struct hl_target *, const struct hl_recheck_params *);
typedef enum hl_form hl_force_fn(struct hl_command *, const struct hl_target *, const struct hl_force_params *);
typedef enum hl_form hl_downgrade_fn(struct hl_command *, const struct hl_target *, const struct hl_downgrade_params *);
/* An operator's request: reads the holder, and the position of the entry, if there is one. hl_response_peeked reads its
 * answer. is_list: it asks for all holders, HL_LISTED_MAX at most, which hl_response_listed reads; a name of a kind
 * without a queue has one, and lists none. */
typedef enum hl_form hl_peek_fn(struct hl_command *, const struct hl_target *, const struct hl_queue_entry *,
                                int is_list);

/* What follows from these two is in core/discipline.h. */
enum hl_queueing { /* who has places in the queue at the store */
    HL_QUEUES_NOT,     /* there is no queue */
    HL_QUEUES_CLIENTS, /* a client has one place for each name, and its handles take turns there */
    HL_QUEUES_HANDLES  /* every waiting handle has a place */
};
enum hl_holding { /* who may hold the name together */
    HL_HOLDS_ALONE,
    HL_HOLDS_SHARED /* several handles may, also of several clients; the store counts them */
};

struct hl_kind {
    hilock_kind kind;
    enum hl_queueing queueing;
    enum hl_holding holding;
    const struct hl_kind *sharing; /* the kind of handles that share the name beside those of this kind. NULL: there
                                      is none */
    const char *wrong_kind; /* what follows the name for a key of another type: "is not ..." */
    hl_acquire_fn *acquire;
    hl_renew_fn *renew;
    hl_release_fn *release;
    hl_recheck_fn *recheck; /* NULL: there is no queue */
    hl_force_fn *force;
    hl_peek_fn *peek;
    hl_downgrade_fn *downgrade; /* NULL: a hold of this kind has its name alone */
    hl_parse_fn *acquired, *renewed, *released; /* renewed also reads the answer to downgrade, and released those to
                                                   recheck and force */
};

extern const struct hl_kind hl_queued_fair, hl_queued_mutex, hl_simple_kind;
/* the same for handles that share a name with others */
extern const struct hl_kind hl_queued_fair_share, hl_queued_mutex_share;

#endif
