/* The parts of `assay history`. All return EX_OK, or an exit code after a message. */
#ifndef ASSAY_CLI_HISTORY_COMMAND_H
#define ASSAY_CLI_HISTORY_COMMAND_H

#include <stdio.h>

#include "assay/compare.h"
#include "cli/common/options.h"
#include "store/store.h"

typedef struct history_settings {
    const char *branch, *commit, *html, *json, *machine, *metric, *name, *older_than, *output,
        *since, *tag;
    size_t keep, last, max_input;
    double margin; /* negative: the default */
    bool dry_run, remove, tagged;
} history_settings;

/* One call. */
typedef struct history_call {
    const history_settings *settings;
    assay__store *store;
    assay__store_filter filter; /* what the options choose */
    char **operands;            /* behind the word that says what to do */
    int count;
} history_call;

/* ---- history_series.c ---- */

/* EX_NOINPUT without a message if there is no such benchmark. */
int history_show_series(const history_call *call, const char *benchmark);
int history_plot(const history_call *call);

/* The message for a benchmark that is not there. */
int history_refuse_benchmark(const history_call *call, const char *benchmark);

/* ---- history_page.c ---- */

/* What --output and --html ask for: one series as SVG, all as a page. */
int history_save_figure(const history_call *call, const assay__store_series_list *list);
int history_save_page(const history_call *call, const assay__store_series_list *list);

/* ---- history_select.c ---- */

/* Narrow the filter to what an operand names: a number; "tag:NAME", "commit:START", "branch:NAME";
 * or a word that is a tag, or else the beginning of a commit. */
int history_select(const history_call *call, const char *operand, assay__store_filter *filter);

/* The records of the runs that a filter chooses, as one side of a comparison, without
 * those that are saved runs of `except` (NULL: nothing). The caller releases it; the origin is
 * borrowed. */
int history_read_side(const char *speaker, assay__store *store, const assay__store_filter *filter,
                      const assay_compare_side *except, const char *origin,
                      assay_compare_side *side);
void history_release_side(assay_compare_side *side);

int history_compare(const history_call *call);

/* ---- history_exchange.c ---- */

int history_import(const history_call *call);
int history_export(const history_call *call);

/* ---- what they share, cmd_history.c ---- */

/* The exit code after the message of an error. */
int history_fail(assay_status status, const assay_error *error);

/* "2026-11-15 04:11" */
enum { HISTORY_DATE_BYTES = 32 };
const char *history_date(int64_t seconds, char text[HISTORY_DATE_BYTES]);

#endif
