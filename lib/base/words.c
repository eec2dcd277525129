/* SPDX-License-Identifier: BSD-3-Clause */
/* words - see words.h. */
#include "base/words.h"

#include <hilock/hilock.h>
#include <inttypes.h>

#include "base/platform.h"

#define AS_WORDS(number) #number
#define IN_WORDS(number) AS_WORDS(number)

/* ---- statuses: the compiler warns if one is missing ---- */

const char *hl_words_status(hilock_status status, int is_text)
{
    switch (status) {
#define CASE(code, text) case HILOCK_##code: return is_text ? text : #code
        CASE(OK, "done");
        CASE(INVALID, "a bad argument: hilock_client_refusal() names it");
        CASE(NO_MEMORY, "out of memory: nothing was done");
        CASE(CLOSED, "the client is closing or closed");
        CASE(IN_USE, "this handle already waits or holds: make one handle per would-be holder");
        CASE(TOO_MANY_WAITERS, "too many acquires already wait: shed load");
        CASE(NOT_HELD, "this handle does not hold the lock");
        CASE(NOT_PENDING, "this handle does not wait for the lock");
        CASE(WRONG_THREAD, "called from another thread than the one that turns the client's loop");
        CASE(FORKED, "called in a forked child: the handles are the parent's");
        CASE(UNSUPPORTED, "this build, kind of lock or deployment cannot do that");
        CASE(BAD_NAME, "not a lock name");
        CASE(TIMED_OUT, "held by another when the wait ended");
        CASE(CANCELLED, "cancelled");
        CASE(QUEUE_FULL, "too many others wait for this name at the store: shed load, or raise queue_max");
        CASE(LOST, "the hold had already ended: work done under it may have overlapped");
        CASE(UNREACHABLE, "no answer from the store in time");
        CASE(DENIED, "the store refused the user or one of its rights");
        CASE(WRONG_KIND, "the key holds another type: another program's, or another kind of lock");
        CASE(UNWRITABLE, "the store cannot be written now");
        CASE(NOT_REPLICATED, "too few replicas confirmed the grant; it was undone");
        CASE(SERVER, "the store answered with an error");
        CASE(PROTOCOL, "the store's answer was not what the command answers");
        CASE(UNKNOWN, "sent, but not answered: it may have happened");
    }
    return is_text ? "not a status of this version" : "?";
}

/* ---- what a server seems to be ---- */

const char hl_words_http[] = "it answers as an HTTP server: give the host and port of a Redis or Valkey server";
const char hl_words_tls[] = "it answers as a TLS port: the url must begin with rediss instead of redis";
const char hl_words_other[] = "it does not speak the Redis protocol: check the host and the port";
const char hl_words_scriptless[] =
    "it runs no scripts, as a proxy may: give the url of a server that has SCRIPT and EVALSHA";
const char hl_words_sentinel[] =
    "it is a sentinel: begin the url with redis+sentinel, or give the url of the server itself";
const char hl_words_no_sentinel[] =
    "it is not a sentinel: give the sentinels, or begin the url with redis for a single server";
const char hl_words_cluster_node[] = "it is a node of a cluster: begin the url with redis+cluster://";
const char hl_words_no_cluster[] = "it is not in a cluster: begin the url with redis for a single server";

/* ---- what is wrong with a url. No rule quotes the url, which may have a secret in the wrong place ---- */

const char hl_words_scheme[] = "it must begin with redis://, rediss://, unix://, redis+sentinel://, "
                               "rediss+sentinel://, redis+cluster:// or rediss+cluster://";
const char hl_words_redis_tail[] = "only /db may follow the host, and db must be 0..2147483647";
const char hl_words_unix_tail[] =
    "it needs an absolute path of at most " IN_WORDS(HL_PLATFORM_PATH_MAX)
    " bytes, as in unix:///run/redis.sock; only user:password@ may stand before the path, and only "
    "?db=0..2147483647 after it; write ? and # in a path as %3F and %23";
const char hl_words_sentinel_tail[] = "only /master or /master/db may follow the sentinels, and db must be "
                                      "0..2147483647; write / ? # in the master's name as %2F %3F %23";
const char hl_words_cluster_tail[] = "nothing may follow the nodes of a cluster: it has database 0 only";
const char hl_words_alphabet[] = "blanks, control characters and letters outside ASCII must be %-escaped";
const char hl_words_escape[] = "% must be followed by two hexadecimal digits other than 00; write % itself as %25";
const char hl_words_host[] = "a host must be 1..253 letters, digits, '-', '.' and '_', or an IPv6 address in brackets, "
                             "as [::1] or [fe80::1%25eth0]; only :port may follow it";
const char hl_words_port[] = "port must be 1..65535";
const char hl_words_login[] = "/ ? # @ in a user name or password must be written %2F %3F %23 %40";
const char hl_words_one_server[] =
    "this url is for one server: for several use redis+sentinel://, redis+cluster:// or quorum_urls";
const char hl_words_hosts_max[] = "a url has at most 16 hosts";

void hl_words_bad_url(struct hl_text *to, int place, const char *rule)
{
    hl_text_set(to, "bad url at character %d: %s", place, rule);
}

void hl_words_long_url(struct hl_text *to, int characters_max)
{
    hl_text_set(to, "bad url: longer than %d characters", characters_max);
}

/* ---- the rest ---- */

const char hl_words_no_memory[] = "out of memory";

void hl_words_stalled(struct hl_text *to, uint64_t least_us, uint64_t most_us)
{
    hl_text_set(to,
                "the event loop stood still for %" PRIu64 " to %" PRIu64 " ms, so renewals were late: look for a "
                "callback that blocks, or for a process that was suspended",
                least_us / 1000, most_us / 1000);
}
