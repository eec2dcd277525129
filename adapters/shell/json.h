/* SPDX-License-Identifier: BSD-3-Clause */
/* json - writes JSON to a stream, piece by piece, one answer in a line. Texts may have any bytes: what is not UTF-8
 * becomes U+FFFD, so that a line is always valid. */
#ifndef SHELL_JSON_H
#define SHELL_JSON_H

#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *file;
    int has_items; /* the innermost list or object has items: the next one needs a comma before it */
};

/* key: NULL for an item of a list, and for the whole answer */
void json_open(struct json *json, const char *key, char bracket); /* '{' or '[' */
void json_shut(struct json *json, char bracket);                  /* '}' or ']' */
void json_text(struct json *json, const char *key, const char *text);
void json_count(struct json *json, const char *key, uint64_t count);
void json_number(struct json *json, const char *key, double number);
void json_truth(struct json *json, const char *key, int is_true);
void json_null(struct json *json, const char *key);
void json_line(struct json *json); /* ends an answer: writes the line end, and flushes */

#endif
