/* SPDX-License-Identifier: BSD-3-Clause */
/* json - see json.h. */
#include "json.h"
#include "plain.h"

#include <inttypes.h>
#include <math.h>

static void put_text(struct json *json, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', json->file);
    while (*at) {
        size_t length = plain_character(at);
        if (*at == '"' || *at == '\\')
            fprintf(json->file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(json->file, "\\u%04x", *at);
        else if (length)
            fwrite(at, 1, length, json->file);
        else
            fputs("\\ufffd", json->file);
        at += length ? length : 1;
    }
    fputc('"', json->file);
}

static void put_key(struct json *json, const char *key)
{
    if (json->has_items)
        fputc(',', json->file);
    json->has_items = 1;
    if (key) {
        put_text(json, key);
        fputc(':', json->file);
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    put_key(json, key);
    fputc(bracket, json->file);
    json->has_items = 0;
}

void json_shut(struct json *json, char bracket)
{
    fputc(bracket, json->file);
    json->has_items = 1;
}

void json_text(struct json *json, const char *key, const char *text)
{
    put_key(json, key);
    put_text(json, text);
}

void json_count(struct json *json, const char *key, uint64_t count)
{
    put_key(json, key);
    fprintf(json->file, "%" PRIu64, count);
}

void json_number(struct json *json, const char *key, double number)
{
    put_key(json, key);
    fprintf(json->file, isfinite(number) ? "%.6g" : "null", number);
}

void json_truth(struct json *json, const char *key, int is_true)
{
    put_key(json, key);
    fputs(is_true ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *key)
{
    put_key(json, key);
    fputs("null", json->file);
}

void json_line(struct json *json)
{
    fputc('\n', json->file);
    fflush(json->file);
    json->has_items = 0;
}
