/* SPDX-License-Identifier: BSD-3-Clause */
/* heirs - one name that many want while clients are stopped and killed: the play (heirs.c), and who judges how long the
 * name rests (rest.c). */
#ifndef SIM_HEIRS_H
#define SIM_HEIRS_H

#include "crowd.h"

enum { HEIRS_CLIENTS_MAX = 16, HEIRS_BOOK = 8192 };

extern const char heirs_name[], heirs_other[]; /* the name; and the holder that another program is */

struct rest { /* the books of the judge */
    char holder[HL_HOLDER_MAX]; /* at the store, as last seen; "": none */
    struct crowd_client *owner; /* of that hold; NULL: nobody in this crowd, or one that was killed */
    struct crowd_client *maker; /* who made it so */
    uint64_t maker_lives;       /* of that client, then */
    uint64_t since_us;          /* true time since which it is so */
    int is_after_other;         /* it was another program's before that */
    int is_window;              /* pushed, and not renewed yet */
    uint64_t window_us;         /* of its owner, as it was made so */
    int is_excused;             /* the first window of that struck client in this rest */
    uint64_t struck_us;         /* true time at which somebody was last seen dead or stopped; 0: never */
    uint64_t seen_us;           /* true time of the latest look */
    uint64_t rested_us;         /* for so long nobody has it, and a living one waits, but for what is excused */
    uint64_t more_us;           /* that is allowed: whoever owed a look was struck */
    uint64_t busy_us;           /* true time at which a try was last refused with reason */
    uint64_t dead_until_us;     /* then the belief of those that were killed is over */
    uint64_t missed_at_us;      /* from then on a grant to one that was killed is a mistake */
    int had_window[HEIRS_CLIENTS_MAX]; /* in this rest, while it was struck, and it has not asked since */
    struct { uint64_t hash, ticket; } book[HEIRS_BOOK]; /* tickets, by id */
    uint64_t stray_us[HEIRS_CLIENTS_MAX]; /* true time at which a client had no more places than handles that wait, last */
};

struct heirs {
    struct crowd crowd;
    struct rest rest;
    uint64_t gap_us;         /* between faults, in the mean */
    int has_others;          /* another program takes the name now and then */
    int tries, has_few;      /* the first client never waits; most of its handles do not want the name */
    int is_healed, is_ending;
    uint64_t other_until_us; /* true time until which it holds; 0: it does not */
    uint64_t other_us;       /* true time at which it was last seen to hold or to listen */
    uint64_t lives[HEIRS_CLIENTS_MAX]; /* how often each was killed or stopped */
    int polls[HEIRS_CLIENTS_MAX];
    unsigned tries_refused, windows_lapsed;
};

void rest_looked(struct heirs *heirs, struct crowd_client *by); /* after each script (by that client), and now and then (NULL) */
void rest_refused(struct heirs *heirs, const struct crowd_handle *handle); /* I22: a try was answered TIMED_OUT */
void rest_kills(struct heirs *heirs, const struct crowd_client *client);   /* it is about to die */
void rest_check_places(struct heirs *heirs); /* places.c: I25, I17 */

#endif
