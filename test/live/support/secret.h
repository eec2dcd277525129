/* SPDX-License-Identifier: BSD-3-Clause */
/* secret - the login in the URLs of this folder's servers. They take any password for their default user, so a test may as well do without. client.c
 * looks for it in every line, event, result and statistic. */
#ifndef LIVE_SECRET_H
#define LIVE_SECRET_H

#include "../../secret.h"

#define LIVE_LOGIN "default:" TEST_SECRET "@" /* before the host or path of a URL */

#endif
