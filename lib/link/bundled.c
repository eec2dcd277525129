/* SPDX-License-Identifier: BSD-3-Clause */
/* bundled - only linked where hiredis is inside the library (bundle.py), and so what shows it: origin.h. */
#include "link/origin.h"

const char hl_bundled_mark = 1;
