/* assay history: shows runs over time, from the database that --save fills, and manages them. The
 * first operand is a verb (list, show, plot, compare, tag, import, export or prune). This file
 * parses the options, calls the verb, and does list, show, tag and prune. history_command.h says
 * where the other verbs are. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "assay/record.h"
#include "assay/report.h"
#include "base/json_writer.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/common/commands.h"
#include "cli/common/complete.h"
#include "cli/common/history.h"
#include "cli/common/input.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/history_command.h"
#include "report/format.h"

static const option history_options[] = {
    {"branch", 'b', OPTION_TEXT, "NAME", "Only runs on this git branch.",
     offsetof(history_settings, branch)},
    {"commit", 'c', OPTION_TEXT, "START", "Only runs of commits that begin so.",
     offsetof(history_settings, commit)},
    {"dry-run", 0, OPTION_FLAG, NULL, "With prune: only say how many runs would go.",
     offsetof(history_settings, dry_run)},
    {"html", 0, OPTION_TEXT, "FILE",
     "With show: write a page of each benchmark with its change points.",
     offsetof(history_settings, html)},
    {"json", 'j', OPTION_TEXT, "FILE",
     "Write what list, show, plot and compare find as JSON; '-' is standard output.",
     offsetof(history_settings, json)},
    {"keep", 'k', OPTION_COUNT, "N",
     "With prune: delete runs that are not among the last N of any benchmark on a machine.",
     offsetof(history_settings, keep)},
    {"last", 'l', OPTION_COUNT, "N",
     "Only the last N runs (default: list 20, compare 20, of a series 1000).",
     offsetof(history_settings, last)},
    {"machine", 0, OPTION_TEXT, "NAME", "Only runs on this machine.",
     offsetof(history_settings, machine)},
    {"margin", 'm', OPTION_SHARE, "SHARE", "With compare: ignore relative differences up to this.",
     offsetof(history_settings, margin)},
    INPUT_MAX_OPTION(history_settings, max_input),
    {"metric", 'M', OPTION_TEXT, "NAME",
     "The metric of a series (default wall_seconds); '*' stands for any characters.",
     offsetof(history_settings, metric)},
    {"name", 'n', OPTION_TEXT, "NAME",
     "Only runs with this benchmark; '*' stands for any characters.",
     offsetof(history_settings, name)},
    {"older-than", 0, OPTION_TEXT, "WHEN",
     "With prune: delete runs made before a date (2026-01-31) or an age (90d, 12w).",
     offsetof(history_settings, older_than)},
    {"output", 'o', OPTION_TEXT, "FILE",
     "With plot: write the benchmark over time as SVG; '-' is standard output.",
     offsetof(history_settings, output)},
    {"remove", 0, OPTION_FLAG, NULL, "With tag: take the tag away.",
     offsetof(history_settings, remove)},
    {"since", 's', OPTION_TEXT, "WHEN", "Only runs made since a date or within an age.",
     offsetof(history_settings, since)},
    {"tag", 't', OPTION_TEXT, "NAME", "Only runs with this tag.", offsetof(history_settings, tag)},
    {"tagged", 0, OPTION_FLAG, NULL, "With prune: delete runs that have a tag as well.",
     offsetof(history_settings, tagged)},
};

enum { LIST_LENGTH = 20 };

int history_fail(assay_status status, const assay_error *error)
{
    message_error("assay history: %s", error->message);
    return history_exit(status);
}

const char *history_date(int64_t seconds, char text[HISTORY_DATE_BYTES])
{
    time_t moment = (time_t)seconds;
    struct tm parts;
    text[0] = '\0';
    if (gmtime_r(&moment, &parts) != NULL)
        strftime(text, HISTORY_DATE_BYTES, "%Y-%m-%d %H:%M", &parts);
    return text;
}

/* Read a date, or an age such as "90d", as seconds since 1970. NULL leaves `*seconds` unchanged.
 * Returns false after a message. */
static bool parse_moment(const char *name, const char *typed, int64_t *seconds)
{
    static const struct {
        char letter;
        int64_t seconds;
    } ages[] = {{'h', 3600}, {'d', 86400}, {'w', 7 * 86400}, {'y', 365 * 86400}};
    struct tm parts = {0};
    char *end;
    if (typed == NULL)
        return true;
    const char *rest = strptime(typed, "%Y-%m-%d", &parts);
    if (rest != NULL && (*rest == '\0' || strptime(rest, "T%H:%M:%S", &parts) != NULL)) {
        *seconds = (int64_t)timegm(&parts);
        return true;
    }
    errno = 0;
    long long count = strtoll(typed, &end, 10);
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++)
        if (errno == 0 && count > 0 && count < 100000 && end[0] == ages[i].letter &&
            end[1] == '\0') {
            *seconds = (int64_t)time(NULL) - count * ages[i].seconds;
            return true;
        }
    message_error("assay history: --%s '%s' is neither a date (2026-01-31) nor an age (12h, 90d, "
                  "12w, 1y)",
                  name, typed);
    return false;
}

/* ---- list ----------------------------------------------------------------------------------- */

/* Write the tags, which the store gives as "a, b", as a list. */
static void write_tags(assay__json *json, const char *tags)
{
    char tag[ASSAY__STORE_NAME_MAX + 1];
    assay__json_row(json, "tags");
    while (*tags != '\0') {
        size_t length = strcspn(tags, ",");
        snprintf(tag, sizeof tag, "%.*s", (int)length, tags);
        assay__json_text(json, NULL, tag);
        tags += length;
        tags += strspn(tags, ", ");
    }
    assay__json_end(json);
}

static assay_status print_runs_json(const void *subject, FILE *stream, assay_error *error)
{
    const assay__store_runs *runs = subject;
    assay__json json;
    char when[ASSAY__UTC_BYTES];
    (void)error;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay__json_array(&json, "runs");
    for (size_t i = 0; i < runs->count; i++) {
        const assay__store_run *it = &runs->items[i];
        assay__json_object(&json, NULL);
        assay__json_integer(&json, "run", it->id);
        assay__json_text(&json, "created", assay__text_utc((uint64_t)it->created, when));
        assay__json_text(&json, "kind", it->kind);
        assay__json_text(&json, "name", it->name);
        assay__json_text(&json, "machine", it->machine);
        assay__json_text(&json, "commit", it->commit);
        assay__json_text(&json, "branch", it->branch);
        write_tags(&json, it->tags);
        assay__json_end(&json);
    }
    assay__json_end(&json);
    assay__json_end(&json);
    return assay__json_finish(&json);
}

static void print_runs(const assay__store_runs *runs, FILE *stream)
{
    char when[HISTORY_DATE_BYTES], id[32];
    fputs("   run  when (UTC)        commit    branch        machine       name\n", stream);
    for (size_t i = 0; i < runs->count; i++) {
        const assay__store_run *it = &runs->items[i];
        snprintf(id, sizeof id, "%lld", (long long)it->id);
        fprintf(stream, "%6s  %-16s  %-8.8s  ", id, history_date(it->created, when),
                *it->commit != '\0' ? it->commit : "-");
        assay__format_left(stream, *it->branch != '\0' ? it->branch : "-", 12);
        fputs("  ", stream);
        assay__format_left(stream, it->machine, 12);
        fputs("  ", stream);
        fputs(it->name, stream);
        if (*it->tags != '\0')
            fprintf(stream, "  [%s]", it->tags);
        fputc('\n', stream);
    }
}

static int list(const history_call *call)
{
    assay__store_runs runs;
    assay_error error = {0};
    assay__store_filter filter = call->filter;
    filter.last = filter.last > 0 ? filter.last : LIST_LENGTH;
    assay_status status = assay__store_find_runs(call->store, &filter, &error, &runs);
    if (status != ASSAY_OK) {
        assay__store_runs_release(&runs);
        return history_fail(status, &error);
    }
    int code = EX_OK;
    if (call->settings->json != NULL) {
        status = assay_file_save(call->settings->json, print_runs_json, &runs, &error);
        if (!output_check("history", status, &error))
            code = message_output_exit(status);
    } else if (runs.count == 0) {
        puts("no runs");
    } else {
        print_runs(&runs, stdout);
    }
    assay__store_runs_release(&runs);
    return code;
}

/* ---- show ----------------------------------------------------------------------------------- */

static int show_run(const history_call *call, int64_t run)
{
    assay_error error = {0};
    assay_record *record = NULL;
    assay_status status = assay__store_read_record(call->store, run, &error, &record);
    if (status != ASSAY_OK)
        return history_fail(status, &error);
    status = call->settings->json != NULL
                 ? assay_record_save(record, call->settings->json, 0, &error)
                 : assay_report_save(record, "text", "-", &error);
    assay_record_free(record);
    return output_check("history", status, &error) ? EX_OK : message_output_exit(status);
}

/* Show the last run with this name. Called if no benchmark has the name. */
static int show_named_run(const history_call *call, const char *name)
{
    assay__store_runs runs;
    assay_error error = {0};
    assay__store_filter filter = call->filter;
    filter.benchmark = NULL;
    filter.name = name;
    filter.last = 2;
    if (call->settings->metric != NULL || call->settings->html != NULL)
        return history_refuse_benchmark(call, name);
    assay_status status = assay__store_find_runs(call->store, &filter, &error, &runs);
    size_t count = runs.count;
    int64_t run = count > 0 ? runs.items[count - 1].id : 0;
    assay__store_runs_release(&runs);
    if (status != ASSAY_OK)
        return history_fail(status, &error);
    if (count == 0)
        return history_refuse_benchmark(call, name);
    if (count > 1)
        message_note("run %lld is the last with this name", (long long)run);
    return show_run(call, run);
}

static int show(const history_call *call)
{
    if (call->count > 1) {
        message_error("assay history show: one run or benchmark at a time, got %d", call->count);
        return EX_USAGE;
    }
    const char *what = call->count > 0 ? call->operands[0] : call->settings->name;
    if (what != NULL && assay__text_is_number(what))
        return show_run(call, strtoll(what, NULL, 10));
    int code = history_show_series(call, what);
    return code == EX_NOINPUT && what != NULL ? show_named_run(call, what) : code;
}

/* ---- tag ------------------------------------------------------------------------------------ */

/* Give the tag to all runs that the filter chooses, or take it away from them. */
static int tag_runs(const history_call *call, const assay__store_filter *filter, size_t *changed)
{
    assay__store_runs runs;
    assay_error error = {0};
    assay_status status = assay__store_find_runs(call->store, filter, &error, &runs);
    if (status == ASSAY_OK && runs.count > 0)
        status =
            assay__store_tag(call->store, &runs, call->operands[0], call->settings->remove, &error);
    *changed += status == ASSAY_OK ? runs.count : 0;
    assay__store_runs_release(&runs);
    return status == ASSAY_OK ? EX_OK : history_fail(status, &error);
}

static bool chooses(const assay__store_filter *filter)
{
    return filter->benchmark != NULL || filter->machine != NULL || filter->branch != NULL ||
           filter->tag != NULL || filter->commit != NULL || filter->since != 0 || filter->last > 0;
}

static int tag(const history_call *call)
{
    size_t changed = 0;
    int code = EX_OK;
    if (call->count == 0 || (call->count == 1 && !chooses(&call->filter))) {
        message_error("assay history tag: which tag, of which runs? Write: assay history tag v1.0 "
                      "17 18, or: assay history tag v1.0 --commit abc123");
        return EX_USAGE;
    }
    if (call->operands[0][0] == '\0' || strpbrk(call->operands[0], ",:") != NULL) {
        message_error("assay history tag: a tag has at least one character, and neither ',' nor "
                      "':'");
        return EX_USAGE;
    }
    assay__text_make_printable(call->operands[0]);
    if (call->count == 1)
        code = tag_runs(call, &call->filter, &changed);
    for (int i = 1; i < call->count && code == EX_OK; i++) {
        assay__store_filter filter = call->filter;
        code = history_select(call, call->operands[i], &filter);
        if (code == EX_OK)
            code = tag_runs(call, &filter, &changed);
    }
    if (code == EX_OK)
        printf("%s %zu run%s: %s\n", call->settings->remove ? "untagged" : "tagged", changed,
               changed == 1 ? "" : "s", call->operands[0]);
    return code;
}

/* ---- prune ---------------------------------------------------------------------------------- */

static int prune(const history_call *call)
{
    const history_settings *settings = call->settings;
    assay__store_retention rules = {
        .keep = settings->keep, .tagged = settings->tagged, .dry = settings->dry_run};
    assay_error error = {0};
    size_t deleted;
    if (!parse_moment("older-than", settings->older_than, &rules.before))
        return EX_USAGE;
    if (rules.keep == 0 && rules.before == 0) {
        message_error("assay history prune: say what to keep: --keep N, --older-than WHEN or both");
        return EX_USAGE;
    }
    assay_status status = assay__store_prune(call->store, &rules, &error, &deleted);
    if (status != ASSAY_OK)
        return history_fail(status, &error);
    printf("%s %zu run%s\n", rules.dry ? "would delete" : "deleted", deleted,
           deleted == 1 ? "" : "s");
    return EX_OK;
}

/* ---- the command ---------------------------------------------------------------------------- */

typedef struct verb {
    const char *name, *operands, *help;
    bool creates; /* it creates the history if there is none */
    int (*main)(const history_call *call);
} verb;

static const verb verbs[] = {
    {"list", "", "the last runs", false, list},
    {"show", "[RUN|BENCHMARK]", "a run, a benchmark with its change points, or all of them", false,
     show},
    {"plot", "BENCHMARK", "a benchmark over time", false, history_plot},
    {"compare", "RUN RUN...", "verdicts between runs; RUN may stand for several", false,
     history_compare},
    {"tag", "TAG [RUN...]", "give runs a name", false, tag},
    {"import", "FILE...", "add runs: JSON lines of export, records, other tools' results", true,
     history_import},
    {"export", "[FILE]", "write runs as JSON lines", false, history_export},
    {"prune", "", "delete old runs", false, prune},
};
enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const verb *find_verb(const char *typed)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, typed) == 0)
            return &verbs[i];
    const char *nearest = assay__nearest(typed, &verbs[0].name, VERB_COUNT, sizeof *verbs);
    if (nearest != NULL)
        message_error("assay history: there is no '%s'; did you mean 'assay history %s'?", typed,
                      nearest);
    else
        message_error("assay history: there is no '%s'; see 'assay help history'", typed);
    return NULL;
}

static void print_verbs(FILE *stream)
{
    fputs("what to do:\n", stream);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        char label[64];
        snprintf(label, sizeof label, "  %s %s", verbs[i].name, verbs[i].operands);
        options_print_entry(label, verbs[i].help, 26, stream);
    }
    fputs("\nRUN is a number; tag:NAME, commit:START or branch:NAME; or a tag or the\n"
          "beginning of a commit alone.\n",
          stream);
}

static const char *choice(const void *context, const option *of, size_t index, const char **help)
{
    (void)context;
    if (of != NULL || index >= VERB_COUNT)
        return NULL;
    *help = verbs[index].help;
    return verbs[index].name;
}

/* Print the candidates of a completion. Behind the verb only files can be completed: other operands
 * are names that only the database knows. */
static void complete(const command *self, int argc, char **argv)
{
    command rest = *self;
    for (int i = 1; i < argc - 1; i++)
        for (size_t k = 0; k < VERB_COUNT; k++)
            if (strcmp(argv[i], verbs[k].name) == 0) {
                rest.choice = NULL;
                rest.operands = strstr(verbs[k].operands, "FILE") != NULL ? "FILE" : "";
            }
    complete_command(&rest, NULL, argc, argv);
}

/* Refuse --output for all verbs but plot, and --html for all verbs but show. */
static int refuse_outputs(const verb *chosen, const history_settings *settings)
{
    if (settings->output != NULL && chosen->main != history_plot) {
        message_error("assay history: --output is for plot; write: assay history plot NAME "
                      "--output FILE.svg");
        return EX_USAGE;
    }
    if (settings->html != NULL && chosen->main != show) {
        message_error("assay history: --html is for show; write: assay history show --html FILE");
        return EX_USAGE;
    }
    if (settings->json != NULL && (settings->html != NULL || settings->output != NULL)) {
        message_error("assay history: --json, --html and --output exclude each other");
        return EX_USAGE;
    }
    return EX_OK;
}

static int history_main(const command *self, int argc, char **argv)
{
    history_settings settings = {.margin = -1};
    char **operands;
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    if (count == 0) {
        message_error("assay history: say what to do: list, show, plot, compare, tag, import, "
                      "export or prune");
        return EX_USAGE;
    }
    const verb *chosen = find_verb(operands[0]);
    history_call call = {.settings = &settings, .operands = operands + 1, .count = count - 1};
    call.filter = (assay__store_filter){.benchmark = settings.name,
                                        .machine = settings.machine,
                                        .branch = settings.branch,
                                        .tag = settings.tag,
                                        .commit = settings.commit,
                                        .last = settings.last};
    if (chosen == NULL || !parse_moment("since", settings.since, &call.filter.since))
        return EX_USAGE;
    if (chosen->operands[0] == '\0' && call.count > 0) {
        message_error("assay history %s: unexpected '%s'", chosen->name, call.operands[0]);
        return EX_USAGE;
    }
    input_set_maximum(settings.max_input);
    const char *outputs[] = {settings.html, settings.json, settings.output};
    code = refuse_outputs(chosen, &settings);
    if (code == EX_OK)
        code = output_refuse("history", outputs, sizeof outputs / sizeof *outputs);
    if (code == EX_OK)
        code = history_open("history", chosen->creates, &call.store);
    if (code == EX_OK)
        code = chosen->main(&call);
    assay__store_close(call.store);
    return code;
}

const command command_history = {
    .name = "history",
    .summary = "runs over time: list, plot, change points, retention",
    .operands = "WHAT [...]",
    .description =
        "Shows and keeps the history of runs, which --save of the measuring commands\n"
        "fills. It is a SQLite database in the user's data folder, or what ASSAY_HISTORY\n"
        "names: another file, or a PostgreSQL server (postgresql://user@host/database).\n"
        "Runs are told apart by machine: ASSAY_MACHINE, or the host name. Exit status: 0\n"
        "done, 65 a history of a newer assay or something else, 66 no history or no such\n"
        "run, 69 a library is missing, 74 disk or server failed, 77 not permitted, 64 to\n"
        "78 also for options, inputs and outputs.",
    COMMAND_OPTIONS(history_options),
    .print_more = print_verbs,
    .choice = choice,
    .complete = complete,
    .main = history_main,
};
