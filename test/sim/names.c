/* SPDX-License-Identifier: BSD-3-Clause */
/* names - what the locks of a seed are called: n0, n1 and so on; in some seeds names that are alike: the same tag with and
 * without braces, one the beginning of another, bytes above 127. State of one of them must never be taken for another one's. */
#include "sim.h"

static const char *const forms[] = {"@",  "@",      "@",     "{@}",     "{@}",      "{@}",   "{@}b", "x{@}",
                                    "@b", "{@}{@}", "@\xff", "\x80{@}", "{@\xfe}", "@:{a}", "}{@}"}; /* @: a tag */
static const char *const tags[] = {"a", "ab", "\xc3\xa4"};
static const char *const refused[] = {"", "{}", "a}b", "}", "{", "a{}b", "{}{a}", "x{",
                                      "hilock:", "hilock:a", "hilock:token:{a}", "hilock:queue={a}"};

static int is_taken(const struct sim *sim, const char *text)
{
    for (unsigned i = 0; i < sim->names_count; i++)
        if (strcmp(sim->names[i].text, text) == 0)
            return 1;
    return 0;
}

static void choose(struct sim *sim, char text[SIM_NAME_LENGTH])
{
    struct hl_random *random = &sim->world.strains;
    char chosen[SIM_NAME_LENGTH];
    do {
        const char *form = forms[hl_random_below(random, sizeof forms / sizeof *forms)];
        const char *tag = tags[sim_chance(random, 0.8) ? 0 : hl_random_below(random, sizeof tags / sizeof *tags)];
        size_t used = 0;
        for (; *form; form++)
            used += (size_t)snprintf(chosen + used, sizeof chosen - used, "%.*s", *form == '@' ? SIM_NAME_LENGTH : 1,
                                     *form == '@' ? tag : form);
    } while (is_taken(sim, chosen));
    memcpy(text, chosen, sizeof chosen);
}

void sim_names_choose(struct sim *sim)
{
    for (unsigned i = 0; i < sim->names_count; i++)
        if (sim_has_strain(sim, STRAIN_NAMES))
            choose(sim, sim->names[i].text);
        else
            snprintf(sim->names[i].text, SIM_NAME_LENGTH, "n%u", i);
}

void sim_names_refused(struct sim_process *process, const struct hilock_lock_options *options)
{
    struct sim *sim = process->sim;
    const char *name;
    hilock_lock *lock = NULL;
    hilock_status status;
    uint64_t lacks = process->memory.refused;
    if (!sim_has_strain(sim, STRAIN_NAMES))
        return;
    name = refused[hl_random_below(&sim->world.strains, sizeof refused / sizeof *refused)];
    sim->world.sometimes[SIM_BAD_NAME]++;
    status = hilock_lock_create(&lock, process->client, name, options);
    if (status != HILOCK_BAD_NAME && !sim_strain_excuses(process, lacks, status))
        sim_violate(&sim->world, "I5", "a handle for \"%s\" ended %s", name, hilock_status_name(status));
}
