/* SPDX-License-Identifier: BSD-3-Clause */
/* What was asked for as TLS is TLS, and to the server that was asked for. */
#include "safety.h"

/* It is plain, and would say yes to anything. */
SAFETY(TLS_DOWNGRADED, a_server_without_TLS_is_told_nothing, "a:UNREACHABLE")
{
    struct handle *a = handle_new(fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "rediss://127.0.0.1", .password = FIXTURE_SECRET)), "a", "stock", NULL);
    acquire(a, 20000);
    TELLS_IN(s, 25000, "a:UNREACHABLE");
    HOLDS(s, s->place->tried > 5);
    SAME(s, asked(s, NULL), 0);
}

/* An attacker who forges a name server's answer has a certificate for his own address. */
SAFETY(TLS_NAME_OF_ADDRESS, a_name_is_what_is_asked_for_not_its_address, "locks.example")
{
    struct client *p;
    s->place->is_tls = 1;
    p = fixture_open(s, HILOCK_CLIENT_OPTIONS(.url = "rediss://locks.example"));
    p->loop.name = (struct world_name){.takes_us = 100, .addresses = {"127.0.0.1"}};
    run_ms(s, 100);
    TEXT(s, s->place->tls_host, "locks.example");
}
