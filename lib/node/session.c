/* SPDX-License-Identifier: BSD-3-Clause */
/* session - see session.h. The timer has one meaning in each state: in PAUSED it starts the next attempt, from
 * RESOLVING to GREETING it is the connect timeout, in OPEN it runs the owner's on_due, and in BROKEN the owner's
 * on_close, on the next turn. */
#include "node/session.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/contract.h"
#include "base/plant.h"
#include "base/stranger.h"
#include "base/url.h"
#include "node/words.h"

enum { CODE_MAX = 16, PAUSE_MIN_US = 50000, RETRIES_IN_REMAINING = 4, STEADY_US = 1000000,
       WRONG_SERVER_STEADY_US = 10000000 };

static void connect_next(struct hl_session *session);

static void drop_link(struct hl_session *session, int is_reset)
{
    if (session->query)
        session->host->loop.resolve_cancel(session->query);
    if (session->link)
        session->options->links.close(session->link, is_reset);
    session->query = NULL;
    session->link = NULL;
}

/* Ends an attempt or a link, and starts the pause before the next attempt. After a good link, one that answered or was
 * open for a while, the pauses start from the shortest again. A link that was left as the wrong server must have been
 * open for long to count as good, because the next one may lead to the same server. The less time is left to a hold,
 * the shorter is the pause, because the hold can still be saved. Half of the pause is fixed and half is random, so that
 * many clients do not come back at the same moment. If `why` is the text for a stranger (base/stranger.h), that
 * text is given to on_close as a refusal, as if the server had answered with it, so that waiting requests are answered
 * with it. */
static void fail(struct hl_session *session, const char *why, const struct hl_reply *refusal)
{
    const struct hl_stranger *stranger = hl_stranger_named(why, strlen(why));
    const struct hl_reply said = {.type = HL_REPLY_ERROR, .bytes = stranger ? stranger->words : "",
                                  .length = stranger ? strlen(stranger->words) : 0};
    uint64_t open_us = session->opened_us ? hl_now_us(session->host) - session->opened_us : 0;
    int was_good = session->opened_us && (session->has_answered || open_us > STEADY_US);
    if (session->is_at_wrong_server)
        was_good = open_us > WRONG_SERVER_STEADY_US;
    uint64_t most_us = (uint64_t)session->options->retry_max_ms * 1000, retry_us = 0;
    if (why != session->why.bytes)
        hl_text_set(&session->why, "%s", why);
    session->failures = was_good ? 0 : session->failures;
    if (session->is_at_wrong_server)
        session->wrong_servers++;
    else if (was_good)
        session->wrong_servers = 0;
    if (!session->is_moved) {
        uint64_t (*remaining)(void *arg) = session->events->remaining_us;
        uint64_t remaining_us = remaining ? remaining(session->arg) : UINT64_MAX;
        uint64_t hurry_us = remaining_us / RETRIES_IN_REMAINING;
        hurry_us = hurry_us > PAUSE_MIN_US ? hurry_us : PAUSE_MIN_US;
        retry_us = (uint64_t)PAUSE_MIN_US << (session->failures < 16 ? session->failures : 16);
        retry_us = retry_us < hurry_us ? retry_us : hurry_us;
        retry_us = retry_us < most_us ? retry_us : most_us;
        retry_us = retry_us / 2 + hl_random_below(&session->host->random, retry_us / 2 + 1);
    }
    session->failures = session->is_moved ? 0 : session->failures + 1;
    session->is_moved = 0;
    session->opened_us = 0;
    session->state = SESSION_PAUSED;
    hl_timer_start(session->host, session->timer, retry_us);
    session->events->on_close(session->arg, session->why.bytes, stranger ? &said : refusal, retry_us);
    session->is_at_wrong_server = 0;
    drop_link(session, 1); /* after on_close, because the link owns the bytes of the refusal */
}

/* Sends one command of the greeting; `second` NULL leaves that word out. */
static int greet(struct hl_session *session, const char *word, const char *second, const char *third)
{
    struct hl_command command;
    hl_command_begin(&command, word);
    if (second)
        hl_command_add_word(&command, second);
    hl_command_add_word(&command, third);
    int sent = session->options->links.send(session->link, command.argc, command.argv, command.lengths);
    session->unanswered_greetings++;
    return sent;
}

/* Sends AUTH alone if it is needed; the other commands of the greeting follow only when it was accepted. */
static void greet_next(struct hl_session *session)
{
    const struct hl_login *login = session->options->login;
    const char *password = login->password ? login->password : ""; /* a user with nopass accepts any password */
    struct hl_text database;
    int sent = 0;
    hl_text_set(&database, "%d", login->database);
    if (!session->is_logged_in)
        sent = greet(session, "AUTH", login->username, password);
    else if (login->database)
        sent = greet(session, "SELECT", NULL, database.bytes);
    if (session->is_logged_in && session->identity && sent == 0)
        sent = greet(session, session->identity->words[0], NULL, session->identity->words[1]);
    if (session->is_logged_in && sent == 0)
        sent = greet(session, "CLIENT", "SETNAME", login->client_name ? login->client_name : "");
    if (sent != 0)
        fail(session, hl_words_connect_memory, NULL);
}

static void on_up(void *arg)
{
    struct hl_session *session = arg;
    const struct hl_login *login = session->options->login;
    session->state = SESSION_GREETING;
    session->unanswered_greetings = 0;
    session->is_logged_in = !login->password && !login->username;
    greet_next(session);
}

/* Reduces an error that answers AUTH to its code word and known phrases. Servers, and above all proxies, quote text
 * that they do not understand. That could be the password, and because they may change or cut it, it cannot be found
 * and hidden. */
static struct hl_reply known_words(const struct hl_reply *error, struct hl_text *words)
{
    static const char *const known[] = {"unknown command", "without any password configured", "no password is set",
                                        "max number of clients"};
    size_t code = 0;
    while (code < error->length && code < CODE_MAX && error->bytes[code] >= 'A' && error->bytes[code] <= 'Z')
        code++;
    hl_text_set(words, "%.*s", (int)code, error->bytes);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (memmem(error->bytes, error->length, known[i], strlen(known[i])))
            hl_text_add(words, " %s", known[i]);
    return (struct hl_reply){.type = HL_REPLY_ERROR, .bytes = words->bytes, .length = strlen(words->bytes)};
}

/* Handles an error during the greeting; returns 1 if it ends the link. The last command of the greeting is CLIENT
 * SETNAME, which the server may refuse. But an error that any command would get (NOAUTH, LOADING, too many clients)
 * ends the link like a refused AUTH. */
static int on_refused(struct hl_session *session, const struct hl_reply *error)
{
    int is_auth = !session->is_logged_in, is_last = !is_auth && session->unanswered_greetings == 0;
    int is_setname_error = hl_reply_starts(error, "NOPERM") || hl_reply_starts(error, "ERR unknown") ||
                     hl_reply_starts(error, "ERR Client names");
    struct hl_text words;
    const struct hl_reply shown = is_auth ? known_words(error, &words) : *error;
    const struct hl_quoted quote = hl_host_quote(session->host, shown.bytes, shown.length);
    if (is_auth && HL_PLANTED(R10_AUTH_FAILURE_IGNORED))
        return 0;
    if (is_last && is_setname_error) {
        hl_words_refused(&session->why, "CLIENT SETNAME", quote.bytes, hl_words_without_name);
        if (session->events->on_fault)
            session->events->on_fault(session->arg, session->why.bytes);
        return 0;
    }
    hl_words_login_refused(&session->why, is_auth, quote.bytes);
    fail(session, session->why.bytes, &shown);
    return 1;
}

static void on_reply(void *arg, const struct hl_reply *reply)
{
    struct hl_session *session = arg;
    if (session->state == SESSION_OPEN) {
        session->has_answered = 1;
        session->events->on_reply(session->arg, reply);
        return;
    }
    session->unanswered_greetings--;
    /* After this reply only that to CLIENT SETNAME is still to come, so this one answers the identity query. */
    if (session->is_logged_in && session->identity && session->unanswered_greetings == 1) {
        session->identity->read(session->server_id, reply);
        return;
    }
    if (reply->type == HL_REPLY_ERROR && on_refused(session, reply))
        return;
    if (!session->is_logged_in) {
        session->is_logged_in = 1;
        greet_next(session);
    } else if (session->unanswered_greetings == 0) {
        hl_timer_stop(session->host, session->timer);
        session->state = SESSION_OPEN;
        session->due_us = 0;
        session->has_answered = 0;
        session->opened_us = hl_now_us(session->host);
        session->next_address -= session->tried != 0; /* the address is good: the next attempt begins there */
        session->events->on_open(session->arg);
    }
}

static void on_down(void *arg, const char *why)
{
    struct hl_session *session = arg;
    if (session->state == SESSION_CONNECTING && session->tried < session->addresses_count) {
        drop_link(session, 1);
        connect_next(session);
    } else
        fail(session, why, NULL);
}

/* Chooses the address for an attempt. The other links of a node go to the address of its command link (the leader), if
 * the name still has that address. An attempt does not begin at the address that was just left, but tries it later in
 * the round, because its server may recover while the others are dead. */
static const char *choose(struct hl_session *session)
{
    unsigned count = session->addresses_count;
    int is_led = session->leader && hl_session_is_open(session->leader) && !session->tried;
    if (count > 1 && strcmp(session->addresses[session->next_address % count], session->abandoned_address) == 0)
        session->next_address++;
    for (unsigned i = 0; is_led && i < count; i++)
        if (strcmp(session->addresses[i], session->leader->reached_address) == 0)
            session->next_address = i;
    *session->abandoned_address = '\0';
    session->tried++;
    return session->addresses[session->next_address++ % count];
}

/* Connects to the next address. An address that does not answer uses up the connect timeout, so the next attempt begins
 * after the addresses that failed. A link that must use TLS never falls back to plain TCP. */
static void connect_next(struct hl_session *session)
{
    static const struct hl_link_events events = {on_up, on_reply, on_down};
    const struct hl_session_options *options = session->options;
    const struct hl_address *address = &options->endpoint.address;
    const char *host = address->host, *tls_host = options->tls_server_name ? options->tls_server_name : host;
    int is_path = hl_address_is_path(address);
    struct hl_link_target target = {.port = address->port};
    *session->reached_address = *session->server_id = '\0';
    if (session->addresses_count) {
        host = choose(session);
        strcpy(session->reached_address, host);
    }
    target.path = is_path ? host : NULL;
    target.address = is_path ? NULL : host;
    target.tls_host = options->is_tls ? tls_host : NULL;
    session->state = SESSION_CONNECTING;
    session->link = options->links.open(options->links.ctx, session->host, &target, &events, session);
    if (!session->link)
        hl_session_break(session, hl_words_connect_memory);
}

static void on_resolved(const struct sockaddr *const *addresses, size_t count, const char *error, void *arg)
{
    struct hl_session *session = arg;
    struct hl_host *host = session->host;
    session->query = NULL;
    if (hl_host_begin(host) != HILOCK_OK)
        return; /* the timer will give this attempt up */
    for (size_t i = 0; addresses && i < count && session->addresses_count < HL_SESSION_ADDRESSES_MAX; i++) {
        const void *four = &((const struct sockaddr_in *)(const void *)addresses[i])->sin_addr;
        const void *six = &((const struct sockaddr_in6 *)(const void *)addresses[i])->sin6_addr;
        int family = addresses[i]->sa_family; /* inet_ntop refuses any other family */
        char *to = session->addresses[session->addresses_count];
        session->addresses_count += inet_ntop(family, family == AF_INET ? four : six, to, HL_ADDRESS_MAX) != NULL;
    }
    if (session->addresses_count)
        connect_next(session);
    else {
        hl_words_unresolved(&session->why, session->options->endpoint.address.host,
                            error ? error : hl_words_no_address);
        fail(session, session->why.bytes, NULL);
    }
    hl_host_leave(host);
}

static void attempt(struct hl_session *session)
{
    const struct hl_address *address = &session->options->endpoint.address;
    if (!*address->host)
        return; /* there is no address yet; hl_session_move will start the attempt */
    session->addresses_count = session->tried = 0;
    *session->reached_address = '\0';
    hl_timer_start(session->host, session->timer, (uint64_t)session->options->connect_timeout_ms * 1000);
    if (hl_address_is_path(address) || hl_url_is_address(address->host)) {
        connect_next(session);
        return;
    }
    session->state = SESSION_RESOLVING;
    session->query = session->host->loop.resolve(session->host->loop.ctx, address->host, on_resolved, session);
    if (!session->query)
        hl_session_break(session, hl_words_resolve_memory);
}

static void on_timer(void *arg)
{
    struct hl_session *session = arg;
    struct hl_host *host = session->host;
    uint64_t due_us = session->due_us;
    hl_host_enter(host);
    switch (session->state) {
    case SESSION_PAUSED:
        attempt(session);
        break;
    case SESSION_RESOLVING:
    case SESSION_CONNECTING:
    case SESSION_GREETING:
        hl_words_no_connection(&session->why, session->options->is_tls, session->options->connect_timeout_ms);
        fail(session, session->why.bytes, NULL);
        break;
    case SESSION_BROKEN:
        fail(session, session->why.bytes, NULL);
        break;
    case SESSION_OPEN:
        session->due_us = 0;
        session->events->on_due(session->arg, due_us);
        break;
    }
    hl_host_leave(host);
}

int hl_session_init(struct hl_session *session, struct hl_host *host, const struct hl_session_options *options,
                    const struct hl_session_events *events, void *arg)
{
    *session = (struct hl_session){.host = host, .options = options, .events = events, .arg = arg};
    session->timer = hl_timer_new(host, on_timer, session);
    return session->timer ? 0 : -1;
}

void hl_session_start(struct hl_session *session)
{
    if (!session->is_started)
        hl_timer_start(session->host, session->timer, 0);
    session->is_started = 1;
}

/* The link is closed without a reset, because in a forked child the parent shares the socket. */
void hl_session_done(struct hl_session *session)
{
    drop_link(session, 0);
    hl_timer_free(session->host, session->timer);
    session->timer = NULL;
    session->state = SESSION_PAUSED;
}

int hl_session_send(struct hl_session *session, const struct hl_command *command)
{
    HL_REQUIRE(session->state == SESSION_OPEN); /* the owner checks this first, and stops when a send fails */
    if (session->options->links.send(session->link, command->argc, command->argv, command->lengths) == 0)
        return 0;
    hl_session_break(session, hl_words_command_memory);
    return -1;
}

void hl_session_wake_at(struct hl_session *session, uint64_t due_us)
{
    if (session->state != SESSION_OPEN || (session->due_us && session->due_us <= due_us))
        return;
    uint64_t now_us = hl_now_us(session->host);
    session->due_us = due_us;
    hl_timer_start(session->host, session->timer, due_us > now_us ? due_us - now_us : 0);
}

void hl_session_break(struct hl_session *session, const char *why)
{
    if (session->state == SESSION_PAUSED || session->state == SESSION_BROKEN)
        return;
    hl_text_set(&session->why, "%s", why);
    drop_link(session, 1);
    session->state = SESSION_BROKEN;
    hl_timer_start(session->host, session->timer, 0);
}

void hl_session_leave(struct hl_session *session, const char *why)
{
    if (session->state == SESSION_PAUSED || session->state == SESSION_BROKEN)
        return;
    session->is_at_wrong_server = 1;
    /* on_reply made an open link's address the next one, so skip that address */
    session->next_address += session->state == SESSION_OPEN;
    /* The address is noted, so that the next attempt does not begin with it. If this link has no address yet, the one
     * that the leader has just left is noted. */
    if (*session->reached_address || session->leader)
        memcpy(session->abandoned_address,
               *session->reached_address ? session->reached_address : session->leader->abandoned_address,
               sizeof session->abandoned_address);
    hl_session_break(session, why);
}

void hl_session_move(struct hl_session *session, const char *why)
{
    if (!session->is_started)
        return;
    session->failures = session->wrong_servers = 0;
    session->is_moved = session->state != SESSION_PAUSED;
    if (!session->is_moved)
        hl_timer_start(session->host, session->timer, 0);
    hl_session_break(session, why);
}

void hl_session_stop(struct hl_session *session)
{
    drop_link(session, 0);
    hl_timer_stop(session->host, session->timer);
    session->state = SESSION_PAUSED;
    session->opened_us = 0;
    session->failures = 0;
    session->is_moved = session->is_started = session->is_at_wrong_server = 0;
    session->wrong_servers = 0;
}
