/* SPDX-License-Identifier: BSD-3-Clause */
/* A command is encoded byte for byte as hiredis does it, and never past the end of the room that was asked for. */
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/command.h"
#include "suite.h"

enum { ARGS_MAX = 12, ARG_MAX = 120, SEEDS = 2000 };

struct trial {
    int argc;
    const char *argv[ARGS_MAX];
    size_t lengths[ARGS_MAX];
    char bytes[ARGS_MAX][ARG_MAX];
};

static void draw(struct trial *trial)
{
    trial->argc = 1 + rand() % ARGS_MAX;
    for (int i = 0; i < trial->argc; i++) {
        trial->argv[i] = trial->bytes[i];
        trial->lengths[i] = (size_t)(rand() % ARG_MAX);
        for (size_t k = 0; k < trial->lengths[i]; k++)
            trial->bytes[i][k] = (char)rand();
    }
}

TEST(as_hiredis_does)
{
    static char to[8192];
    srand(7);
    for (int seed = 0; seed < SEEDS; seed++) {
        struct trial trial;
        char *expected;
        draw(&trial);
        size_t length = (size_t)redisFormatCommandArgv(&expected, trial.argc, trial.argv, trial.lengths);
        assert_true(length <= hl_command_encoded_max(trial.argc, trial.lengths));
        memset(to, '#', sizeof to);
        assert_int_equal(hl_command_encode(to, trial.argc, trial.argv, trial.lengths), length);
        assert_memory_equal(to, expected, length);
        for (size_t i = length; i < sizeof to; i++)
            assert_int_equal(to[i], '#');
        redisFreeCommand(expected);
    }
}
