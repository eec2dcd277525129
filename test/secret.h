/* SPDX-License-Identifier: BSD-3-Clause */
/* secret - the password of every server in tests. It must stand in nothing that hilock tells, and in no output of any suite: CI looks for it there
 * (.ci/tally.py; live/secret.py shows that it is found). */
#ifndef TEST_SECRET_H
#define TEST_SECRET_H

#define TEST_SECRET "s3cret-marker"

#endif
