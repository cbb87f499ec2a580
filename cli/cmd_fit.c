/* assay fit: how a time grows with a size, from anybody's numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/growth.h"
#include "assay/report.h"
#include "cli/common/commands.h"
#include "cli/common/message.h"
#include "cli/common/output.h"

enum { EXIT_UNUSABLE = 2 };

typedef struct fit_settings {
    const char *json, *size_column, *seconds_column;
} fit_settings;

static const option fit_options[] = {
    {"json", 'j', OPTION_TEXT, "FILE", "Write the result as JSON; '-' is standard output.",
     offsetof(fit_settings, json)},
    {"size-column", 'n', OPTION_TEXT, "COLUMN",
     "Name, or number from 1, of the column of sizes (default: n).",
     offsetof(fit_settings, size_column)},
    {"seconds-column", 's', OPTION_TEXT, "COLUMN",
     "Name, or number from 1, of the column of times (default: seconds).",
     offsetof(fit_settings, seconds_column)},
};

static assay_status print_text(const void *growth, FILE *stream, assay_error *error)
{
    return assay_growth_print(growth, stream, error);
}

static assay_status print_json(const void *growth, FILE *stream, assay_error *error)
{
    return assay_growth_print_json(growth, stream, error);
}

static int show(const fit_settings *settings, const assay_growth *growth)
{
    assay_error error = {0};
    assay_status status = settings->json == NULL
                              ? assay_file_save("-", print_text, growth, &error)
                              : assay_file_save(settings->json, print_json, growth, &error);
    if (!output_check("fit", status, &error))
        return message_output_exit(status);
    if (growth->growth_class != ASSAY_GROWTH_UNKNOWN)
        return EX_OK;
    message_error("assay fit: %s", growth->reason);
    return EXIT_UNUSABLE;
}

static int fit_file(const fit_settings *settings, const char *path)
{
    assay_error error = {0};
    assay_growth_table table = {0};
    assay_growth *growth = NULL;
    assay_status status = assay_growth_table_read(path, settings->size_column,
                                                  settings->seconds_column, &error, &table);
    if (status == ASSAY_OK)
        status = assay_growth_fit(table.sizes, table.seconds, table.count, &error, &growth);
    assay_growth_table_release(&table);
    int code;
    if (status != ASSAY_OK) {
        message_error("assay fit: %s", error.message);
        code = message_input_exit(status);
    } else {
        code = show(settings, growth);
    }
    assay_growth_free(growth);
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
        message_error("assay fit: give one file of sizes and times; write: assay fit data.csv");
        return EX_USAGE;
    }
    const char *outputs[] = {settings.json};
    code = output_refuse("fit", outputs, 1);
    return code == EX_OK ? fit_file(&settings, operands[0]) : code;
}

const command command_fit = {
    .name = "fit",
    .summary = "tell how a time grows with a size",
    .operands = "DATA.csv",
    .description =
        "Reads sizes and times (columns n and seconds; several times for one n make the\n"
        "answer sharper; '-' is standard input) and finds the class of the growth:\n"
        "1, log n, n, n log n, n^2, n^3, or power, a free power of n, if all of these\n"
        "are rejected at 1 %. A fixed overhead is allowed for. Shows the formula, the\n"
        "exponent with a 95 % interval, every size against the curve, and says when the\n"
        "data cannot tell two classes apart. Exit status: 0 a class is given, certain or\n"
        "not; 2 there are too few sizes for any answer; 64 to 74 for errors.",
    COMMAND_OPTIONS(fit_options),
    .main = fit_main,
};
