/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - a scenario's command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>

enum option_type { OPTION_COUNT, OPTION_SECONDS, OPTION_TEXT, OPTION_FLAG };

struct option_entry { /* the last entry of a table has no name */
    const char *name;  /* without the dashes */
    enum option_type type;
    void *value;       /* points to an unsigned, double, const char * or bool, which has the default */
    const char *what;
    unsigned least, most; /* the bounds of a count */
};

/* What each scenario has besides its own: --url (NULL: a private server) and --json. */
extern const char *options_url;
extern bool options_has_json;

/* Reads options, "--name value" or "--name=value". Returns 0, or -1: reported on stderr. */
int options_read(const struct option_entry *entries, int argc, char **argv);
void options_describe(const struct option_entry *entries);

#endif
