/* SPDX-License-Identifier: BSD-3-Clause */
/* bundled - this file is linked only if hiredis is inside the library (bundle.py), so its symbol shows that
 * (origin.h). */
#include "link/origin.h"

const char hl_bundled_mark = 1;
