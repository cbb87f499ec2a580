/* assay fit: says how a time grows with a size. The input is a table of sizes and times from any
 * source, or the record of a sweep. assay_growth_fit() (growth.h) does the fit itself. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "assay/growth.h"
#include "assay/report.h"
#include "cli/common/commands.h"
#include "cli/common/input.h"
#include "cli/common/message.h"
#include "cli/common/output.h"

enum { EXIT_UNUSABLE = 2 };

typedef struct fit_settings {
    const char *json, *size_column, *seconds_column;
    size_t max_input;
} fit_settings;

static const option fit_options[] = {
    {"json", 'j', OPTION_TEXT, "FILE", "Write the result as JSON; '-' is standard output.",
     offsetof(fit_settings, json)},
    INPUT_MAX_OPTION(fit_settings, max_input),
    {"size-column", 'n', OPTION_TEXT, "COLUMN",
     "Name, or number from 1, of the column of sizes (default: n); of a record, the parameter.",
     offsetof(fit_settings, size_column)},
    {"seconds-column", 's', OPTION_TEXT, "COLUMN",
     "Name, or number from 1, of the column of times (default: seconds); of a record, a measure "
     "such as cpu_seconds.",
     offsetof(fit_settings, seconds_column)},
};

static assay_status print_text(const void *context, FILE *stream, assay_error *error)
{
    const assay_growth_sweep *fits = context;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < fits->count && status == ASSAY_OK; i++) {
        if (i > 0)
            fputc('\n', stream);
        status = assay_growth_print(fits->series[i], stream, error);
    }
    return status;
}

/* One fit is printed as one object. Several fits are printed as a list of such objects. */
static assay_status print_json(const void *context, FILE *stream, assay_error *error)
{
    const assay_growth_sweep *fits = context;
    assay_status status = ASSAY_OK;
    if (fits->count > 1)
        fputs("{\"fits\": [\n", stream);
    for (size_t i = 0; i < fits->count && status == ASSAY_OK; i++) {
        if (i > 0)
            fputs(",\n", stream);
        status = assay_growth_print_json(fits->series[i], stream, error);
    }
    if (fits->count > 1)
        fputs("]}\n", stream);
    return status;
}

static int show(const fit_settings *settings, const assay_growth_sweep *fits)
{
    assay_error error = {0};
    assay_status status = settings->json == NULL
                              ? assay_file_save("-", print_text, fits, &error)
                              : assay_file_save(settings->json, print_json, fits, &error);
    if (!output_check("fit", status, &error))
        return message_output_exit(status);
    for (size_t i = 0; i < fits->count; i++)
        if (fits->series[i]->growth_class == ASSAY_GROWTH_UNKNOWN) {
            message_error("assay fit: %s", fits->series[i]->reason);
            return EXIT_UNUSABLE;
        }
    return EX_OK;
}

/* Whether the file is JSON: it begins with a brace, which no table does. Only regular files are
 * examined, because bytes that were read from a pipe cannot be read again. */
static bool is_record(const char *path)
{
    struct stat file;
    FILE *stream = NULL;
    int first = EOF;
    if (stat(path, &file) == 0 && S_ISREG(file.st_mode))
        stream = fopen(path, "re");
    while (stream != NULL && (first = getc(stream)) != EOF && isspace(first))
        continue;
    if (stream != NULL)
        fclose(stream);
    return first == '{';
}

/* Read a table; it counts as a sweep with one series. */
static assay_status fit_table(const fit_settings *settings, const char *path, assay_error *error,
                              assay_growth_sweep *fits)
{
    assay_growth_table table = {0};
    assay_status status = assay_growth_table_read(path, settings->size_column,
                                                  settings->seconds_column, error, &table);
    fits->series = calloc(1, sizeof *fits->series);
    if (status == ASSAY_OK && fits->series == NULL) {
        snprintf(error->message, sizeof error->message, "out of memory");
        status = ASSAY_E_MEMORY;
    }
    if (status == ASSAY_OK)
        status = assay_growth_fit(table.sizes, table.seconds, table.count, error, fits->series);
    fits->count = status == ASSAY_OK;
    assay_growth_table_release(&table);
    return status;
}

static assay_status fit_record(const fit_settings *settings, const char *path, assay_error *error,
                               assay_growth_sweep *fits)
{
    assay_record *record = NULL;
    assay_status status = assay_record_load(path, error, &record);
    if (status == ASSAY_OK)
        status = assay_growth_sweep_fit(record, settings->size_column, settings->seconds_column,
                                        error, fits);
    fits->parameter = NULL; /* the text belongs to the record, which is freed now */
    assay_record_free(record);
    return status;
}

static int fit_file(const fit_settings *settings, const char *path)
{
    assay_error error = {0};
    assay_growth_sweep fits = {0};
    assay_status status = is_record(path) ? fit_record(settings, path, &error, &fits)
                                          : fit_table(settings, path, &error, &fits);
    int code;
    if (status != ASSAY_OK) {
        message_error("assay fit: %s", error.message);
        code = message_input_exit(status);
    } else {
        code = show(settings, &fits);
    }
    assay_growth_sweep_release(&fits);
    return code;
}

static int fit_main(const command *self, int argc, char **argv)
{
    fit_settings settings = {0};
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    if (count != 1) {
        message_error("assay fit: give one file of sizes and times; write: assay fit data.csv or "
                      "assay fit sweep.json");
        return EX_USAGE;
    }
    const char *outputs[] = {settings.json};
    input_set_maximum(settings.max_input);
    code = output_refuse("fit", outputs, 1);
    return code == EX_OK ? fit_file(&settings, operands[0]) : code;
}

const command command_fit = {
    .name = "fit",
    .summary = "tell how a time grows with a size",
    .operands = "DATA.csv|RECORD.json",
    .description =
        "Reads sizes and times (columns n and seconds; several times for one n make the\n"
        "answer sharper; '-' is standard input), or the record of a sweep ('assay bench\n"
        "--param n=1..1024*2 --json'), and finds the class of each command's growth:\n"
        "1, log n, n, n log n, n^2, n^3, or power, a free power of n, if all of these\n"
        "are rejected at 1 %. A fixed overhead is allowed for. Shows the formula, the\n"
        "exponent with a 95 % interval, every size against the curve, and says when the\n"
        "data cannot tell two classes apart. Exit status: 0 a class is given, certain or\n"
        "not; 2 there are too few sizes for any answer; 64 to 74 for errors.",
    COMMAND_OPTIONS(fit_options),
    .main = fit_main,
};
