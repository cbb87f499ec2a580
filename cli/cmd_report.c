/* assay report: shows saved records, and turns them into the formats of other tools, into plots and
 * into pages. This file checks the options, reads the records and chooses the output; the formats
 * and plots are in src/report and src/plot, and the page is made by page_report.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/plot.h"
#include "assay/record.h"
#include "assay/report.h"
#include "base/nearest.h"
#include "cli/common/ascii.h"
#include "cli/common/commands.h"
#include "cli/common/input.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/page.h"
#include "cli/page_report.h"
#include "cli/study_folder.h"

typedef struct report_settings {
    const char *format, *html, *json, *output, *trace;
    const char *plot, *of, *title;
    bool advice, csv, summary;
    size_t max_input;
    size_t width;
} report_settings;

static const option report_options[] = {
    {"advice", 'a', OPTION_FLAG, NULL, "Print spans as format advice.",
     offsetof(report_settings, advice)},
    {"csv", 'c', OPTION_FLAG, NULL, "Print benchmark results as format csv, spans as csv-spans.",
     offsetof(report_settings, csv)},
    {"format", 'f', OPTION_TEXT, "NAME", "Print the records in one of the formats below.",
     offsetof(report_settings, format)},
    {"html", 'H', OPTION_TEXT, "FILE",
     "Write a page with plots and tables, one file that opens offline; '-' is standard output.",
     offsetof(report_settings, html)},
    {"json", 'j', OPTION_TEXT, "FILE",
     "Write the record as JSON of the current schema; '-' is standard output.",
     offsetof(report_settings, json)},
    INPUT_MAX_OPTION(report_settings, max_input),
    {"of", 0, OPTION_TEXT, "TEXT",
     "Plot only what has TEXT in its name; of growth, the parameter TEXT.",
     offsetof(report_settings, of)},
    {"output", 'o', OPTION_TEXT, "FILE",
     "Write text, format or plot to FILE instead of standard output; '-' is standard output.",
     offsetof(report_settings, output)},
    {"plot", 'p', OPTION_TEXT, "KIND", "Draw one of the plots below, as SVG.",
     offsetof(report_settings, plot)},
    {"summary", 's', OPTION_FLAG, NULL, "Print spans as format summary.",
     offsetof(report_settings, summary)},
    {"title", 0, OPTION_TEXT, "TEXT", "Title of the plot (default: the name of the record).",
     offsetof(report_settings, title)},
    {"trace", 't', OPTION_TEXT, "FILE",
     "Write its events as a Chrome trace, for ui.perfetto.dev; '-' is standard output.",
     offsetof(report_settings, trace)},
    {"width", 0, OPTION_COUNT, "N",
     "Pixels of the plot's width (default 360, a column of a paper); texts keep their size.",
     offsetof(report_settings, width)},
};

/* Records in the order they were given. */
typedef struct record_list {
    assay_record **records;
    char **names; /* borrowed */
    size_t count;
} record_list;

static const char *choice(const void *context, const option *of, size_t index, const char **help)
{
    (void)context;
    size_t format_count, plot_count;
    const assay_report_format *formats = assay_report_formats(&format_count);
    const assay_plot_kind *plots = assay_plot_kinds(&plot_count);
    if (of != NULL && strcmp(of->name, "format") == 0 && index < format_count) {
        *help = formats[index].description;
        return formats[index].name;
    }
    if (of != NULL && strcmp(of->name, "plot") == 0 && index < plot_count) {
        *help = plots[index].description;
        return plots[index].name;
    }
    return NULL;
}

static void print_choice(const char *name, const char *description, FILE *stream)
{
    char label[64];
    snprintf(label, sizeof label, "  %s", name);
    options_print_entry(label, description, 26, stream);
}

static void print_choices(FILE *stream)
{
    size_t count;
    const assay_report_format *formats = assay_report_formats(&count);
    fputs("formats:\n", stream);
    for (size_t i = 0; i < count; i++)
        print_choice(formats[i].name, formats[i].description, stream);
    const assay_plot_kind *plots = assay_plot_kinds(&count);
    fputs("\nplots:\n", stream);
    for (size_t i = 0; i < count; i++)
        print_choice(plots[i].name, plots[i].description, stream);
}

/* Print the records as text. If there are several, each has the name of its file as a heading. */
static assay_status print_text(const void *subject, FILE *stream, assay_error *error)
{
    const record_list *list = subject;
    return assay_reports_print((const assay_record *const *)list->records,
                               list->count > 1 ? (const char *const *)list->names : NULL,
                               list->count, "text", stream, error);
}

static const char *csv_for(const record_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->records[i]->subject_count > 0)
            return "csv";
    return "csv-spans";
}

static assay_status print_format(const report_settings *settings, const record_list *list,
                                 assay_error *error)
{
    const char *name = settings->format != NULL ? settings->format
                       : settings->advice       ? "advice"
                       : settings->summary      ? "summary"
                                                : csv_for(list);
    return assay_reports_save((const assay_record *const *)list->records, list->count, name,
                              settings->output != NULL ? settings->output : "-", error);
}

static assay_status print_plot(const report_settings *settings, const record_list *list,
                               assay_error *error)
{
    assay_plot_settings look = ASSAY_PLOT_SETTINGS_INIT;
    look.title = settings->title;
    look.of = settings->of;
    look.width = settings->width;
    return assay_plot_save(list->records[0], settings->plot, &look,
                           settings->output != NULL ? settings->output : "-", error);
}

static int show(const report_settings *settings, const record_list *list)
{
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    bool formatted =
        settings->format != NULL || settings->advice || settings->csv || settings->summary;
    if (settings->plot != NULL)
        status = print_plot(settings, list, &error);
    else if (formatted)
        status = print_format(settings, list, &error);
    else if (settings->output != NULL ||
             (settings->html == NULL && settings->json == NULL && settings->trace == NULL))
        status = assay_file_save(settings->output != NULL ? settings->output : "-", print_text,
                                 list, &error);
    if (status == ASSAY_OK && settings->html != NULL)
        status = page_report_save(settings->html, (const assay_record *const *)list->records,
                                  (const char *const *)list->names, list->count, &error);
    if (status == ASSAY_OK && settings->json != NULL)
        status = assay_record_save(list->records[0], settings->json, ASSAY_RECORD_EVENTS, &error);
    if (status == ASSAY_OK && settings->trace != NULL)
        status = assay_report_save(list->records[0], "trace", settings->trace, &error);
    if (output_check("report", status, &error)) {
        if (settings->trace != NULL ||
            (settings->format != NULL && strcmp(settings->format, "trace") == 0))
            output_note_no_events(list->records[0], "use assay run --trace T --json FILE");
        return EX_OK;
    }
    return status == ASSAY_E_DATA || status == ASSAY_E_LIMIT ? EX_DATAERR
                                                             : message_output_exit(status);
}

static int read_records(record_list *list, char **paths, int count)
{
    list->names = paths;
    list->records = calloc((size_t)count, sizeof *list->records);
    if (list->records == NULL) {
        message_error("assay report: out of memory");
        return EX_OSERR;
    }
    for (int i = 0; i < count; i++) {
        assay_error error = {0};
        char study[STUDY_PATH_SIZE];
        bool is_folder = study_folder_is(paths[i]);
        if (is_folder && !study_folder_find(paths[i], study)) {
            message_error(
                "assay report: '%s' has no record.json of a study; name the records in it",
                paths[i]);
            return EX_NOINPUT;
        }
        assay_status status =
            assay_record_load(is_folder ? study : paths[i], &error, &list->records[list->count]);
        if (status != ASSAY_OK) {
            message_error("assay report: %s", error.message);
            return message_input_exit(status);
        }
        if (error.status != ASSAY_OK)
            message_note("%s", error.message);
        list->count++;
    }
    return EX_OK;
}

/* Whether the output is text for people. Every other output is a document for programs. */
static bool is_page(const report_settings *settings)
{
    static const char *const pages[] = {"text",        "run",     "tree",        "journal",
                                        "bench",       "scaling", "performance", "aggregate",
                                        "comparisons", "summary", "advice"};
    for (size_t i = 0; settings->format != NULL && i < sizeof pages / sizeof *pages; i++)
        if (strcmp(settings->format, pages[i]) == 0)
            return true;
    return settings->format == NULL && !settings->csv && settings->plot == NULL;
}

/* Print the message for an unknown format or plot. `nearest` is a name to suggest, or NULL. Returns
 * EX_USAGE. */
static int refuse_name(const char *what, const char *name, const char *nearest)
{
    if (nearest != NULL)
        message_error("assay report: unknown %s '%s'; did you mean '%s'?", what, name, nearest);
    else
        message_error("assay report: unknown %s '%s'; 'assay report --help' lists them", what,
                      name);
    return EX_USAGE;
}

static int refuse_plot(const report_settings *settings)
{
    size_t count;
    const assay_plot_kind *plots = assay_plot_kinds(&count);
    if (settings->plot == NULL &&
        (settings->of != NULL || settings->title != NULL || settings->width != 0)) {
        message_error("assay report: --of, --title and --width are for a plot; add --plot KIND");
        return EX_USAGE;
    }
    if (settings->width != 0 &&
        (settings->width < ASSAY_PLOT_MIN_WIDTH || settings->width > ASSAY_PLOT_MAX_WIDTH)) {
        message_error("assay report: --width is a number of pixels from %d to %d, not %zu",
                      ASSAY_PLOT_MIN_WIDTH, ASSAY_PLOT_MAX_WIDTH, settings->width);
        return EX_USAGE;
    }
    for (size_t i = 0; i < count; i++)
        if (settings->plot == NULL || strcmp(settings->plot, plots[i].name) == 0)
            return EX_OK;
    return refuse_name("plot", settings->plot,
                       assay__nearest(settings->plot, &plots->name, count, sizeof *plots));
}

static int refuse_format(const report_settings *settings)
{
    int asked = (settings->format != NULL) + settings->advice + settings->csv + settings->summary +
                (settings->plot != NULL);
    if (asked > 1) {
        message_error("assay report: --format, --advice, --csv, --plot and --summary exclude each "
                      "other");
        return EX_USAGE;
    }
    size_t count;
    const assay_report_format *formats = assay_report_formats(&count);
    for (size_t i = 0; i < count; i++)
        if (settings->format == NULL || strcmp(settings->format, formats[i].name) == 0)
            return refuse_plot(settings);
    return refuse_name("format", settings->format,
                       assay__nearest(settings->format, &formats->name, count, sizeof *formats));
}

static int report_main(const command *self, int argc, char **argv)
{
    report_settings settings = {0};
    record_list list = {0};
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    if (count == 0) {
        message_error("assay report: no record given; write: assay report run.json");
        return EX_USAGE;
    }
    if (count > 1 && (settings.json != NULL || settings.trace != NULL || settings.plot != NULL)) {
        message_error("assay report: --json, --plot and --trace take one record, got %d", count);
        return EX_USAGE;
    }
    if (settings.html != NULL && !page_available()) {
        message_error("assay report: this assay was built without pages; 'npm ci' in web/ and "
                      "another build bring them");
        return EX_UNAVAILABLE;
    }
    const char *outputs[] = {settings.html, settings.json, settings.output, settings.trace};
    input_set_maximum(settings.max_input);
    if (!is_page(&settings))
        ascii_spare_stdout();
    code = refuse_format(&settings);
    if (code == EX_OK)
        code = output_refuse("report", outputs, sizeof outputs / sizeof *outputs);
    if (code == EX_OK)
        code = read_records(&list, operands, count);
    if (code == EX_OK)
        code = show(&settings, &list);
    for (size_t i = 0; i < list.count; i++)
        assay_record_free(list.records[i]);
    free(list.records);
    return code;
}

const command command_report = {
    .name = "report",
    .summary = "show saved records, also in other tools' formats",
    .operands = "RECORD...",
    .description = "Shows records saved with --json as text: what ran and what it took, then the\n"
                   "call tree; '-' is standard input. With --format they become what other tools\n"
                   "read; results of Google Benchmark, hyperfine and pyperf are taken as records\n"
                   "too. With --trace the events of the record become a Chrome trace (the record\n"
                   "must have been saved with them: assay run --trace T --json R). With --plot a\n"
                   "record becomes a figure for a paper: assay report r.json --plot growth -o\n"
                   "g.svg. With --html records become a page that opens in a browser, without a\n"
                   "network. A folder stands for the study in it (record.json).",
    COMMAND_OPTIONS(report_options),
    .print_more = print_choices,
    .choice = choice,
    .main = report_main,
};
