/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - a group that holds when each of its names is held.
 *
 *   TRYING     asks for every name at once, without waiting
 *     | all granted: COMPLETING    | one refused: all go back
 *   GATHERING  asks for one name after the other, in the one order that all multis share; keeps and renews those before
 *     | the last is granted        | lost one, or kept them too long behind another program: all go back
 *   COMPLETING renews those with too little left; then it is held
 *   PAUSED     has nothing, and begins again at TRYING
 *
 * It cannot deadlock with other multis: a multi that waits holds only names before the one it waits for, and a holder
 * that waits for nothing comes to its end. A program that asks in another order (a MultiLock of Redisson) breaks this
 * rule, and its holds do not hand over: so nothing is kept for longer than KEEP_US behind a holder that does not hand
 * over. */
#ifndef HL_GROUP_MULTI_H
#define HL_GROUP_MULTI_H

#include "group/group.h"

extern const struct hl_group_ways hl_multi_ways;

#endif
