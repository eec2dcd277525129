/* SPDX-License-Identifier: BSD-3-Clause */
/* A real loop that is blocked, or whose process is stopped, past the time of a renewal: it is reported, and the hold goes on. */
#include <string.h>

#include "support/fixture.h"

static int is_told(void *arg) { return client_stats(arg).stalls > 0; }

static void a_blocked_loop_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct client client;
    struct handle stock;
    client_open_with(&client, HILOCK_CLIENT_OPTIONS(.url = fixture->server->url, .stall_report_ms = 500));
    handle_open(&stock, &client, "stock:42", HILOCK_LOCK_OPTIONS(.lease_ms = 12000));
    assert_int_equal(handle_acquire(&stock, 20000), HILOCK_OK);
    check_pause_ms(5500); /* its renewal was due after 4 s */
    client_until(&client, is_told, &client, "LOOP_STALLED");
    client_turn(&client);
    assert_true(client.other_events == client_stats(&client).stalls);
    assert_non_null(strstr(client.log, "the loop did not turn for "));
    assert_int_equal(stock.lost.count, 0);
    assert_int_equal(handle_give(&stock), HILOCK_OK);
    handle_free(&stock);
    client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {FIXTURE_TEST(a_blocked_loop_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
