/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers a question by repeating it, with as many records as its first label asks for. It reads only what the resolver under test sends. */
#include "nameserver.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER = 12, TYPE_A = 1, TYPE_AAAA = 28, NO_ERROR = 0, NO_SUCH_NAME = 3, REFUSED = 5 };

static void put_16(unsigned char *where, size_t value)
{
    where[0] = (unsigned char)(value >> 8);
    where[1] = (unsigned char)value;
}

/* The name is compressed to a pointer at the question. */
static size_t put_record(unsigned char *where, int type)
{
    const size_t length = type == TYPE_A ? 4 : 16;
    memset(where, 0, 12 + length);
    put_16(where, 0xc000 | HEADER);
    put_16(where + 2, (size_t)type);
    put_16(where + 4, 1);
    put_16(where + 10, length);
    where[12] = type == TYPE_A ? 10 : 0xfd;
    where[12 + length - 1] = 1;
    return 12 + length;
}

static int is_label(const unsigned char *packet, const char *label)
{
    return packet[HEADER] == strlen(label) && strncasecmp((const char *)packet + HEADER + 1, label, strlen(label)) == 0;
}

static void answer(struct nameserver *nameserver, unsigned char *packet, size_t length, const struct sockaddr_in *to)
{
    const int type = packet[length - 3];
    const int is_known = is_label(packet, "both") || is_label(packet, type == TYPE_A ? "v4" : "v6");
    const size_t records = is_label(packet, "many") ? (type == TYPE_A ? 25 : 0) : (size_t)is_known;
    if (is_label(packet, "silent") || (is_label(packet, "v4") && type == TYPE_AAAA))
        return;
    const unsigned is_cut = is_label(packet, "long") ? 0x0200 : 0;
    put_16(packet + 2, 0x8180u | is_cut |
                           (is_label(packet, "none") ? NO_SUCH_NAME : is_label(packet, "refuse") ? REFUSED : NO_ERROR));
    put_16(packet + 6, records);
    put_16(packet + 10, 0);
    for (size_t i = 0; i < records; i++)
        length += put_record(packet + length, type);
    if (sendto(nameserver->fd, packet, length, 0, (const struct sockaddr *)to, sizeof *to) == (ssize_t)length)
        nameserver->answered++;
}

/* All that wait are answered in one turn. */
static void on_question(evutil_socket_t fd, short what, void *user)
{
    struct nameserver *nameserver = user;
    unsigned char packet[1024];
    struct sockaddr_in from;
    socklen_t from_length = sizeof from;
    ssize_t got;
    (void)what;
    while ((got = recvfrom(fd, packet, 512, 0, (struct sockaddr *)&from, &from_length)) >= HEADER + 6) {
        nameserver->asked++;
        answer(nameserver, packet, (size_t)got, &from);
    }
}

int nameserver_open(struct nameserver *nameserver, struct event_base *base)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    *nameserver = (struct nameserver){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (bind(nameserver->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(nameserver->fd, (struct sockaddr *)&address, &length) != 0)
        return -1;
    nameserver->port = ntohs(address.sin_port);
    nameserver->event = event_new(base, nameserver->fd, EV_READ | EV_PERSIST, on_question, nameserver);
    return event_add(nameserver->event, NULL);
}

void nameserver_close(struct nameserver *nameserver)
{
    event_free(nameserver->event);
    close(nameserver->fd);
}
