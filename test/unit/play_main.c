/* SPDX-License-Identifier: BSD-3-Clause */
/* play_main - the main() of a program that has none: its plays. */
#include "play.h"

int main(void) { return plays_run_added(); }
