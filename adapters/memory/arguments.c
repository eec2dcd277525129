/* SPDX-License-Identifier: BSD-3-Clause */
/* arguments - how commands read their arguments, as strictly as a real server and with its texts. */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "state.h"

void sim_touch(const struct sim_call *call, size_t elements) { call->store->keys.touched += elements; }

int sim_argument_is(const struct sim_call *call, int i, const char *word)
{
    return call->lengths[i] == strlen(word) && strncasecmp(call->argv[i], word, call->lengths[i]) == 0;
}

int sim_integer_read(const char *bytes, size_t length, int64_t *ret_number)
{
    size_t i = length > 0 && bytes[0] == '-';
    int is_negative = (int)i;
    uint64_t number = 0, limit = (uint64_t)INT64_MAX + (uint64_t)is_negative;
    if (i == length || (bytes[i] == '0' && length > 1))
        return 0;
    for (; i < length; i++) {
        unsigned digit = (unsigned)(bytes[i] - '0');
        if (bytes[i] < '0' || bytes[i] > '9' || number > (limit - digit) / 10)
            return 0;
        number = number * 10 + digit;
    }
    *ret_number = (int64_t)(is_negative ? 0 - number : number);
    return 1;
}

int sim_argument_integer(const struct sim_call *call, int i, int64_t *ret_number, const struct sim_reply **ret_error)
{
    if (sim_integer_read(call->argv[i], call->lengths[i], ret_number))
        return 1;
    *ret_error = &sim_not_an_integer;
    return 0;
}

int sim_argument_key(const struct sim_call *call, int i, enum sim_type type, struct sim_key **ret_key,
                     const struct sim_reply **ret_error)
{
    struct sim_key *key = sim_key_find(&call->store->keys, call->argv[i], call->lengths[i]);
    if (key && key->type != type) {
        *ret_error = &sim_wrong_type;
        return 0;
    }
    *ret_key = key;
    return 1;
}

struct sim_key *sim_argument_new_key(const struct sim_call *call, int i, enum sim_type type)
{
    return sim_key_new(&call->store->keys, call->argv[i], call->lengths[i], type);
}

const struct sim_reply *sim_wrong_arguments(const struct sim_call *call, const char *command)
{
    return sim_reply_error(&call->store->replies, "ERR wrong number of arguments for '%s' command", command);
}

const struct sim_reply *sim_unknown_subcommand(const struct sim_call *call, const char *command)
{
    return sim_reply_error(&call->store->replies, "ERR unknown subcommand '%.*s'. Try %s HELP.", (int)call->lengths[1],
                           call->argv[1], command);
}
