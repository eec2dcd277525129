/* SPDX-License-Identifier: BSD-3-Clause */
/* famine - this program's malloc, calloc, realloc and strdup, those of the libraries it uses included: as ever, but that one call, chosen by its
 * number, finds no memory. Only what the thread asks for that began the famine counts, between famine_begin and famine_end and while it is
 * not paused: what a test asks for itself is never refused. */
#ifndef LIVE_FAMINE_H
#define LIVE_FAMINE_H

#include <stdint.h>

void famine_begin(uint64_t fail_at); /* 1: the very next call; 0: none, it only counts */
int famine_pause(void); /* 1: it was not paused yet */
void famine_resume(void);
void famine_end(void);

uint64_t famine_asked(void);   /* calls so far */
int famine_has_struck(void);   /* 1: the chosen call was refused */
void famine_show(void);        /* where that was, to stderr */

#endif
