/* SPDX-License-Identifier: BSD-3-Clause */
/* hilock - locks at the shell. Each command has a file of its own; the little code that they share is in the files
 * beside them (README.md). */
#include "doctor.h"
#include "options.h"
#include "run.h"
#include "say.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "usage: hilock run [--url URL] [--wait 10s|--try|--forever] [--lease 30s]\n"
                           "                  [--grace 10s] [--at-least 1h] [--fair|--simple] [--multi]\n"
                           "                  [--readers|--permits N] [--json] [--verbose|--quiet]\n"
                           "                  NAME... -- COMMAND...\n"
                           "       hilock status [--url URL] [--long] [--json] NAME...|--prefix P\n"
                           "       hilock break [--url URL] [--json] NAME --holder ID\n"
                           "       hilock watch [--url URL] [--every 1s] [--long] [--json]\n"
                           "                  NAME...|--prefix P\n"
                           "       hilock doctor [--prefix P] [--json] [URL]\n"
                           "       hilock --version\n"
                           "URL: where the locks are, redis://127.0.0.1:6379 unless HILOCK_URL is set.\n"
                           "run ends with the command's status; 124: not acquired in time; 125: lost, and\n"
                           "the command was ended. man hilock has the rest.\n";

int main(int argc, char **argv)
{
    static const struct { const char *word; int (*run)(const struct options *options); } commands[] = {
        {"run", run_command}, {"status", status_command}, {"break", break_command}, {"watch", watch_command},
        {"doctor", doctor_command},
    };
    struct options options;
    for (int i = 1; i < argc && i < 3; i++) /* finds --help in `hilock --help` and in `hilock run --help` */
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return fputs(help, stdout) < 0;
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return printf("hilock %s\n", hilock_version()) < 0;
    if (argc < 2)
        return say_usage("no command: give run, status, break, watch or doctor");
    int code = options_read(&options, argc - 1, argv + 1);
    for (size_t i = 0; !code && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].word, options.word) == 0)
            return commands[i].run(&options);
    return code;
}
