/* SPDX-License-Identifier: BSD-3-Clause */
/* origin - see origin.h.
 *
 * The library that belongs to our headers has its version in its soname. If that library is loaded, the functions that
 * we reach must be in it. If it is not loaded, hiredis was linked statically and has no version. Then a context that
 * cannot connect shows whether its members are where our headers have them.
 *
 * A tracer, or a test that makes calls fail, may replace single functions and pass the calls on; a second hiredis
 * brings whole object files. So the check finds a second hiredis only where all functions that we use from one source
 * file of hiredis come from elsewhere. */
#include "link/origin.h"

#include <dlfcn.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <hiredis/sds.h>
#include <string.h>
#include <unistd.h>

#include "base/platform.h"
#include "link/words.h"

#define TEXT_OF(words) #words
#define TEXT(macro) TEXT_OF(macro)
#define FROM(part, function) {#function, (void (*)(void))(function), part}

static const char soname[] = "libhiredis.so." TEXT(HIREDIS_SONAME);

enum part { ASYNC, READER, STRINGS, PARTS };

static const struct reached { const char *name; void (*function)(void); enum part part; } reached[] = {
    FROM(ASYNC, redisAsyncConnect), FROM(ASYNC, redisAsyncConnectUnix), FROM(ASYNC, redisAsyncFree),
    FROM(ASYNC, redisAsyncHandleWrite), FROM(READER, redisBufferRead), FROM(READER, redisGetReplyFromReader),
    FROM(STRINGS, sdsempty), FROM(STRINGS, sdsfree), FROM(STRINGS, sdsIncrLen), FROM(STRINGS, sdsMakeRoomFor),
    FROM(STRINGS, sdsrange)};

static void *address_of(const struct reached *it)
{
    void *address;
    memcpy(&address, &it->function, sizeof address); /* ISO C has no cast from a function to an object pointer */
    return address;
}

/* Returns the first function of a source file that comes from elsewhere as a whole, or NULL. */
static const struct reached *find_stranger(void *library)
{
    const struct reached *first[PARTS] = {NULL};
    int is_ours[PARTS] = {0};
    for (size_t i = 0; i < sizeof reached / sizeof *reached; i++) {
        const struct reached *it = &reached[i];
        void *address = address_of(it);
        first[it->part] = first[it->part] ? first[it->part] : it;
        is_ours[it->part] |= address == dlsym(library, it->name) || hl_platform_is_entry(address);
    }
    for (int part = 0; part < PARTS; part++)
        if (!is_ours[part])
            return first[part];
    return NULL;
}

static const char *file_of(const struct reached *it)
{
    Dl_info info;
    const char *path = dladdr(address_of(it), &info) && info.dli_fname ? info.dli_fname : "the program";
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The path does not exist, so this connects to nothing. */
static int is_laid_out_as_ours(void)
{
    redisAsyncContext *context = redisAsyncConnectUnix("/dev/null/hilock");
    int is_alike = !context || (context->errstr == context->c.errstr && context->err && context->err == context->c.err);
    if (context)
        redisAsyncFree(context);
    return is_alike;
}

static hilock_status refuse(struct hl_text *why, const struct reached *it)
{
    const char *file = file_of(it);
    hl_words_second_hiredis(why, hl_text_quote(file, strlen(file)).bytes, it->name, soname);
    return HILOCK_UNSUPPORTED;
}

hilock_status hl_origin_check(struct hl_text *why)
{
    if (&hl_bundled_mark) /* hiredis is inside this library, whose calls cannot reach any other */
        return HILOCK_OK;
    void *library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    const struct reached *stranger = library ? find_stranger(library) : NULL;
    if (library)
        dlclose(library);
    else if (strncmp(file_of(&reached[0]), "libhiredis", strlen("libhiredis")) == 0 || !is_laid_out_as_ours())
        stranger = &reached[0];
    return stranger ? refuse(why, stranger) : HILOCK_OK;
}
