/* SPDX-License-Identifier: BSD-3-Clause */
/* say - prints messages to the user on stderr: "hilock: " and a sentence, which includes what to do. stdout is for
 * answers, and in `run` for the command. */
#ifndef SHELL_SAY_H
#define SHELL_SAY_H

void say_as_events(void); /* prints later messages as lines of JSON: {"event":"log","detail":".."} */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int say_usage(const char *format, ...) __attribute__((format(printf, 1, 2))); /* adds where help is; returns EX_USAGE */

#endif
