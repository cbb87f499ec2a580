/* assay compare: verdicts between the benchmarks of saved records, or within one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "assay/report.h"
#include "cli/common/commands.h"
#include "cli/common/message.h"
#include "cli/common/output.h"

/* Exit statuses of a gate. */
enum { GATE_PASSED = 0, GATE_REGRESSED = 1, GATE_INCONCLUSIVE = 2 };

typedef struct compare_settings {
    const char *json;
    double margin;
    bool all_pairs, gate;
} compare_settings;

static const option compare_options[] = {
    {"all-pairs", 'a', OPTION_FLAG, NULL, "Compare every pair, not only each with the first.",
     offsetof(compare_settings, all_pairs)},
    {"gate", 'g', OPTION_FLAG, NULL,
     "Exit with 1 if anything is slower, else 2 if something is inconclusive or unusable, else "
     "0.",
     offsetof(compare_settings, gate)},
    {"json", 'j', OPTION_TEXT, "FILE",
     "Write the comparison as a record in JSON; '-' is standard output.",
     offsetof(compare_settings, json)},
    {"margin", 'm', OPTION_SHARE, "SHARE", "Differences up to this are none (1%).",
     offsetof(compare_settings, margin)},
};

/* Read records, in the order of their paths. */
typedef struct record_list {
    assay_record **records;
    size_t count;
} record_list;

static int load(record_list *list, char **paths, size_t count)
{
    list->records = calloc(count, sizeof *list->records);
    if (list->records == NULL) {
        message_error("assay compare: out of memory");
        return EX_OSERR;
    }
    for (; list->count < count; list->count++) {
        assay_error error = {0};
        assay_status status =
            assay_record_load(paths[list->count], &error, &list->records[list->count]);
        if (status != ASSAY_OK) {
            message_error("assay compare: %s", error.message);
            return message_input_exit(status);
        }
        if (error.status != ASSAY_OK)
            message_note("%s", error.message);
    }
    return EX_OK;
}

static void release(record_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        assay_record_free(list->records[i]);
    free(list->records);
}

/* One record: its own subjects. */
static assay_status compare_within(assay_record *record, const char *path,
                                   const assay_compare_options *options, assay_error *error)
{
    if (record->subject_count < 2) {
        snprintf(error->message, sizeof error->message,
                 "%.200s: %s; give two records, or one with several benchmarks", path,
                 record->subject_count == 0 ? "no benchmarks in it" : "only one benchmark in it");
        return ASSAY_E_DATA;
    }
    assay_status status = assay_record_compare(record, options);
    if (status != ASSAY_OK)
        snprintf(error->message, sizeof error->message, "%.200s: %s", path,
                 assay_status_message(status));
    if (status != ASSAY_OK || record->comparison_count > 0)
        return status;
    snprintf(error->message, sizeof error->message,
             "%.200s: no two of its benchmarks belong together", path);
    return ASSAY_E_DATA;
}

static int judge(const assay_record *record)
{
    int code = GATE_PASSED;
    for (size_t i = 0; i < record->comparison_count; i++) {
        if (record->comparisons[i].verdict == ASSAY_VERDICT_SLOWER)
            return GATE_REGRESSED;
        if (record->comparisons[i].verdict == ASSAY_VERDICT_INCONCLUSIVE)
            code = GATE_INCONCLUSIVE;
    }
    return code;
}

/* The last line of a gate, which is what the log of a build shows. A benchmark that is gone fails
 * no gate, and must not pass unseen either. */
static int gate(const assay_record *record, FILE *stream)
{
    static const char *const words[] = {"passed", "regressed", "inconclusive"};
    int code = judge(record);
    size_t missing = 0;
    const char *first = NULL;
    for (size_t i = 0; i < record->difference_count; i++) {
        const char *name = assay_difference_missing(&record->differences[i]);
        missing += name != NULL;
        first = first != NULL ? first : name;
    }
    fprintf(stream, "gate: %s", words[code]);
    if (missing > 0)
        fprintf(stream, "; missing from the candidate and not compared: '%s'", first);
    if (missing > 1)
        fprintf(stream, " and %zu more", missing - 1);
    fputc('\n', stream);
    return code;
}

static int show(const compare_settings *settings, const assay_record *record)
{
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    if (settings->json != NULL)
        status = assay_record_save(record, settings->json, 0, &error);
    bool record_on_stdout = settings->json != NULL && strcmp(settings->json, "-") == 0;
    if (status == ASSAY_OK && !record_on_stdout)
        status = assay_report_save(record, "comparisons", "-", &error);
    if (!output_check("compare", status, &error))
        return message_output_exit(status);
    return settings->gate ? gate(record, record_on_stdout ? stderr : stdout) : EX_OK;
}

static int compare(const compare_settings *settings, const record_list *list, char **paths)
{
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    options.margin = settings->margin;
    options.no_margin = settings->margin == 0;
    options.all_pairs = settings->all_pairs;
    assay_error error = {0};
    assay_record *made = NULL, *shown = list->records[0];
    assay_status status;
    if (list->count == 1) {
        status = compare_within(shown, paths[0], &options, &error);
    } else {
        status =
            assay_records_compare((const assay_record *const *)list->records,
                                  (const char *const *)paths, list->count, &options, &error, &made);
        shown = made;
    }
    int code;
    if (status == ASSAY_OK) {
        code = show(settings, shown);
    } else {
        message_error("assay compare: %s", error.message);
        code = status == ASSAY_E_DATA && settings->gate ? GATE_INCONCLUSIVE
                                                        : message_input_exit(status);
    }
    assay_record_free(made);
    return code;
}

static int compare_main(const command *self, int argc, char **argv)
{
    compare_settings settings = {.margin = 0.01};
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    if (count == 0) {
        message_error(
            "assay compare: no record given; write: assay compare before.json after.json");
        return EX_USAGE;
    }
    code = output_refuse("compare", &settings.json, 1);
    if (code != EX_OK)
        return code;
    record_list list = {0};
    code = load(&list, operands, (size_t)count);
    if (code == EX_OK)
        code = compare(&settings, &list, operands);
    release(&list);
    return code;
}

const command command_compare = {
    .name = "compare",
    .summary = "verdicts between benchmarks of saved records",
    .operands = "RECORD...",
    .description =
        "Compares benchmarks of the same name in saved records, each record with the\n"
        "first; or, given one record, its benchmarks with each other. Takes records of\n"
        "assay and JSON of Google Benchmark, hyperfine and pyperf. A benchmark is called\n"
        "faster or slower only if the 99 % interval of the ratio of times lies wholly\n"
        "beyond the margin, same if the 95 % interval lies wholly within it, else\n"
        "inconclusive, with the reason. Exit status: 0 compared, whatever the verdicts;\n"
        "with --gate 0, 1 or 2; 64 to 74 for options, inputs and outputs.",
    COMMAND_OPTIONS(compare_options),
    .main = compare_main,
};
