/* SPDX-License-Identifier: BSD-3-Clause */
/* fair_order.pml - the fair queue: who is served, and in which order.
 *
 * Each waiter asks once and wants the lock once. A release hands the lock to the first in the queue who listens, or else to the first
 * whose place is still good, and tells him by push. Misfortunes, each at most so often: a push is lost; a waiter's subscription is down
 * for a while; a waiter dies; one gives up, so that its leaving may cross a grant.
 * No clock: a window, or a dead waiter's place, may end at any time. Beliefs are fair_belief.pml's matter.
 * Order is the assertion in check_order(); progress is `served`, for which each process that can act for ever acts some time (weak fairness).
 * With -DBUG_... one rule is broken; meson.build says which property must then be found violated. */
#define WAITERS 3
#ifndef LOSSES
#define LOSSES 1
#endif
#define DEATHS 1
#define CANCELS 1
#define NOBODY WAITERS

mtype = { NEW, WAITS, LEAVES, DONE, DEAD }; /* LEAVES: has cancelled, and that is on its way to the store */

mtype state[WAITERS] = NEW;
byte arrival[WAITERS]; /* 0: the store has not heard of it */
byte ticket[WAITERS];  /* kept for life; the place in the queue */
bool is_queued[WAITERS], is_deaf[WAITERS];
byte last_ticket;

byte holder = NOBODY;
bool holder_knows;     /* a grantee that does not know yet has a window only */
byte losses, deaths, cancels;

#define is_over(w) (state[w] == DONE || state[w] == DEAD)
ltl served { <> (is_over(0) && is_over(1) && is_over(2)) }

/* ---- the store's scripts ---- */

inline choose(ret_chosen)
{
  ret_chosen = NOBODY; scan = 0;
  do
  :: scan < WAITERS -> /* the first who listens */
       if
       :: is_queued[scan] && state[scan] != DEAD && !is_deaf[scan] && (ret_chosen == NOBODY || ticket[scan] < ticket[ret_chosen]) ->
            ret_chosen = scan
       :: else
       fi; scan++
  :: else -> break
  od;
  if
  :: ret_chosen == NOBODY -> scan = 0;
       do
       :: scan < WAITERS -> /* the first who has a place */
            if :: is_queued[scan] && (ret_chosen == NOBODY || ticket[scan] < ticket[ret_chosen]) -> ret_chosen = scan :: else fi; scan++
       :: else -> break
       od
  :: else
  fi;
  scan = 0
}

inline check_order(granted)
{
  do
  :: scan < WAITERS ->
       assert(!(scan != granted && is_queued[scan] && state[scan] == WAITS && !is_deaf[scan] && arrival[scan] < arrival[granted])); scan++
  :: else -> break
  od;
  scan = 0
}

inline grant_next(asker) /* the lock is free. asker: learns it by the answer; NOBODY: a releaser */
{
  choose(chosen);
  if
  :: chosen != NOBODY ->
       check_order(chosen);
       holder = chosen; is_queued[chosen] = false;
       if
       :: chosen == asker || (state[chosen] == WAITS && !is_deaf[chosen]) -> holder_knows = true
       :: chosen != asker && state[chosen] == WAITS && !is_deaf[chosen] && losses < LOSSES -> losses++; holder_knows = false
       :: chosen != asker && (state[chosen] != WAITS || is_deaf[chosen]) -> holder_knows = false
       fi
  :: else
  fi;
  chosen = NOBODY
}

inline set_free() { holder = NOBODY; holder_knows = false }

/* First request and heartbeat: takes a place, and finds that the lock is free, or was granted. */
inline acquire_script(w)
{
  if
  :: holder == w -> holder_knows = true
  :: else ->
#ifdef BUG_TAIL
       if :: !is_queued[w] -> last_ticket++; ticket[w] = last_ticket :: else fi;
#else
       if :: ticket[w] == 0 -> last_ticket++; ticket[w] = last_ticket :: else fi;
#endif
       if :: arrival[w] == 0 -> arrival[w] = ticket[w] :: else fi;
       is_queued[w] = true;
       if
#ifdef BUG_BARGE
       :: holder == NOBODY -> check_order(w); holder = w; holder_knows = true; is_queued[w] = false
#else
#ifdef BUG_ONLY_RELEASER_GRANTS
       :: holder == NOBODY && last_ticket == 1 -> grant_next(w)
#else
       :: holder == NOBODY -> grant_next(w)
#endif
#endif
       :: else
       fi
  fi
}

inline release_script(w) /* release and leaving are one call */
{
  is_queued[w] = false;
  if
#ifdef BUG_LEAVES_QUEUE_ONLY
  :: holder == w && state[w] == WAITS -> set_free(); grant_next(NOBODY)
#else
  :: holder == w -> set_free(); grant_next(NOBODY)
#endif
  :: holder == NOBODY -> grant_next(NOBODY)
  :: else
  fi
}

/* ---- the waiters ---- */

proctype waiter(byte w)
{
  byte scan, chosen = NOBODY;
  do
  :: atomic { state[w] == NEW -> state[w] = WAITS; acquire_script(w) }
#ifndef BUG_NO_HEARTBEAT
  :: atomic { state[w] == WAITS && !(holder == w && holder_knows) && (!is_queued[w] || holder == NOBODY || holder == w) -> acquire_script(w) }
#endif
  :: atomic { state[w] == WAITS && holder == w && holder_knows -> release_script(w); state[w] = DONE } /* held, and released */
  :: atomic { state[w] == WAITS && cancels < CANCELS -> cancels++; state[w] = LEAVES }
  :: atomic { state[w] == LEAVES -> release_script(w); state[w] = DONE }
  :: atomic { state[w] == WAITS && deaths < DEATHS -> deaths++; state[w] = DEAD }
  :: atomic { state[w] == WAITS && !is_deaf[w] && losses < LOSSES -> losses++; is_deaf[w] = true }
  :: atomic { is_deaf[w] -> is_deaf[w] = false }
  :: is_over(w) -> break
  od
}

/* ---- what ends by time: each is there until it happens, and a process that can act for ever does ---- */

active proctype time()
{
  do
  :: atomic { holder != NOBODY && !holder_knows && state[holder] != LEAVES -> /* a window; nobody is told */
       assert(losses + deaths > 0); set_free() }                        /* never the price of a cancel: its leaving gives back */
  :: atomic { holder != NOBODY && state[holder] == DEAD -> set_free() } /* a lease */
  :: atomic { is_queued[0] && state[0] == DEAD -> is_queued[0] = false }
  :: atomic { is_queued[1] && state[1] == DEAD -> is_queued[1] = false }
  :: atomic { is_queued[2] && state[2] == DEAD -> is_queued[2] = false }
  :: is_over(0) && is_over(1) && is_over(2) -> break
  od
}

init { atomic { run waiter(0); run waiter(1); run waiter(2) } }
