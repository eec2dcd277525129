/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: how urgent each line is, what it says, and that nothing that happens many times fills it. */
#include <unistd.h>

#include "play.h"

enum { MANY = 100 };

/* What hilock_log_stderr writes of a line of this level. */
static const char *written(hilock_log_level level)
{
    static char text[100];
    int ends[2], standard = dup(STDERR_FILENO);
    ssize_t length;
    assert_true(standard >= 0 && pipe(ends) == 0);
    dup2(ends[1], STDERR_FILENO);
    hilock_log_stderr(level, "stock", NULL);
    dup2(standard, STDERR_FILENO);
    length = read(ends[0], text, sizeof text - 1);
    close(ends[0]), close(ends[1]), close(standard);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

TEST(a_line_on_standard_error_begins_with_its_level)
{
    assert_string_equal(written(HILOCK_LOG_ERROR), "hilock: error: stock\n");
    assert_string_equal(written(HILOCK_LOG_WARN), "hilock: warning: stock\n");
    assert_string_equal(written(HILOCK_LOG_INFO), "hilock: info: stock\n");
    assert_string_equal(written(HILOCK_LOG_DEBUG), "hilock: debug: stock\n");
    assert_string_equal(written((hilock_log_level)(HILOCK_LOG_DEBUG + 1)), "hilock: ?: stock\n"); /* of a newer header */
}

/* Of the calls that are refused in one second one has a line, and the others are counted in the next. */
GIVEN(refusals_have_one_line_a_second_and_a_count, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.label = "shop-7")))
{
    struct handle *a = held(p, "a", "one", NULL);
    unsigned lines = p->lines;
    for (int i = 0; i < MANY; i++)
        SAME(s, acquire(a, 1), HILOCK_IN_USE);
    SAME(s, p->lines, lines + 1);
    SAME(s, client_lines(p, "shop-7: refused: handle of"), 1);
    run_ms(s, 20000); /* some turns */
    SAME(s, client_lines(p, "shop-7: 99 more calls were refused"), 1);
    SAME(s, acquire(a, 1), HILOCK_IN_USE);
    SAME(s, client_lines(p, "shop-7: refused: handle of"), 2);
}

/* To the microsecond. */
HOLDING(a_second_after_a_line_the_next_is_written, NULL)
{
    SAME(s, acquire(a, 1), HILOCK_IN_USE);
    unsigned lines = p->lines;
    run_us(s, 999999);
    SAME(s, acquire(a, 1), HILOCK_IN_USE);
    SAME(s, p->lines, lines);
    run_us(s, 1);
    SAME(s, acquire(a, 1), HILOCK_IN_USE);
    SAME(s, p->lines, lines + 2); /* it, and how many there were meanwhile */
}

/* What was left out is counted in the first turn that is a second later. */
HOLDING(a_count_of_what_was_left_out_is_due_after_a_second, NULL)
{
    for (int i = 0; i < 3; i++)
        SAME(s, acquire(a, 1), HILOCK_IN_USE);
    run_us(s, 999999);
    acquiring(handle_new(p, "b", "two", NULL), HILOCK_TRY); /* the loop turns */
    run_us(s, 1);
    SAME(s, client_lines(p, "more calls were refused"), 0);
    acquiring(handle_new(p, "c", "three", NULL), HILOCK_TRY);
    run_us(s, 1);
    SAME(s, client_lines(p, "2 more calls were refused"), 1);
}

/* Though the loop has not turned meanwhile. */
HOLDING(what_was_left_out_is_counted_before_the_next_line, NULL)
{
    for (int i = 0; i < MANY; i++)
        SAME(s, acquire(a, 1), HILOCK_IN_USE);
    world_freeze(&p->loop.lane);
    run_ms(s, 1500);
    SAME(s, client_lines(p, "99 more calls were refused"), 0);
    SAME(s, acquire(a, 1), HILOCK_IN_USE);
    SAME(s, client_lines(p, "99 more calls were refused"), 1);
    HOLDS(s, strstr(p->line, "refused: handle of"));
    world_thaw(&s->world, &p->loop.lane);
}

/* ---- what a line says ---- */

/* The latest line of this client is this one. */
static void says(const struct client *p, hilock_log_level level, const char *line)
{
    TEXT(p->fixture, p->line, line);
    SAME(p->fixture, p->level, level);
}

WITH_CLIENT(an_acquire_its_wait_and_its_release_have_a_line_each)
{
    struct client *q = fixture_connect(s, NULL);
    says(q, HILOCK_LOG_INFO, "127.0.0.1:6379: connected");
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(q, "b", "stock", NULL);
    says(p, HILOCK_LOG_DEBUG, "acquire of \"stock\": OK after 0 ms and 1 request");
    run_ms(s, 20);
    says(q, HILOCK_LOG_DEBUG, "\"stock\" is held by another: waiting");
    release(a);
    run_ms(s, 1);
    says(p, HILOCK_LOG_DEBUG, "released \"stock\" after 20 ms");
    says(q, HILOCK_LOG_DEBUG, "acquire of \"stock\": OK after 20 ms and 2 requests");
    handle_drop(b);
    asking(p, "c", "stock", NULL);
    run_ms(s, 1);
    cancel(acquiring(a, HILOCK_FOREVER));
    run_ms(s, 1);
    says(p, HILOCK_LOG_DEBUG, "acquire of \"stock\": CANCELLED after 0 ms and 0 requests");
}

WITH_CLIENT(a_hand_over_has_a_line_and_so_has_an_inquiry)
{
    struct handle *a = held(p, "a", "stock", NULL), *b = asking(p, "b", "stock", NULL);
    run_ms(s, 30);
    when(b, "OK", release_quietly);
    release_quietly(a);
    run_ms(s, 1);
    HOLDS(s, strstr(p->log, "\"stock\" is handed to the next handle (turn 2, 30 ms after its grant)\n"));
    peek(a);
    run_ms(s, 1);
    says(p, HILOCK_LOG_DEBUG, "peek of \"stock\": OK: nobody holds \"stock\"");
    store_take(&s->store, "stock", "another", 60000);
    force(a, NULL);
    run_ms(s, 1);
    says(p, HILOCK_LOG_INFO, "force_release of \"stock\": OK: the hold of another:.. on \"stock\" is ended; that holder notices it at its next renewal");
}

HOLDING(of_an_outage_the_first_try_is_a_warning_and_the_end_is_said, NULL)
{
    s->place->mood = NET_REFUSES;
    net_reset(&s->net, NULL, NET_COMMANDS);
    run_us(s, 150);
    SAME(s, p->level, HILOCK_LOG_WARN);
    HOLDS(s, strncmp(p->line, "127.0.0.1:6379: Connection reset by peer; next try in ", 54) == 0);
    run_ms(s, 1000);
    SAME(s, p->level, HILOCK_LOG_INFO);
    HOLDS(s, strncmp(p->line, "127.0.0.1:6379: Connection refused; next try in ", 48) == 0);
    s->place->mood = NET_LISTENS;
    run_ms(s, 3000);
    HOLDS(s, client_lines(p, "127.0.0.1:6379: connected") == 2);
}

HOLDING(renewals_that_fail_and_succeed_again_have_a_line, HILOCK_LOCK_OPTIONS(.lease_ms = 6000))
{
    PLAN(s, .on = "renew", .error = "OOM", .times = 1);
    run_ms(s, 2100);
    says(p, HILOCK_LOG_INFO, "renewal of \"stock\" failed 1 time in a row: OOM; still valid for 3932 ms");
    PLAN(s, .on = "renew", .error = "OOM", .times = 2);
    run_ms(s, 4000);
    says(p, HILOCK_LOG_INFO, "\"stock\" is renewed again after 3 failures");
}

/* A first failure is no warning, and a second is one. */
WITH_CLIENT(what_was_left_out_is_as_urgent_as_the_most_urgent_of_it)
{
    for (int i = 0; i < 3; i++)
        held(p, "a", formatted("name %d", i), HILOCK_LOCK_OPTIONS(.lease_ms = 300));
    PLAN(s, .on = "renew", .error = "OOM", .times = 6);
    unheard_ms(s, 250);
    SAME(s, client_lines(p, "more renewals failed"), 0);
    unheard_ms(s, 1000);
    HOLDS(s, strstr(p->log, "5 more renewals failed"));
    SAME(s, p->level, HILOCK_LOG_WARN);
}

/* At the level DEBUG nothing is left out. */
WITH_CLIENT(each_name_that_is_refused_has_its_line)
{
    hilock_lock *lock = NULL;
    for (int i = 0; i < 5; i++)
        SAME(s, hilock_lock_create(&lock, p->client, "hilock:x", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)), HILOCK_BAD_NAME);
    SAME(s, client_lines(p, "names that begin with \"hilock:\""), 5);
}

GIVEN(a_loss_is_an_error_but_that_of_a_close_is_a_warning,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.log_level = HILOCK_LOG_ERROR)))
{
    held(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 3000));
    held(p, "b", "two", NULL);
    s->is_tampered = 1;
    store_delete(&s->store, "one");
    TELLS_IN(s, 1100, "a:LOST TAKEN");
    SAME(s, p->lines, 1);
    run_ms(s, 2000);
    client_close(p, 0);
    TELLS_IN(s, 10, "b:LOST CLOSING closed");
    SAME(s, p->lines, 1);
}

GIVEN(two_failed_renewals_are_a_warning_and_one_is_none,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.log_level = HILOCK_LOG_WARN)))
{
    held(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    PLAN(s, .on = "renew", .error = "OOM", .times = 1);
    run_ms(s, 8000);
    SAME(s, p->lines, 0);
    PLAN(s, .on = "renew", .error = "OOM", .times = 2);
    TELLS_IN(s, 3000, "a:RENEWAL_FAILED a:RENEWED");
    SAME(s, p->lines, 1);
    HOLDS(s, strstr(p->line, "renewal of \"one\" failed 2 times in a row: OOM; still valid for "));
}

/* Whoever was warned of two is told that it is over. */
GIVEN(the_end_of_two_failed_renewals_is_said_and_that_of_one_is_not,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.log_level = HILOCK_LOG_INFO)))
{
    held(p, "a", "one", HILOCK_LOCK_OPTIONS(.lease_ms = 6000));
    for (int failures = 1; failures < 3; failures++) {
        PLAN(s, .on = "renew", .error = "OOM", .times = failures);
        unheard_ms(s, 8000);
        SAME(s, client_lines(p, "renewed again"), failures - 1);
    }
}

GIVEN(a_forced_release_is_news_and_a_peek_is_none,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.log_level = HILOCK_LOG_INFO)))
{
    struct handle *a = handle_new(p, "a", "one", NULL);
    unsigned lines = p->lines;
    store_take(&s->store, "one", "another", 60000);
    peek(a);
    TELLS_IN(s, 1, "a:peek OK");
    SAME(s, p->lines, lines);
    force(a, NULL);
    TELLS_IN(s, 1, "a:force OK");
    SAME(s, p->lines, lines + 1);
}

/* Names, and how many ask at once, come from outside: whoever likes could fill the log. */
GIVEN(what_a_visitor_can_cause_is_no_warning,
      fixture_connect(s, HILOCK_CLIENT_OPTIONS(.waiters_max = 1, .log_level = HILOCK_LOG_INFO)))
{
    struct hilock_lock *lock = NULL;
    unsigned lines = p->lines;
    store_take(&s->store, "one", "another", 60000);
    asking(p, "a", "one", NULL);
    run_ms(s, 5);
    for (int i = 0; i < MANY; i++) {
        SAME(s, hilock_lock_create(&lock, p->client, "hilock:x", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)),
             HILOCK_BAD_NAME);
        SAME(s, acquire(handle_new(p, "b", "one", NULL), 1), HILOCK_TOO_MANY_WAITERS);
    }
    SAME(s, p->lines, lines);
    SAME(s, acquire(handle_new(p, "b", "one", NULL), UINT32_MAX - 1), HILOCK_INVALID);
    SAME(s, p->lines, lines + 1);
    s->is_untold = 1;
}

/* A server that loads refuses all of them. */
WITH_CLIENT(releases_that_a_server_refuses_have_one_line_a_second)
{
    struct handle *handles[MANY];
    for (int i = 0; i < MANY; i++)
        handles[i] = held(p, "a", formatted("name %d", i), NULL);
    PLAN(s, .on = "mutex_release", .error = "LOADING Redis is loading the dataset in memory", .times = MANY);
    for (int i = 0; i < MANY; i++)
        release_quietly(handles[i]);
    run_ms(s, 900);
    SAME(s, client_lines(p, "was refused; it is repeated"), 1);
    run_ms(s, 20000);
    SAME(s, client_lines(p, "99 more releases were refused"), 1);
    s->is_untold = 1;
}

GIVEN(a_hand_over_is_logged_as_one, fixture_connect(s, HILOCK_CLIENT_OPTIONS(.log_level = HILOCK_LOG_DEBUG)))
{
    struct handle *a = held(p, "a", "stock", NULL);
    asking(p, "b", "stock", NULL);
    release_quietly(a);
    run_ms(s, 5);
    SAME(s, client_lines(p, "\"stock\" is handed to the next handle (turn 2, "), 1);
    SAME(s, counts_of(p).granted, 2);
    SAME(s, counts_of(p).granted_local, 1);
    SAME(s, client_lines(p, "lost its turn"), 0);
}
