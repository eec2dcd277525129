/* SPDX-License-Identifier: BSD-3-Clause */
/* status - see status.h. */
#include "status.h"
#include "look.h"
#include "say.h"
#include "table.h"

int status_command(const struct options *options)
{
    struct session session;
    struct looks looks = {0};
    struct json json = {.file = stdout};
    int code = session_open(&session, options, NULL);
    if (code == 0)
        code = looks_take(&looks, &session, options);
    for (size_t i = 0; code == 0 && options->is_json && i < looks.count; i++) {
        look_json(&json, &looks.all[i]);
        json_line(&json);
    }
    if (code == 0 && !options->is_json)
        table_print(&looks, options->is_long);
    if (code == 0 && looks.lacks)
        say("%s", looks.lacks);
    code = code ? code : looks.code;
    looks_free(&looks);
    session_close(&session);
    return code;
}
