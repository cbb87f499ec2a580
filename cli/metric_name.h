/* The short names of metrics that the option --metric accepts. */
#ifndef ASSAY_CLI_METRIC_NAME_H
#define ASSAY_CLI_METRIC_NAME_H

/* The metric of a record for a name such as "cpu" or "cpu_seconds". If there is no such metric,
 * prints a message of `assay COMMAND` that lists all names, and returns NULL. The text is static.
 */
const char *metric_by_name(const char *command, const char *name);

#endif
