/* SPDX-License-Identifier: BSD-3-Clause */
/* rights - what the guide (operate.md) says that a server's user needs (its block "acl", HILOCK_RIGHTS), given to a
 * user, and held against what clients really send.
 *
 * MONITOR shows each command that a server runs, those inside of scripts too; ACL LOG has what was denied, also
 * where a script or a client bore it in silence. */
#ifndef LIVE_RIGHTS_H
#define LIVE_RIGHTS_H

#include "redis.h"

enum { RIGHTS_MAX = 64, RIGHT_MAX = 48 };

struct rights { char user[16], words[RIGHTS_MAX][RIGHT_MAX]; unsigned count; };

void rights_read(struct rights *rights, const char *heading, const char *user); /* added: the line of that user below "# heading" */
void rights_add(struct rights *rights, const char *word);
void rights_add_optional(struct rights *rights);                                /* added: those of the list below the block */
struct rights rights_of_shop(const char *heading);     /* the line of "shop" below that heading */
struct rights rights_needed_of(const char *heading);   /* the same without those of the list, which are optional */
int rights_has(const struct rights *rights, const char *word);
void rights_give(const struct rights *rights, struct redis *redis, const char *but); /* all, and nothing else; but NULL, or one of them left out */

/* What clients send to these servers by TCP, and what their scripts run there. */
struct server;
struct record;
struct record *record_begin(struct server *const *servers, unsigned count);
/* Until now. Those of `rights` that nothing needed, with blanks between; "": each was used. Good until the next. */
const char *record_end(struct record *record, const struct rights *rights);

/* The objects that were denied since the last time, with blanks around each: " info client|setname "; " ": none. Good until the next. */
const char *rights_denied(struct redis *redis);

#endif
