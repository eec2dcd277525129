/* SPDX-License-Identifier: BSD-3-Clause */
/* response - see response.h. */
#include "wire/response.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/stranger.h"
#include "wire/field.h"
#include "wire/protocol.h"
#include "wire/scripts.h"

enum { WORDS_MAX = 512, SHA1_LENGTH = 40 };

static int contains(const struct hl_reply *error, const char *text)
{
    return memmem(error->bytes, error->length, text, strlen(text)) != NULL;
}

static int has_one_of(const struct hl_reply *error, const char *const *codes)
{
    while (*codes && !hl_reply_has_code(error, *codes))
        codes++;
    return *codes != NULL;
}

struct hl_fault hl_response_cause(const struct hl_reply *error)
{
    static const char *const passing[] = {"READONLY", "LOADING",     "MASTERDOWN", "BUSY",      "OOM",   "NOREPLICAS",
                                          "MISCONF",  "CLUSTERDOWN", "TRYAGAIN",   "UNBLOCKED", "GUARD", "ELSEWHERE",
                                          NULL};
    static const char *const denied[] = {"NOAUTH", "WRONGPASS", "NOPERM", NULL};
    /* The command was refused as a whole, or by the reads of a script, which precede its writes. A script may also meet
     * a missing right halfway. */
    int is_wrong_kind = hl_reply_has_code(error, "WRONGTYPE");
    int is_refused_whole = hl_reply_starts(error, "NOAUTH ") || hl_reply_starts(error, "WRONGPASS ") ||
                           hl_reply_starts(error, "NOPERM ");
    int left_nothing = is_wrong_kind || (is_refused_whole && !contains(error, "user_script"));
    const struct hl_stranger *stranger = hl_stranger_named(error->bytes, error->length);
    if (stranger)
        return (struct hl_fault){HL_FAULT_LASTING, stranger->status, 1};
    if (hl_reply_has_code(error, "NOSCRIPT"))
        return (struct hl_fault){HL_FAULT_NOSCRIPT, HILOCK_SERVER, 0};
    if (has_one_of(error, passing) || contains(error, "WAIT cannot be used with replica") ||
        contains(error, "Script killed by user") || contains(error, "access a non local key") ||
        contains(error, "max number of clients"))
        return (struct hl_fault){HL_FAULT_PASSING, HILOCK_UNWRITABLE, 0};
    /* Inside a script a missing right has the code ERR. These texts are those of Redis 7.0 and of later versions. */
    if (has_one_of(error, denied) || contains(error, "without any password configured") ||
        contains(error, "ACL failure in script") || contains(error, "The user executing the script can't"))
        return (struct hl_fault){HL_FAULT_LASTING, HILOCK_DENIED, left_nothing};
    return (struct hl_fault){HL_FAULT_LASTING, is_wrong_kind ? HILOCK_WRONG_KIND : HILOCK_SERVER, left_nothing};
}

/* Adds the word up to a quotation mark, as "+word" in lower case. */
static void add_word(struct hl_text *right, const char *word)
{
    size_t used = strlen(right->bytes), length = strcspn(word, "'");
    hl_text_add(right, "%s+%.*s", used ? " or " : "", length < 32 ? (int)length : 32, word);
    for (char *c = right->bytes + used; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

/* Adds the commands that the named line of a script calls. The words are "script: <sha1>, on @user_script:<line>." */
static void read_script(struct hl_text *right, const char *words)
{
    static const char head[] = "script: ", place[] = "@user_script:", call[] = "call('";
    const char *sha1 = strstr(words, head), *number = strstr(words, place), *line = NULL, *end;
    /* no number, or 0: no script has a line 0 */
    unsigned long long lines = number ? strtoull(number + sizeof place - 1, NULL, 10) : 0;
    for (const struct hl_script *const *script = hl_scripts; sha1 && *script; script++)
        if (strncmp(sha1 + sizeof head - 1, (*script)->sha1, SHA1_LENGTH) == 0)
            line = (*script)->text;
    while (line && --lines)
        line = (line = strchr(line, '\n')) ? line + 1 : NULL;
    if (!line)
        return;
    end = line + strcspn(line, "\n");
    while ((line = strstr(line, call)) != NULL && line < end)
        add_word(right, line += sizeof call - 1);
}

struct hl_text hl_response_right(const char *words, size_t length)
{
    struct hl_text right = {""};
    char text[WORDS_MAX + 1] = "";
    const char *run;
    memcpy(text, words, length < WORDS_MAX ? length : WORDS_MAX);
    run = strstr(text, "to run the '");
    if (run)
        add_word(&right, run + sizeof "to run the '" - 1);
    else if (strstr(text, "to access a key") || strstr(text, "one of the keys"))
        hl_text_set(&right, "~ of a key");
    else if (strstr(text, "to access a channel") || strstr(text, "one of the channels"))
        hl_text_set(&right, "& of a channel");
    else if (strstr(text, "executing the script can't run this command"))
        read_script(&right, text);
    return right;
}

struct hl_response hl_response_fault(const struct hl_reply *reply)
{
    /* ELSEWHERE is a word of our own, which no server sends; the reader needs only what follows it. */
    size_t own = hl_reply_starts(reply, "ELSEWHERE ") ? sizeof "ELSEWHERE " - 1 : 0;
    if (reply->type == HL_REPLY_ERROR)
        return (struct hl_response){.result = HL_FAULT, .fault = hl_response_cause(reply),
                                    .quote = reply->bytes + own, .quote_length = reply->length - own};
    return (struct hl_response){.result = HL_FAULT, .fault = {HL_FAULT_LASTING, HILOCK_PROTOCOL, 0}, .quote = ""};
}

/* A key of another type is not this hold, and neither is the hold of another holder. Only a forced release reports the
 * type. */
struct hl_response hl_response_of_hold(const struct hl_reply *reply, enum hl_form form)
{
    if (form != HL_FORM_FORCED && reply->type == HL_REPLY_ERROR && hl_reply_has_code(reply, "WRONGTYPE"))
        return (struct hl_response){.result = HL_NO};
    return hl_response_fault(reply);
}

struct hl_response hl_response_renewed(const struct hl_reply *reply, enum hl_form form)
{
    if (reply->type != HL_REPLY_INTEGER || reply->integer < 0 || reply->integer > HL_NUMBER_MAX)
        return hl_response_of_hold(reply, form);
    return (struct hl_response){.result = reply->integer ? HL_YES : HL_NO,
                                .left_ms = reply->integer ? (uint64_t)reply->integer - 1 : 0};
}

int hl_response_number(const struct hl_reply *reply, size_t i, int64_t least, int64_t *ret_number)
{
    const struct hl_reply *item = hl_reply_item(reply, i, HL_REPLY_INTEGER);
    if (!item || item->integer < least || item->integer > HL_NUMBER_MAX)
        return 0;
    *ret_number = item->integer;
    return 1;
}

/* The answer for SIMPLE does not state what the key is, because it can only be a string. */
static enum hl_find find_of(const struct hl_reply *what)
{
    static const char *const words[] = {[HL_FIND_OURS] = "mutex", [HL_FIND_SHARED] = "shared",
                                        [HL_FIND_RLOCK] = "rlock", [HL_FIND_READ] = "read", [HL_FIND_WRITE] = "write"};
    for (unsigned find = 0; what && find < sizeof words / sizeof *words; find++)
        if (hl_reply_is(what, words[find]))
            return (enum hl_find)find;
    return what ? HL_FIND_OTHER : HL_FIND_OURS;
}

static uint32_t count_at(const struct hl_reply *reply, size_t i)
{
    int64_t count;
    return hl_response_number(reply, i, 0, &count) && count <= UINT32_MAX ? (uint32_t)count : 0;
}

struct hl_response hl_response_peeked(const struct hl_reply *reply, enum hl_form form)
{
    const struct hl_reply *holder = hl_reply_item(reply, 1, HL_REPLY_STRING);
    int64_t left;
    (void)form;
    if (!holder || !hl_response_number(reply, 0, -2, &left))
        return hl_response_fault(reply);
    return (struct hl_response){.result = left == -2 ? HL_YES : HL_NO,
                                .found = find_of(hl_reply_item(reply, 2, HL_REPLY_STRING)),
                                .left_ms = left < 0 ? 0 : (uint64_t)left,
                                .has_no_ttl = left < 0,
                                .holder = holder->bytes,
                                .holder_length = holder->length,
                                .waiters = count_at(reply, 3),
                                .position = count_at(reply, 4),
                                .holders = count_at(reply, 5),
                                .ready = count_at(reply, 6)};
}

int hl_response_listed(const struct hl_reply *reply, size_t i, struct hl_listed *ret)
{
    enum { BEHIND = 7, WORDS = 3 };
    size_t at = BEHIND + WORDS * i;
    const struct hl_reply *holder = hl_reply_item(reply, at, HL_REPLY_STRING);
    const struct hl_reply *value = hl_reply_item(reply, at + 1, HL_REPLY_STRING);
    const struct hl_reply *what = hl_reply_item(reply, 2, HL_REPLY_STRING);
    int64_t left;
    if (i >= HL_LISTED_MAX || !holder || !value || !hl_response_number(reply, at + 2, -1, &left))
        return 0;
    *ret = (struct hl_listed){.holder = holder->bytes, .holder_length = holder->length,
                              .left_ms = left < 0 ? 0 : (uint64_t)left, .has_no_ttl = left < 0};
    if (find_of(what) > HL_FIND_SHARED ||
        !hl_field_is_number((struct hl_field){value->bytes, value->length}, &ret->token))
        ret->token = 0;
    return 1;
}
