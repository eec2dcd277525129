/* SPDX-License-Identifier: BSD-3-Clause */
/* snippets - runs what the user's guide shows in C against a real server. guide.h is those blocks, one after the
 * other, and the guide's Lua as `fenced`; snippets.py makes it. Each play below holds one block to what the guide says
 * of it, and waits for what must come.
 * usage: snippets SOCKET    a redis-server's unix socket; one line is printed for each play */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <hilock/adapters/libevent.h>
#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include "guide.h"

static struct world {
    struct event_base *base;
    hilock_client *locks;
    redisAsyncContext *data;
    redisContext *store; /* for what others do there */
    char url[300];
} world;

static void expect(int is_so, const char *what)
{
    printf("%s: %s\n", is_so ? "ok" : "not so", what);
    fflush(stdout);
    if (!is_so)
        exit(1);
}

/* A hang is ended by the driver. */
#define UNTIL(condition) while (!(condition)) event_base_loop(world.base, EVLOOP_ONCE)

static long long ask(const char *command)
{
    redisReply *reply = redisCommand(world.store, command);
    long long number = reply ? reply->type == REDIS_REPLY_STRING ? atoll(reply->str) : reply->integer : -1;
    freeReplyObject(reply);
    return number;
}

static hilock_lock *made(const char *name, hilock_event_fn *on_lost, void *user, int is_reentrant)
{
    hilock_lock *lock = NULL;
    if (hilock_lock_create(&lock, world.locks, name, HILOCK_LOCK_OPTIONS(.on_lost = on_lost, .user = user, .lease_ms = 3000,
                                                                       .reentrant = is_reentrant)) != HILOCK_OK)
        expect(0, hilock_client_refusal(world.locks));
    return lock;
}

static struct job job_of(const char *item, int pieces)
{
    return (struct job){.locks = world.locks, .data = world.data, .item = item, .pieces = pieces};
}

static void play_jobs(void)
{
    struct job one = job_of("lamp", 1), other = job_of("lamp", 2), more = job_of("lamp", 7);
    struct job bad = job_of("x}y", 1), late = job_of("vase", 1);
    ask("SET pieces:{lamp} 9");
    job_begin(&one);
    job_begin(&other);
    UNTIL(one.answer && other.answer);
    expect(one.answer == 200 && other.answer == 200 && ask("GET pieces:{lamp}") == 6, "two jobs, one after the other");
    job_begin(&more);
    UNTIL(more.answer);
    expect(more.answer == 410 && ask("GET pieces:{lamp}") == 6, "no more than there is");
    expect(ask("GET fence:{lamp}") > 0, "which it read behind the fence");
    job_begin(&bad);
    expect(bad.answer == 400, "a bad name is 400");
    ask("SET fence:{vase} 9007199254740991");
    ask("SET pieces:{vase} 1");
    job_begin(&late);
    UNTIL(late.answer);
    expect(late.answer == 503 && ask("GET pieces:{vase}") == 1, "the fence refuses a latecomer");
}

static void play_leader(void)
{
    struct candidate candidate = {0}, rival = {0};
    struct job job = job_of("leader", 1);
    hilock_lock *view = made("leader", hilock_lost_ignored, NULL, 0);
    hilock_status ended = HILOCK_INVALID;
    uint64_t first;
    candidate.lock = made("leader", on_deposed, &candidate, 0);
    rival.lock = made("leader", on_deposed, &rival, 0);
    expect(stand(&candidate), "one stands");
    UNTIL(candidate.term);
    first = candidate.term;
    expect(stand(&rival), "a rival stands, too");
    job_begin(&job);
    UNTIL(job.answer);
    expect(job.answer == 409, "what another holds is 409");
    expect(end_whoever_holds(view, &ended) == HILOCK_OK, "an operator ends it");
    UNTIL(ended != HILOCK_INVALID);
    expect(ended == HILOCK_OK, "whoever held it");
    UNTIL(rival.term && !candidate.term);
    expect(rival.term > first, "and the rival leads, in a later term");
    first = rival.term;
    resign(&rival);
    UNTIL(candidate.term);
    expect(candidate.term > first && !rival.term, "until it resigns, and the first one leads again");
    hilock_lock_free(candidate.lock);
    hilock_lock_free(rival.lock);
    hilock_lock_free(view);
}

/* A wait for ever still ends when waiting cannot help: here, a key of another kind. */
static void play_refused_leader(void)
{
    struct candidate candidate = {0};
    ask("SET throne occupied");
    candidate.lock = made("throne", on_deposed, &candidate, 0);
    expect(stand(&candidate), "one stands for what is no lock");
    UNTIL(candidate.refused);
    expect(candidate.refused == HILOCK_WRONG_KIND && !candidate.term, "and hears that it cannot lead");
    hilock_lock_free(candidate.lock);
    ask("DEL throne");
}

static void on_held_prove(const struct hilock_result *result, void *user)
{
    expect(result->status == HILOCK_OK, "held");
    job_prove(user);
}

static void play_proof(void)
{
    struct job job = job_of("mail", 1);
    job.lock = made("mail", on_job_lost, &job, 0);
    expect(hilock_acquire(job.lock, HILOCK_FOREVER, on_held_prove, &job) == HILOCK_OK, "asked");
    UNTIL(job.answer);
    expect(job.answer == 200, "proved, then shipped");
}

static void on_held(const struct hilock_result *result, void *user) { *(int *)user = result->status == HILOCK_OK ? 1 : -1; }

static void play_threads(void)
{
    struct task task = {.chunks_left = 5}, late = {.chunks_left = 5};
    hilock_lock *lock = made("pool", hilock_lost_ignored, NULL, 0);
    pthread_t thread;
    int is_held = 0;
    expect(hilock_acquire(lock, HILOCK_FOREVER, on_held, &is_held) == HILOCK_OK, "asked");
    UNTIL(is_held);
    expect(task_start(&task, lock, &thread) == 0 && pthread_join(thread, NULL) == 0, "a thread works");
    expect(task.chunks_done == 5, "through all of it while the lock is held");
    expect(hilock_lock_validity(lock, &late.validity) == HILOCK_OK, "another view");
    hilock_lock_free(lock);
    expect(pthread_create(&thread, NULL, task_run, &late) == 0 && pthread_join(thread, NULL) == 0, "another thread");
    expect(late.chunks_done == 0, "does nothing once the hold has ended");
}

static void play_transfer(void)
{
    struct transfer there = {0}, back = {0}, late = {0};
    expect(transfer_begin(&there, world.locks, "account:a", "account:b"), "both accounts, asked for");
    UNTIL(there.answer);
    expect(there.answer == 200 && there.token_from && there.token_to, "and held, with a token for each");
    expect(transfer_begin(&late, world.locks, "account:b", "account:c"), "another wants one of them");
    UNTIL(late.answer);
    expect(late.answer == 409, "and does not get it");
    hilock_lock_free(there.lock);
    hilock_lock_free(late.lock);
    expect(transfer_begin(&back, world.locks, "account:b", "account:a"), "the other way round");
    UNTIL(back.answer);
    expect(back.token_from > there.token_to && back.token_to > there.token_from, "tokens are in the order of the names");
    hilock_lock_free(back.lock);
}

static int outcome_of(struct once *once)
{
    expect(once_try(once), "a machine tries");
    UNTIL(once->outcome);
    return once->outcome;
}

static void play_once(void)
{
    struct once one = {.data = world.data, .period = 7}, other = {.data = world.data, .period = 7};
    one.lock = made("report", hilock_lost_ignored, NULL, 0);
    other.lock = made("report", hilock_lost_ignored, NULL, 0);
    expect(outcome_of(&one) == DONE_HERE, "the first one runs the job");
    expect(outcome_of(&other) == ANOTHER && outcome_of(&one) == ANOTHER, "and nobody else in that period");
    other.period = 8;
    expect(outcome_of(&other) == DONE_HERE, "in the next one it runs again");
    one.period = 9;
    ask("HSET report somebody 1 mode mutex");
    expect(outcome_of(&one) == TRY_LATER, "while another runs it, nobody else does");
    ask("DEL report");
    ask("SET fence:{report} 9007199254740991");
    expect(outcome_of(&one) == TRY_LATER, "and a late one is refused");
    ask("DEL fence:{report} period:{report}");
    hilock_lock_free(one.lock);
    hilock_lock_free(other.lock);
}

static void play_refresh(void)
{
    struct refresh first = {0}, second = {.has_old = 1}, third = {0};
    first.lock = made("cache:42", hilock_lost_ignored, NULL, 0);
    second.lock = made("cache:42", hilock_lost_ignored, NULL, 0);
    third.lock = made("cache:42", hilock_lost_ignored, NULL, 0);
    expect(refresh_begin(&first), "a request wants what is not in the cache");
    UNTIL(first.what);
    expect(refresh_begin(&second) && refresh_begin(&third), "and two more");
    UNTIL(second.what);
    expect(first.what == MAKE_IT_ANEW && second.what == SERVE_THE_CACHE && !third.what, "one makes it; the one with an old value does not wait");
    hilock_lock_free(first.lock);
    UNTIL(third.what);
    expect(third.what == MAKE_IT_ANEW, "the one without waits until it is there");
    hilock_lock_free(second.lock);
    hilock_lock_free(third.lock);
}

static void play_workers(void)
{
    static const char *const jobs[] = {"job:1", "job:2", NULL};
    struct worker first = {.locks = world.locks, .jobs = jobs}, second = first, third = first;
    expect(worker_next(&first), "a worker takes a job");
    UNTIL(first.has_job);
    expect(worker_next(&second), "and another");
    UNTIL(second.has_job);
    expect(strcmp(hilock_lock_name(first.lock), "job:1") == 0 && strcmp(hilock_lock_name(second.lock), "job:2") == 0, "each has one of its own");
    expect(worker_next(&third), "a third tries");
    UNTIL(!*third.jobs && !third.lock);
    expect(!third.has_job, "all of them, and has none");
    hilock_lock_free(first.lock);
    hilock_lock_free(second.lock);
}

static struct visit visit_of(int is_writer)
{
    return (struct visit){.locks = world.locks, .data = world.data, .is_writer = is_writer};
}

/* What others would see while all of them are still at work. */
static long long holders(const char *name)
{
    char command[64];
    snprintf(command, sizeof command, "HEXISTS %s mode", name);
    long long has_mode = ask(command);
    snprintf(command, sizeof command, "HLEN %s", name);
    return ask(command) - has_mode;
}

static void play_visits(void)
{
    struct visit first = visit_of(0), second = visit_of(0), writer = visit_of(1), late = visit_of(1), reader = visit_of(0);
    hilock_lock *other = NULL;
    int is_held = 0;
    ask("SET value:{page} 7");
    expect(hilock_lock_create(&other, world.locks, "page", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored, .holders_max = HILOCK_ANY_NUMBER)) == HILOCK_OK &&
           hilock_acquire(other, HILOCK_FOREVER, on_held, &is_held) == HILOCK_OK, "a reader that stays");
    UNTIL(is_held);
    visit_begin(&first);
    visit_begin(&second);
    UNTIL(first.answer && second.answer);
    expect(first.answer == 200 && second.value == 7 && hilock_lock_state(other) == HILOCK_STATE_HELD, "two more read beside it");
    expect(ask("GET fence:{page}") > 0, "and have raised the fence");
    visit_begin(&writer);
    visit_begin(&reader);
    UNTIL(ask("ZCARD hilock:queue:{page}") == 2);
    expect(!writer.answer && !reader.answer && holders("page") == 1, "a writer waits for it, and a reader for the writer");
    hilock_lock_free(other);
    UNTIL(writer.answer && reader.answer);
    expect(writer.answer == 200 && reader.answer == 200 && reader.value == 8, "which then reads what was written");
    ask("SET fence:{page} 9007199254740991");
    visit_begin(&late);
    UNTIL(late.answer);
    expect(late.answer == 503 && ask("GET value:{page}") == 8, "the fence refuses a writer that is too late");
    reader = visit_of(0);
    visit_begin(&reader);
    UNTIL(reader.answer);
    expect(reader.answer == 200 && reader.value == 8, "but no reader");
}

static void play_exports(void)
{
    struct export_job jobs[7] = {0};
    for (int i = 0; i < 7; i++)
        expect(export_begin(&jobs[i], world.locks), "a job asks for a permit");
    UNTIL(jobs[0].is_running && jobs[4].is_running && holders("export") == 5);
    expect(!jobs[5].is_running && !jobs[6].is_running, "five of seven run");
    export_end(&jobs[2]);
    UNTIL(jobs[5].is_running);
    expect(!jobs[6].is_running, "the permit goes to the first that waits");
    for (int i = 0; i < 7; i++)
        export_end(&jobs[i]);
}

static void play_reentry(void)
{
    hilock_lock *lock = made("deep", hilock_lost_ignored, NULL, 1);
    int is_held = 0, steps = 0;
    expect(hilock_acquire(lock, HILOCK_FOREVER, on_held, &is_held) == HILOCK_OK, "asked");
    UNTIL(is_held);
    expect(step(lock, &steps) == HILOCK_OK, "asked again");
    UNTIL(steps);
    expect(steps == 1 && hilock_lock_state(lock) == HILOCK_STATE_HELD, "the outer step still holds after the inner one");
    expect(hilock_release(lock, NULL, NULL) == HILOCK_OK && hilock_lock_state(lock) == HILOCK_STATE_IDLE, "and gives it back");
    hilock_lock_free(lock);
}

static void play_caller(void)
{
    for (int leaves = 0; leaves < 2; leaves++) {
        struct job job = job_of("caller", 1);
        struct event *caller;
        int pair[2];
        ask("HSET caller somebody 1 mode mutex");
        expect(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "a caller");
        caller = event_new(world.base, pair[0], EV_READ, on_caller, &job);
        event_add(caller, NULL);
        job_begin(&job);
        if (leaves)
            close(pair[1]);
        else
            expect(write(pair[1], "x", 1) == 1, "sends more");
        UNTIL(job.answer);
        expect(job.answer == (leaves ? 503 : 409), leaves ? "and leaves: the wait ends" : "and is answered in time");
        event_free(caller);
        close(pair[0]);
        if (!leaves)
            close(pair[1]);
        ask("DEL caller");
    }
}

/* What they are for, that a loss comes before a timer which was due first, is shown in test/adapter/libevent_base.c. */
static void play_priority(void)
{
    struct event_base *base = base_where_losses_come_first();
    expect(base && event_base_get_npriorities(base) == 2, "a base with a priority for hilock and one for the program");
    event_base_free(base);
}

static void on_page(struct evhttp_request *request, void *user)
{
    struct evbuffer *body = request ? evhttp_request_get_input_buffer(request) : NULL;
    char *text = user;
    size_t length = body ? evbuffer_get_length(body) : 0;
    if (length > 20000 || evhttp_request_get_response_code(request) != HTTP_OK)
        length = 0;
    if (length)
        evbuffer_remove(body, text, length);
    memcpy(text + length, "\n", 2);
}

static void play_metrics(void)
{
    static char text[20002];
    struct evhttp *http = evhttp_new(world.base);
    struct evhttp_bound_socket *door = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
    struct sockaddr_in address = {0};
    socklen_t length = sizeof address;
    struct evhttp_connection *connection;
    struct evhttp_request *request = evhttp_request_new(on_page, text);
    hilock_weak *weak = hilock_client_weak(world.locks);
    evhttp_set_cb(http, "/metrics", metrics_page, weak);
    expect(getsockname(evhttp_bound_socket_get_fd(door), (struct sockaddr *)(void *)&address, &length) == 0, "a server");
    connection = evhttp_connection_base_new(world.base, NULL, "127.0.0.1", ntohs(address.sin_port));
    expect(evhttp_make_request(connection, request, EVHTTP_REQ_GET, "/metrics") == 0, "asked for its page");
    UNTIL(text[0]);
    expect(strstr(text, "\nhilock_lost_taken_total{client=\"shop\"} 1\n") && strstr(text, "\nhilock_wait_seconds_count{"), "it is a page of numbers");
    evhttp_connection_free(connection);
    evhttp_free(http);
    hilock_weak_unref(weak);
}

/* Freed, and then the end: nothing is left taken. */
static void play_end(void)
{
    hilock_client *locks = locks_open(world.base, world.url);
    hilock_lock *lock;
    int is_held = 0;
    expect(!locks_open(world.base, "http://elsewhere"), "a URL that is none of ours is refused");
    expect(locks && hilock_lock_create(&lock, locks, "bye", HILOCK_LOCK_OPTIONS(.on_lost = hilock_lost_ignored)) == HILOCK_OK &&
           hilock_acquire(lock, HILOCK_FOREVER, on_held, &is_held) == HILOCK_OK, "a lock of a client of its own");
    UNTIL(is_held);
    hilock_lock_free(lock);
    expect(ask("EXISTS bye") == 1, "a lock that was freed is taken until the loop turns");
    end_locks(locks, world.base);
    expect(ask("EXISTS bye") == 0, "and is free when the client is closed");
}

static void play_shutdown(void)
{
    struct server server = {.locks = world.locks};
    server.on_term = evsignal_new(world.base, SIGTERM, on_server_term, &server);
    event_add(server.on_term, NULL);
    raise(SIGTERM);
    redisAsyncDisconnect(world.data);
    expect(event_base_dispatch(world.base) == 1 && !server.locks, "at the end nothing is left on the loop");
    event_free(server.on_term);
}

int main(int argc, char **argv)
{
    struct hilock_error error = {"no memory"};
    if (argc != 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    snprintf(world.url, sizeof world.url, "unix://%s", argv[1]);
    world.base = event_base_new();
    world.data = redisAsyncConnectUnix(argv[1]);
    world.store = redisConnectUnix(argv[1]);
    expect(redisLibeventAttach(world.data, world.base) == REDIS_OK, "the data's connection");
    expect(hilock_client_open_libevent(&world.locks, world.base, HILOCK_CLIENT_OPTIONS(.url = world.url, .on_log = log_to_syslog), &error) == HILOCK_OK,
           "a client");
    play_jobs();
    play_caller();
    play_priority();
    play_leader();
    play_refused_leader();
    play_proof();
    play_threads();
    play_reentry();
    play_transfer();
    play_once();
    play_refresh();
    play_workers();
    play_visits();
    play_exports();
    play_metrics();
    play_end();
    play_shutdown();
    redisFree(world.store);
    event_base_free(world.base);
    return 0;
}
