/* SPDX-License-Identifier: BSD-3-Clause */
/* What CLUSTER NODES tells: the config-epochs of the masters, and which server it is that answers. As servers of all
 * versions write it, and as none would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "node/slots.h"
#include "suite.h"
#include "wanted.h"
#include "world/memory.h"

#define ID(tail) "07c37dfeb235213a872192d90877d0cd55635b" tail

static const struct hl_reply *said(enum hl_reply_type type, const char *bytes, size_t length)
{
    static struct hl_reply reply;
    reply = (struct hl_reply){.type = type, .bytes = bytes, .length = length};
    return &reply;
}

/* Read from a block that ends where the text does. */
static void read_bytes(struct hl_epochs *ret_epochs, const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    hl_slots_read_epochs(ret_epochs, said(HL_REPLY_STRING, copy, length));
    free(copy);
}

static void reads(const char *text, unsigned count, const char *id, uint64_t dated)
{
    struct hl_epochs epochs;
    read_bytes(&epochs, text, strlen(text));
    assert_int_equal(epochs.count, count);
    assert_int_equal(hl_slots_epoch_of(&epochs, id, strlen(id)), dated);
}

TEST(what_servers_write)
{
    reads(ID("91") " 127.0.0.1:30004@31004 slave " ID("92") " 0 1426238317239 4 connected\n"
          ID("92") " 127.0.0.1:30002@31002 master - 0 1426238316232 2 connected 5461-10922\n"
          ID("93") " 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-5460\n", 2, ID("92"), 3);
    reads(ID("91") " 127.0.0.1:30004 myself,master - 0 0 0 connected\n", 1, ID("91"), 1);
    reads(ID("91") " 10.0.0.1:6379@16379,host.example master - 0 0 7 connected 0-99 101 103-104\n", 1, ID("91"), 8);
    reads(ID("91") " 10.0.0.1:6379@16379,,tls-port=0,shard-id=69bc master - 0 0 7 connected 5\n", 1, ID("91"), 8);
    reads(ID("91") " 2001:db8::1:6379@16379 master,fail? - 0 0 7 disconnected 0-99\n", 1, ID("91"), 8);
    reads(ID("91") " :0@0 master,noaddr - 1385503419023 0 999999999999 disconnected\n", 1, ID("91"), 1000000000000);
    reads(ID("91") " 10.0.0.1:6379@16379 master,nofailover - 0 0 9 connected 0 [93-<-" ID("92") "] [77->-" ID("93") "]\n",
          1, ID("91"), 10);
    reads(ID("91") " 10.0.0.1:6379@16379 myself,slave,fail " ID("92") " 0 0 9 connected\n", 0, ID("91"), 0);
    reads(ID("91") " 10.0.0.1:6379@16379 handshake - 0 0 0 connected\n", 0, ID("91"), 0);
    reads(ID("91") " 10.0.0.1:6379@16379 noflags - 0 0 3 connected\n", 0, ID("91"), 0);
    reads(ID("91") " 10.0.0.1:6379@16379 master - 0 0 12 connected", 1, ID("91"), 13);
}

TEST(what_no_server_writes)
{
    static const char *const lines[] = {
        "", "\n", "\n\n\n", " ", "       ", ID("91"), ID("91") " a master - 0 0", ID("91") " a master - 0 0 ",
        ID("91") " a master - 0 0 x connected", ID("91") " a master - 0 0 -1 connected",
        ID("91") " a master - 0 0 1x connected",
        ID("91") " a master - 0 0 9999999999999 connected", ID("91") " a masters - 0 0 1 connected",
        ID("91") " a ,,mast,er - 0 0 1 connected", ID("9") " a master - 0 0 1 connected",
        ID("911") " a master - 0 0 1 connected",
        ID("91") "\ta master - 0 0 1 connected",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        reads(lines[i], 0, ID("91"), 0);
    reads("nothing\n" ID("92") " a master - 0 0 1 connected\nnothing", 1, ID("92"), 2);
    reads(ID("91") " a master - 0 0 1 connected", 1, ID("9"), 0);
    reads(ID("91") " a master - 0 0 1 connected", 1, "", 0);
}

static void reads_myself(const char *text, const char *id)
{
    char found[HL_EPOCHS_ID + 1];
    hl_slots_read_myself(found, said(HL_REPLY_STRING, text, strlen(text)));
    assert_string_equal(found, id);
}

TEST(which_server_wrote_it)
{
    reads_myself(ID("91") " 127.0.0.1:30004@31004 slave " ID("92") " 0 1426238317239 4 connected\n"
                 ID("93") " 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-5460\n"
                 ID("92") " 127.0.0.1:30002@31002 master - 0 1426238316232 2 connected 5461-10922\n", ID("93"));
    reads_myself(ID("91") " 10.0.0.1:6379@16379,host.example myself,slave,fail? " ID("92") " 0 0 9 connected", ID("91"));
    reads_myself(ID("91") " :0@0 myself,master,noaddr - 0 0 9 connected\n", ID("91"));
    reads_myself(ID("91") " a master,myself - 0 0 9 connected\n" ID("92") " a myself,master - 0 0 9 connected\n", ID("91"));
    reads_myself(ID("91") " a master - 0 0 9 connected\n", "");
    reads_myself(ID("91") " myself master - 0 0 9 connected\n", "");
    reads_myself(ID("91") " a notmyself,myselfish - 0 0 9 connected\n", "");
    reads_myself(ID("9") " a myself,master - 0 0 9 connected\n", "");
    reads_myself(ID("911") " a myself,master - 0 0 9 connected\n", "");
    reads_myself(ID("91") " a", "");
    reads_myself(ID("91"), "");
    reads_myself("\n\n", "");
    reads_myself("", "");
}

TEST(another_type_tells_none)
{
    static const char line[] = ID("91") " a master - 0 0 1 connected", own[] = ID("91") " a myself,master - 0 0 1 connected";
    char myself[HL_EPOCHS_ID + 1];
    struct hl_epochs epochs;
    for (enum hl_reply_type type = HL_REPLY_NIL; type <= HL_REPLY_ARRAY; type++) {
        hl_slots_read_epochs(&epochs, said(type, line, sizeof line - 1));
        assert_int_equal(epochs.count, type == HL_REPLY_STRING);
        hl_slots_read_myself(myself, said(type, own, sizeof own - 1));
        assert_string_equal(myself, type == HL_REPLY_STRING ? ID("91") : "");
    }
}

enum { LINES = 2 * HL_EPOCHS_MAX, LINE = 80 };

TEST(more_masters_than_any_cluster_has)
{
    struct hl_epochs epochs;
    char *text = malloc(LINES * LINE), id[HL_EPOCHS_ID + 1];
    size_t length = 0;
    assert_non_null(text);
    for (unsigned i = 0; i < LINES; i++)
        length += (size_t)snprintf(text + length, LINE, "%040x a master - 0 0 %u connected %u\n", i, i, i);
    read_bytes(&epochs, text, length);
    assert_int_equal(epochs.count, HL_EPOCHS_MAX);
    snprintf(id, sizeof id, "%040x", HL_EPOCHS_MAX - 1);
    assert_int_equal(hl_slots_epoch_of(&epochs, id, HL_EPOCHS_ID), HL_EPOCHS_MAX);
    snprintf(id, sizeof id, "%040x", HL_EPOCHS_MAX);
    assert_int_equal(hl_slots_epoch_of(&epochs, id, HL_EPOCHS_ID), 0);
    free(text);
}

/* Pieces of lines in any order: nothing is read that is not there (a sanitizer looks), and nothing twice. */
TEST(chance)
{
    static const char *const pieces[] = {ID("91"), ID("92"), " ", " ", " ", "\n", ",", "master", "myself,master", "slave", "-",
                                         "0", "1", "7", "connected", "0-5460", "127.0.0.1:6379@16379", "[93-<-", "]",
                                         "\r", "\xff", "999999999999", ID("93") " a master - 0 0 5 connected\n"};
    struct hl_random random = {11 + wanted("HILOCK_SEED", 0)}; /* others for each commit that CI sees */
    for (int i = 0; i < 20000; i++) {
        struct hl_epochs epochs;
        char text[2048];
        size_t length = 0, lines = 1;
        for (uint64_t more = hl_random_below(&random, 40); more; more--) {
            const char *piece = pieces[hl_random_below(&random, sizeof pieces / sizeof *pieces)];
            memcpy(text + length, piece, strlen(piece));
            length += strlen(piece);
            lines += strchr(piece, '\n') != NULL;
        }
        length -= length ? (size_t)hl_random_below(&random, length < 4 ? length : 4) : 0;
        read_bytes(&epochs, text, length);
        assert_true(epochs.count <= lines);
    }
}
