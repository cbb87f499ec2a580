/* Chooses runs of the history by the operands of a command, reads their records as sides of a
 * comparison, and compares them (`assay history compare`). */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/report.h"
#include "base/text.h"
#include "cli/common/history.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/history_command.h"

enum { COMPARE_LENGTH = 20 };

/* Returns 1 if the filter chooses at least one run, 0 if it chooses none, and -1 after a message.
 */
static int count_runs(assay__store *store, const assay__store_filter *filter)
{
    assay__store_runs runs;
    assay_error error = {0};
    assay__store_filter one = *filter;
    one.last = 1;
    assay_status status = assay__store_find_runs(store, &one, &error, &runs);
    int count = status == ASSAY_OK ? (int)runs.count : -1;
    if (status != ASSAY_OK)
        (void)history_fail(status, &error);
    assay__store_runs_release(&runs);
    return count;
}

static bool take_prefix(const char *operand, const char *prefix, const char **rest)
{
    size_t length = strlen(prefix);
    if (strncmp(operand, prefix, length) != 0)
        return false;
    *rest = operand + length;
    return true;
}

int history_select(const history_call *call, const char *operand, assay__store_filter *filter)
{
    int found = 1;
    if (assay__text_is_number(operand)) {
        filter->run = strtoll(operand, NULL, 10);
    } else if (!take_prefix(operand, "tag:", &filter->tag) &&
               !take_prefix(operand, "commit:", &filter->commit) &&
               !take_prefix(operand, "branch:", &filter->branch)) {
        filter->tag = operand;
        found = count_runs(call->store, filter);
        if (found == 0) {
            filter->tag = call->filter.tag;
            filter->commit = operand;
        }
    }
    if (found >= 0)
        found = count_runs(call->store, filter);
    if (found == 0)
        message_error("assay history: no run '%.200s'; 'assay history list' shows them", operand);
    return found < 0 ? EX_IOERR : found == 0 ? EX_NOINPUT : EX_OK;
}

void history_release_side(assay_compare_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        assay_record_free((assay_record *)(uintptr_t)side->records[i]);
    free((void *)(uintptr_t)side->records);
    side->records = NULL;
    side->count = 0;
}

/* Whether the run is the saved copy of a record of the side. */
static assay_status find_among(assay__store *store, int64_t run, const assay_compare_side *side,
                               assay_error *error, bool *found)
{
    assay_status status = ASSAY_OK;
    *found = false;
    for (size_t i = 0; side != NULL && i < side->count && status == ASSAY_OK && !*found; i++) {
        int64_t saved;
        status = assay__store_find_record(store, side->records[i], error, &saved);
        *found = saved == run;
    }
    return status;
}

static assay_status read_records(assay__store *store, const assay__store_runs *runs,
                                 const assay_compare_side *except, assay_error *error,
                                 assay_compare_side *side)
{
    const assay_record **records = calloc(runs->count + 1, sizeof *records);
    assay_status status = records != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    side->records = records;
    for (size_t i = 0; i < runs->count && status == ASSAY_OK; i++) {
        assay_record *record = NULL;
        bool own;
        status = find_among(store, runs->items[i].id, except, error, &own);
        if (own)
            continue;
        if (status == ASSAY_OK)
            status = assay__store_read_record(store, runs->items[i].id, error, &record);
        if (status == ASSAY_OK)
            records[side->count++] = record;
    }
    return status;
}

int history_read_side(const char *speaker, assay__store *store, const assay__store_filter *filter,
                      const assay_compare_side *except, const char *origin,
                      assay_compare_side *side)
{
    assay__store_runs runs;
    assay_error error = {0};
    *side = (assay_compare_side)ASSAY_COMPARE_SIDE_INIT;
    side->origin = origin;
    assay_status status = assay__store_find_runs(store, filter, &error, &runs);
    if (status == ASSAY_OK)
        status = read_records(store, &runs, except, &error, side);
    assay__store_runs_release(&runs);
    if (status == ASSAY_OK)
        return EX_OK;
    message_error("assay %s: %s", speaker,
                  error.message[0] != '\0' ? error.message : assay_status_message(status));
    return history_exit(status);
}

/* ---- compare -------------------------------------------------------------------------------- */

/* Restrict the filter to one machine, unless the user chose the machine or named the run by its
 * number. `machine` is the machine of the latest run of the first such operand; all operands share
 * it. */
static int keep_to_machine(const history_call *call, const char *operand,
                           assay__store_filter *filter, char *machine, size_t size)
{
    assay__store_runs runs;
    assay_error error = {0};
    if (assay__text_is_number(operand) || filter->machine != NULL)
        return EX_OK;
    if (*machine == '\0') {
        assay__store_filter last = *filter;
        last.last = 1;
        assay_status status = assay__store_find_runs(call->store, &last, &error, &runs);
        if (status == ASSAY_OK && runs.count > 0)
            snprintf(machine, size, "%s", runs.items[0].machine);
        assay__store_runs_release(&runs);
        if (status != ASSAY_OK)
            return history_fail(status, &error);
    }
    filter->machine = machine;
    return EX_OK;
}

static int read_sides(const history_call *call, assay_compare_side *sides)
{
    char machine[ASSAY__STORE_NAME_MAX + 1] = "";
    int code = EX_OK;
    for (int i = 0; i < call->count && code == EX_OK; i++) {
        assay__store_filter filter = call->filter;
        filter.last = filter.last > 0 ? filter.last : COMPARE_LENGTH;
        code = history_select(call, call->operands[i], &filter);
        if (code == EX_OK)
            code = keep_to_machine(call, call->operands[i], &filter, machine, sizeof machine);
        if (code == EX_OK)
            code = history_read_side("history", call->store, &filter, NULL, call->operands[i],
                                     &sides[i]);
        if (code == EX_OK && sides[i].count == 0) {
            message_error("assay history: no run '%.200s' on '%.200s'", call->operands[i], machine);
            code = EX_NOINPUT;
        }
    }
    return code;
}

static int print_comparison(const history_call *call, const assay_compare_side *sides)
{
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    double margin = call->settings->margin;
    options.margin = margin > 0 ? margin : 0;
    options.no_margin = margin == 0;
    assay_error error = {0};
    assay_record *made = NULL;
    assay_status status =
        assay_records_compare(sides, (size_t)call->count, &options, &error, &made);
    if (status != ASSAY_OK)
        return history_fail(status, &error);
    status = call->settings->json != NULL ? assay_record_save(made, call->settings->json, 0, &error)
                                          : assay_report_save(made, "comparisons", "-", &error);
    assay_record_free(made);
    return output_check("history", status, &error) ? EX_OK : message_output_exit(status);
}

int history_compare(const history_call *call)
{
    if (call->count < 2) {
        message_error("assay history compare: two runs at least; write: assay history compare 17 "
                      "18, or v1.0 v1.1 for all runs with these tags");
        return EX_USAGE;
    }
    assay_compare_side *sides = calloc((size_t)call->count, sizeof *sides);
    if (sides == NULL) {
        message_error("assay history: out of memory");
        return EX_OSERR;
    }
    int code = read_sides(call, sides);
    if (code == EX_OK)
        code = print_comparison(call, sides);
    for (int i = 0; i < call->count; i++)
        history_release_side(&sides[i]);
    free(sides);
    return code;
}
