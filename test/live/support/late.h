/* SPDX-License-Identifier: BSD-3-Clause */
/* late - how late the machine itself is: a thread that only repeats sleeps of some ms, and adds up how much longer each took
 * too long. A bound on what takes time is stretched by what was measured beside it: a busy machine makes no test red. */
#ifndef LIVE_LATE_H
#define LIVE_LATE_H

#include <stdint.h>

struct late { uint64_t at_us, late_us; };

struct late late_mark(void);                                     /* now. The first one starts the thread */
uint64_t late_until_us(const struct late *mark, uint64_t span_us); /* mark + span, and several times as much as everything was late since */

#endif
