/* SPDX-License-Identifier: BSD-3-Clause */
/* checkup_view - checks what sentinels or a cluster report about themselves: whether the sentinels name the same
 * master, and can agree on another one; and whether all slots of the cluster are served. */
#include "findings.h"
#include "store.h"

#include <stdio.h>
#include <string.h>

struct view {
    char master[300];  /* the master that the first sentinel has named */
    unsigned answered;
};

static void check_quorum(struct findings *findings, struct store *store, const char *master)
{
    redisReply *reply = store_ask(store, "SENTINEL ckquorum %s", master);
    int is_good = reply && reply->type == REDIS_REPLY_STATUS;
    finding(findings, is_good ? FINE : DOUBTFUL, "quorum",
            is_good ? NULL
                    : "start more sentinels, or lower their quorum: else no replica takes over when the master fails",
            "%.200s", reply && reply->str ? reply->str : store->error);
    if (reply)
        freeReplyObject(reply);
}

static void check_sentinel(struct findings *findings, struct store *store, const struct hl_url_host *host,
                           struct view *view)
{
    const char *master = store->url.master ? store->url.master : "mymaster";
    char named[300] = "";
    if (store_join(store, host->host, host->port, 1) != 0) {
        finding(findings, DOUBTFUL, "sentinel", "start it, or take it out of the URL", "%s", store->error);
        return;
    }
    findings->place = store->place;
    redisReply *reply = store_ask(store, "SENTINEL get-master-addr-by-name %s", master);
    if (reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        snprintf(named, sizeof named, "%.255s:%.8s", reply->element[0]->str, reply->element[1]->str);
    if (reply)
        freeReplyObject(reply);
    if (!*view->master)
        snprintf(view->master, sizeof view->master, "%s", named);
    view->answered++;
    int is_same = *named && strcmp(view->master, named) == 0;
    finding(findings, is_same ? FINE : WRONG, "sentinel",
            is_same ? NULL : "SENTINEL MONITOR there, or wait for the end of a failover",
            *named ? "names %s as the master" : "knows no master with the name%s", *named ? named : "");
    check_quorum(findings, store, master);
    findings->place = "";
}

static void check_cluster(struct findings *findings, struct store *store)
{
    redisReply *reply = store_ask(store, "CLUSTER INFO");
    int is_told = reply && reply->type == REDIS_REPLY_STRING;
    int is_well = is_told && strstr(reply->str, "cluster_state:ok") && strstr(reply->str, "cluster_slots_ok:16384");
    if (is_told)
        finding(findings, is_well ? FINE : WRONG, "cluster",
                is_well ? NULL : "CLUSTER NODES shows which server is missing: start it, or give its slots away",
                is_well ? "all slots are served" : "not all slots are served");
    else
        finding(findings, DOUBTFUL, "cluster", "give the user of `doctor` +cluster|info", "%.200s",
                reply && reply->str ? reply->str : store->error);
    if (reply)
        freeReplyObject(reply);
}

void checkup_view(struct findings *findings, struct store *store)
{
    struct view view = {.answered = 0};
    findings->place = "";
    if (store->url.scheme == HL_URL_CLUSTER)
        check_cluster(findings, store);
    for (unsigned i = 0; store->url.scheme == HL_URL_SENTINEL && i < store->url.hosts_count; i++)
        check_sentinel(findings, store, &store->url.hosts[i], &view);
    if (store->url.scheme == HL_URL_SENTINEL && view.answered < 3)
        finding(findings, DOUBTFUL, "sentinels", "three or more, on machines of their own, and all of them in the URL",
                "%u answered", view.answered);
}
