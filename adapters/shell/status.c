/* SPDX-License-Identifier: BSD-3-Clause */
/* status - see status.h. */
#include "status.h"
#include "look.h"
#include "say.h"

int status_command(const struct options *options)
{
    struct session session;
    struct looks looks = {0};
    struct json json = {.file = stdout};
    int code = session_open(&session, options, NULL);
    if (code == 0)
        code = looks_take(&looks, &session, options);
    for (size_t i = 0; code == 0 && i < looks.count; i++)
        if (options->is_json) {
            look_json(&json, &looks.all[i]);
            json_line(&json);
        } else {
            look_print(&looks.all[i]);
        }
    if (code == 0 && looks.lacks)
        say("%s", looks.lacks);
    code = code ? code : looks.code;
    looks_free(&looks);
    session_close(&session);
    return code;
}
