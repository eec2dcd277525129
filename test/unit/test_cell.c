/* SPDX-License-Identifier: BSD-3-Clause */
/* What the handles of a client share: which thread may call, a forked child, and the end of the client beside threads that read it. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "play.h"

static struct reading { struct hl_cell *cell; atomic_int is_reading, is_ending, is_over; } reading;

/* Reads until the client has begun to end, and for as long as that would take if it did not wait for the read. A read that begins meanwhile is
 * refused, and does not delay the end. */
static void *read_slowly(void *ret_was_over)
{
    struct hl_core *core = hl_cell_begin_read(reading.cell);
    atomic_store(&reading.is_reading, 1);
    while (!atomic_load(&reading.is_ending))
        usleep(100);
    while (hl_cell_begin_read(reading.cell)) {
        hl_cell_end_read(reading.cell);
        usleep(100);
    }
    usleep(20000);
    *(int *)ret_was_over = !core || atomic_load(&reading.is_over);
    hl_cell_end_read(reading.cell);
    return NULL;
}

WITH_CLIENT(the_end_of_a_client_waits_for_a_thread_that_reads_it)
{
    int was_over = -1;
    pthread_t thread;
    reading = (struct reading){.cell = p->client->core.cell};
    hilock_weak *weak = hilock_client_weak(p->client);
    HOLDS(s, pthread_create(&thread, NULL, read_slowly, &was_over) == 0);
    while (!atomic_load(&reading.is_reading))
        usleep(100);
    atomic_store(&reading.is_ending, 1);
    client_abandon(p);
    atomic_store(&reading.is_over, 1);
    pthread_join(thread, NULL);
    HOLDS(s, !was_over);
    HOLDS(s, !hl_cell_begin_read(reading.cell));
    hilock_weak_unref(weak);
}

enum { ALL_IS_WELL = 7 }; /* says a child that ends */

/* The kernel may be too old to wipe a page in a child: then the process id tells. */
WITH_CLIENT(a_forked_child_is_known_by_its_page_or_by_its_process_id)
{
    for (int i = 0; i < 2; i++) {
        struct hl_cell *cell = hl_cell_new(&p->client->core.host.memory);
        unsigned char not_wiped = PAGE_NOT_WIPED, *page = cell->page;
        int status = -1;
        if (i)
            cell->page = &not_wiped;
        pid_t child = fork();
        if (child == 0)
            _exit(hl_cell_is_forked(cell) && hl_cell_adopt(cell) == HILOCK_FORKED ? ALL_IS_WELL : 0);
        SAME(s, waitpid(child, &status, 0), child);
        HOLDS(s, WIFEXITED(status) && WEXITSTATUS(status) == ALL_IS_WELL);
        HOLDS(s, !hl_cell_is_forked(cell));
        cell->page = page;
        hl_cell_unref(cell);
    }
}

static struct hl_cell room_of_cell;
static int is_room_freed;

static void *the_room(size_t bytes, void *ctx) { (void)ctx; return bytes == sizeof room_of_cell ? &room_of_cell : NULL; }
static void free_room(void *memory, void *ctx) { (void)ctx; is_room_freed = memory == &room_of_cell; }

/* The kernel gives no page: in a child, because it cannot be taken back. */
WITH_CLIENT(without_a_page_there_is_no_client)
{
    const struct hl_memory memory = {{.allocate = the_room, .release = free_room}};
    const struct rlimit nothing = {0, 0};
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(setrlimit(RLIMIT_AS, &nothing) == 0 && !hl_cell_new(&memory) && is_room_freed ? ALL_IS_WELL : 0);
    SAME(s, waitpid(child, &status, 0), child);
    HOLDS(s, WIFEXITED(status) && WEXITSTATUS(status) == ALL_IS_WELL);
}

static void *check_here(void *cell) { return (void *)(intptr_t)hl_cell_check_thread(cell); }
static void *turn_here(void *cell) { return (void *)(intptr_t)hl_cell_enter(cell); }

/* Whether that one turns the loop or adopts the client. */
WITH_CLIENT(from_the_first_thread_on_another_one_is_refused)
{
    static void *const refused = (void *)(intptr_t)HILOCK_WRONG_THREAD;
    for (int i = 0; i < 2; i++) {
        struct hl_cell *cell = hl_cell_new(&p->client->core.host.memory);
        void *before = refused, *then = NULL;
        pthread_t thread;
        HOLDS(s, pthread_create(&thread, NULL, check_here, cell) == 0 && pthread_join(thread, &before) == 0 && !before);
        if (i)
            hl_cell_claim(cell);
        else
            SAME(s, hl_cell_adopt(cell), HILOCK_OK);
        HOLDS(s, pthread_create(&thread, NULL, check_here, cell) == 0 && pthread_join(thread, &then) == 0 && then == refused);
        SAME(s, hl_cell_check_thread(cell), HILOCK_OK);
        HOLDS(s, pthread_create(&thread, NULL, turn_here, cell) == 0 && pthread_join(thread, &then) == 0 && then == refused);
        SAME(s, atomic_load(&cell->wrong_thread), 1); /* turns are counted */
        hl_cell_unref(cell);
    }
}

/* A callback may turn the loop itself. Then its thread is refused nothing. */
WITH_CLIENT(a_turn_inside_a_turn_is_its_thread_s_own)
{
    struct hl_cell *cell = hl_cell_new(&p->client->core.host.memory);
    SAME(s, hl_cell_enter(cell), HILOCK_OK);
    SAME(s, hl_cell_enter(cell), HILOCK_OK);
    SAME(s, hl_cell_adopt(cell), HILOCK_OK);
    hl_cell_leave(cell);
    SAME(s, atomic_load(&cell->wrong_thread), 0);
    hl_cell_unref(cell);
}

static void adopt_again(struct handle *handle) { SAME(handle->fixture, hilock_client_adopt(handle->client->client), HILOCK_OK); }

/* It is its own already. */
WITH_CLIENT(a_thread_may_adopt_its_client_inside_a_callback)
{
    when(asking(p, "a", "stock", NULL), "OK", adopt_again);
    TELLS_IN(s, 5, "a:OK");
    HOLDS(s, hilock_client_is_connected(p->client));
}

WITH_CLIENT(the_last_reference_gives_the_page_back)
{
    struct hl_cell *cell = hl_cell_new(&p->client->core.host.memory);
    unsigned char *page = cell->page;
    SAME(s, msync(page, 1, MS_ASYNC), 0);
    hl_cell_unref(cell);
    HOLDS(s, msync(page, 1, MS_ASYNC) == -1);
}
