/* SPDX-License-Identifier: BSD-3-Clause */
/* fair_belief.pml - one client with a place in the fair queue, against all the others: what it believes is what the store keeps.
 *
 * The others are one party that takes the lock whenever it is free, is granted it whenever it is handed over, and lets go whenever it
 * likes. Were one client's belief always the store's truth, no two could believe at once, however many there are.
 * A grant comes in the answer to a request, or by push from somebody's release, which may refer to any request of ours: `number` says
 * to which, and `ago` for how long the store had known it by then. From that and from when we sent it follows the deadline.
 *
 * Time: a tick takes a unit from the lease at the store and from our belief. The store's clock may be the faster one: it gains at most one
 * unit after each PACE of ours. A message takes as long as it likes; it is lost when another takes its place before it arrives. A request may
 * be sent on a link that the client then gives up, and run at any later time (`stray`).
 * Which of those in the queue is chosen is left open here: any live one, or nobody. fair_order.pml has the order, and no clock.
 * With -DBUG_... one rule is broken; meson.build says which property must then be found violated. */
#define IDS 2
#define NUMBERS 2 /* requests of one acquisition: the first, and a heartbeat or renewal */
#define LEASE 4
#define WINDOW 3  /* of a grant by push */
#define ALIVE 2   /* a place in the queue is good so long after a heartbeat */
#define PACE 3
#define less(a, b) ((a) > (b) -> (a) - (b) : 0)
#define more(a, b) ((a) > (b) -> (a) : (b))
#define drift(span) (1 + ((span) - 1) / (PACE + 1)) /* as often as the store's clock can gain within a span of its own */
#define OLDEST (ALIVE + WINDOW)                     /* older is all the same */

mtype = { FREE, OURS, THEIRS, IDLE, WAITS, HOLDS };

/* the store; a place in the queue for each of our ids */
mtype lock = FREE;
byte lock_id, ttl, since_gain = PACE;
bool is_queued[IDS + 1];
byte queued_number[IDS + 1], queued_ago[IDS + 1];

/* the client */
mtype state = IDLE;
byte id, number, belief;
byte sent_ago[NUMBERS];
#ifdef BUG_NUMBER_REUSED
bool has_wrapped;
#endif

/* what is under way; an id of 0: nothing */
byte request, request_number, stray, stray_number, answer, answer_number, push, push_number, push_ago, leave;
bool answer_yes;

#define believes (state == HOLDS && belief > 0)
ltl truthful { [] (believes -> (lock == OURS && lock_id == id && ttl >= belief)) }

/* ---- the store's scripts ---- */

inline drop(its_id) { is_queued[its_id] = false; queued_number[its_id] = 0; queued_ago[its_id] = 0 }

inline grant(its_id) /* the push may be lost on its way: then another takes its place */
{
  lock = OURS; lock_id = its_id; ttl = WINDOW;
  push = its_id; push_number = queued_number[its_id]; push_ago = queued_ago[its_id];
  drop(its_id)
}

inline hand_over(asker) /* the lock is free: to somebody in the queue who is not asking just now, or to nobody */
{
  lock_id = 0; ttl = 0;
  if
  :: asker != 1 && is_queued[1] -> grant(1)
  :: asker != 2 && is_queued[2] -> grant(2)
  :: lock = THEIRS
  :: lock = FREE
  fi
}

inline acquire_script(its_id, its_number)
{
  if
  :: lock == OURS && lock_id == its_id -> ttl = more(LEASE, ttl)
  :: lock == FREE -> drop(its_id); lock = OURS; lock_id = its_id; ttl = LEASE
  :: !(lock == OURS && lock_id == its_id) -> /* free as well: another is before us, and is granted on this occasion */
       is_queued[its_id] = true; queued_number[its_id] = its_number; queued_ago[its_id] = 0;
       if :: lock == FREE -> hand_over(its_id) :: else fi
  fi
}

active proctype store()
{
  do
  :: atomic { request > 0 -> acquire_script(request, request_number);
       answer = request; answer_number = request_number; answer_yes = (lock == OURS && lock_id == request);
       request = 0; request_number = 0 }
  :: atomic { stray > 0 -> acquire_script(stray, stray_number); stray = 0; stray_number = 0 }
  :: atomic { leave > 0 -> drop(leave);
       if
       :: lock == FREE || (lock == OURS && lock_id == leave) -> hand_over(0)
       :: else
       fi; leave = 0 }
  :: atomic { lock == FREE -> lock = THEIRS }
  :: atomic { lock == THEIRS -> hand_over(0) }
  od
}

/* ---- time ---- */

inline pass_at_store()
{
  ttl = less(ttl, 1);
  if :: lock == OURS && ttl == 0 -> lock = FREE; lock_id = 0 :: else fi;
  if :: is_queued[1] && queued_ago[1] == ALIVE -> drop(1) :: is_queued[1] && queued_ago[1] < ALIVE -> queued_ago[1]++ :: else fi;
  if :: is_queued[2] && queued_ago[2] == ALIVE -> drop(2) :: is_queued[2] && queued_ago[2] < ALIVE -> queued_ago[2]++ :: else fi
}

inline pass_at_client(which) { sent_ago[which] = (state != IDLE && which <= number && sent_ago[which] < OLDEST -> sent_ago[which] + 1 : sent_ago[which]) }

active proctype clock()
{
  do
  :: atomic { pass_at_store();
       pass_at_client(0); pass_at_client(1);
       belief = less(belief, 1); since_gain = (since_gain < PACE -> since_gain + 1 : PACE) }
  :: atomic { since_gain == PACE -> since_gain = 0; pass_at_store() }
  od
}

/* ---- the client ---- */

inline send(its_number)
{
  number = its_number; sent_ago[number] = 0;
  if :: request > 0 && stray == 0 -> stray = request; stray_number = request_number :: true fi;
  request = id; request_number = number
}

inline end()
{
  state = IDLE; belief = 0; number = 0; leave = id;
  sent_ago[0] = 0; sent_ago[1] = 0
}

inline from_answer() { belief = more(belief, less(LEASE, drift(LEASE) + sent_ago[answer_number])) }

inline from_push()
{
#ifdef BUG_FROM_ARRIVAL
  belief = less(WINDOW, drift(WINDOW));
#else
#ifdef BUG_NEWEST_SAMPLE
  belief = less(push_ago + WINDOW, drift(push_ago + WINDOW) + sent_ago[number]);
#else
#ifdef BUG_DRIFT_OF_WINDOW
  belief = less(push_ago + WINDOW, drift(WINDOW) + sent_ago[push_number]);
#else
  belief = less(push_ago + WINDOW, drift(push_ago + WINDOW) + sent_ago[push_number]);
#endif
#endif
#endif
  state = (belief > 0 -> HOLDS : WAITS) /* of no use: a heartbeat asks */
}

active proctype client()
{
  do
  :: atomic { state == IDLE && id < IDS -> state = WAITS;
#ifdef BUG_SAME_ID
       id = 1;
#else
       id++;
#endif
       send(0) }
#ifdef BUG_NUMBER_REUSED
  :: atomic { state != IDLE && number == 1 && !has_wrapped -> has_wrapped = true; send(0) }
#endif
  :: atomic { state != IDLE && number < NUMBERS - 1 -> send(number + 1) }
  :: atomic { state != IDLE -> end() } /* cancel, or release */
  :: atomic { state == HOLDS && belief == 0 -> end() }
  :: atomic { answer > 0 ->
       if
       :: answer_yes && answer == id && state == WAITS -> from_answer();
            if :: belief > 0 -> state = HOLDS :: else -> end() fi
       :: answer_yes && answer == id && state == HOLDS && belief > 0 -> from_answer()
       :: answer_yes && (answer != id || state == IDLE) -> leave = answer
#ifdef BUG_LEAVE_ON_OLD_NO
       :: !answer_yes && answer == id && state == HOLDS -> leave = id
#endif
       :: else
       fi; answer = 0; answer_number = 0; answer_yes = false }
  :: atomic { push > 0 ->
       if
#ifdef BUG_PUSH_UNMATCHED
       :: state == WAITS -> from_push()
       :: state == IDLE -> leave = push
#else
       :: state == WAITS && push == id -> from_push()
       :: push != id || state == IDLE -> leave = push /* a cancel or another end crossed it: given back */
#endif
       :: else
       fi; push = 0; push_number = 0; push_ago = 0 }
  od
}
