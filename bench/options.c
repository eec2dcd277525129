/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - a scenario's command line.
 *
 * A scenario lists its options in one table, and what all have stands in one here. Reading, checking and --help all use
 * these tables, so they cannot differ. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *options_url;
bool options_has_json;

static const struct option_entry common[] = {
    {"url", OPTION_TEXT, &options_url,
     "redis://.., unix://.., for pairs also redis+cluster://..; without it a private redis-server is started", 0, 0},
    {"json", OPTION_FLAG, &options_has_json, "prints a JSON object for each line of figures as well", 0, 0},
    {NULL, OPTION_FLAG, NULL, NULL, 0, 0},
};

static int refuse(const struct option_entry *entry, const char *text)
{
    if (entry->type == OPTION_COUNT)
        fprintf(stderr, "--%s %s: must be %u..%u\n", entry->name, text, entry->least, entry->most);
    else
        fprintf(stderr, "--%s %s: must be a number of seconds above 0, 3600 at most\n", entry->name, text);
    return -1;
}

static int read_value(const struct option_entry *entry, const char *text)
{
    char *rest = NULL;
    switch (entry->type) {
    case OPTION_COUNT: {
        unsigned long count = strtoul(text, &rest, 10);
        if (!*text || *rest || *text == '-' || count < entry->least || count > entry->most)
            return refuse(entry, text);
        *(unsigned *)entry->value = (unsigned)count;
        break;
    }
    case OPTION_SECONDS: {
        double seconds = strtod(text, &rest);
        if (!*text || *rest || !(seconds > 0 && seconds <= 3600))
            return refuse(entry, text);
        *(double *)entry->value = seconds;
        break;
    }
    case OPTION_TEXT:
        *(const char **)entry->value = text;
        break;
    case OPTION_FLAG:
        break;
    }
    return 0;
}

static const struct option_entry *find(const struct option_entry *entries, const char *word, size_t length)
{
    for (; entries->name; entries++)
        if (strlen(entries->name) == length && strncmp(entries->name, word, length) == 0)
            return entries;
    return NULL;
}

int options_read(const struct option_entry *entries, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        size_t length = strcspn(word, "=");
        const struct option_entry *entry = strncmp(word, "--", 2) == 0 ? find(entries, word + 2, length - 2) : NULL;
        const char *text = word[length] ? word + length + 1 : NULL;
        if (!entry && strncmp(word, "--", 2) == 0)
            entry = find(common, word + 2, length - 2);
        if (!entry || (entry->type == OPTION_FLAG && text)) {
            fprintf(stderr, "%s is no option of this scenario: see --help\n", word);
            return -1;
        }
        if (entry->type == OPTION_FLAG) {
            *(bool *)entry->value = true;
            continue;
        }
        if (!text && ++i < argc)
            text = argv[i];
        if (!text) {
            fprintf(stderr, "%s needs a value\n", word);
            return -1;
        }
        if (read_value(entry, text) != 0)
            return -1;
    }
    return 0;
}

static void describe(const struct option_entry *entries)
{
    for (; entries->name; entries++) {
        printf("  --%-12s %s", entries->name, entries->what);
        if (entries->type == OPTION_COUNT)
            printf(" (%u)", *(const unsigned *)entries->value);
        else if (entries->type == OPTION_SECONDS)
            printf(" (%g)", *(const double *)entries->value);
        printf("\n");
    }
}

void options_describe(const struct option_entry *entries)
{
    describe(entries);
    describe(common);
}
