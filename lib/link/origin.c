/* SPDX-License-Identifier: BSD-3-Clause */
/* origin - see origin.h.
 *
 * The library of our headers has a name with its version (soname). If it is loaded, what we reach must be its
 * functions. If it is not, hiredis was linked statically, and its functions have no version: then a context that cannot
 * connect shows whether its members are where our headers say.
 *
 * Somebody may replace a single function and pass it on (a tracer, a test that makes calls fail). A second hiredis
 * brings whole objects. So it is one if all the functions of one of hiredis' source files come from elsewhere. */
#include "link/origin.h"

#include <dlfcn.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <hiredis/sds.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <link.h>
#endif

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
    memcpy(&address, &it->function, sizeof address); /* ISO C has no cast for it */
    return address;
}

/* A program that is not position-independent and takes a function's address has an entry of its own for it, which leads
 * to the library's. */
static int is_entry(void *address)
{
#ifdef __GLIBC__
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    return dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol && symbol->st_shndx == SHN_UNDEF;
#else
    (void)address;
    return 0;
#endif
}

/* Of a part all of whose functions come from elsewhere, the first; or NULL. */
static const struct reached *find_stranger(void *library)
{
    const struct reached *first[PARTS] = {NULL};
    int is_ours[PARTS] = {0};
    for (size_t i = 0; i < sizeof reached / sizeof *reached; i++) {
        const struct reached *it = &reached[i];
        void *address = address_of(it);
        first[it->part] = first[it->part] ? first[it->part] : it;
        is_ours[it->part] |= address == dlsym(library, it->name) || is_entry(address);
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

/* There is no such path, so this connects to nothing. */
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
    return hl_text_refuse(why, HILOCK_UNSUPPORTED,
        "%.32s has a second hiredis: %s is its own, this hilock needs that of %s. Build hilock with "
        "-Dhiredis=bundled, or hide the other's symbols (embed.md, \"A second hiredis\")",
        hl_text_quote(file, strlen(file)).bytes, it->name, soname);
}

hilock_status hl_origin_check(struct hl_text *why)
{
    if (&hl_bundled_mark) /* it is inside this library, and nobody's functions come before its own */
        return HILOCK_OK;
    void *library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    const struct reached *stranger = library ? find_stranger(library) : NULL;
    if (library)
        dlclose(library);
    else if (strncmp(file_of(&reached[0]), "libhiredis", strlen("libhiredis")) == 0 || !is_laid_out_as_ours())
        stranger = &reached[0];
    return stranger ? refuse(why, stranger) : HILOCK_OK;
}
