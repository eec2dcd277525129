/* SPDX-License-Identifier: BSD-3-Clause */
/* switch - which mutant is on, where all of them stand in one build (switched.py): HL_MUTANT=<number> in the
 * environment, or hl_mutant. Each source of that tree begins with it; the one that defines HL_MUTANTS, how many there
 * are, has what is declared here. */
#ifndef TEST_MUTATING_SWITCH_H
#define TEST_MUTATING_SWITCH_H

extern int hl_mutant;                      /* 0: none */
extern unsigned char *hl_mutants_reached;  /* by number: 1: that place was passed */
extern const int hl_mutants;

#define HL_MUTANT(number) (hl_mutants_reached[number] = 1, hl_mutant == (number))

#ifdef HL_MUTANTS
#include <stdlib.h>

static unsigned char reached[HL_MUTANTS + 1];
int hl_mutant;
unsigned char *hl_mutants_reached = reached;
const int hl_mutants = HL_MUTANTS;

__attribute__((constructor(101))) static void begin_mutant(void)
{
    const char *asked = getenv("HL_MUTANT");
    hl_mutant = asked ? atoi(asked) : 0;
}
#endif

#endif
