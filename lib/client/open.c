/* SPDX-License-Identifier: BSD-3-Clause */
/* open - fills the doors of a real client: hiredis makes the links, libuuid the client's uuid and the bytes of the
 * random seed, and the label names this process. */
#include <errno.h>
#include <hilock/loop.h>
#include <hilock/version.h>
#include <stdio.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "base/platform.h"
#include "client/client.h"
#include "link/origin.h"

hilock_status hilock_client_open(hilock_client **ret_client, const struct hilock_loop *loop,
                                 const struct hilock_client_options *options, struct hilock_error *ret_error)
{
    uuid_t bytes, seed;
    struct hl_text why;
    char text[HL_UUID_LENGTH + 1], label[HL_LABEL_MAX + 1], host[HL_LABEL_MAX + 1] = "";
    struct hl_doors doors = {.links = hl_link_hiredis(), .uuid = text, .label = label};
    if (hl_origin_check(&why) != HILOCK_OK) {
        if (ret_error)
            snprintf(ret_error->text, sizeof ret_error->text, "%s", why.bytes);
        return HILOCK_UNSUPPORTED;
    }
    uuid_generate_random(bytes);
    uuid_unparse_lower(bytes, text);
    uuid_generate_random(seed);
    memcpy(&doors.seed, seed, sizeof doors.seed);
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        snprintf(host, sizeof host, "unknown");
    /* the label is program@host/pid; long names of a program or a host are cut */
    snprintf(label, sizeof label, "%.20s@%.32s/%u", hl_platform_program(), host, (unsigned)getpid());
    hl_holder_mend_label(label);
    return hl_client_open_with(ret_client, loop, &doors, options, ret_error);
}

const char *hilock_version(void) { return HILOCK_VERSION; }
