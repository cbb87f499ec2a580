/* Command-line options as data.
 *
 * Every command describes itself in one table. Parsing, `--help`, the suggestion after a typing
 * mistake and completion all read that table, and tests/cli/test_man.sh compares the man page with
 * `--help`.
 *
 * Option names are written with '-' in the table and may be typed with '-' or '_'. `--name VALUE`,
 * `--name=VALUE`, `-x VALUE` and `-xVALUE` are accepted; `--` ends the options. `--help` and `-h`
 * exist on every command and are not listed. */
#ifndef ASSAY_CLI_COMMON_OPTIONS_H
#define ASSAY_CLI_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum option_type {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char *, pointing into argv */
    OPTION_SECONDS, /* double, seconds > 0; typed with a unit: "50us", "10ms", "0.5s", "2min" */
    OPTION_PERIOD,  /* the same, but a unit is required: "10" could mean ms or s */
    OPTION_COUNT,   /* size_t, >= 1 */
    OPTION_NUMBER,  /* option_number, >= 0 */
    OPTION_REAL,    /* double > 0 */
    OPTION_SHARE,   /* double, 0 < share < 1; typed "2%" or "0.02" */
    OPTION_BYTES,   /* size_t, >= 1; typed "65536", "512K", "64M", "2G" */
    OPTION_LIST     /* option_list: an OPTION_TEXT that may be given several times */
} option_type;

/* A number for which 0 means something else than "not given". */
typedef struct option_number {
    unsigned long long value;
    bool given;
} option_number;

enum { OPTION_LIST_MAX = 256 };
typedef struct option_list {
    const char *items[OPTION_LIST_MAX]; /* pointing into argv */
    size_t count;
} option_list;

typedef struct option {
    const char *name;
    char letter; /* 0 if the option has none */
    option_type type;
    const char *argument; /* the name of the value in the help; NULL for a flag */
    const char *help;
    size_t offset; /* of the field in the command's settings */
} option;

typedef struct command {
    const char *name;
    const char *summary;     /* one line of `assay help` */
    const char *operands;    /* "FILE..." in the usage line */
    const char *description; /* shown by `--help` above the options; lines of at most 79 columns */
    const option *options;
    size_t option_count;
    bool first_operand_ends_options;  /* the other words belong to the program to be started */
    void (*print_more)(FILE *stream); /* prints the end of the help; NULL if there is no more */
    /* Returns choice number `index` for the value of the option `of`, or for an operand if `of` is
     * NULL. Returns NULL after the last choice. May set `*help` to a text about the choice. The
     * field is NULL if there is nothing to choose from. */
    const char *(*choice)(const void *context, const option *of, size_t index, const char **help);
    /* Prints the candidates of a completion. If the field is NULL, complete_command()
     * (cli/common/complete.h) prints them. */
    void (*complete)(const struct command *self, int argc, char **argv);
    int (*main)(const struct command *self, int argc, char **argv);
} command;

/* Initialises the options of a command with all elements of an array. */
#define COMMAND_OPTIONS(array) .options = (array), .option_count = sizeof(array) / sizeof *(array)

/* Parse argv[1…] and store the values of options into `settings`. The operands are moved to the
 * front of argv + 1; `*operands` (terminated by NULL) and `*operand_count` describe them. A command
 * that takes no operands passes NULL for both. Returns false after the help or an error message was
 * printed; the command must then end with `*code`. A bad ASSAY_CPU is such an error for every
 * command; the help comes before it. */
bool options_parse(const command *self, int argc, char **argv, void *settings, char ***operands,
                   int *operand_count, int *code);

/* The option with the typed name (such as "num_nodes", without "--") or letter, or NULL if there is
 * none. `--help` is found too. */
const option *options_find_long(const command *self, const char *typed, size_t length);
const option *options_find_letter(const command *self, char letter);
const option *options_help(void);

void options_print_help(const command *self, FILE *stream);

/* Print a label and, from `column` on, a text about it, wrapped at 79 columns. A label that is too
 * long stands on a line of its own. */
void options_print_entry(const char *label, const char *text, int column, FILE *stream);

#endif
