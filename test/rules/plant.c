/* SPDX-License-Identifier: BSD-3-Clause */
/* plant - the switch of the test build. Invariant: each script's text and SHA-1, as the library knows them, belong to
 * the plant that is on. */
#include "plant.h"

#include <string.h>

enum hl_plant hl_plant = HL_PLANT_NONE;

static const char *const names[] = {
    "none",
#define HL_PLANT(name, rule) #name,
#define HL_SIM_PLANT HL_PLANT
#define HL_TLS_PLANT HL_PLANT
#define HL_RULE HL_PLANT
#include HL_PLANTS
};

const char *hl_plant_name(enum hl_plant plant) { return names[plant]; }

enum hl_plant hl_plant_find(const char *name)
{
    int i = 1;
    while (i < HL_PLANT_COUNT && strcmp(names[i], name) != 0)
        i++;
    return i < HL_PLANT_COUNT ? (enum hl_plant)i : HL_PLANT_NONE;
}

static void write_scripts(enum hl_plant plant)
{
    for (const struct plant_script *script = plant_scripts; script->text; script++)
        if (script->plant == plant) {
            strcpy(script->text, script->its_text);
            strcpy(script->sha1, script->its_sha1);
        }
}

void hl_plant_switch(enum hl_plant plant)
{
    hl_plant = plant;
    write_scripts(HL_PLANT_NONE);
    write_scripts(plant);
}

/* Before all else: as the library has them. */
__attribute__((constructor(101))) static void begin(void) { hl_plant_switch(HL_PLANT_NONE); }
