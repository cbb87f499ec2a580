/* assay bench: benchmarks commands, and compares them if there are several.
 *
 * Invalid options and paths are refused before the first command runs. The commands take turns in
 * one sampling (assay/sampling.h), so that a slow minute of the machine is a slow minute for all of
 * them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "assay/compare.h"
#include "assay/growth.h"
#include "assay/meter.h"
#include "assay/record.h"
#include "assay/record_build.h"
#include "assay/report.h"
#include "assay/sampling.h"
#include "base/text.h"
#include "cli/bench_command.h"
#include "cli/bench_plan.h"
#include "cli/common/bench_progress.h"
#include "cli/common/commands.h"
#include "cli/common/history.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/launch.h"
#include "cli/metric_name.h"

static const double default_budget_seconds = 5.0; /* for each command */
static const size_t default_min_runs = 3;
static const double default_ratio_precision =
    0.05; /* so that the ratio itself is known, not only the verdict */

typedef struct bench_settings {
    const char *json, *name, *input, *output, *prepare, *cleanup, *metric;
    option_list commands, labels, params;
    double budget_seconds, precision, margin;
    size_t runs, min_runs;
    option_number warmup, seed, pin;
    bool shell, energy, ignore_failure, quiet, save;
} bench_settings;

static const option bench_options[] = {
    {"budget", 'b', OPTION_SECONDS, "TIME", "Time for everything (default 5s for each command).",
     offsetof(bench_settings, budget_seconds)},
    {"cleanup", 0, OPTION_TEXT, "STRING", "Run once for each command after all runs.",
     offsetof(bench_settings, cleanup)},
    {"command", 'c', OPTION_LIST, "STRING",
     "Another command, split into words like a shell does but without one; for commands that "
     "contain '--'.",
     offsetof(bench_settings, commands)},
    {"energy", 0, OPTION_FLAG, NULL,
     "Measure the energy of processor and GPUs during each run; it is that of the whole machine. "
     "Runs during which a GPU is throttled then count as disturbed.",
     offsetof(bench_settings, energy)},
    {"ignore-failure", 0, OPTION_FLAG, NULL,
     "Time runs that fail like others; the result says how many failed.",
     offsetof(bench_settings, ignore_failure)},
    {"input", 'i', OPTION_TEXT, "FILE", "Standard input of each run (default /dev/null).",
     offsetof(bench_settings, input)},
    {"json", 'j', OPTION_TEXT, "FILE",
     "Write the record with every sample and the comparisons as JSON; '-' is standard output.",
     offsetof(bench_settings, json)},
    {"label", 'l', OPTION_LIST, "TEXT", "Name of a command; once for each, in their order.",
     offsetof(bench_settings, labels)},
    {"margin", 'm', OPTION_SHARE, "SHARE", "Ignore relative differences up to this (default 1%).",
     offsetof(bench_settings, margin)},
    {"metric", 'M', OPTION_TEXT, "NAME",
     "Compare several commands by this metric: wall, cpu, memory, energy (default wall, or cpu "
     "where wall time cannot decide). 'energy' implies --energy.",
     offsetof(bench_settings, metric)},
    {"min-runs", 0, OPTION_COUNT, "N",
     "Run each command this often even if the budget is spent (default 3).",
     offsetof(bench_settings, min_runs)},
    {"name", 'n', OPTION_TEXT, "TEXT", "Name of the benchmark, kept in the record.",
     offsetof(bench_settings, name)},
    {"output", 'o', OPTION_TEXT, "FILE",
     "Where the commands' output goes: 'null' (default), 'inherit', or a file.",
     offsetof(bench_settings, output)},
    {"param", 'P', OPTION_LIST, "TEXT",
     "NAME=VALUE,VALUE,...: run the commands for each value, which replaces {NAME} in them. "
     "1..10, 1..10..3 and 1..1024*2 are ranges of values, with a step or a factor. Several "
     "parameters give all combinations.",
     offsetof(bench_settings, params)},
    {"pin", 0, OPTION_NUMBER, "CPU", "Run everything on this processor.",
     offsetof(bench_settings, pin)},
    {"precision", 'p', OPTION_SHARE, "SHARE",
     "Half width that the 95 % interval must reach: of the mean for one command (default 1%), of "
     "the ratio for several (default 5%), which also need their verdict.",
     offsetof(bench_settings, precision)},
    {"prepare", 0, OPTION_TEXT, "STRING", "Run before each run of a command, untimed.",
     offsetof(bench_settings, prepare)},
    {"quiet", 'q', OPTION_FLAG, NULL, "Print no result and show no progress.",
     offsetof(bench_settings, quiet)},
    {"runs", 'r', OPTION_COUNT, "N",
     "Exactly this many runs of each command; those in disturbed rounds do not count.",
     offsetof(bench_settings, runs)},
    HISTORY_SAVE_OPTION(bench_settings, save),
    {"seed", 's', OPTION_NUMBER, "N", "Seed of the random order in which commands take turns.",
     offsetof(bench_settings, seed)},
    {"shell", 'S', OPTION_FLAG, NULL, "Run every command through 'sh -c', whose time counts.",
     offsetof(bench_settings, shell)},
    {"warmup", 'w', OPTION_NUMBER, "N",
     "First runs of each command that do not count (default: until its times are steady).",
     offsetof(bench_settings, warmup)},
};

/* If the number of runs is given, the default budget does not end the benchmark sooner. */
static void choose_length(const bench_settings *settings, size_t count,
                          assay_sampling_options *options)
{
    size_t warmup = settings->warmup.given ? (size_t)settings->warmup.value : 0;
    options->budget_seconds = settings->budget_seconds > 0 ? settings->budget_seconds
                                                           : default_budget_seconds * (double)count;
    options->fixed_warmup = settings->warmup.given || settings->runs > 0;
    options->warmup_rounds = warmup;
    options->min_rounds = warmup + (settings->min_runs > 0 ? settings->min_runs : default_min_runs);
    if (settings->runs == 0)
        return;
    options->max_rounds = warmup + settings->runs;
    options->fixed_rounds = true;
    if (settings->budget_seconds == 0 || options->min_rounds > options->max_rounds)
        options->min_rounds = options->max_rounds;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return a != NULL && b != NULL && stat(a, &one) == 0 && stat(b, &other) == 0 &&
           S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int check_outputs(const bench_settings *settings)
{
    bool inherit = strcmp(settings->output, "inherit") == 0;
    bool file = strcmp(settings->output, "null") != 0 && !inherit;
    const char *outputs[] = {settings->json, file ? settings->output : NULL};
    bool record_on_stdout = settings->json != NULL && strcmp(settings->json, "-") == 0;
    if (record_on_stdout && inherit) {
        message_error("assay bench: --json - and --output inherit would mix on standard output; "
                      "give --json a file");
        return EX_USAGE;
    }
    if (strcmp(settings->output, "-") == 0) {
        message_error("assay bench: --output takes 'null', 'inherit' or a file, not '-'");
        return EX_USAGE;
    }
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (is_same_file(settings->input, outputs[i])) {
            message_error("assay bench: '%s' is both read and written; give the output another "
                          "file",
                          settings->input);
            return EX_USAGE;
        }
    int code = output_refuse("bench", outputs, sizeof outputs / sizeof *outputs);
    return code == EX_OK ? history_refuse("bench", settings->save) : code;
}

static int check_settings(const bench_settings *settings)
{
    unsigned long long most = ASSAY_SAMPLING_MAX_ROUNDS / 2;
    if (settings->runs > most || settings->min_runs > most || settings->warmup.value > most) {
        message_error("assay bench: at most %llu runs are possible", most);
        return EX_USAGE;
    }
    if (settings->pin.value > 1u << 20) {
        message_error("assay bench: there is no processor %llu", settings->pin.value);
        return EX_USAGE;
    }
    if (settings->input != NULL && access(settings->input, R_OK) != 0) {
        message_error("assay bench: cannot read '%s'; --input needs an existing file",
                      settings->input);
        return EX_NOINPUT;
    }
    return check_outputs(settings);
}

/* Tell the user what remains of a benchmark that a signal ended. */
static void explain_end(const bench_terms *terms, bool sampled)
{
    if (terms->insisted)
        message_error("assay bench: ended at once by a second signal %d: no result, and --cleanup "
                      "may be incomplete",
                      terms->signal);
    else if (sampled)
        message_error("assay bench: ended by signal %d: the result is of the runs so far",
                      terms->signal);
    else
        message_error("assay bench: ended by signal %d: no result, because fewer than two runs of "
                      "each command count so far",
                      terms->signal);
}

/* Run --cleanup for all commands, unless a second signal asked to stop at once. */
static void clean_up(bench_command *commands, size_t count, const assay_record *record)
{
    bench_terms *terms = commands[0].terms;
    bool known = terms->insisted, first = terms->signal == 0;
    for (size_t i = 0; i < count && !terms->insisted; i++) {
        (void)bench_command_clean_up(&commands[i]);
        if (record != NULL && record->subjects[i].failed_runs > 0)
            message_note("%llu of %zu runs of '%s' failed and are timed all the same",
                         (unsigned long long)record->subjects[i].failed_runs, commands[i].runs,
                         record->subjects[i].name);
    }
    if (terms->insisted && !known)
        explain_end(terms, true);
    else if (terms->signal != 0 && first)
        message_error("assay bench: ended by signal %d: --cleanup may be incomplete",
                      terms->signal);
}

/* Start the meter of --energy. On a machine without energy counters a note is printed, `*missing`
 * is set to the reason, and the benchmark goes on. */
static assay_meter *start_meter(const bench_settings *settings, assay_validity *missing)
{
    assay_meter *meter = NULL;
    assay_meter_options options = ASSAY_METER_OPTIONS_INIT;
    assay_error error = {0};
    options.parts = ASSAY_DEVICE_LOAD | ASSAY_DEVICE_ENERGY;
    if (settings->energy && assay_meter_new(&options, &error, &meter) != ASSAY_OK) {
        *missing = error.status == ASSAY_E_PERMISSION ? ASSAY_NOT_PERMITTED : ASSAY_UNSUPPORTED;
        message_note("assay bench: energy is unavailable: %s", error.message);
    }
    return meter;
}

static bool is_energy(const char *metric)
{
    return metric != NULL && strcmp(metric, "energy_joules") == 0;
}

/* Whether every command has energy figures of its single runs. */
static bool has_energy_samples(const assay_record *record)
{
    size_t having = 0;
    for (size_t i = 0; i < record->subject_count; i++)
        for (size_t k = 0; k < record->subjects[i].measure_count; k++)
            having += is_energy(record->subjects[i].measures[k].metric);
    return having == record->subject_count;
}

/* Note which energy figures are missing, and why. */
static void explain_energy(const bench_settings *settings, const assay_meter *meter,
                           assay_validity missing, assay_record *record)
{
    if (!settings->energy || record == NULL)
        return;
    bool bounded = true;
    for (size_t i = 0; i < record->subject_count; i++) {
        assay_record_subject *it = &record->subjects[i];
        if (meter == NULL)
            it->energy_joules = it->energy_joules_low = it->energy_joules_high =
                assay_reading_missing(missing);
        bounded = bounded && it->energy_joules_high.validity == ASSAY_VALID;
    }
    if (meter != NULL && !bounded)
        message_note("assay bench: energy is unavailable: %s", assay_meter_describe(meter));
    else if (bounded && is_energy(settings->metric) && !has_energy_samples(record))
        message_note("assay bench: the runs are too short for the counters of energy: energy has "
                     "bounds and is not compared");
}

/* Sample the commands, and clean up in any case. Returns EX_OK, or an exit code after a message. */
static int sample(const bench_settings *settings, const assay_subject *subjects,
                  bench_command *commands, size_t count, assay_record **record)
{
    bench_terms *terms = commands[0].terms;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    choose_length(settings, count, &options);
    options.precision =
        settings->precision > 0 || count == 1 ? settings->precision : default_ratio_precision;
    options.metric = settings->metric;
    options.margin = settings->margin;
    options.seed = settings->seed.given ? settings->seed.value : (uint64_t)time(NULL);
    assay_validity missing = ASSAY_UNSUPPORTED;
    options.meter = start_meter(settings, &missing);
    options.pin = settings->pin.given;
    options.cpu = (int)settings->pin.value;
    bool inherited =
        strcmp(settings->output, "inherit") == 0; /* its output would mix with the bar */
    if (!settings->quiet && !inherited && bench_progress_wanted()) {
        options.progress = bench_progress_show;
        options.progress_context = terms->progress;
    }
    assay_error error = {0};
    assay_status status = assay_sampling_run(subjects, count, &options, &error, record);
    /* A signal that came after the last run is still pending; it does not discard the result. */
    int late = status == ASSAY_OK ? launch_pending_signal() : 0;
    if (late != 0)
        bench_terms_take_signal(terms, late);
    bench_progress_clear(terms->progress);
    explain_energy(settings, options.meter, missing, *record);
    assay_meter_free(options.meter);
    if (status != ASSAY_OK && terms->exit_code == EX_OK) {
        message_error("assay bench: %s", error.message);
        terms->exit_code = message_input_exit(status);
    }
    if (terms->signal != 0)
        explain_end(terms, status == ASSAY_OK);
    clean_up(commands, count, *record);
    return terms->exit_code;
}

static int judge(const bench_settings *settings, assay_record *record)
{
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    options.margin = settings->margin;
    options.metric = settings->metric;
    record->name = assay_record_text(record, settings->name);
    assay_status status = assay_record_describe(record);
    if (status == ASSAY_OK && record->subject_count > 1)
        status = assay_record_compare(record, &options);
    if (status == ASSAY_OK && (settings->name == NULL || record->name != NULL))
        return EX_OK;
    message_error("assay bench: %s", assay_status_message(status));
    return EX_OSERR;
}

/* The number of different sizes from which on the class of a growth is more than a guess (growth.h,
 * docs/growth.md). */
enum { ENOUGH_SIZES = 5 };

/* Print "  sort {n}: n log n, exponent 1.12 (1.10 … 1.14)", broken between words. */
static void show_one_growth(const assay_growth *growth, FILE *stream)
{
    char text[sizeof growth->name + 128], exponent[64] = "";
    if (growth->exponent.validity == ASSAY_VALID && growth->low.validity == ASSAY_VALID &&
        growth->high.validity == ASSAY_VALID)
        snprintf(exponent, sizeof exponent, ", exponent %.2f (%.2f … %.2f)", growth->exponent.value,
                 growth->low.value, growth->high.value);
    snprintf(text, sizeof text, "%s: %s%s%s", growth->name,
             assay_growth_class_name(growth->growth_class), exponent,
             growth->conclusive ? "" : ", cannot tell");
    int indent = 2;
    for (const char *at = text, *rest; *at != '\0'; at = rest, indent = 6) {
        size_t bytes = assay__text_line(at, (size_t)(80 - indent), &rest);
        fprintf(stream, "%*s%.*s\n", indent, "", (int)bytes, at);
    }
}

/* The class and the exponent of each series of a sweep. Nothing if no series has enough sizes. */
static void show_growths(const assay_growth_sweep *shown, FILE *stream)
{
    bool first = true;
    for (size_t i = 0; i < shown->count; i++) {
        const assay_growth *growth = shown->series[i];
        if (growth->size_count < ENOUGH_SIZES || growth->growth_class == ASSAY_GROWTH_UNKNOWN)
            continue;
        if (first)
            fprintf(stream, "\ngrowth with %s (assay fit shows all of it):\n", shown->parameter);
        first = false;
        show_one_growth(growth, stream);
    }
}

/* Show the growth of the times with a parameter. A record that is not a sweep of sizes shows
 * nothing. */
static void show_growth(const assay_record *record, FILE *stream)
{
    assay_error error = {0};
    assay_growth_sweep fits;
    if (assay_growth_sweep_fit(record, NULL, NULL, &error, &fits) == ASSAY_OK)
        show_growths(&fits, stream);
    assay_growth_sweep_release(&fits);
}

static int show(const bench_settings *settings, const assay_record *record)
{
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    bool record_on_stdout = settings->json != NULL && strcmp(settings->json, "-") == 0;
    FILE *stream = record_on_stdout ? stderr : stdout; /* standard output carries the JSON */
    if (!settings->quiet)
        status = assay_report_print(record, "bench", stream, &error);
    if (!settings->quiet && status == ASSAY_OK)
        show_growth(record, stream);
    if (status == ASSAY_OK && settings->json != NULL)
        status = assay_record_save(record, settings->json, 0, &error);
    int code = output_check("bench", status, &error) ? EX_OK : message_output_exit(status);
    int saved = history_save("bench", settings->save, record);
    return code != EX_OK ? code : saved;
}

/* End our own process by the same signal, so that the process that waits for us sees the cause. */
static void end_by(int number)
{
    (void)message_finish(EX_OK);
    signal(number, SIG_DFL);
    raise(number);
}

static int bench(const bench_settings *settings, const bench_plan *plan)
{
    bench_progress progress = {.count = plan->count};
    bench_terms terms = {.progress = &progress,
                         .input = settings->input,
                         .output = settings->output,
                         .ignore_failure = settings->ignore_failure};
    bench_command *commands = calloc(plan->count, sizeof *commands);
    assay_subject *subjects = calloc(plan->count, sizeof *subjects);
    assay_record *record = NULL;
    int code = EX_OSERR;
    if (commands == NULL || subjects == NULL) {
        message_error("assay bench: out of memory");
        goto cleanup;
    }
    progress.subjects = subjects;
    launch_block_signals(&terms.signal_mask);
    for (size_t i = 0; i < plan->count; i++) {
        commands[i] = (bench_command){.entry = &plan->entries[i], .terms = &terms};
        bench_command_subject(&commands[i], &subjects[i]);
    }
    code = sample(settings, subjects, commands, plan->count, &record);
    sigprocmask(SIG_SETMASK, &terms.signal_mask, NULL);
    if (record != NULL && !terms.insisted) { /* a failed cleanup does not discard the result */
        int shown = judge(settings, record);
        if (shown == EX_OK)
            shown = show(settings, record);
        code = code != EX_OK ? code : shown;
    }
    if (terms.signal != 0)
        end_by(terms.signal);
cleanup:
    assay_record_free(record);
    free(commands);
    free(subjects);
    return code;
}

static int bench_main(const command *self, int argc, char **argv)
{
    bench_settings settings = {.output = "null"};
    bench_request request = {
        .commands = &settings.commands, .labels = &settings.labels, .params = &settings.params};
    int code;
    if (!options_parse(self, argc, argv, &settings, &request.operands, &request.operand_count,
                       &code))
        return code;
    if (settings.metric != NULL &&
        (settings.metric = metric_by_name("bench", settings.metric)) == NULL)
        return EX_USAGE;
    settings.energy = settings.energy || is_energy(settings.metric);
    request.prepare = settings.prepare;
    request.cleanup = settings.cleanup;
    request.shell = settings.shell;
    code = check_settings(&settings);
    if (code != EX_OK)
        return code;
    bench_plan plan;
    code = bench_plan_make(&request, &plan);
    if (code != EX_OK)
        return code;
    code = bench(&settings, &plan);
    bench_plan_release(&plan);
    return code;
}

const command command_bench = {
    .name = "bench",
    .summary = "benchmark commands, or say which of several is faster",
    .operands = "[--] COMMAND [ARG...] [-- COMMAND [ARG...]]...",
    .description =
        "Runs COMMAND (no shell) until its mean time is known to 1 %, the budget is\n"
        "spent, or noise makes it pointless. Several commands take turns in balanced\n"
        "random order and are compared with the first, until every comparison has its\n"
        "verdict or the budget is spent; runs that something else disturbed are left\n"
        "out in whole rounds. Ctrl-C ends the runs and gives the result so far, a second\n"
        "Ctrl-C ends at once. Exit status: 0 done, whatever the verdicts ('assay compare\n"
        "--gate' fails a build on them), 2 a command failed, 69 a command cannot be\n"
        "started, 64 to 74 for options, inputs and outputs.",
    COMMAND_OPTIONS(bench_options),
    .first_operand_ends_options = true,
    .main = bench_main,
};
