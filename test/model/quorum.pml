/* SPDX-License-Identifier: BSD-3-Clause */
/* quorum.pml - a lock decided by the votes of three independent masters, one of which may crash and forget.
 *
 * Our client has its messages: for each master a request under way at most, and the time until when it may believe in that part of its
 * hold, counted from its own send. The hold is as good as the second best of its parts. The other client is an ideal one: its messages
 * take no time, so that it believes for as long as any right client ever may, and it takes, renews and lets go whenever it likes. Who
 * is safe beside it is safe beside a second client like ours.
 *
 * Time: a tick takes a unit from every lease, belief and guard. A message takes as long as it likes; a request is lost when the next
 * one takes its place, a refusal has nothing to tell (to ignore it is to believe longer), and a release arrives some time or never. An acquire
 * that finds its own hold makes its lease whole: so it renews, and heals a master that has forgotten.
 * With -DBUG_... one rule is broken; meson.build says which property must then be found violated. */
#define MASTERS 3
#define LEASE 2
#ifdef BUG_MAJORITY_OF_ONE
#define enough(a, b, c) (a || b || c)
#else
#define enough(a, b, c) ((a && b) || (a && c) || (b && c))
#endif
#ifdef BUG_GUARD_OFF
#define GUARD 0
#else
#ifdef BUG_GUARD_SHORT
#define GUARD (LEASE - 1)
#else
#define GUARD LEASE /* a master that restarted gives no vote for so long: what it has forgotten is over by then */
#endif
#endif
#define less(a, b) ((a) > (b) -> (a) - (b) : 0)

mtype = { NOBODY, OURS, THEIRS, NOTHING, ASK, YES, IDLE, ASKS, HOLDS };

/* the masters. The first is the one that may crash: they are alike */
mtype holder[MASTERS] = NOBODY;
byte ttl[MASTERS], guard;

/* our client */
mtype state = IDLE;
mtype wire[MASTERS] = NOTHING;
byte asked_ago[MASTERS], good_for[MASTERS];
bool was_interrupted; /* another was told OK while this hold was not over for its user */

/* the other client: it believes in what the masters keep for it, and in what the first has forgotten */
bool is_in;
byte forgotten;

#define has_votes enough(good_for[0] > 0, good_for[1] > 0, good_for[2] > 0)
#define they_have_votes enough((holder[0] == THEIRS || forgotten > 0), holder[1] == THEIRS, holder[2] == THEIRS)
#define believes (state == HOLDS && has_votes)
#define they_believe (is_in && they_have_votes)

ltl exclusive { [] !(believes && they_believe) }
ltl unbroken  { [] !(believes && was_interrupted) }
ltl all       { [] !(believes && (they_believe || was_interrupted)) }

inline set_free(m) { holder[m] = NOBODY; ttl[m] = 0 }

/* ---- a master: our requests, and what the ideal client does there ---- */

inline master(m, its_guard)
{
  do
  :: atomic { wire[m] == ASK ->
       if
       :: its_guard == 0 && holder[m] != THEIRS -> holder[m] = OURS; ttl[m] = LEASE; wire[m] = YES
       :: else -> wire[m] = NOTHING; asked_ago[m] = 0
       fi }
  :: atomic { state == IDLE && holder[m] == OURS -> set_free(m) }
  :: atomic { its_guard == 0 && holder[m] != OURS && ttl[m] < LEASE -> holder[m] = THEIRS; ttl[m] = LEASE }
  :: atomic { !is_in && holder[m] == THEIRS -> set_free(m) }
  od
}

active proctype master0() { master(0, guard) }
active proctype master1() { master(1, 0) }
active proctype master2() { master(2, 0) }

active proctype crash()
{
  atomic { forgotten = (holder[0] == THEIRS -> ttl[0] : 0); set_free(0); guard = GUARD }
}

active proctype other()
{
  do
  :: atomic { !is_in && they_have_votes -> is_in = true; was_interrupted = (state == HOLDS) }
  :: atomic { is_in -> is_in = false; forgotten = 0 }
  od
}

/* ---- time ---- */

inline pass(m)
{
  ttl[m] = less(ttl[m], 1);
  if :: ttl[m] == 0 -> holder[m] = NOBODY :: else fi;
  good_for[m] = less(good_for[m], 1);
  asked_ago[m] = (wire[m] != NOTHING && asked_ago[m] < LEASE -> asked_ago[m] + 1 : asked_ago[m])
}

active proctype clock()
{
  do
  :: atomic { pass(0); pass(1); pass(2); guard = less(guard, 1); forgotten = less(forgotten, 1) }
  od
}

/* ---- our client ---- */

inline drop_part(m) { wire[m] = NOTHING; asked_ago[m] = 0; good_for[m] = 0 }
inline end() { state = IDLE; was_interrupted = false; drop_part(0); drop_part(1); drop_part(2) }

inline part(m)
{
  do
  :: atomic { state == ASKS || believes -> wire[m] = ASK; asked_ago[m] = 0 } /* again, renewal, healing */
#ifdef BUG_HEAL_AFTER_LOSS
  :: atomic { state == HOLDS && wire[m] == NOTHING -> wire[m] = ASK; asked_ago[m] = 0 }
#endif
  :: atomic { wire[m] == YES ->
       if
#ifdef BUG_HEAL_AFTER_LOSS
       :: state == ASKS || state == HOLDS ->
#else
       :: state == ASKS || believes -> /* never after the loss (R11) */
#endif
#ifdef BUG_FROM_ANSWER
            good_for[m] = LEASE
#else
            good_for[m] = (LEASE - asked_ago[m] > good_for[m] -> LEASE - asked_ago[m] : good_for[m])
#endif
       :: else
       fi;
       wire[m] = NOTHING; asked_ago[m] = 0 }
  od
}

active proctype part0() { part(0) }
active proctype part1() { part(1) }
active proctype part2() { part(2) }

active proctype client()
{
  do
  :: atomic { state == IDLE -> state = ASKS }
  :: atomic { state == ASKS && has_votes -> state = HOLDS }
  :: atomic { state == ASKS -> end() }  /* not enough in time: released everywhere */
  :: atomic { state == HOLDS -> end() } /* released, or told lost */
  od
}
