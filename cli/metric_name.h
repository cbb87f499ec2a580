/* The metrics that a command can be told to judge, by their short names. */
#ifndef ASSAY_CLI_METRIC_NAME_H
#define ASSAY_CLI_METRIC_NAME_H

/* The metric of a record that "cpu" or "cpu_seconds" names; NULL after a message of `assay COMMAND`
 * that lists them. */
const char *metric_by_name(const char *command, const char *name);

#endif
