/* The commands that `assay bench` runs: every command with every combination of parameters, each
 * with a name of its own. */
#ifndef ASSAY_CLI_BENCH_PLAN_H
#define ASSAY_CLI_BENCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/record.h"
#include "cli/command_words.h"
#include "cli/common/options.h"

/* What was typed on the command line. */
typedef struct bench_request {
    char **operands; /* words, commands separated by "--" */
    int operand_count;
    const option_list *commands; /* --command */
    const option_list *labels;   /* --label */
    const option_list *params;   /* --param */
    const char *prepare, *cleanup;
    bool shell;
} bench_request;

/* One command with its parameters filled in. */
typedef struct bench_entry {
    char *name;
    words command;
    words prepare, cleanup;        /* without words if there is nothing to do */
    assay_record_fact *parameters; /* their keys and values belong to the plan */
    size_t parameter_count;
} bench_entry;

typedef struct bench_parameter {
    char *name;
    words values;
    bool used; /* some command has "{name}" in it */
} bench_parameter;

typedef struct bench_plan {
    bench_entry *entries;
    size_t count;
    bench_parameter *parameters;
    size_t parameter_count;
} bench_plan;

/* Make the plan; bench_plan_release() frees it. Returns EX_OK, or an exit code after a message. */
int bench_plan_make(const bench_request *request, bench_plan *plan);
void bench_plan_release(bench_plan *plan);

#endif
