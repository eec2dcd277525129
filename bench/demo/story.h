/* SPDX-License-Identifier: BSD-3-Clause */
/* story.h - what happened in a run and when, for its picture. */
#ifndef DEMO_STORY_H
#define DEMO_STORY_H

struct story;

/* Appends to the file; teller is named in each line. NULL: errno says why. */
struct story *story_open(const char *path, const char *teller);

/* One line: {"at_us": now, "who": teller, "step": step, and what format makes}. The format is the rest of a JSON
 * object, without its braces; "" for nothing. Does nothing if the story is NULL. */
__attribute__((format(printf, 3, 4))) void story_tell(struct story *story, const char *step, const char *format, ...);

void story_close(struct story *story); /* NULL is allowed */

#endif
