/* assay compare: gives verdicts between the benchmarks of saved records, or within one record.
 * compare_sides.h reads the operands into sides, and assay_records_compare() judges the sides. This
 * file chooses the options, prints the result and computes the exit status of a gate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "assay/report.h"
#include "base/terminal.h"
#include "cli/common/commands.h"
#include "cli/common/input.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/compare_sides.h"
#include "cli/metric_name.h"

/* Exit statuses of a gate. */
enum { GATE_PASSED = 0, GATE_REGRESSED = 1, GATE_INCONCLUSIVE = 2 };

typedef struct compare_settings {
    const char *against, *branch, *json, *metric;
    double margin; /* negative: the default for the kind of records that are compared */
    bool all_pairs, gate;
    size_t last, max_input;
} compare_settings;

static const option compare_options[] = {
    {"against", 'A', OPTION_TEXT, "WHAT",
     "'history': all records given are runs of the candidate, and the last runs of the same "
     "benchmark on the same machine in the history are the baseline.",
     offsetof(compare_settings, against)},
    {"all-pairs", 'a', OPTION_FLAG, NULL, "Compare every pair, not only each with the first.",
     offsetof(compare_settings, all_pairs)},
    {"branch", 'b', OPTION_TEXT, "NAME", "With --against history: only runs on this git branch.",
     offsetof(compare_settings, branch)},
    {"gate", 'g', OPTION_FLAG, NULL,
     "Exit with 1 if anything is slower, else 2 if something is inconclusive or unusable, else "
     "0.",
     offsetof(compare_settings, gate)},
    {"json", 'j', OPTION_TEXT, "FILE",
     "Write the comparison as a record in JSON; '-' is standard output.",
     offsetof(compare_settings, json)},
    {"last", 'l', OPTION_COUNT, "N",
     "With --against history: how many of the last runs (default 20).",
     offsetof(compare_settings, last)},
    INPUT_MAX_OPTION(compare_settings, max_input),
    {"margin", 'm', OPTION_SHARE, "SHARE",
     "Ignore relative differences up to this (1%; 15% between single runs of a study or profile).",
     offsetof(compare_settings, margin)},
    {"metric", 'M', OPTION_TEXT, "NAME",
     "The metric that leads and that the gate judges: wall, cpu, memory, heap, allocations, energy "
     "(default wall, or cpu where wall time cannot decide).",
     offsetof(compare_settings, metric)},
};

/* A single record: compare its own subjects with each other. */
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

/* Whether the gate judges this comparison. With --metric it judges the comparisons of that metric;
 * without, it judges the leading comparisons and not those beside them. */
static bool is_judged(const assay_record_comparison *it, const char *metric)
{
    return metric != NULL ? it->metric != NULL && strcmp(it->metric, metric) == 0 : !it->beside;
}

static bool judges_any(const assay_record *record, const char *metric)
{
    for (size_t i = 0; i < record->comparison_count; i++)
        if (is_judged(&record->comparisons[i], metric))
            return true;
    return false;
}

/* The exit status of the gate. If no comparison is to be judged, the gate is inconclusive. */
static int judge(const assay_record *record, const char *metric)
{
    int code = judges_any(record, metric) ? GATE_PASSED : GATE_INCONCLUSIVE;
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *it = &record->comparisons[i];
        if (is_judged(it, metric) && it->verdict == ASSAY_VERDICT_SLOWER)
            return GATE_REGRESSED;
        if (is_judged(it, metric) && it->verdict == ASSAY_VERDICT_INCONCLUSIVE)
            code = GATE_INCONCLUSIVE;
    }
    return code;
}

/* Print the last line of a gate, which the log of a build shows. A benchmark that is missing in the
 * candidate fails no gate, but the line names it so that it does not go unnoticed. */
static int gate(const assay_record *record, const char *metric, FILE *stream)
{
    static const char *const words[] = {"passed", "regressed", "inconclusive"};
    static const assay__shade shades[] = {ASSAY__SHADE_GOOD, ASSAY__SHADE_BAD,
                                          ASSAY__SHADE_DOUBTFUL};
    int code = judge(record, metric);
    size_t missing = 0;
    const char *first = NULL;
    for (size_t i = 0; i < record->difference_count; i++) {
        const char *name = assay_difference_missing(&record->differences[i]);
        missing += name != NULL;
        first = first != NULL ? first : name;
    }
    fprintf(stream, "gate");
    if (metric != NULL && strcmp(metric, "wall_seconds") != 0)
        fprintf(stream, " by %s", metric);
    fprintf(stream, ": %s%s%s", assay__terminal_shade(stream, shades[code]), words[code],
            assay__terminal_shade(stream, ASSAY__SHADE_PLAIN));
    if (!judges_any(record, metric))
        fprintf(stream, "; nothing was measured on both sides");
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
    return settings->gate ? gate(record, settings->metric, record_on_stdout ? stderr : stdout)
                          : EX_OK;
}

static int compare(const compare_settings *settings, const compare_sides *sides)
{
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    options.margin = settings->margin > 0 ? settings->margin : 0;
    options.no_margin = settings->margin == 0;
    options.all_pairs = settings->all_pairs;
    options.metric = settings->metric;
    assay_error error = {0};
    assay_record *made = NULL, *shown = NULL;
    assay_status status;
    if (sides->count == 1 && sides->sides[0].count == 1) {
        shown = (assay_record *)(uintptr_t)sides->sides[0].records[0];
        status = compare_within(shown, sides->sides[0].origin, &options, &error);
    } else {
        status = assay_records_compare(sides->sides, sides->count, &options, &error, &made);
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

/* The index of a lone "--" that has operands behind it; 0 if there is none. */
static int find_separator(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return 0;
}

static int compare_main(const command *self, int argc, char **argv)
{
    compare_settings settings = {.margin = -1};
    char **operands;
    int count, code, separator = find_separator(argc, argv);
    if (!options_parse(self, separator > 0 ? separator : argc, argv, &settings, &operands, &count,
                       &code))
        return code;
    bool two_sides = separator > 0 && count > 0;
    if (separator > 0 && !two_sides) { /* the dashes only ended the options */
        operands = argv + separator + 1;
        count = argc - separator - 1;
    }
    if (count == 0) {
        message_error(
            "assay compare: no record given; write: assay compare before.json after.json");
        return EX_USAGE;
    }
    if (settings.metric != NULL &&
        (settings.metric = metric_by_name("compare", settings.metric)) == NULL)
        return EX_USAGE;
    input_set_maximum(settings.max_input);
    code = output_refuse("compare", &settings.json, 1);
    if (code != EX_OK)
        return code;
    compare_sides sides = {0};
    if (settings.against != NULL) {
        if (strcmp(settings.against, "history") != 0 || two_sides) {
            message_error("assay compare: --against takes 'history', and then all records are the "
                          "candidate's");
            return EX_USAGE;
        }
        code = compare_sides_read_history(&sides, operands, (size_t)count, settings.branch,
                                          settings.last);
        if (code == EX_OK)
            code = compare(&settings, &sides);
        compare_sides_release(&sides);
        return code;
    }
    code = two_sides ? compare_sides_read_two(&sides, operands, (size_t)count, argv + separator + 1,
                                              (size_t)(argc - separator - 1))
                     : compare_sides_read(&sides, operands, (size_t)count);
    if (code == EX_OK)
        code = compare(&settings, &sides);
    compare_sides_release(&sides);
    return code;
}

const command command_compare = {
    .name = "compare",
    .summary = "verdicts between saved records",
    .operands = "RECORD... [-- RECORD...]",
    .description =
        "Compares what saved records have in common, each record with the first; or,\n"
        "given one record, its benchmarks with each other. Takes records of every\n"
        "command and study, and JSON of Google Benchmark, hyperfine and pyperf; '-' is\n"
        "standard input. A folder stands for the study in it (record.json) or for all\n"
        "runs in it (*.json); with --, all records before it are runs of the baseline\n"
        "and all after it of the candidate. Of several runs each counts as one\n"
        "observation. A benchmark is called faster or slower only if the 99 % interval\n"
        "of the ratio of times lies wholly beyond the margin, same if the 95 % interval\n"
        "lies wholly within it, else inconclusive, with the reason. Exit status: 0\n"
        "compared, whatever the verdicts; with --gate 0, 1 or 2; 64 to 74 for options,\n"
        "inputs and outputs.",
    COMMAND_OPTIONS(compare_options),
    .main = compare_main,
};
