/* SPDX-License-Identifier: BSD-3-Clause */
/* play - see play.h. */
#include "play.h"

int play_holds(const struct play *play)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    play->play(&fixture);
    return fixture_end(&fixture);
}

void play_run(void **state) { assert_true(play_holds(*state)); }
