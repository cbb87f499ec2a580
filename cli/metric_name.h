/* The metrics that a command can be told to judge, by their short names. */
#ifndef ASSAY_CLI_METRIC_NAME_H
#define ASSAY_CLI_METRIC_NAME_H

/* The metric of a record that a name such as "cpu" or "cpu_seconds" stands for. NULL, after a
 * message of `assay COMMAND` that lists all names, if there is none. */
const char *metric_by_name(const char *command, const char *name);

#endif
