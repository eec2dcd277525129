/* SPDX-License-Identifier: BSD-3-Clause */
/* secret - the password in the URLs of this folder's servers. They take any password for their default user, so a test may as well do without. It
 * must be found in nothing that hilock tells (client.c looks at every line, event, result and statistic), and in no output (.ci/tally.py). */
#ifndef LIVE_SECRET_H
#define LIVE_SECRET_H

#define LIVE_SECRET "s3cret-marker"
#define LIVE_LOGIN "default:" LIVE_SECRET "@" /* before the host or path of a URL */

#endif
