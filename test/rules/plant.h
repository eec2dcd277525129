/* SPDX-License-Identifier: BSD-3-Clause */
/* plant - what apply.py makes of the scripts: the texts that each may have. */
#ifndef TEST_RULES_PLANT_H
#define TEST_RULES_PLANT_H

#include "base/plant.h"

struct plant_script {
    enum hl_plant plant; /* with this one on, a script is so; HL_PLANT_NONE: as it is */
    char *text, *sha1;   /* what the library has of it; NULL: no more rows */
    const char *its_text, *its_sha1;
};
extern const struct plant_script plant_scripts[];

#endif
