/* SPDX-License-Identifier: BSD-3-Clause */
/* scripts - the Lua scripts that run at the server. Each is one .lua file, which embed.py embeds when the library is
 * built. */
#ifndef HL_WIRE_SCRIPTS_H
#define HL_WIRE_SCRIPTS_H

#include "base/command.h"

extern const struct hl_script hl_script_free;
extern const struct hl_script hl_script_mutex_acquire, hl_script_mutex_force, hl_script_mutex_peek,
    hl_script_mutex_release;
extern const struct hl_script hl_script_renew;
extern const struct hl_script hl_script_share_downgrade, hl_script_share_release, hl_script_share_renew;
extern const struct hl_script hl_script_simple_acquire, hl_script_simple_peek, hl_script_simple_release,
    hl_script_simple_renew;
extern const struct hl_script *const hl_scripts[]; /* all scripts, ended by NULL; they are loaded on every connect */

#endif
