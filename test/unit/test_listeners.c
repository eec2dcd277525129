/* SPDX-License-Identifier: BSD-3-Clause */
/* All who listen to a channel are called in the order they came, and any of them may go while they are. */
#include <string.h>

#include "node/listeners.h"
#include "suite.h"

static struct hl_memory memory;
static struct hl_listeners listeners;
static struct hl_listener *next, *all[3];
static char heard[8];
static int goes[3]; /* which one each removes: itself, another, or -1 */

static void hear(void *arg, enum hl_channel_event event, const struct hl_reply *message)
{
    int me = *(int *)arg;
    (void)event, (void)message;
    heard[strlen(heard)] = (char)('a' + me);
    if (goes[me] >= 0)
        hl_listeners_remove(&listeners, &memory, &next, all[goes[me]]);
    goes[me] = -1;
}

static const char *told(int first_goes, int second_goes, int third_goes)
{
    static int numbers[] = {0, 1, 2};
    TAILQ_INIT(&listeners);
    memset(heard, 0, sizeof heard);
    for (int i = 0; i < 3; i++)
        all[i] = hl_listeners_add(&listeners, &memory, &(struct hl_listener){.hear = hear, .arg = &numbers[i]});
    goes[0] = first_goes;
    goes[1] = second_goes;
    goes[2] = third_goes;
    hl_listeners_notify(&listeners, &next, HL_CHANNEL_MESSAGE, NULL);
    while (!TAILQ_EMPTY(&listeners))
        hl_listeners_remove(&listeners, &memory, &next, TAILQ_FIRST(&listeners));
    return heard;
}

TEST(all_are_called_though_some_go)
{
    hl_memory_init(&memory, NULL);
    assert_string_equal(told(-1, -1, -1), "abc");
    assert_string_equal(told(0, 1, 2), "abc");
    assert_string_equal(told(1, -1, -1), "ac");
    assert_string_equal(told(2, -1, -1), "ab");
    assert_string_equal(told(-1, 0, 1), "abc");
    assert_string_equal(told(1, -1, 0), "ac");
}
