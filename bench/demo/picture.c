/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.c - a story becomes a picture: picture.py draws it, from the folder that this file was compiled in. */
#include "picture.h"

#include "../process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

int picture_name(struct picture_files *ret_files, const char *path)
{
    const char *point = strrchr(path, '.');
    int stem = point ? (int)(point - path) : 0;
    if (!point || (strcmp(point, ".svg") != 0 && strcmp(point, ".html") != 0) || strlen(path) > PATH_MAX - 8)
        return -1;
    snprintf(ret_files->story, PATH_MAX, "%.*s.jsonl", stem, path);
    snprintf(ret_files->svg, PATH_MAX, "%.*s.svg", stem, path);
    snprintf(ret_files->html, PATH_MAX, "%.*s.html", stem, path);
    return 0;
}

static int run(const char *argument)
{
    const char *const argv[] = {DEMO_PYTHON, "-B", DEMO_PICTURE_PY, argument, NULL};
    int status = -1;
    pid_t pid;
    int why = process_start(&pid, argv, -1);
    if (why != 0) {
        fprintf(stderr, "cannot start %s: %s\n", argv[0], strerror(why));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

int picture_check(void)
{
    return run("--check");
}

int picture_draw(const struct picture_files *files)
{
    return run(files->story);
}
