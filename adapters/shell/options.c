/* SPDX-License-Identifier: BSD-3-Clause */
/* options - see options.h. A number out of bounds is refused here, in terms of the command line, before the library
 * would refuse it. */
#include "options.h"
#include "page.h"
#include "say.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { GRACE_SHARE = 2, GRACE_DEFAULT_SHARE = 3, LEASE_MIN_MS = 1000, LEASE_MAX_MS = 86400000, EVERY_MIN_MS = 10 };
enum { PERMITS_MAX = 1000000 };

static const struct option known[] = {
    {"url", required_argument, NULL, 'u'},     {"wait", required_argument, NULL, 'w'},
    {"try", no_argument, NULL, 't'},           {"forever", no_argument, NULL, 'e'},
    {"lease", required_argument, NULL, 'l'},   {"grace", required_argument, NULL, 'g'},
    {"fair", no_argument, NULL, 'f'},          {"simple", no_argument, NULL, 's'},
    {"multi", no_argument, NULL, 'm'},         {"json", no_argument, NULL, 'j'},
    {"verbose", no_argument, NULL, 'v'},       {"holder", required_argument, NULL, 'o'},
    {"prefix", required_argument, NULL, 'p'},  {"every", required_argument, NULL, 'n'},
    {"at-least", required_argument, NULL, 'a'}, {"quiet", no_argument, NULL, 'q'},
    {"tls-ca", required_argument, NULL, 'C'},  {"tls-cert", required_argument, NULL, 'E'},
    {"tls-key", required_argument, NULL, 'K'}, {"long", no_argument, NULL, 'L'},
    {"readers", no_argument, NULL, 'r'},       {"permits", required_argument, NULL, 'P'},
    {NULL, 0, NULL, 0},
};

static const struct word {
    const char *name, *letters; /* the command's name, and the letters of the options that it has */
    size_t names_min;
} words[] = {
    {"run", "uwtelgafsmrPjvqCEK", 1}, {"status", "upsjLCEK", 0}, {"break", "uosjCEK", 1},
    {"watch", "upsnjLCEK", 0},     {"doctor", "ujpCEK", 0},
};

static const struct word *word_of(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    return NULL;
}

/* Reads a time such as "10s", "500ms", "2m" or "1h". A number without a unit is in seconds. */
static int read_span(const char *text, uint32_t *ret_ms)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    char *end;
    double span = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].unit) == 0 && span >= 0 && span * units[i].ms <= INT32_MAX) {
            *ret_ms = (uint32_t)(span * units[i].ms);
            return 0;
        }
    return say_usage("\"%s\" is no span of time: write 10s, 500ms, 2m or 1h", text);
}

static int take_url(struct options *options, const char *text)
{
    if (options->url)
        return say_usage("--url twice: one command asks one deployment (a quorum of masters is for programs: man "
                         "hilock_client_options)");
    options->url = text;
    return 0;
}

/* --readers and --permits say how many may share the name; only one of them can be meant. */
static int take_holders(struct options *options, uint32_t holders_max)
{
    if (options->holders_max)
        return say_usage("run: --readers and --permits: give one of them, once");
    options->holders_max = holders_max;
    return 0;
}

static int take_permits(struct options *options, const char *text)
{
    char *end;
    unsigned long permits = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (!permits || *end || permits > PERMITS_MAX)
        return say_usage("\"%s\" is no number of permits: write 1..%d", text, PERMITS_MAX);
    return take_holders(options, (uint32_t)permits);
}

static int take_span(struct options *options, int letter, const char *text)
{
    uint32_t *of = letter == 'w'   ? &options->wait_ms
                   : letter == 'l' ? &options->lease_ms
                   : letter == 'g' ? &options->grace_ms
                   : letter == 'a' ? &options->at_least_ms
                                   : &options->every_ms;
    return read_span(text, of);
}

static int take(struct options *options, int letter, char *text)
{
    switch (letter) {
    case 'u': return take_url(options, text);
    case 't': options->wait_ms = HILOCK_TRY; return 0;
    case 'e': options->wait_ms = HILOCK_FOREVER; return 0;
    case 'f': options->kind = HILOCK_FAIR; return 0;
    case 's': options->kind = HILOCK_SIMPLE; return 0;
    case 'm': options->is_multi = 1; return 0;
    case 'r': return take_holders(options, HILOCK_ANY_NUMBER);
    case 'P': return take_permits(options, text);
    case 'j': options->is_json = 1; return 0;
    case 'v': options->is_verbose = 1; return 0;
    case 'q': options->is_quiet = 1; return 0;
    case 'L': options->is_long = 1; return 0;
    case 'o': options->holder = text; return 0;
    case 'p': options->prefix = text; return 0;
    case 'C': options->tls_ca = text; return 0;
    case 'E': options->tls_cert = text; return 0;
    case 'K': options->tls_key = text; return 0;
    default: return take_span(options, letter, text);
    }
}

static const char *name_of(int letter)
{
    const struct option *option = known;
    while (option->val != letter)
        option++;
    return option->name;
}

static int read_options(struct options *options, const struct word *word, int argc, char **argv)
{
    static const char letters[] = ":u:w:tel:g:a:fsmrP:jvqLo:p:n:C:E:K:";
    int letter, code = 0;
    opterr = 0;
    optind = 1;
    while (!code && (letter = getopt_long(argc, argv, letters, known, NULL)) != -1) {
        if (letter == '?' || letter == ':')
            return say_usage("%s: %s %s", word->name, argv[optind - 1],
                             letter == '?' ? "is not an option of hilock" : "needs a value");
        if (!strchr(word->letters, letter))
            return say_usage("%s: --%s is not an option of this command", word->name, name_of(letter));
        code = take(options, letter, optarg);
    }
    for (int i = optind; !code && i < argc; i++) {
        if (options->names_count == OPTIONS_NAMES_MAX)
            return say_usage("%s: more than %d names", word->name, OPTIONS_NAMES_MAX);
        options->names[options->names_count++] = argv[i];
    }
    return code;
}

static int check_run(const struct options *options)
{
    if (!options->command || !*options->command)
        return say_usage("run: no command: write hilock run NAME -- command arguments");
    if (options->names_count > 1 && !options->is_multi)
        return say_usage("run: %zu names: write --multi to hold them all at once, or -- before the command",
                         options->names_count);
    if (options->names_count < 2 && options->is_multi)
        return say_usage("run: --multi needs two names or more");
    if (options->is_multi && options->kind == HILOCK_FAIR)
        return say_usage("run: --fair does not work with --multi");
    if (options->holders_max && (options->is_multi || options->kind == HILOCK_SIMPLE))
        return say_usage("run: --%s does not work with --%s",
                         options->holders_max == HILOCK_ANY_NUMBER ? "readers" : "permits",
                         options->is_multi ? "multi" : "simple");
    if (options->lease_ms < LEASE_MIN_MS || options->lease_ms > LEASE_MAX_MS)
        return say_usage("run: --lease must be 1s..24h: less leaves no time to end the command");
    if (options->at_least_ms > LEASE_MAX_MS)
        return say_usage("run: --at-least must be at most 24h");
    if (options->is_quiet && options->is_verbose)
        return say_usage("run: --quiet and --verbose: give one of them");
    if (options->grace_ms <= page_kill_ms(options->lease_ms) || options->grace_ms > options->lease_ms / GRACE_SHARE)
        return say_usage("run: --grace must be more than %u ms, when KILL comes, and at most half of the lease",
                         page_kill_ms(options->lease_ms));
    return 0;
}

static int check(const struct options *options, const struct word *word)
{
    if (options->command && strcmp(word->name, "run") != 0)
        return say_usage("%s: nothing may follow \"--\"", word->name);
    if (options->names_count < word->names_min)
        return say_usage("%s: the name of a lock is missing", word->name);
    if (strchr(word->letters, 'p') && strchr(word->letters, 's') && !options->names_count == !options->prefix)
        return say_usage("%s: give names, or --prefix", word->name);
    if (strcmp(word->name, "break") == 0 && (options->names_count != 1 || !options->holder))
        return say_usage("break: one name, and --holder with the id that `hilock status --long` shows");
    if (strcmp(word->name, "doctor") == 0 && options->names_count + (options->url != NULL) > 1)
        return say_usage("doctor: one URL");
    if (options->every_ms < EVERY_MIN_MS)
        return say_usage("watch: --every must be at least %d ms, or the server has to do nothing else", EVERY_MIN_MS);
    return strcmp(word->name, "run") == 0 ? check_run(options) : 0;
}

int options_read(struct options *ret, int argc, char **argv)
{
    const struct word *word = word_of(*argv);
    int count = 0;
    *ret = (struct options){
        .word = *argv, .wait_ms = HILOCK_FOREVER, .lease_ms = 30000, .grace_ms = UINT32_MAX, .every_ms = 1000};
    if (!word)
        return say_usage("%s: no such command; there are run, status, break, watch and doctor", *argv);
    while (count < argc && strcmp(argv[count], "--") != 0)
        count++;
    if (count < argc)
        ret->command = argv + count + 1;
    int code = read_options(ret, word, count, argv);
    if (ret->grace_ms == UINT32_MAX)
        ret->grace_ms = ret->lease_ms / GRACE_DEFAULT_SHARE;
    code = code ? code : check(ret, word);
    if (!ret->url)
        ret->url = getenv("HILOCK_URL");
    return code;
}
