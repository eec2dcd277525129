/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.h - a story becomes a picture. */
#ifndef DEMO_PICTURE_H
#define DEMO_PICTURE_H

#include <limits.h>

struct picture_files { /* next to each other, with the same name before the point */
    char story[PATH_MAX], svg[PATH_MAX], html[PATH_MAX];
};

/* The file that a user named, .svg or .html, and its neighbours. -1: it has another ending, or its path is too long. */
int picture_name(struct picture_files *ret_files, const char *path);

/* Both run picture.py, which says on stderr what is wrong. Return 0, or -1. */
int picture_check(void); /* can this machine draw? */
int picture_draw(const struct picture_files *files);

#endif
