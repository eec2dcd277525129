/* SPDX-License-Identifier: BSD-3-Clause */
/* handoff.pml - one hold at the store that serves several handles of a client in turn, beside another client that asks as a MUTEX does.
 *
 * Time: a tick takes a unit from every lease at the store and from every belief in a client; between two ticks anything may happen in any
 * order. A message takes as long as it likes; it is lost when another takes its place before it arrives. An acquire may be sent again under
 * its id, and the first copy then runs at any later time (`stray`). A paused client is one for which ticks pass and nothing else.
 * Each step of the loops below is one turn of somebody: a client's event loop, or a script at the store.
 *
 * Left out: not_after (a stray may run however late), the answer to a release (nobody waits for it), who waits for what message.
 * With -DBUG_... one rule is broken; meson.build says which property must then be found violated. */
#define HANDLES 2
#define LEASE 2
#define RESERVED 1  /* tokens beyond its own that a grant reserves, one for each hand-off */
#define ACQUIRES 2  /* by all handles together */
#define IDS 2       /* holder ids of the client */
#define TOKENS 6    /* the store gives none above: what bounds the search */
#define NOBODY HANDLES
#define less(a, b) ((a) > (b) -> (a) - (b) : 0)
#define older(age) ((age) < LEASE -> (age) + 1 : LEASE)

mtype = { FREE, OURS, THEIRS,               /* the lock at the store */
          NONE, ASKING, HELD,               /* the client's hold */
          IDLE, WAITS, CHOSEN, HOLDS,       /* a handle; CHOSEN: to be told in a later turn */
          OUT, ASKS, GRANTED, IN, LEAVES }; /* the other client, with its messages under way */

/* the store */
mtype lock = FREE;
byte lock_id, lock_token, ttl, last_token;

/* the client: its hold and its handles */
mtype hold = NONE;
byte id, token, handed, belief, asked_ago, renewed_ago;
mtype handle[HANDLES] = IDLE;
bool has_held[HANDLES]; /* only for BUG_STALE_HANDLE */
byte acquires;

/* what is under way; 0: nothing */
byte ask, stray, answer, answer_token;                    /* ids; a token of 0: held by another */
byte renewal, renewal_token, renewal_answer;
bool renewal_yes;
byte release;

/* the other client */
mtype other = OUT;
byte other_belief, other_ago, other_token;

/* what was told to users, for the properties */
byte highest;
bool has_overlapped, went_back;

#define believes (hold == HELD && belief > 0)
#define somebody_has_it (handle[0] == CHOSEN || handle[0] == HOLDS || handle[1] == CHOSEN || handle[1] == HOLDS)

ltl exclusive { [] !has_overlapped }
ltl rising    { [] !went_back }
ltl truthful  { [] (believes -> (lock == OURS && lock_id == id && ttl >= belief)) }
ltl owned     { [] (hold == HELD -> somebody_has_it) }
ltl all       { [] (!has_overlapped && !went_back && (believes -> (lock == OURS && lock_id == id && ttl >= belief))
                    && (hold == HELD -> somebody_has_it)) }

inline tell(its_token)
{
  went_back = went_back || its_token <= highest;
  highest = its_token
}

/* ---- the store's scripts ---- */

inline set_free() { lock = FREE; lock_id = 0; lock_token = 0; ttl = 0 }

inline grant(who, its_id)
{
  lock = who; lock_id = its_id; ttl = LEASE;
  lock_token = last_token + 1;
#ifdef BUG_NO_BLOCK
  last_token = last_token + 1
#else
  last_token = last_token + 1 + RESERVED
#endif
}

inline acquire_script(its_id)
{
  if
  :: lock == FREE && last_token + 1 + RESERVED <= TOKENS -> grant(OURS, its_id)
  :: lock == OURS && lock_id == its_id -> ttl = LEASE /* asked before: the same token */
  :: else
  fi
}

active proctype store()
{
  do
  :: atomic { ask > 0 -> acquire_script(ask);
       answer = ask; answer_token = (lock == OURS && lock_id == ask -> lock_token : 0); ask = 0 }
  :: atomic { stray > 0 -> acquire_script(stray); stray = 0 } /* its link is gone: no answer */
  :: atomic { renewal > 0 ->
#ifdef BUG_RENEWAL_BY_ID
       renewal_yes = (lock == OURS && lock_id == renewal);
#else
       renewal_yes = (lock == OURS && lock_id == renewal && lock_token == renewal_token);
#endif
       ttl = (renewal_yes -> LEASE : ttl); renewal_answer = renewal; renewal = 0; renewal_token = 0 }
  :: atomic { release > 0 -> if :: lock == OURS && lock_id == release -> set_free() :: else fi; release = 0 }
  :: atomic { other == ASKS && lock == FREE && last_token + 1 + RESERVED <= TOKENS ->
       grant(THEIRS, 0); other = GRANTED; other_token = lock_token }
  :: atomic { other == LEAVES -> if :: lock == THEIRS -> set_free() :: else fi; other = OUT }
  od
}

/* ---- time ---- */

active proctype clock()
{
  do
  :: atomic {
       ttl = less(ttl, 1);
       if :: ttl == 0 -> set_free() :: else fi;
       belief = less(belief, 1); other_belief = less(other_belief, 1);
       asked_ago = (hold == ASKING && (ask > 0 || answer > 0) -> older(asked_ago) : 0);
       renewed_ago = (renewal > 0 || renewal_answer > 0 -> older(renewed_ago) : 0);
       other_ago = (other == ASKS || other == GRANTED -> older(other_ago) : 0) }
  od
}

/* ---- the other client: a MUTEX with one handle ---- */

active proctype other_client()
{
  atomic { other = ASKS };
  do
  :: atomic { other == GRANTED ->
       other_belief = less(LEASE, other_ago);
       other = (other_belief > 0 -> IN : LEAVES);
       if
       :: other == IN -> tell(other_token);
            has_overlapped = has_overlapped || (belief > 0 && (handle[0] == HOLDS || handle[1] == HOLDS))
       :: else
       fi;
       other_ago = 0; other_token = 0 }
  :: atomic { other == IN -> other = LEAVES; other_belief = 0 }
  od
}

/* ---- the client ---- */

byte who = NOBODY; /* scratch of the steps below: the same at the end of each */

inline first_waiter() { who = (handle[0] == WAITS -> 0 : (handle[1] == WAITS -> 1 : NOBODY)) }

inline forget_hold() /* canonical values for what means nothing now */
{
  hold = NONE; token = 0; handed = 0; asked_ago = 0;
#ifndef BUG_ADOPT_RELEASED
  belief = 0
#endif
}

inline end_hold() { release = id; forget_hold() }

inline lose_hold() /* told first (R6): who holds loses, who was chosen waits again */
{
  who = 0;
  do
  :: who < HANDLES -> handle[who] = (handle[who] == HOLDS -> IDLE : (handle[who] == CHOSEN -> WAITS : handle[who])); who++
  :: else -> break
  od;
  who = NOBODY
}

inline hand_on() /* nobody has the hold now: the next turn, or the end */
{
  first_waiter();
  if
#ifdef BUG_BLIND_HANDOFF
  :: who != NOBODY && handed < RESERVED -> handed++; handle[who] = CHOSEN
#else
  :: who != NOBODY && handed < RESERVED && belief > 0 -> handed++; handle[who] = CHOSEN
#endif
  :: else -> end_hold()
  fi;
  who = NOBODY
}

inline user_of(h)
{
  do
  :: atomic { handle[h] == IDLE && acquires < ACQUIRES -> acquires++; handle[h] = WAITS }
  :: atomic { handle[h] == WAITS -> handle[h] = IDLE }                /* cancel in line */
  :: atomic { handle[h] == CHOSEN -> handle[h] = IDLE;                /* cancel that crosses a grant or a hand-off */
#ifndef BUG_CANCEL_KEEPS
       hand_on()
#endif
     }
  :: atomic { handle[h] == HOLDS && hold == HELD -> handle[h] = IDLE; hand_on() }
#ifdef BUG_STALE_HANDLE
  :: atomic { handle[h] == IDLE && has_held[h] && hold == HELD -> release = id; has_held[h] = false }
#endif
  :: atomic { handle[h] == CHOSEN ->                                  /* its callback runs */
       if
#ifdef BUG_BLIND_HANDOFF
       :: true ->
#else
       :: belief > 0 ->                                               /* checked after the queue (R8) */
#endif
            handle[h] = HOLDS; tell(token + handed);
            has_overlapped = has_overlapped || (other == IN && other_belief > 0) || handle[1 - h] == HOLDS;
#ifdef BUG_STALE_HANDLE
            has_held[h] = true
#endif
#ifndef BUG_BLIND_HANDOFF
       :: else -> lose_hold(); end_hold()
#endif
       fi }
  od
}

active proctype user0() { user_of(0) }
active proctype user1() { user_of(1) }

active proctype client()
{
  do
  :: atomic { hold == NONE && id < IDS && (handle[0] == WAITS || handle[1] == WAITS) ->
       hold = ASKING;
#ifdef BUG_SAME_ID
       id = 1;
#else
       id++;
#endif
       ask = id; answer = 0; answer_token = 0 }
  :: atomic { hold == ASKING -> /* no answer, or held: again, same id (R3) */
       if :: ask > 0 && stray == 0 -> stray = ask :: true fi;
       ask = id; answer = 0; answer_token = 0; asked_ago = 0 }
  :: atomic { hold == ASKING && handle[0] != WAITS && handle[1] != WAITS -> end_hold() } /* nobody wants it: undone (R4) */
  :: atomic { hold == ASKING && answer == id ->
       first_waiter();
       if
       :: answer_token > 0 && who != NOBODY && asked_ago < LEASE ->
            hold = HELD; token = answer_token; handle[who] = CHOSEN;
#ifdef BUG_FROM_ARRIVAL
            belief = LEASE;
#else
            belief = LEASE - asked_ago;                                    /* from its own send (R1) */
#endif
            asked_ago = 0
       :: answer_token > 0 && (who == NOBODY || asked_ago >= LEASE) -> end_hold() /* too late (R4) */
       :: answer_token == 0
       fi;
       answer = 0; answer_token = 0; who = NOBODY }
  :: atomic { hold != ASKING && answer > 0 -> answer = 0; answer_token = 0 }
#ifdef BUG_ADOPT_RELEASED
  :: atomic { hold == NONE && belief > 0 && lock == OURS -> first_waiter();  /* "its release was not answered yet: take it back" */
       if :: who != NOBODY -> hold = HELD; token = lock_token; handed = RESERVED; handle[who] = CHOSEN :: else fi; who = NOBODY }
#endif
  :: atomic { believes && renewal == 0 -> renewal = id; renewal_token = token; renewed_ago = 0;
#ifndef BUG_RENEWAL_MISMATCHED
       renewal_answer = 0; renewal_yes = false     /* an answer counts for its own send only (R1) */
#endif
     }
  :: atomic { renewal_answer > 0 ->
       if
#ifdef BUG_LATE_RENEWAL
       :: hold == HELD && renewal_answer == id && renewal_yes ->
#else
       :: hold == HELD && renewal_answer == id && renewal_yes && belief > 0 ->          /* after the deadline it extends nothing (R11) */
#endif
            belief = (LEASE - renewed_ago > belief -> LEASE - renewed_ago : belief)
       :: hold == HELD && renewal_answer == id && !renewal_yes -> lose_hold(); forget_hold() /* not ours (R5) */
       :: else
       fi;
       renewal_answer = 0; renewal_yes = false; renewed_ago = 0 }
  :: atomic { hold == HELD && belief == 0 -> lose_hold(); end_hold() }    /* the deadline: a release of that id goes out (R5) */
  od
}
