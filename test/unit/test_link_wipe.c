/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link has sent is not left in memory: not while it goes on, not when it is closed, after any outcome. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "link_suite.h"
#include "needle.h"

TEST(what_is_there_is_found)
{
    char *block = malloc(100);
    assert_int_equal(needle_count(), 0);
    needle_write(block + 17);
    assert_int_equal(needle_count(), 1);
    hl_memory_wipe(block, 100);
    assert_int_equal(needle_count(), 0);
    free(block);
}

static void drain_all(struct link_trial *trial)
{
    while (trial->factory.backlog(trial->link) || drain(trial))
        drain(trial), link_trial_turns(trial, 1);
}

TRIAL(written)
{
    link_trial_send_needle(trial);
    assert_int_equal(needle_count(), 1); /* it is still to be written */
    link_trial_turns(trial, 2);
    assert_int_equal(needle_count(), 0);
    drain_all(trial);
    link_trial_answer(trial, "+OK\r\n");
    link_trial_until(trial, "+OK");
    link_trial_close(trial, 0);
    assert_int_equal(needle_count(), 0);
}

TRIAL(closed_before_it_was_written)
{
    link_trial_send_needle(trial);
    link_trial_close(trial, 1);
    assert_int_equal(needle_count(), 0);
}

TRIAL(written_by_a_stream)
{
    trial->factory.stream(trial->link);
    link_trial_send_needle(trial);
    link_trial_turns(trial, 2);
    assert_int_equal(needle_count(), 0);
}

/* The rest of a write moves to where its begin was. */
TRIAL(written_in_parts)
{
    while (trial->factory.backlog(trial->link) == 0) {
        for (int i = 0; i < 1000; i++)
            link_trial_ask(trial);
        link_trial_turns(trial, 2);
    }
    link_trial_send_needle(trial);
    drain_all(trial);
    assert_int_equal(needle_count(), 0);
}
