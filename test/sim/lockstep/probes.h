/* SPDX-License-Identifier: BSD-3-Clause */
/* probes - small scripts that ask how a server treats what its scripts say and do, where the library's own do not go. */
#ifndef LOCKSTEP_PROBES_H
#define LOCKSTEP_PROBES_H

unsigned probes_count(void);
const char *probe_text(unsigned i); /* KEYS: one of any type. ARGV: a number, a word, a channel */

#endif
