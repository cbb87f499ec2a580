/* Snapshots: turn journals into a run record.
 *
 * A journal can be read at any time: while its process runs, after it ended, and after it was
 * killed. Reading never stops or disturbs the writer. Several journals (of forked workers or
 * several monitors) are merged into one record: operations of the same name at the same place of
 * the call tree become one operation.
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

/* Make a record of one journal. Fails with ASSAY_E_NOT_FOUND, ASSAY_E_FORMAT, ASSAY_E_VERSION or
 * ASSAY_E_TRUNCATED if it cannot be read; the message names the file. */
ASSAY_API ASSAY_MUST_USE assay_status assay_snapshot_file(const char *journal_path,
                                                          assay_error *error,
                                                          assay_record **record);

/* Make a record of all *.assay files of a directory. Journals that cannot be read are counted in
 * the record's integrity section, and `error` describes the first of them. The call still returns
 * ASSAY_OK if another journal could be read. ASSAY_E_NOT_FOUND for a directory without journals. */
ASSAY_API ASSAY_MUST_USE assay_status assay_snapshot_directory(const char *directory,
                                                               assay_error *error,
                                                               assay_record **record);

/* Make a record of several journals. A path may also be that of a directory, which stands for its
 * *.assay files. A directory without journals adds nothing. ASSAY_E_NOT_FOUND only if no path leads
 * to a journal. Journals that cannot be read are counted and reported as above. NULL options are
 * the defaults. */
ASSAY_API ASSAY_MUST_USE assay_status assay_snapshot_files(const char *const *paths, size_t count,
                                                           const assay_snapshot_options *options,
                                                           assay_error *error,
                                                           assay_record **record);

#ifdef __cplusplus
}
#endif

#endif
