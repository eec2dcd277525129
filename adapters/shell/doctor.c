/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor - see doctor.h: runs the checkups one after the other (findings.h). */
#include "doctor.h"
#include "findings.h"
#include "store.h"

#include <stdio.h>
#include <unistd.h>

static void check_rights(struct findings *findings, struct store *store, const char *prefix)
{
    char name[300];
    snprintf(name, sizeof name, "%.200shilock-doctor:%d", prefix, (int)getpid());
    checkup_rights(findings, store, name);
}

/* If the library cannot reach the deployment, only the first thing that is wrong is printed, and no later checkup
 * runs. */
static void check_servers(struct findings *findings, const char *url, const char *prefix)
{
    struct store store;
    if (store_open(&store, url) != 0)
        finding(findings, store.url.is_tls ? DOUBTFUL : WRONG, "server",
                store.url.is_tls ? "ask its operator for eviction policy and persistence" : NULL, "%s", store.error);
    else if (store_each_master(&store, checkup_server, findings) != 0)
        finding(findings, WRONG, "servers",
                "can this machine reach all of the cluster's servers, by the addresses that the cluster gives?", "%s",
                store.error);
    if (store.context)
        check_rights(findings, &store, prefix);
    if (!store.url.is_tls)
        checkup_view(findings, &store);
    store_close(&store);
}

int doctor_command(const struct options *options)
{
    struct options asked = *options;
    struct findings findings = {.is_json = options->is_json, .place = ""};
    int code = 0;
    asked.url = options->names_count ? *options->names : options->url;
    asked.is_quiet = 1; /* because the findings have the same text */
    finding(&findings, FINE, "library", NULL, "hilock %s", hilock_version());
    if (checkup_address(&findings, &asked, &code)) {
        check_servers(&findings, asked.url, options->prefix ? options->prefix : "");
        if (*findings.away && !findings.wrong)
            finding(&findings, WRONG, "server", "is it the right URL, and do the servers run?", "UNREACHABLE: %s",
                    findings.away);
        code = checkup_kinds(&findings, &asked);
    }
    if (!options->is_json && !code)
        printf("%u wrong, %u doubtful\n", findings.wrong, findings.doubtful);
    return code ? code : findings.wrong != 0;
}
