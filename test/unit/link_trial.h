/* SPDX-License-Identifier: BSD-3-Clause */
/* link_trial - one link of link_hiredis.c on a poll_loop, and its peer: a socket that the test itself reads and writes, byte by byte.
 * Everything the link says is written into `told`, in order, separated by blanks: "up", "down(why)", and replies as :1 +OK -ERR $abc nil
 * [items]. Each event checks that it comes from the loop, inside enter and leave, and in an order that link.h allows; the end checks that
 * no watch, timer, descriptor or byte is left. */
#ifndef TEST_LINK_TRIAL_H
#define TEST_LINK_TRIAL_H

#include "base/text.h"
#include "link/link.h"
#include "poll_loop.h"
#include "world/memory.h"

struct link_trial;
typedef void link_trial_fn(struct link_trial *trial);

struct link_trial {
    struct poll_loop *loop;
    struct hl_host host;
    struct hl_link_factory factory;
    struct hl_link *link; /* NULL: closed */
    int listener, peer;   /* -1: none */
    char path[64];        /* of the unix socket; "": TCP */
    int port;
    const char *tls_host; /* NULL: plain */
    char told[4096];
    size_t told_length;
    int is_up, is_down, is_calling, replies;
    link_trial_fn *at_up, *at_reply, *at_down, *at_leave; /* what to do inside */
    struct world_memory memory;
    int fds;                  /* open when it began */
};

void link_trial_begin(struct link_trial *trial, const char *family); /* "unix" or "tcp"; a listener is there, nothing else */
void link_trial_end(struct link_trial *trial);                       /* closes the link if the test has not */

void link_trial_on(const char *family, link_trial_fn *test);          /* all of it */

int link_trial_open(struct link_trial *trial); /* 0; -1: no memory */
void link_trial_connect(struct link_trial *trial); /* open, accept, up */
int link_trial_send(struct link_trial *trial, const char *words); /* one command, split at blanks */
void link_trial_send_needle(struct link_trial *trial); /* AUTH with needle.h's secret */
void link_trial_ask(struct link_trial *trial); /* PING */
void link_trial_close(struct link_trial *trial, int is_reset);
void link_trial_close_it(struct link_trial *trial); /* for at_... */

void link_trial_say(struct link_trial *trial, const void *bytes, size_t length); /* the peer writes all of it */
void link_trial_answer(struct link_trial *trial, const char *text);
void link_trial_hear(struct link_trial *trial, const char *bytes); /* turns until the peer has read exactly this */
void link_trial_hang_up(struct link_trial *trial);
void link_trial_until(struct link_trial *trial, const char *told); /* turns until it is reported, and fails if it never is */
void link_trial_turns(struct link_trial *trial, int count);        /* without waiting */

#endif
