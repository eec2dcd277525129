/* SPDX-License-Identifier: BSD-3-Clause */
/* label - see label.h. A character that may not be in a label (hilock_client_options) becomes '-'. */
#include "label.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct label label_of(const char *command)
{
    char host[64] = "";
    const char *slash = strrchr(command, '/');
    struct label label;
    gethostname(host, sizeof host - 1);
    snprintf(label.bytes, sizeof label.bytes, "%.24s@%.28s/%d", slash && slash[1] ? slash + 1 : command, host,
             (int)getpid());
    for (char *c = label.bytes; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.-+@/=,", *c))
            *c = '-';
    return label;
}
