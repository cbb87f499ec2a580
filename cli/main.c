/* The `assay` command: finds the subcommand and calls its main function. The texts of `assay help`
 * and the completions come from the tables of the commands themselves (commands.h, options.h). */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/nearest.h"
#include "cli/common/ascii.h"
#include "cli/common/commands.h"
#include "cli/common/complete.h"
#include "cli/common/message.h"
#include "cli/models_executable.h"

/* The commands of assay-models; that executable prints their help. */
static const command model = {.name = "model",
                              .summary = MODEL_SUMMARY,
                              .complete = models_executable_complete,
                              .main = models_executable_main};
static const command profile = {.name = "profile",
                                .summary = PROFILE_SUMMARY,
                                .complete = models_executable_complete,
                                .main = models_executable_main};
static const command study = {.name = "study",
                              .summary = STUDY_SUMMARY,
                              .complete = models_executable_complete,
                              .main = models_executable_main};

static const command *const commands[] = {
    &command_run,    &command_bench, &command_compare, &command_journal,
    &command_report, &command_fit,   &command_history, &model,
    &profile,        &study,         &command_doctor,
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_overview(FILE *stream)
{
    fputs("usage: assay COMMAND [options] ...\n"
          "\n"
          "Measures what a program really costs: time, memory, and where they go.\n"
          "\n"
          "commands:\n",
          stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
    fputs("  help      explain a command: assay help COMMAND\n"
          "\n"
          "Results go to standard output, messages to standard error. Every command takes\n"
          "--json FILE and --help. 'assay --version' prints the version.\n",
          stream);
}

static const command *find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_command(const char *typed)
{
    const char *names[COMMAND_COUNT + 1];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    names[COMMAND_COUNT] = "help";
    const char *nearest = assay__nearest(typed, names, COMMAND_COUNT + 1, sizeof *names);
    if (nearest != NULL)
        message_error("assay: unknown command '%s'; did you mean 'assay %s'?", typed, nearest);
    else
        message_error("assay: unknown command '%s'; see 'assay help'", typed);
    return EX_USAGE;
}

/* Each study has a help text of its own, so `part` may name one. Other commands ignore it. */
static int help(const char *topic, const char *part)
{
    if (topic == NULL) {
        print_overview(stdout);
        return EX_OK;
    }
    const command *found = find(topic);
    if (found == NULL)
        return unknown_command(topic);
    if (part == NULL || strcmp(found->name, "study") != 0) {
        char *arguments[] = {(char *)found->name, "--help", NULL};
        return found->main(found, 2, arguments);
    }
    char *arguments[] = {(char *)found->name, (char *)part, "--help", NULL};
    return found->main(found, 3, arguments);
}

/* `assay complete`, which the shells call (cli/common/complete.h). argv holds the words behind
 * "assay complete". */
static int complete(int argc, char **argv)
{
    bool help = argc > 1 && strcmp(argv[0], "help") == 0;
    const command *found = argc > 1 && !help ? find(argv[0]) : NULL;
    if (argc == 1 || (help && argc == 2)) {
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            complete_offer(argv[argc - 1], commands[i]->name, commands[i]->summary);
        if (argc == 1)
            complete_offer(argv[0], "help", "explain a command");
    } else if (found != NULL && found->complete != NULL) {
        found->complete(found, argc, argv);
    } else if (found != NULL) {
        complete_command(found, NULL, argc, argv);
    }
    return EX_OK;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return EX_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("assay " ASSAY_VERSION);
        return EX_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help(NULL, NULL);
    if (strcmp(word, "help") == 0)
        return help(argc > 2 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
    if (strcmp(word, "complete") == 0)
        return complete(argc - 2, argv + 2);
    if (word[0] == '-') {
        message_error("assay: unknown option '%s'; options follow the command: assay COMMAND %s",
                      word, word);
        return EX_USAGE;
    }
    const command *found = find(word);
    if (found == NULL)
        return unknown_command(word);
    return found->main(found, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    ascii_begin();
    return message_finish(dispatch(argc, argv));
}
