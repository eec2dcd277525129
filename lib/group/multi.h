/* SPDX-License-Identifier: BSD-3-Clause */
/* multi - a group that needs all of its names.
 *
 *   TRYING     asks for every name at once, without waiting
 *     | all granted: COMPLETING    | one refused: all go back
 *   GATHERING  asks for one name after the other, in the one order that all multis share; keeps and renews those before
 *     | the last is granted        | lost one, or kept them too long behind another program: all go back
 *   COMPLETING renews those with too little left; then it is held
 *   PAUSED     has nothing, and begins again at TRYING
 *
 * It cannot deadlock with other multis: a waiting multi holds only names before the one it waits for, and a holder that
 * waits for nothing ends in time. A program that asks in another order (a MultiLock of Redisson) breaks this rule, and
 * does not hand over: so a multi keeps nothing for longer than KEEP_US behind a holder that does not hand over. */
#ifndef HL_GROUP_MULTI_H
#define HL_GROUP_MULTI_H

#include "group/group.h"

extern const struct hl_group_ways hl_multi_ways;

#endif
