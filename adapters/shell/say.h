/* SPDX-License-Identifier: BSD-3-Clause */
/* say - messages to the user, on stderr: "hilock: " and a sentence that says what to do. stdout belongs to answers, and
 * in `run` to the command. */
#ifndef SHELL_SAY_H
#define SHELL_SAY_H

void say_as_events(void); /* from now on a sentence is a line of JSON: {"event":"log","detail":".."} */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int say_usage(const char *format, ...) __attribute__((format(printf, 1, 2))); /* and where help is; answers EX_USAGE */

#endif
