/* SPDX-License-Identifier: BSD-3-Clause */
/* options - reads the command line into one struct for all commands. Each command takes its own options and refuses
 * others. */
#ifndef SHELL_OPTIONS_H
#define SHELL_OPTIONS_H

#include <hilock/hilock.h>

enum { OPTIONS_NAMES_MAX = 64 };

struct options {
    const char *word;      /* run, status, ... */
    const char *url;       /* from --url, or from HILOCK_URL; NULL: the library's default */
    const char *tls_ca, *tls_cert, *tls_key;
    uint32_t wait_ms, lease_ms, grace_ms, every_ms, at_least_ms;
    hilock_kind kind;
    uint32_t holders_max; /* what run was told, as in the options of a lock; 0: the command holds the name alone */
    int is_multi, is_json, is_verbose, is_quiet, is_long;
    const char *holder, *prefix;
    const char *names[OPTIONS_NAMES_MAX + 1]; /* ended by NULL */
    size_t names_count;
    char **command; /* the words that run got after "--" */
};

/* argv: begins with the command's name. Returns 0, or the exit code after it has printed the reason. */
int options_read(struct options *ret, int argc, char **argv);

#endif
