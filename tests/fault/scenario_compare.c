/* Two results of other tools are imported, compared with each other and within one record, and the
 * comparison is printed. */
#include "tests/fault/fault.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "assay/report.h"

static const char hyperfine[] =
    "{\"results\": [{\"command\": \"a\", \"parameters\": {\"n\": \"1\"}, \"times\": "
    "[1, 1.1, 1, 1.2, 1, 1.1, 1.05, 1, 1.2, 1, 1.1]}, {\"command\": \"b\", \"times\": [1]}]}";
static const char google[] =
    "{\"context\": {\"num_cpus\": 2}, \"benchmarks\": [{\"name\": \"b\", \"real_time\": 1, "
    "\"time_unit\": \"s\"}]}";
static const char pyperf[] = "{\"version\": \"1.0\", \"metadata\": {\"name\": \"b\", \"hostname\": "
                             "\"h\"}, \"benchmarks\": [{\"runs\": [{\"values\": [1, 2]}]}]}";

static assay_status compare(assay_record *const *records, assay_error *error)
{
    static const char *const origins[] = {"a", "b", "c"};
    assay_record *compared = NULL;
    assay_compare_side sides[3];
    for (size_t i = 0; i < 3; i++) {
        sides[i] = (assay_compare_side)ASSAY_COMPARE_SIDE_INIT;
        sides[i].origin = origins[i];
        sides[i].records = (const assay_record *const *)records + i;
        sides[i].count = 1;
    }
    assay_status status = assay_records_compare(sides, 3, NULL, error, &compared);
    if (status == ASSAY_OK && (compared->comparison_count != 2 || compared->difference_count < 2))
        status = ASSAY_E_STATE;
    FILE *stream = status == ASSAY_OK ? fopen("/dev/null", "w") : NULL;
    if (stream != NULL) {
        status = assay_report_print(compared, "comparisons", stream, error);
        fclose(stream);
    } else if (status == ASSAY_OK) {
        status = ASSAY_E_MEMORY;
    }
    assay_record_free(compared);
    return status;
}

/* By system calls, which need no memory of ours: what is refused is refused to the reader. */
static assay_status load(const char *text, assay_error *error, assay_record **record)
{
    ssize_t length = (ssize_t)strlen(text);
    int file = open("result.json", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        return ASSAY_E_IO;
    bool written = write(file, text, (size_t)length) == length;
    close(file);
    return written ? assay_record_load("result.json", error, record) : ASSAY_E_IO;
}

static assay_status run(void)
{
    static const char *const texts[] = {hyperfine, google, pyperf};
    assay_record *records[3] = {NULL, NULL, NULL};
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < 3 && status == ASSAY_OK; i++)
        status = load(texts[i], &error, &records[i]);
    if (status == ASSAY_OK)
        status = assay_record_compare(records[0], NULL);
    if (status == ASSAY_OK)
        status = compare(records, &error);
    for (size_t i = 0; i < 3; i++)
        assay_record_free(records[i]);
    return status;
}

const fault_scenario fault_compare = {"compare", run, NULL};
