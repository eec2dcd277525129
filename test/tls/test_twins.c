/* SPDX-License-Identifier: BSD-3-Clause */
/* The safety of TLS as plays, each with the planted bug (HL_TLS_PLANT of lib/base/plants.def) that must break it. Each runs in a child, once
 * as the library is and once with its bug, when it must fail by the assertion that the table names, and by no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/plant.h"
#include "peer.h"

#include <cmocka.h>

enum { RECORDS = 40, SECONDS_MAX = 60 };


static void meet(struct peer *peer, struct link_trial *trial, const struct peer_options *options)
{
    const struct hl_tls_options tls = {.ca_file = certificates.of[CERT_AUTHORITY].cert_file};
    link_trial_begin(trial, "tcp");
    peer_meet(peer, trial, &certificates, options, "locks.example", &tls);
}

static void part(struct peer *peer, struct link_trial *trial)
{
    peer_leave(peer);
    link_trial_end(trial);
}

static void is_never_up(const struct peer_options *options)
{
    struct link_trial trial;
    struct peer peer;
    meet(&peer, &trial, options);
    for (int i = 0; i < 100 && !trial.is_down; i++)
        peer_turn(&peer);
    assert_false(trial.is_up);
    assert_true(trial.is_down);
    part(&peer, &trial);
}

static void another_name(void **state)
{
    (void)state;
    is_never_up(&(struct peer_options){.certificate = CERT_WRONG});
}

static void another_authority(void **state)
{
    (void)state;
    is_never_up(&(struct peer_options){.certificate = CERT_STRANGERS});
}

static void an_old_version(void **state)
{
    (void)state;
    is_never_up(&(struct peer_options){.version = TLS1_1_VERSION});
}

static void records_in_one_packet(void **state)
{
    static const struct peer_options options = {.version = TLS1_3_VERSION};
    struct link_trial trial;
    struct peer peer;
    (void)state;
    meet(&peer, &trial, &options);
    peer_until(&peer, "up");
    for (int i = 0; i < RECORDS; i++)
        link_trial_ask(&trial);
    peer_until_heard(&peer, RECORDS * strlen("*1\r\n$4\r\nPING\r\n"));
    for (int i = 0; i < RECORDS; i++)
        peer_say(&peer, ":1\r\n");
    for (int i = 0; i < 200; i++)
        peer_turn(&peer);
    assert_int_equal(trial.replies, RECORDS);
    part(&peer, &trial);
}

static const struct twin { const char *plant, *name; CMUnitTestFunction test; const char *wound; /* what cmocka says of it */ } twins[] = {
    {"TLS_NAME_UNVERIFIED", "a server of another name", another_name, "trial.is_up"},
    {"TLS_CHAIN_UNVERIFIED", "a server whom nobody trusted has signed", another_authority, "trial.is_up"},
    {"TLS_OLD_VERSIONS", "a server of TLS 1.1", an_old_version, "trial.is_up"},
    {"TLS_READ_AHEAD_FORGOTTEN", "many records in one packet", records_in_one_packet, "!= 0x28"},
};

static const char *const plants[] = {
#define HL_PLANT(name, text)
#define HL_TLS_PLANT(name, text) #name,
#include "base/plants.def"
};

/* Of what a child has said; 1: the wound is in it. */
static int is_said(FILE *said, const char *wound)
{
    char text[4096];
    size_t length;
    rewind(said);
    length = fread(text, 1, sizeof text - 1, said);
    text[length] = '\0';
    return strstr(text, wound) != NULL;
}

/* What it says goes there; NULL: where ours does. */
static int holds_in_a_child(const struct twin *twin, const char *plant, FILE *said)
{
    const struct CMUnitTest test[] = {{twin->name, twin->test, NULL, NULL, NULL}};
    int status = 0;
    pid_t child;
    fflush(stdout); /* or the child would say it again */
    child = fork();
    if (child == 0) {
        alarm(SECONDS_MAX);
        if (said && (dup2(fileno(said), 2) < 0 || dup2(fileno(said), 1) < 0)) /* what a failure says is expected */
            _exit(2);
        hl_plant = plant ? hl_plant_find(plant) : HL_PLANT_NONE;
        status = _cmocka_run_group_tests(twin->name, test, 1, NULL, NULL) ? 1 : 0;
        fflush(NULL);
        _exit(status);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int is_found_by(const struct twin *twin)
{
    FILE *said = tmpfile();
    int is_found = said && hl_plant_find(twin->plant) != HL_PLANT_NONE && !holds_in_a_child(twin, twin->plant, said) && is_said(said, twin->wound);
    if (said)
        fclose(said);
    return is_found;
}

static int has_twin(const char *plant)
{
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        if (strcmp(twins[i].plant, plant) == 0)
            return 1;
    return 0;
}

int main(void)
{
    int wrong = 0;
    certificates_make(&certificates);
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        int holds = holds_in_a_child(&twins[i], NULL, NULL), is_found = is_found_by(&twins[i]);
        printf("%s: %s; %s: %s\n", twins[i].name, holds ? "holds" : "DOES NOT HOLD", twins[i].plant, is_found ? "found" : "NOT FOUND");
        wrong += !holds || !is_found;
    }
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        if (!has_twin(plants[i]))
            wrong++, printf("%s has no play that finds it\n", plants[i]);
    certificates_end(&certificates);
    return wrong;
}
