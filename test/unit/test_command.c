/* SPDX-License-Identifier: BSD-3-Clause */
/* Any added bytes become one whole argument; a new command begins in the same space. */
#include <string.h>

#include "base/command.h"
#include "suite.h"

static const struct hl_script script = {"acquire", "return 1", 8, "0123456789012345678901234567890123456789"};

static void assert_arg(const struct hl_command *command, int i, const char *bytes, size_t length)
{
    assert_true(i < command->argc);
    assert_int_equal(command->lengths[i], length);
    assert_memory_equal(command->argv[i], bytes, length);
}

TEST(arguments)
{
    struct hl_command command;
    char *room;
    hl_command_begin(&command, "SET");
    hl_command_add(&command, "a\0 b\r\n", 6);
    hl_command_add(&command, "", 0);
    hl_command_add_number(&command, 0);
    hl_command_add_number(&command, UINT64_MAX);
    room = hl_command_room(&command, 3);
    memcpy(room, "xyz", 3);
    hl_command_add(&command, room, 3);
    assert_int_equal(command.argc, 6);
    assert_arg(&command, 0, "SET", 3);
    assert_arg(&command, 1, "a\0 b\r\n", 6);
    assert_arg(&command, 2, "", 0);
    assert_arg(&command, 3, "0", 1);
    assert_arg(&command, 4, "18446744073709551615", 20);
    assert_arg(&command, 5, "xyz", 3);
    assert_null(command.script);
}

TEST(scripts)
{
    struct hl_command command;
    hl_command_evalsha(&command, &script, 2);
    hl_command_add_word(&command, "key");
    assert_arg(&command, 0, "EVALSHA", 7);
    assert_arg(&command, 1, script.sha1, 40);
    assert_arg(&command, 2, "2", 1);
    assert_arg(&command, 3, "key", 3);
    assert_ptr_equal(command.script, &script);
    hl_command_load(&command, &script);
    assert_int_equal(command.argc, 3);
    assert_arg(&command, 0, "SCRIPT", 6);
    assert_arg(&command, 1, "LOAD", 4);
    assert_arg(&command, 2, "return 1", 8);
    assert_null(command.script);
}

TEST(all_its_room)
{
    struct hl_command command;
    for (int again = 0; again < 2; again++) {
        hl_command_begin(&command, "X");
        for (int i = 1; i < HL_COMMAND_ARGS_MAX; i++)
            hl_command_add_word(&command, "y");
        memset(hl_command_room(&command, HL_COMMAND_ROOM), 'z', HL_COMMAND_ROOM);
        assert_int_equal(command.argc, HL_COMMAND_ARGS_MAX);
    }
}

TEST(numbers)
{
    static const struct { uint64_t number; const char *digits; } cases[] = {
        {0, "0"}, {9, "9"}, {10, "10"}, {1234567890, "1234567890"}, {UINT64_MAX - 1, "18446744073709551614"}, {UINT64_MAX, "18446744073709551615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char digits[HL_DECIMAL_MAX + 1];
        memset(digits, 'z', sizeof digits);
        assert_int_equal(hl_command_decimal(digits, cases[i].number), strlen(cases[i].digits));
        assert_memory_equal(digits, cases[i].digits, strlen(cases[i].digits));
        assert_int_equal(digits[strlen(cases[i].digits)], 'z');
    }
}
