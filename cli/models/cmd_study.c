/* assay study: finds the study that the user names and calls it. Each study is a command of its own
 * (study_NAME.c). */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/nearest.h"
#include "cli/common/commands.h"
#include "cli/common/complete.h"
#include "cli/common/message.h"
#include "cli/models/study.h"

/* All studies. The list ends with NULL. */
static const command *const studies[] = {&study_rom,   &study_fields, &study_pde,
                                         &study_graph, &study_routes, NULL};
enum { MAX_STUDIES = 16 };

/* The name of a study without "study ", such as "rom". */
static const char *short_name(const command *study)
{
    return study->name + strlen("study ");
}

static void print_studies(FILE *stream)
{
    fputs("studies:\n", stream);
    for (size_t i = 0; studies[i] != NULL; i++)
        fprintf(stream, "  %-10s%s\n", short_name(studies[i]), studies[i]->summary);
    fputs("\n'assay study NAME --help' explains one.\n", stream);
}

static int unknown_study(const char *typed)
{
    const char *names[MAX_STUDIES] = {NULL};
    size_t count = 0;
    for (; studies[count] != NULL; count++)
        names[count] = short_name(studies[count]);
    const char *nearest = assay__nearest(typed, names, count, sizeof *names);
    if (nearest != NULL)
        message_error("assay study: unknown study '%s'; did you mean 'assay study %s'?", typed,
                      nearest);
    else
        message_error("assay study: unknown study '%s'; see 'assay study --help'", typed);
    return EX_USAGE;
}

static int study_main(const command *self, int argc, char **argv)
{
    if (argc < 2) {
        options_print_help(self, stderr);
        return EX_USAGE;
    }
    for (size_t i = 0; studies[i] != NULL; i++)
        if (strcmp(argv[1], short_name(studies[i])) == 0)
            return studies[i]->main(studies[i], argc - 1, argv + 1);
    if (argv[1][0] != '-')
        return unknown_study(argv[1]);
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, NULL, &operands, &count, &code))
        return code;
    message_error("assay study: name a study; see 'assay study --help'");
    return EX_USAGE;
}

static const char *choice(const void *context, const option *of, size_t index, const char **help)
{
    (void)context;
    if (of != NULL || studies[index] == NULL)
        return NULL;
    *help = studies[index]->summary;
    return short_name(studies[index]);
}

static void complete(const command *self, int argc, char **argv)
{
    for (size_t i = 0; studies[i] != NULL && argc > 2; i++)
        if (strcmp(argv[1], short_name(studies[i])) == 0) {
            complete_command(studies[i], NULL, argc - 1, argv + 1);
            return;
        }
    complete_command(self, NULL, argc, argv);
}

const command command_study = {
    .name = "study",
    .summary = STUDY_SUMMARY,
    .operands = "NAME",
    .description = "A study trains and measures models end to end and leaves its results in a\n"
                   "folder. Interrupted, it keeps what is finished; the same command goes on from\n"
                   "there. Every study takes --out DIR, --seed N, --quick, --restart, --json FILE.",
    .print_more = print_studies,
    .choice = choice,
    .complete = complete,
    .main = study_main,
};
