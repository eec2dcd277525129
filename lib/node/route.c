/* SPDX-License-Identifier: BSD-3-Clause */
/* route - what is asked of all nodes that decide about one key: its one node, or as many masters as have a vote. */
#include "node/route.h"

#include "base/plant.h"

unsigned hl_route_members(const struct hl_route *route) { return route->masters ? route->masters : 1; }

struct hl_node *hl_route_member(struct hl_route *route, const char *key, size_t length, unsigned i)
{
    return route->ops->node_of(route, &(struct hl_about){key, length, i});
}

int hl_route_is_member(struct hl_route *route, const char *key, size_t length, const struct hl_node *node)
{
    for (unsigned i = 0; i < hl_route_members(route); i++)
        if (hl_route_member(route, key, length, i) == node)
            return 1;
    return 0;
}

int hl_route_can_decide(struct hl_route *route, const char *key, size_t length)
{
    unsigned up = 0;
    for (unsigned i = 0; i < hl_route_members(route); i++)
        up += hl_route_member(route, key, length, i)->is_up != 0;
    return up >= (route->masters ? route->needed : 1);
}

static uint64_t slowest_us(struct hl_route *route, const char *key, size_t length, uint64_t (*trip_us)(const struct hl_node *node))
{
    uint64_t longest_us = 0;
    for (unsigned i = 0; i < hl_route_members(route); i++) {
        const struct hl_node *node = hl_route_member(route, key, length, i);
        if ((node->is_up || !route->masters) && trip_us(node) > longest_us)
            longest_us = trip_us(node);
    }
    return longest_us;
}

static uint64_t quickest_us(const struct hl_node *node) { return node->quickest_us; }
static uint64_t usual_us(const struct hl_node *node) { return node->usual_us; }

uint64_t hl_route_round_trip_us(struct hl_route *route, const char *key, size_t length) { return slowest_us(route, key, length, quickest_us); }
uint64_t hl_route_usual_trip_us(struct hl_route *route, const char *key, size_t length) { return slowest_us(route, key, length, usual_us); }

/* With votes: as long as the guards of so many last that the others are too few. Who is away is none of them. */
uint64_t hl_route_guard_left_us(struct hl_route *route, const char *key, size_t length, uint64_t now_us)
{
    unsigned count = hl_route_members(route), needed = route->masters ? route->needed : 1;
    uint64_t best_us = UINT64_MAX;
    for (unsigned i = 0; i < count; i++) {
        uint64_t left_us = hl_node_guard_left_us(hl_route_member(route, key, length, i), now_us);
        unsigned sooner = 0;
        for (unsigned j = 0; j < count; j++) {
            const struct hl_node *other = hl_route_member(route, key, length, j);
            sooner += (other->is_up || !route->masters) && hl_node_guard_left_us(other, now_us) <= left_us;
        }
        if (sooner >= needed && (left_us < best_us || (HL_PLANTED(GUARD_OF_THE_LAST) && best_us == 0)))
            best_us = left_us;
    }
    return best_us == UINT64_MAX ? 0 : best_us;
}
