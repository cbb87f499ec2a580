/* The parts of `assay history`, which are spread over several files. Functions that return an int
 * return EX_OK, or an exit code after a message. */
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

/* One call of the command. */
typedef struct history_call {
    const history_settings *settings;
    assay__store *store;
    assay__store_filter filter; /* the runs that the options choose */
    char **operands;            /* the words behind the verb, such as "list" */
    int count;
} history_call;

/* ---- history_series.c ---- */

/* Show the series of a benchmark, or an overview of all benchmarks if `benchmark` is NULL. Returns
 * EX_NOINPUT without a message if there is no such benchmark. */
int history_show_series(const history_call *call, const char *benchmark);
int history_plot(const history_call *call);

/* Print the message that there is no such benchmark. Returns EX_NOINPUT. */
int history_refuse_benchmark(const history_call *call, const char *benchmark);

/* ---- history_page.c ---- */

/* Write the files of --output and --html: one series as SVG, or all series as a page. */
int history_save_figure(const history_call *call, const assay__store_series_list *list);
int history_save_page(const history_call *call, const assay__store_series_list *list);

/* ---- history_select.c ---- */

/* Narrow the filter to the runs that an operand names. The operand is the number of a run;
 * "tag:NAME", "commit:START" or "branch:NAME"; or a word. A word is taken as a tag if a run has
 * that tag, and otherwise as the beginning of a commit. The filter borrows the operand. */
int history_select(const history_call *call, const char *operand, assay__store_filter *filter);

/* Read the records of the runs that a filter chooses, as one side of a comparison. Runs that are
 * saved records of the side `except` are left out; pass NULL to keep all. Messages name the command
 * `speaker`. The caller releases the side with history_release_side(); the side borrows `origin`.
 */
int history_read_side(const char *speaker, assay__store *store, const assay__store_filter *filter,
                      const assay_compare_side *except, const char *origin,
                      assay_compare_side *side);
void history_release_side(assay_compare_side *side);

int history_compare(const history_call *call);

/* ---- history_exchange.c ---- */

int history_import(const history_call *call);
int history_export(const history_call *call);

/* ---- cmd_history.c: what the other files share ---- */

/* Print the message of an error. Returns the exit code. */
int history_fail(assay_status status, const assay_error *error);

/* Write a time as "2026-11-15 04:11", in UTC. Returns `text`. */
enum { HISTORY_DATE_BYTES = 32 };
const char *history_date(int64_t seconds, char text[HISTORY_DATE_BYTES]);

#endif
