/* SPDX-License-Identifier: BSD-3-Clause */
/* sometimes - what a campaign must have seen: an invariant that holds because nothing ever happened proves nothing. A campaign in which one
 * of these never fired has failed. */
#ifndef SIM_SOMETIMES_H
#define SIM_SOMETIMES_H

#define SIM_SOMETIMES(X)                                                          \
    X(OPERATION, "operations that reached the store")                             \
    X(GRANTED, "acquires granted")                                                \
    X(SIMPLE_GRANTED, "SIMPLE locks granted")                                     \
    X(FAIR_GRANTED, "FAIR locks granted")                                         \
    X(FAIR_PUSHED, "FAIR grants believed as they were pushed")                    \
    X(FAIR_DOUBTED, "FAIR grants confirmed first")                                \
    X(FAIR_FOUND, "FAIR grants whose push came to nothing, found by a heartbeat") \
    X(FAIR_CROSSED, "FAIR waits given up when the store had granted them")        \
    X(FAIR_DIED, "deaths in a queue")                                             \
    X(BOUND_JUDGED, "looks at a wait whose length its place in the queue bounds")  \
    X(MULTI_GRANTED, "multis granted")                                            \
    X(MULTI_CONTENDED, "multis granted after an attempt in vain")                 \
    X(JAVA_GRANTED, "locks and multilocks of another library")                   \
    X(JAVA_KEPT_FROM, "looks at a multi that keeps names behind another library") \
    X(SHARED, "grants beside others that hold, too")                              \
    X(SHARED_TO_THE_LAST, "grants after which no more fit")                       \
    X(SHARE_OVER, "shares taken out after their end")                             \
    X(DOWNGRADED, "holds that went on as shares")                                 \
    X(DOWNGRADE_UNKNOWN, "downgrades without an answer in time")                  \
    X(JOINED, "readers that joined a share of their client")                      \
    X(CONFIRMED, "grants that replicas confirmed")                                \
    X(CONFIRMED_STANDS, "looks at one of those in a place that took over and lost other things") \
    X(UNCONFIRMED, "WAITs that too few replicas answered")                        \
    X(NOT_REPLICATED, "acquires that ended so")                                   \
    X(QUORUM_GRANTED, "holds of a quorum")                                        \
    X(QUORUM_OF_SOME, "holds of a quorum granted by less than all its masters")   \
    X(CONTENDED, "acquires granted after waiting for another holder")             \
    X(TIMED_OUT, "acquires timed out")                                            \
    X(UNREACHABLE, "acquires without an answer")                                  \
    X(UNWRITABLE, "acquires refused by a store that cannot be written")           \
    X(CANCELLED, "acquires cancelled")                                            \
    X(CLOSED, "acquires ended by close")                                          \
    X(HANDED_ON, "holds handed to the next handle")                               \
    X(HANDED_BACK, "holds handed on and given back before that was told")         \
    X(HANDED_PAST, "holds handed on again because a cancel or a drop crossed")    \
    X(HAND_OFF_COUNTED, "hand-offs ended by their count")                         \
    X(HAND_OFF_AGED, "hand-offs ended by a third of the lease")                   \
    X(HAND_OFF_TOO_LITTLE, "hand-offs not made: too little was left")             \
    X(DENIED_LOCALLY, "tries answered from a sibling's hold")                     \
    X(RELEASED, "releases confirmed")                                             \
    X(RELEASE_LOST, "releases that found the hold gone")                          \
    X(RELEASE_UNKNOWN, "releases without an answer in time")                      \
    X(SETTLED, "unknown releases settled later")                                  \
    X(RENEWED, "renewals that extended a hold")                                   \
    X(RENEWAL_FAILED, "renewals that failed")                                     \
    X(RENEWAL_TOLD, "holds told of two failed renewals in a row")                 \
    X(LOST_TAKEN, "holds lost: taken")                                            \
    X(LOST_EXPIRED, "holds lost: expired")                                        \
    X(LOST_SUSPENDED, "holds lost: suspended")                                    \
    X(LOST_HOLD_MAX, "holds lost: hold_max")                                      \
    X(LOST_CLOSING, "holds lost: drain over")                                     \
    X(UNDONE, "grants given back")                                                \
    X(REPLAYED, "acquires adopted after an unanswered request")                   \
    X(LATE_REFUSED, "requests refused because they came too late")                \
    X(LATE_RUN, "requests of a dead link that ran all the same")                  \
    X(GHOST, "holds made by a dead link's bytes")                                 \
    X(RELOADED, "scripts loaded again")                                           \
    X(EXTENDED, "extends")                                                        \
    X(EXTEND_LOST, "extends that found the hold gone, or outlived it")            \
    X(EXTEND_UNKNOWN, "extends without an answer, or refused for now")            \
    X(REENTERED, "re-entries")                                                    \
    X(WAKEUP, "waiters woken by a message")                                       \
    X(ANOMALY, "leases found shortened")                                          \
    X(STALE_MASTER, "commands run by a former master after another took over")     \
    X(STALE_WRITE_REFUSED, "late writes refused by the token")                    \
    X(DROPPED_WAITING, "handles dropped while waiting")                           \
    X(DROPPED_HELD, "handles dropped while held")                                 \
    X(SWITCH_HEARD, "switches of a master heard from a sentinel")                  \
    X(KEY_MOVED, "keys moved with their slot")                                     \
    X(SLOT_MOVED, "slots moved")                                                   \
    X(TOLD_MOVED, "requests told that their slot has moved")                       \
    X(TOLD_ASK, "requests sent to where their slot goes")                          \
    X(TOLD_TRYAGAIN, "requests told that their keys are at two places")            \
    X(TOLD_CLUSTERDOWN, "requests told that the cluster is down")                  \
    X(TOLD_READONLY, "requests told that a master is none any more")               \
    X(BAD_NAME, "bad names refused")                                               \
    X(NO_MEMORY, "calls and waits that ended for want of memory")                  \
    X(TAKEN_BACK, "subscriptions taken back with their slot")                      \
    X(FAULT_REQUEST_LOST, "fault: request lost with its link")                    \
    X(FAULT_REPLY_LOST, "fault: reply lost with its link")                        \
    X(FAULT_RESET, "fault: link reset")                                           \
    X(FAULT_CUT, "fault: link cut one way or both, silently")                     \
    X(FAULT_DELAY, "fault: message delayed for long")                             \
    X(FAULT_REFUSED_CONNECT, "fault: connection refused")                         \
    X(FAULT_SERVER_STALL, "fault: server stopped for a while")                    \
    X(FAULT_RESTART_KEPT, "fault: server restarted with its data")                \
    X(FAULT_RESTART_EMPTY, "fault: server restarted empty")                       \
    X(FAULT_FLUSH, "fault: all keys deleted")                                     \
    X(FAULT_SCRIPT_FLUSH, "fault: scripts forgotten")                             \
    X(FAULT_ERRORS, "fault: server answers errors for a while")                   \
    X(FAULT_CLOCK_STEP, "fault: server's clock stepped")                          \
    X(FAULT_SHORTENED, "fault: another program shortened a lease")                \
    X(FAULT_FREEZE, "fault: process frozen")                                      \
    X(FAULT_SUSPEND, "fault: host suspended")                                     \
    X(FAULT_KILL, "fault: process killed")                                        \
    X(FAULT_FAILOVER, "fault: a replica that lagged took over")                   \
    X(FAULT_CRASH_KEPT, "fault: master of a quorum away for a while")             \
    X(FAULT_CRASH_EMPTY, "fault: master of a quorum away for a while, and empty")  \
    X(FAULT_HANDED_OVER, "fault: a master handed over to a replica")               \
    X(FAULT_FORCED, "fault: a replica that lagged was made master")                \
    X(FAULT_MASTER_KILLED, "fault: a master was killed, a replica took over")      \
    X(FAULT_MASTER_STOPPED, "fault: a master was stopped, a replica took over, it went on") \
    X(FAULT_MASTER_CUT_OFF, "fault: a master was cut off from the others, a replica took over") \
    X(FAULT_BEHIND, "fault: a replica fell behind for a while")                    \
    X(FAULT_SEND_REFUSED, "fault: a link refused a send")                          \
    X(FAULT_NO_MEMORY, "fault: an allocation failed")                              \
    X(FAULT_CALLBACK, "fault: a callback took its time")                           \
    X(FAULT_SENTINEL_AWAY, "fault: a sentinel was away")

enum sim_sometimes {
#define X(name, text) SIM_##name,
    SIM_SOMETIMES(X)
#undef X
    SIM_SOMETIMES_COUNT
};

const char *sim_sometimes_text(enum sim_sometimes which);

#endif
