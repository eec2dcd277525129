/* SPDX-License-Identifier: BSD-3-Clause */
/* What a url says, what is refused with which words, and that no refusal shows a secret. */
#include <stdio.h>
#include <stdlib.h>

#include "base/url.h"
#include "suite.h"

static struct hl_memory memory;

__attribute__((constructor)) static void begin(void) { hl_memory_init(&memory, NULL); }

/* "user password host port .. db path-or-master", '-' for none, and a '*' behind an address that needs no resolving. */
static const char *summary(const struct hl_url *url)
{
    static char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "%s %s ", url->user ? url->user : "-", url->password ? url->password : "-");
    for (unsigned i = 0; i < url->hosts_count && url->scheme != HL_URL_UNIX; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %d ", url->hosts[i].host, hl_url_is_address(url->hosts[i].host) ? "*" : "", url->hosts[i].port);
    snprintf(text + used, sizeof text - used, "%d %s", url->db, url->scheme == HL_URL_UNIX ? url->hosts[0].host : url->master ? url->master : "-");
    return text;
}

static const struct { const char *url, *summary; } good[] = {
    {NULL, "- - 127.0.0.1* 6379 0 -"},
    {"redis://h", "- - h 6379 0 -"},
    {"REDIS://h", "- - h 6379 0 -"},
    {"redis://h/", "- - h 6379 0 -"},
    {"redis://h/2147483647", "- - h 6379 2147483647 -"},
    {"redis://h:1", "- - h 1 0 -"},
    {"redis://h:65535/0", "- - h 65535 0 -"},
    {"redis://h:00080", "- - h 80 0 -"},
    {"redis://redis-1.my_zone.example:7000/3", "- - redis-1.my_zone.example 7000 3 -"},
    {"redis://10.0.0.5:6380", "- - 10.0.0.5* 6380 0 -"},
    {"redis://256.0.0.5", "- - 256.0.0.5 6379 0 -"},
    {"redis://[::1]", "- - ::1* 6379 0 -"},
    {"redis://[2001:db8::7]:6380/2", "- - 2001:db8::7* 6380 2 -"},
    {"redis://[::ffff:10.0.0.5]", "- - ::ffff:10.0.0.5* 6379 0 -"},
    {"redis://[fe80::1%25eth0]:7", "- - fe80::1%eth0* 7 0 -"},
    {"redis://u@h", "u - h 6379 0 -"},
    {"redis://u:@h", "u - h 6379 0 -"},
    {"redis://:p@h", "- p h 6379 0 -"},
    {"redis://:@h", "- - h 6379 0 -"},
    {"redis://u:p:q@h", "u p:q h 6379 0 -"},
    {"redis://u%40x:%2f%3A%3f%23%25@h", "u@x /:?#% h 6379 0 -"},
    {"redis://u:%C3%BC%20%0a@h", "u \xc3\xbc \n h 6379 0 -"},
    {"redis://u:p!$&'()*+,;=~`{}|^\\\"<>[]@h", "u p!$&'()*+,;=~`{}|^\\\"<>[] h 6379 0 -"},
    {"redis+sentinel://s", "- - s 26379 0 -"},
    {"Redis+Sentinel://u:p@s1,10.0.0.5:5000,[::1]:7/my%2Fmaster/3", "u p s1 26379 10.0.0.5* 5000 ::1* 7 3 my/master"},
    {"redis+sentinel://:a,b@s1,s2/m", "- a,b s1 26379 s2 26379 0 m"},
    {"redis+cluster://u:p@n1,n2:7000,[2001:db8::1]:7001/0", "u p n1 6379 n2 7000 2001:db8::1* 7001 0 -"},
    {"redis+cluster://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16/", "- - 1 6379 2 6379 3 6379 4 6379 5 6379 6 6379 7 6379 8 6379 9 6379 10 6379 11 6379 12 6379 "
     "13 6379 14 6379 15 6379 16 6379 0 -"},
    {"unix:///run/redis.sock?db=4", "- - 4 /run/redis.sock"},
    {"unix:///run/redis@1:2.sock", "- - 0 /run/redis@1:2.sock"},
    {"unix:///a%3fb%20c", "- - 0 /a?b c"},
    {"unix://u:p@/s", "u p 0 /s"},
    {"unix://:p%2Fq@/s?db=0", "- p/q 0 /s"},
    {"unix://@/s", "- - 0 /s"},
    {"unix:///1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456",
     "- - 0 /1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"},
};

TEST(test_good)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct hl_url url;
        struct hl_text error = {""};
        hilock_status status = hl_url_parse(&url, &memory, good[i].url, &error);
        if (status != HILOCK_OK)
            fail_msg("%s: %s", good[i].url, error.bytes);
        assert_string_equal(summary(&url), good[i].summary);
        hl_url_done(&url, &memory);
        assert_null(url.password);
        hl_url_done(&url, &memory);
    }
}

#define AT(place) "bad url at character " #place ": "
#define SCHEME AT(1) "it must begin with redis://, rediss://, unix://, redis+sentinel://, rediss+sentinel://, redis+cluster:// or rediss+cluster://"
#define HOST "a host must be 1..253 letters, digits, '-', '.' and '_', or an IPv6 address in brackets, as [::1] or [fe80::1%25eth0]; only :port may follow it"
#define PORT "port must be 1..65535"
#define DB "only /db may follow the host, and db must be 0..2147483647"
#define MASTER "only /master or /master/db may follow the sentinels, and db must be 0..2147483647; write / ? # in the master's name as %2F %3F %23"
#define NODES "nothing may follow the nodes of a cluster: it has database 0 only"
#define PATH "it needs an absolute path of at most 107 bytes, as in unix:///run/redis.sock; only user:password@ may stand before " \
    "the path, and only ?db=0..2147483647 after it; write ? and # in a path as %3F and %23"
#define LOGIN "/ ? # @ in a user name or password must be written %2F %3F %23 %40"
#define HEX "% must be followed by two hexadecimal digits other than 00; write % itself as %25"
#define ALPHABET "blanks, control characters and letters outside ASCII must be %-escaped"

static const struct { const char *url, *error; } bad[] = {
    {"", SCHEME},
    {"localhost:6379", SCHEME},
    {"redis:/h", SCHEME},
    {"re\ndis://h", SCHEME},
    {"redsi://u:SECRET@host/3", SCHEME},
    {"redis://10.0.0.5:99999", AT(18) PORT},
    {"redis://shop:90817263", AT(14) PORT},
    {"redis://shop:90817263/90817263000", AT(14) PORT},
    {"redis://h/90817263000", AT(11) DB},
    {"redis://h:0", AT(11) PORT},
    {"redis://h:", AT(11) PORT},
    {"redis://h:SECRET", AT(11) PORT},
    {"redis://h:99999999999999999999999999999999999999/1", AT(11) PORT},
    {"redis://h/2147483648", AT(11) DB},
    {"redis://h/1?db=2", AT(11) DB},
    {"redis://h?db=2", AT(10) DB},
    {"redis://h#2", AT(10) DB},
    {"redis://", AT(9) HOST},
    {"redis://:6379", AT(9) HOST},
    {"redis://u:SECRET@", AT(18) HOST},
    {"redis://h!", AT(9) HOST},
    {"redis://h%41", AT(9) HOST},
    {"redis://h[::1]", AT(9) HOST},
    {"redis://::1", AT(9) HOST},
    {"redis://[::1", AT(9) HOST},
    {"redis://[10.0.0.5]", AT(9) HOST},
    {"redis://[fe80::1%25]", AT(9) HOST},
    {"redis://[1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1:1]", AT(9) HOST},
    {"redis://[::1%00]", AT(13) HEX},
    {"redis://[::1]7", AT(9) HOST},
    {"redis://u:SECRET@SECRET@h", AT(17) LOGIN},
    {"redis://u:SECRET/SECRET@h:1", AT(17) LOGIN},
    {"redis://u:SECRET#SECRET@h", AT(17) LOGIN},
    {"redis://u:SECRET?SECRET@h", AT(17) LOGIN},
    {"redis://u:SECRET%00@h", AT(17) HEX},
    {"redis://u:SECRET%0g@h", AT(17) HEX},
    {"redis://u%:SECRET@h", AT(10) HEX},
    {"redis://u:SECRET @h", AT(17) ALPHABET},
    {"redis://u:SECRET\x7f@h", AT(17) ALPHABET},
    {"redis://u:SECRET\xc3\xbc@h", AT(17) ALPHABET},
    {"redis://h\n", AT(10) ALPHABET},
    {"redis://h1,h2", AT(11) "this url is for one server: for several use redis+sentinel://, redis+cluster:// or quorum_urls"},
    {"redis+sentinel://s,", AT(20) HOST},
    {"redis+sentinel://s:1:2", AT(20) PORT},
    {"redis+sentinel://s//1", AT(20) MASTER},
    {"redis+sentinel://s?m", AT(19) MASTER},
    {"redis+sentinel://s/m?db=1", AT(21) MASTER},
    {"redis+sentinel://s/m/x", AT(22) MASTER},
    {"redis+sentinel://s/m%0", AT(21) HEX},
    {"redis+cluster://u:SECRET/SECRET@n", AT(25) LOGIN},
    {"redis+cluster://n/1", AT(19) NODES},
    {"redis+cluster://n#", AT(18) NODES},
    {"redis+cluster://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", AT(56) "a url has at most 16 hosts"},
    {"unix://", AT(8) PATH},
    {"unix://run/redis.sock", AT(8) PATH},
    {"unix://u:SECRET/SECRET@/s", AT(8) PATH},
    {"unix://u:SECRET@", AT(17) PATH},
    {"unix://u:SECRET@SECRET@/s", AT(16) LOGIN},
    {"unix:///s?", AT(10) PATH},
    {"unix:///s?password=SECRET", AT(10) PATH},
    {"unix:///s?db=1&x=SECRET", AT(14) PATH},
    {"unix:///s#1", AT(10) PATH},
    {"unix:///s%00", AT(10) HEX},
    {"unix:///12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567", AT(8) PATH},
};

TEST(test_bad)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hl_url url = {.db = -1};
        struct hl_text error = {""};
        assert_int_equal(hl_url_parse(&url, &memory, bad[i].url, &error), HILOCK_INVALID);
        assert_string_equal(error.bytes, bad[i].error);
        assert_null(strstr(error.bytes, "SECRET"));
        assert_null(strstr(error.bytes, "90817263"));
        assert_int_equal(url.db, -1); /* written on success only */
    }
}

TEST(test_tls_is_a_letter)
{
    static const struct { const char *url; enum hl_url_scheme scheme; int is_tls; } all[] = {
        {"redis://h", HL_URL_REDIS, 0},          {"rediss://h", HL_URL_REDIS, 1},          {"REDISS://h", HL_URL_REDIS, 1},
        {"redis+sentinel://h", HL_URL_SENTINEL, 0}, {"rediss+sentinel://h", HL_URL_SENTINEL, 1}, {"redis+cluster://h", HL_URL_CLUSTER, 0},
        {"rediss+cluster://h", HL_URL_CLUSTER, 1},  {"unix:///h", HL_URL_UNIX, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct hl_url url;
        struct hl_text error;
        assert_int_equal(hl_url_parse(&url, &memory, all[i].url, &error), HILOCK_OK);
        assert_int_equal(url.scheme, all[i].scheme);
        assert_int_equal(url.is_tls, all[i].is_tls);
        hl_url_done(&url, &memory);
    }
}

TEST(test_bounds)
{
    char text[10000];
    struct hl_url url;
    struct hl_text error;
    memset(text, 'h', sizeof text);
    memcpy(text, "redis://", 8);
    text[8 + 253] = '\0';
    assert_int_equal(hl_url_parse(&url, &memory, text, &error), HILOCK_OK);
    assert_int_equal(strlen(url.hosts[0].host), 253);
    hl_url_done(&url, &memory);
    text[8 + 253] = 'h', text[8 + 254] = '\0';
    assert_int_equal(hl_url_parse(&url, &memory, text, &error), HILOCK_INVALID);
    assert_string_equal(error.bytes, AT(9) HOST);
    text[8 + 254] = 'h';
    memcpy(text + 8, "[fe80::1%25", 11);
    text[8 + 255] = ']', text[8 + 256] = '\0';
    assert_int_equal(hl_url_parse(&url, &memory, text, &error), HILOCK_INVALID);
    assert_string_equal(error.bytes, AT(9) HOST);
    memset(text + 8, 'h', 257);
    text[8192] = '\0';
    memcpy(text + 8190, "@h", 2); /* a user name as long as it gets */
    assert_int_equal(hl_url_parse(&url, &memory, text, &error), HILOCK_OK);
    assert_int_equal(strlen(url.user), 8190 - 8);
    hl_url_done(&url, &memory);
    text[8192] = 'h', text[8193] = '\0';
    assert_int_equal(hl_url_parse(&url, &memory, text, &error), HILOCK_INVALID);
    assert_string_equal(error.bytes, "bad url: longer than 8192 characters");
}

/* ---- memory ---- */

static unsigned char block[256];
static int is_empty, is_wiped;

static void *allocate(size_t bytes, void *ctx)
{
    (void)ctx;
    assert_true(bytes <= sizeof block);
    return is_empty ? NULL : block;
}

static void release(void *memory_block, void *ctx)
{
    (void)ctx;
    assert_ptr_equal(memory_block, block);
    is_wiped = 1;
    for (size_t i = 0; i < sizeof block; i++)
        is_wiped &= block[i] == 0;
}

TEST(test_one_block_and_wiped)
{
    const struct hl_memory own = {{allocate, NULL, release, NULL}};
    struct hl_url url;
    struct hl_text error;
    assert_int_equal(hl_url_parse(&url, &own, "redis://u:secret@h", &error), HILOCK_OK);
    assert_string_equal(url.password, "secret");
    hl_url_done(&url, &own);
    assert_true(is_wiped);
    is_wiped = 0;
    assert_int_equal(hl_url_parse(&url, &own, "redis://u:secret@h:0", &error), HILOCK_INVALID);
    assert_true(is_wiped);
    is_empty = 1;
    assert_int_equal(hl_url_parse(&url, &own, "redis://u:secret@h", &error), HILOCK_NO_MEMORY);
    assert_string_equal(error.bytes, "out of memory");
}

/* Any bytes behind a scheme: an answer, and within the block (ASan, valgrind watch). */
TEST(test_any_bytes)
{
    static const char letters[] = "@:/?#%[]0a9.-_,&=\x01\x80 ";
    unsigned seed = 1;
    for (int i = 0; i < 200000; i++) {
        char text[48];
        struct hl_url url;
        struct hl_text error;
        size_t length = (size_t)snprintf(text, sizeof text, "%s", i % 2 ? "redis://" : "unix://");
        for (unsigned more = (seed = seed * 1664525u + 1013904223u) >> 24 & 31; more > 0; more--)
            text[length++] = letters[((seed = seed * 1664525u + 1013904223u) >> 16) % (sizeof letters - 1)];
        text[length] = '\0';
        if (hl_url_parse(&url, &memory, text, &error) == HILOCK_OK)
            hl_url_done(&url, &memory);
        else
            assert_int_equal(strncmp(error.bytes, "bad url", 7), 0);
    }
}
