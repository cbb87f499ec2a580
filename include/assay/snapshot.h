/* Snapshots: journals into a run record.
 *
 * A journal can be read at any moment: while its process runs, after it ended, after it was killed.
 * Reading never stops or disturbs the writer. Several journals (forked workers, several monitors)
 * merge into one record: operations of the same name at the same place of the call tree become one.
 *
 *     assay_record *record = NULL;
 *     assay_error error;
 *     if (assay_snapshot_file("run/train.4711.1.assay", &error, &record) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Threads: any. The caller frees the record.
 */
#ifndef ASSAY_SNAPSHOT_H
#define ASSAY_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_snapshot_options {
    size_t struct_size;
    uint64_t origin_monotonic_ns; /* the zero of `start_seconds`; 0: the start of the earliest
                                     journal */
} assay_snapshot_options;

#define ASSAY_SNAPSHOT_OPTIONS_INIT ASSAY_INIT(assay_snapshot_options)

/* One journal. Fails with ASSAY_E_NOT_FOUND, ASSAY_E_FORMAT, ASSAY_E_VERSION or ASSAY_E_TRUNCATED
 * when it cannot be read; the message names the file. */
ASSAY_API ASSAY_MUST_USE assay_status assay_snapshot_file(const char *journal_path,
                                                          assay_error *error,
                                                          assay_record **record);

/* Every *.assay file of a directory, merged. Journals that cannot be read are counted in the
 * record's integrity section and the first such failure is left in `error` (with ASSAY_OK returned
 * if any other could be read). A directory without journals is ASSAY_E_NOT_FOUND. */
ASSAY_API ASSAY_MUST_USE assay_status assay_snapshot_directory(const char *directory,
                                                               assay_error *error,
                                                               assay_record **record);

/* Several journals, merged. A path may also name a directory, which stands for its *.assay files. A
 * directory without journals adds nothing: that is ASSAY_E_NOT_FOUND only where no path names a
 * journal at all. What cannot be read is counted and told as above. NULL options are the defaults.
 */
ASSAY_API ASSAY_MUST_USE assay_status assay_snapshot_files(const char *const *paths, size_t count,
                                                           const assay_snapshot_options *options,
                                                           assay_error *error,
                                                           assay_record **record);

#ifdef __cplusplus
}
#endif

#endif
