/* SPDX-License-Identifier: BSD-3-Clause */
/* A command is encoded byte for byte as hiredis does it, or not at all: never past the end of its space. */
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "link/encode.h"
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

/* The bytes behind `size` must stay as they were. */
static size_t encode_within(char *to, size_t room, size_t size, const struct trial *trial)
{
    size_t length;
    memset(to, '#', room);
    length = hl_encode_into(to, size, trial->argc, trial->argv, trial->lengths);
    for (size_t i = size; i < room; i++)
        assert_int_equal(to[i], '#');
    return length;
}

TEST(as_hiredis_does)
{
    static char to[8192];
    srand(7);
    for (int seed = 0; seed < SEEDS; seed++) {
        struct trial trial;
        char *expected;
        size_t length;
        draw(&trial);
        length = (size_t)redisFormatCommandArgv(&expected, trial.argc, trial.argv, trial.lengths);
        assert_int_equal(encode_within(to, sizeof to, sizeof to - 1, &trial), length);
        assert_memory_equal(to, expected, length + 1);
        redisFreeCommand(expected);
    }
}

TEST(too_little_space)
{
    static char to[8192];
    srand(8);
    for (int seed = 0; seed < 20; seed++) {
        struct trial trial;
        size_t whole;
        draw(&trial);
        whole = encode_within(to, sizeof to, sizeof to - 1, &trial);
        for (size_t size = 0; size < whole; size++)
            assert_int_equal(encode_within(to, whole + 64, size, &trial), 0);
    }
}
