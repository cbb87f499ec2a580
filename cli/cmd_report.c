/* assay report: shows saved records. */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "assay/record.h"
#include "assay/report.h"
#include "commands.h"
#include "message.h"
#include "output.h"

typedef struct report_settings {
    const char *json, *trace;
} report_settings;

static const option report_options[] = {
    {"json", 'j', OPTION_TEXT, "FILE",
     "Write the record as JSON of the current schema; '-' is standard output.",
     offsetof(report_settings, json)},
    {"trace", 't', OPTION_TEXT, "FILE",
     "Write its events as a Chrome trace, for ui.perfetto.dev; '-' is standard output.",
     offsetof(report_settings, trace)},
};

static assay_status print_trace(const void *record, FILE *stream, assay_error *error)
{
    return assay_report_trace(record, stream, error);
}

static assay_status print_text(const void *subject, FILE *stream, assay_error *error)
{
    const assay_record *record = subject;
    return record->has_process ? assay_report_run(record, stream, error)
                               : assay_report_journal(record, stream, error);
}

static int show(const report_settings *settings, const assay_record *record)
{
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    if (settings->json == NULL && settings->trace == NULL)
        status = assay_report_write("-", print_text, record, &error);
    if (settings->json != NULL)
        status = assay_record_write(record, settings->json, ASSAY_RECORD_EVENTS, &error);
    if (status == ASSAY_OK && settings->trace != NULL)
        status = assay_report_write(settings->trace, print_trace, record, &error);
    return output_check("report", status, &error) ? EX_OK : message_output_exit(status);
}

static int show_file(const report_settings *settings, const char *path)
{
    assay_error error = {0};
    assay_record *record = NULL;
    assay_status status = assay_record_read(path, &error, &record);
    if (status != ASSAY_OK) {
        message_error("assay report: %s", error.message);
        return message_input_exit(status);
    }
    int code = show(settings, record);
    assay_record_free(record);
    return code;
}

static int report_main(const command *self, int argc, char **argv)
{
    report_settings settings = {0};
    char **operands;
    int count;
    options_outcome outcome = options_parse(self, argc, argv, &settings, &operands, &count);
    if (outcome != OPTIONS_GO)
        return outcome == OPTIONS_HELP ? EX_OK : EX_USAGE;
    if (count == 0) {
        message_error("assay report: no record given; write: assay report run.json");
        return EX_USAGE;
    }
    if (count > 1 && (settings.json != NULL || settings.trace != NULL)) {
        message_error("assay report: --json and --trace take one record, got %d", count);
        return EX_USAGE;
    }
    const char *outputs[] = {settings.json, settings.trace};
    int code = output_refuse("report", outputs, sizeof outputs / sizeof *outputs);
    for (int i = 0; i < count && code == EX_OK; i++) {
        if (count > 1)
            printf("%s%s:\n", i > 0 ? "\n" : "", operands[i]);
        code = show_file(&settings, operands[i]);
    }
    return code;
}

const command command_report = {
    .name = "report",
    .summary = "show saved records, or turn one into a trace",
    .operands = "RECORD...",
    .description = "Shows records saved with --json as text: what ran and what it took, then the\n"
                   "call tree. With --trace the events of the record become a Chrome trace (the\n"
                   "record must have been saved with them: assay run --trace T --json R).",
    .options = report_options,
    .option_count = sizeof report_options / sizeof *report_options,
    .main = report_main,
};
