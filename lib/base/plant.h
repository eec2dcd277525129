/* SPDX-License-Identifier: BSD-3-Clause */
/* plant - bugs that are planted on purpose, to see that the test of a safety rule turns red. HL_PLANTED(name) is the
 * constant 0 in the library. Only the test build can switch a bug on: there HL_PLANTS names the list of all bugs, those
 * of plants.def and those of test/rules, which are put into a copy of the library. A plant is named after the rule that
 * it breaks. */
#ifndef HL_BASE_PLANT_H
#define HL_BASE_PLANT_H

#ifdef HL_PLANTS
enum hl_plant {
#define HL_PLANT(name, rule) HL_PLANT_##name,
#define HL_SIM_PLANT HL_PLANT
#define HL_TLS_PLANT HL_PLANT
#define HL_RULE HL_PLANT
    HL_PLANT_NONE,
#include HL_PLANTS
#undef HL_PLANT
#undef HL_SIM_PLANT
#undef HL_TLS_PLANT
#undef HL_RULE
    HL_PLANT_COUNT
};
extern enum hl_plant hl_plant; /* the bug that is on */
void hl_plant_switch(enum hl_plant plant); /* call it before a client connects, because the bug may be in a script */
const char *hl_plant_name(enum hl_plant plant);
enum hl_plant hl_plant_find(const char *name); /* returns HL_PLANT_NONE for an unknown name */
#define HL_PLANTED(name) (hl_plant == HL_PLANT_##name)
#else
#define HL_PLANTED(name) 0
#endif

#endif
