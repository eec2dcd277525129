/* SPDX-License-Identifier: BSD-3-Clause */
/* status - the public functions for names and texts of statuses. The texts are in words.c, which defines no public
 * symbol, because the shell links that file a second time (with url.c). */
#include <hilock/hilock.h>

#include "base/words.h"

const char *hilock_status_name(hilock_status status) { return hl_words_status(status, 0); }

const char *hilock_status_text(hilock_status status) { return hl_words_status(status, 1); }
