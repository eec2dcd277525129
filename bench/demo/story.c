/* SPDX-License-Identifier: BSD-3-Clause */
/* story.c - what happened in a run and when, for its picture: a file with a JSON object in each line.
 *
 * The driver and all shops append to one file. Each line is one write to a file that was opened with O_APPEND, so lines
 * of several processes do not mix, and a process that is killed leaves all that it had told. Times are those of
 * CLOCK_BOOTTIME, which is the clock of hilock's trace events, too, and the same for all processes of a machine. */
#include "story.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 512 };

struct story {
    int fd;
    char teller[16];
};

struct story *story_open(const char *path, const char *teller)
{
    struct story *story = calloc(1, sizeof *story);
    if (!story)
        return NULL;
    snprintf(story->teller, sizeof story->teller, "%s", teller);
    story->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (story->fd >= 0)
        return story;
    free(story);
    return NULL;
}

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void story_tell(struct story *story, const char *step, const char *format, ...)
{
    char rest[LINE_SIZE], line[2 * LINE_SIZE];
    va_list arguments;
    int length;
    if (!story)
        return;
    va_start(arguments, format);
    vsnprintf(rest, sizeof rest, format, arguments);
    va_end(arguments);
    length = snprintf(line, sizeof line, "{\"at_us\": %lld, \"who\": \"%s\", \"step\": \"%s\"%s%s}\n", now_us(),
                      story->teller, step, *rest ? ", " : "", rest);
    if (write(story->fd, line, (size_t)length) != length)
        fprintf(stderr, "the story is not complete: cannot write to its file\n");
}

void story_close(struct story *story)
{
    if (!story)
        return;
    close(story->fd);
    free(story);
}
