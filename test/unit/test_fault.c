/* SPDX-License-Identifier: BSD-3-Clause */
/* What an error reply means: whether time may heal it, and the answer to the user. */
#include <string.h>

#include "wire/response.h"
#include "suite.h"

static struct hl_fault fault_of(const char *text)
{
    /* exactly as long as the text: a reader that looks behind it is found by the sanitizers */
    size_t length = strlen(text);
    char *bytes = test_malloc(length + !length);
    memcpy(bytes, text, length);
    struct hl_fault fault = hl_response_cause(&(struct hl_reply){.type = HL_REPLY_ERROR, .bytes = bytes, .length = length});
    test_free(bytes);
    return fault;
}

static const struct {
    const char *text;
    enum hl_fault_kind kind;
    hilock_status status;
    int left_nothing; /* refused as a whole. Else a script may have been left in its midst: its id is to be released */
} cases[] = {
    {"NOSCRIPT No matching script. Please use EVAL.", HL_FAULT_NOSCRIPT, HILOCK_SERVER, 0},
    {"NOSCRIPT", HL_FAULT_NOSCRIPT, HILOCK_SERVER, 0},
    {"READONLY You can't write against a read only replica.", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"READONLY", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"ERR Error running script (call to f_1): @user_script: 1: -READONLY You can't write",
     HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"LOADING Redis is loading the dataset in memory", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"MASTERDOWN Link with MASTER is down", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"BUSY Redis is busy running a script.", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"OOM command not allowed when used memory > 'maxmemory'.", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"ERR Error running script (call to f_1): @user_script:9: -OOM command not allowed",
     HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"NOREPLICAS Not enough good replicas to write.", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"MISCONF Redis is configured to save RDB snapshots", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"CLUSTERDOWN The cluster is down", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"TRYAGAIN Multiple keys request during rehashing of slot", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"UNBLOCKED force unblock", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"ERR Error running script: Script killed by user with SCRIPT KILL.", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"ERR max number of clients reached", HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0},
    {"NOAUTH Authentication required.", HL_FAULT_LASTING, HILOCK_DENIED, 1},
    {"WRONGPASS invalid username-password pair or user is disabled.", HL_FAULT_LASTING, HILOCK_DENIED, 1},
    {"NOPERM this user has no permissions to run the 'evalsha' command", HL_FAULT_LASTING, HILOCK_DENIED, 1},
    {"ERR AUTH <password> called without any password configured for the default user.",
     HL_FAULT_LASTING, HILOCK_DENIED, 0},
    {"ERR The user executing the script can't run this command or subcommand", HL_FAULT_LASTING, HILOCK_DENIED, 0},
    {"ERR ACL failure in script: User x has no permissions", HL_FAULT_LASTING, HILOCK_DENIED, 0},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", HL_FAULT_LASTING, HILOCK_WRONG_KIND, 1},
    {"ERR Error running script (call to f_1): @user_script:6: -WRONGTYPE Operation against a key",
     HL_FAULT_LASTING, HILOCK_WRONG_KIND, 1},
    {"BADTOKEN the token key of this name holds no token of ours", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {"ERR whatever", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {"READONLYISH is another word", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {"BUSYGROUP Consumer Group name already exists", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {"readonly", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {"ERR", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {" ", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {"", HL_FAULT_LASTING, HILOCK_SERVER, 0},
    {"NOPERM something script: f_1, on @user_script:51.", HL_FAULT_LASTING, HILOCK_DENIED, 0},
    {"ERR Error running script (call to f_1): @user_script:51: -NOPERM this user has no permissions",
     HL_FAULT_LASTING, HILOCK_DENIED, 0},
    {"WRONGTYPE Operation against a key holding the wrong kind of value script: f_1, on @user_script:6.",
     HL_FAULT_LASTING, HILOCK_WRONG_KIND, 1},
    {"NOAUTHX y", HL_FAULT_LASTING, HILOCK_SERVER, 0},
};

TEST(every_class_of_error_is_told_apart)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hl_fault fault = fault_of(cases[i].text);
        assert_int_equal(fault.left_nothing, cases[i].left_nothing);
        if (fault.kind != cases[i].kind || fault.status != cases[i].status)
            fail_msg("\"%s\": kind %d, %s", cases[i].text, (int)fault.kind, hilock_status_name(fault.status));
    }
}

TEST(bytes_that_are_no_text_mean_something_too)
{
    struct hl_fault fault = hl_response_cause(&(struct hl_reply){.type = HL_REPLY_ERROR, .bytes = "ERR \0: -OOM x", .length = 13});
    assert_int_equal(fault.status, HILOCK_UNWRITABLE);
    fault = hl_response_cause(&(struct hl_reply){.type = HL_REPLY_ERROR, .bytes = "\0NOSCRIPT", .length = 9});
    assert_int_equal(fault.status, HILOCK_SERVER);
}
