/* SPDX-License-Identifier: BSD-3-Clause */
/* plant - the switch of the test build; empty in the library. */
#include "base/plant.h"

#include <string.h>

#ifdef HL_PLANTS
enum hl_plant hl_plant = HL_PLANT_NONE;

static const char *const names[] = {
    "none",
#define HL_PLANT(name, rule) #name,
#define HL_SIM_PLANT HL_PLANT
#define HL_TLS_PLANT HL_PLANT
#include "base/plants.def"
};

const char *hl_plant_name(enum hl_plant plant) { return names[plant]; }

enum hl_plant hl_plant_find(const char *name)
{
    int i = 1;
    while (i < HL_PLANT_COUNT && strcmp(names[i], name) != 0)
        i++;
    return i < HL_PLANT_COUNT ? (enum hl_plant)i : HL_PLANT_NONE;
}
#endif
