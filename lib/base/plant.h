/* SPDX-License-Identifier: BSD-3-Clause */
/* plant - bugs planted on purpose, to see that the test of a safety rule goes red. HL_PLANTED(name) is the constant 0
 * in the library. Only the test build has the switch: there HL_PLANTS names the list of them all, those of plants.def
 * and those of test/rules, which are put into a copy of the library. A plant is named after the rule it breaks. */
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
extern enum hl_plant hl_plant; /* the one that is on */
void hl_plant_switch(enum hl_plant plant); /* before a client connects: scripts may have it */
const char *hl_plant_name(enum hl_plant plant);
enum hl_plant hl_plant_find(const char *name); /* HL_PLANT_NONE: no such plant */
#define HL_PLANTED(name) (hl_plant == HL_PLANT_##name)
#else
#define HL_PLANTED(name) 0
#endif

#endif
