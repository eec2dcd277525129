/* SPDX-License-Identifier: BSD-3-Clause */
/* Votes: what an answer counts as, whose ids are of one holder, and whom most votes name. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "group/vote.h"
#include "lock/view.h"
#include "suite.h"

#define UUID "5f0c1a2b-0000-4000-8000-00000000000a"
#define OTHER "5f0c1a2b-0000-4000-8000-00000000000b"

TEST(ids_of_one_block_and_one_client_are_of_one_holder)
{
    assert_true(hl_vote_is_of_same_holder(UUID ":256", UUID ":511"));
    assert_true(hl_vote_is_of_same_holder(UUID ":256:till", UUID ":257:till"));
    assert_false(hl_vote_is_of_same_holder(UUID ":255", UUID ":256"));
    assert_false(hl_vote_is_of_same_holder(UUID ":511", UUID ":512"));
    assert_false(hl_vote_is_of_same_holder(UUID ":256", OTHER ":257"));
    assert_false(hl_vote_is_of_same_holder(UUID ":1", UUID ":2")); /* these are of no block */
    assert_true(hl_vote_is_of_same_holder("java:1", "java:1"));
    assert_false(hl_vote_is_of_same_holder("java:1", "java:2"));
}

enum { VOTES = 3 };
static struct hl_result_words *words[VOTES];

/* Behind the last of them no byte can be read. */
static struct hl_vote *votes_at_the_end_of_memory(const char *const *holders)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct hl_vote *votes = (struct hl_vote *)(void *)(pages + page) - VOTES;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (int i = 0; i < VOTES; i++) {
        words[i] = calloc(1, sizeof *words[i] + strlen(holders[i]) + 1);
        strcpy(words[i]->holder, holders[i]);
        votes[i] = (struct hl_vote){.state = VOTE_HELD, .status = HILOCK_TIMED_OUT, .words = words[i]};
    }
    return votes;
}

static void end(struct hl_vote *votes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < VOTES; i++)
        free(words[i]);
    munmap((char *)(votes + VOTES) - page, 2 * page);
}

TEST(the_holder_that_most_votes_name_is_found_and_of_equals_the_first)
{
    static const struct { const char *holders[VOTES]; unsigned found, agreed; } rows[] = {
        {{"one:1", "one:1", "two:1"}, 0, 2}, {{"one:1", "two:1", "two:1"}, 1, 2}, {{"one:1", "two:1", "three:1"}, 0, 1}, {{"one:1", "one:1", "one:1"}, 0, 3}};
    unsigned agreed;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hl_vote *votes = votes_at_the_end_of_memory(rows[i].holders);
        assert_ptr_equal(hl_vote_most_agreed(votes, VOTES, HILOCK_TIMED_OUT, &agreed), &votes[rows[i].found]);
        assert_int_equal(agreed, rows[i].agreed);
        assert_null(hl_vote_most_agreed(votes, VOTES, HILOCK_OK, &agreed));
        assert_int_equal(agreed, 0);
        end(votes);
    }
}

TEST(a_vote_of_another_status_names_nobody)
{
    unsigned agreed;
    struct hl_vote *votes = votes_at_the_end_of_memory((const char *const[VOTES]){"one:1", "one:1", "two:1"});
    votes[0].status = HILOCK_OK;
    assert_ptr_equal(hl_vote_most_agreed(votes, VOTES, HILOCK_TIMED_OUT, &agreed), &votes[1]);
    assert_int_equal(agreed, 1);
    assert_ptr_equal(hl_vote_most_agreed(votes, VOTES, HILOCK_OK, &agreed), &votes[0]);
    assert_int_equal(agreed, 1);
    end(votes);
}
