/* SPDX-License-Identifier: BSD-3-Clause */
/* right - see right.h. */
#include "wire/right.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "wire/scripts.h"

enum { WORDS_MAX = 512, SHA1_LENGTH = 40 };

/* Up to a quotation mark: "+word", in lower case. */
static void add_word(struct hl_text *right, const char *word)
{
    size_t used = strlen(right->bytes), length = strcspn(word, "'");
    hl_text_add(right, "%s+%.*s", used ? " or " : "", length < 32 ? (int)length : 32, word);
    for (char *c = right->bytes + used; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

static const char *line_of(const char *text, unsigned long number)
{
    while (text && --number)
        text = (text = strchr(text, '\n')) ? text + 1 : NULL;
    return text;
}

/* "script: <sha1>, on @user_script:<line>." */
static void read_script(struct hl_text *right, const char *words)
{
    static const char head[] = "script: ", place[] = "@user_script:", call[] = "call('";
    const char *sha1 = strstr(words, head), *number = strstr(words, place), *line = NULL, *end;
    for (const struct hl_script *const *script = hl_scripts; sha1 && number && *script; script++)
        if (strncmp(sha1 + sizeof head - 1, (*script)->sha1, SHA1_LENGTH) == 0)
            line = line_of((*script)->text, strtoul(number + sizeof place - 1, NULL, 10));
    if (!line)
        return;
    end = line + strcspn(line, "\n");
    while ((line = strstr(line, call)) != NULL && line < end)
        add_word(right, line += sizeof call - 1);
}

struct hl_text hl_right_missing(const char *words, size_t length)
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
