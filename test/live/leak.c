/* SPDX-License-Identifier: BSD-3-Clause */
/* leak - a client whose whole log goes to stderr, in a build in which a bug can be planted that logs the password: for secret.py.
 * usage: leak [PLANT] */
#include "base/plant.h"
#include "support/check.h"
#include "support/fixture.h"

int main(int argc, char **argv)
{
    struct server *server = server_start(NULL);
    struct client client;
    hl_plant_switch(argc > 1 ? hl_plant_find(argv[1]) : HL_PLANT_NONE);
    client_open(&client, server->url);
    client_connect(&client);
    hilock_client_abandon(client.hilock); /* client_close would look for the password as well */
    event_free(client.tick);
    event_base_free(client.base);
    server_end(server);
    return 0;
}
