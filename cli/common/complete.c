/* Completion (complete.h). The code first finds out whether the word under the cursor is an option,
 * the value of an option or an operand. Then it prints the candidates from the table of options. */
#include "cli/common/complete.h"

#include <stdio.h>
#include <string.h>

/* What the word under the cursor is. */
typedef struct place {
    const option *value_of; /* the word is the value of this option; NULL if it is not a value */
    const char *typed;      /* the typed part of the word or of the value */
    const char *prefix;     /* "--name=", which a candidate must repeat; or "" */
    int prefix_length;
    bool operands_only; /* no option can follow: "--" or another program's command came before */
    int first_operand;  /* the index of the first operand, or 0 if there is none yet */
} place;

static bool begins(const char *candidate, const char *typed)
{
    for (; *typed != '\0'; candidate++, typed++)
        if (*candidate != *typed && !(*candidate == '-' && *typed == '_'))
            return false;
    return true;
}

/* Print a help text of several lines as one line. */
static void print_help(const char *help)
{
    putchar('\t');
    for (; *help != '\0'; help++)
        putchar(*help == '\n' ? ' ' : *help);
    putchar('\n');
}

void complete_offer(const char *typed, const char *candidate, const char *help)
{
    if (!begins(candidate, typed))
        return;
    fputs(candidate, stdout);
    print_help(help);
}

/* The option in `word` that takes the next word as its value, or NULL if there is none. */
static const option *awaits_value(const command *self, const char *word)
{
    const option *found = NULL;
    if (word[1] == '-')
        found =
            strchr(word, '=') == NULL ? options_find_long(self, word + 2, strlen(word + 2)) : NULL;
    else
        for (const char *letter = word + 1; *letter != '\0' && found == NULL; letter++) {
            found = options_find_letter(self, *letter);
            if (found != NULL && found->type == OPTION_FLAG)
                found = NULL;
            else if (letter[1] != '\0')
                return NULL;
        }
    return found != NULL && found->type != OPTION_FLAG ? found : NULL;
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0';
}

/* Whether "--" separates several commands, as in `assay bench`. */
static bool takes_several(const command *self)
{
    return strstr(self->operands, "[-- COMMAND") != NULL;
}

/* Classify the word under the cursor. bash splits "--name=value" into three words, so a lone '='
 * behind an option belongs to that option. */
static place find_place(const command *self, int argc, char **argv)
{
    place at = {.typed = argv[argc - 1], .prefix = ""};
    for (int i = 1; i < argc - 1; i++) {
        if (at.first_operand > 0 && takes_several(self) && strcmp(argv[i], "--") == 0) {
            at.first_operand = 0; /* another command begins */
            continue;
        }
        if (at.operands_only || !is_option(argv[i])) {
            at.first_operand = at.first_operand == 0 ? i : at.first_operand;
            at.operands_only = at.operands_only || self->first_operand_ends_options;
            continue;
        }
        at.operands_only = strcmp(argv[i], "--") == 0;
        const option *awaiting = at.operands_only ? NULL : awaits_value(self, argv[i]);
        if (awaiting == NULL)
            continue;
        i += strcmp(argv[i + 1], "=") == 0 && i + 2 < argc ? 2 : 1;
        if (i == argc - 1) {
            at.value_of = awaiting;
            at.typed = strcmp(argv[i], "=") == 0 ? "" : argv[i];
        }
    }
    return at;
}

/* If the word under the cursor is "--name=value" as a whole, split it into the option and the typed
 * part of the value. */
static void look_into_word(const command *self, place *at)
{
    const char *equals = strchr(at->typed, '=');
    if (at->value_of != NULL || strncmp(at->typed, "--", 2) != 0 || equals == NULL)
        return;
    at->value_of = options_find_long(self, at->typed + 2, (size_t)(equals - at->typed - 2));
    at->prefix = at->typed;
    at->prefix_length = (int)(equals + 1 - at->typed);
    at->typed = equals + 1;
}

/* Print the choices that begin with the typed text. Returns false if there are no choices at all.
 */
static bool offer_choices(const command *self, const void *context, const place *at)
{
    const char *help = NULL, *choice;
    size_t count = 0;
    if (self->choice == NULL)
        return false;
    for (; (choice = self->choice(context, at->value_of, count, &help)) != NULL; count++)
        if (begins(choice, at->typed)) {
            printf("%.*s%s", at->prefix_length, at->prefix, choice);
            print_help(help != NULL ? help : "");
        }
    return count > 0;
}

static void offer_value(const command *self, const void *context, const place *at)
{
    const char *argument = at->value_of->argument;
    if (offer_choices(self, context, at) || argument == NULL)
        return;
    if (strcmp(argument, "FILE") == 0)
        puts(":files");
    else if (strcmp(argument, "DIR") == 0)
        puts(":folders");
}

static void offer_options(const command *self, const char *typed)
{
    char name[96];
    for (size_t i = 0; i <= self->option_count; i++) {
        const option *offered = i < self->option_count ? &self->options[i] : options_help();
        snprintf(name, sizeof name, "--%s", offered->name);
        complete_offer(typed, name, offered->help);
    }
}

static void offer_operand(const command *self, const void *context, const place *at, int last)
{
    if (strstr(self->operands, "COMMAND") != NULL)
        printf(":command %d\n", at->first_operand > 0 ? at->first_operand : last);
    else if (!offer_choices(self, context, at) && *self->operands != '\0')
        puts(":files");
}

void complete_command(const command *self, const void *context, int argc, char **argv)
{
    if (argc < 2)
        return;
    place at = find_place(self, argc, argv);
    if (!at.operands_only)
        look_into_word(self, &at);
    if (at.value_of != NULL)
        offer_value(self, context, &at);
    else if (!at.operands_only && at.typed[0] == '-')
        offer_options(self, at.typed);
    else
        offer_operand(self, context, &at, argc - 1);
}
