/* The GPU activity of several processes as one part of a record. */
#ifndef ASSAY_SNAPSHOT_ACTIVITY_MERGE_H
#define ASSAY_SNAPSHOT_ACTIVITY_MERGE_H

#include "assay/record.h"
#include "base/name_index.h"
#include "snapshot/activity_region.h"

/* Take over what a file holds: `size` bytes, of which those that a short file lacks are zero. All
 * numbers of rows are checked, and everything is settled. Caller frees the region with free(). */
ASSAY_MUST_USE assay_status assay__activity_parse(const void *data, size_t size, assay_error *error,
                                                  assay__activity_region **region);
ASSAY_MUST_USE assay_status assay__activity_read(const char *path, assay_error *error,
                                                 assay__activity_region **region);

/* Begin with the first three members; the others start as zeros. */
typedef struct assay__activity_merge {
    assay_record *record;
    uint64_t origin_ns;
    size_t most_events;
    assay__name_index index; /* of the kernels' names */
    assay_record_kernel *kernels;
    double *squares; /* of the durations in seconds, one sum for each kernel */
    size_t kernel_count, kernel_capacity, square_capacity;
    assay_record_copy copies[ASSAY__ACTIVITY_COPIES];
    size_t copy_count;
    assay_record_idle idle[ASSAY__IDLE_CAUSES];
    size_t first_event;
} assay__activity_merge;

ASSAY_MUST_USE assay_status assay__activity_merge_add(assay__activity_merge *merge,
                                                      const assay__activity_region *region);

/* Sort, and hand everything to the record. */
ASSAY_MUST_USE assay_status assay__activity_merge_finish(assay__activity_merge *merge);
void assay__activity_merge_release(assay__activity_merge *merge);

/* "at::native::relu(float*)" for its mangled form, by the C++ library of this machine; the name
 * itself where there is no such library or the name is not mangled. Caller frees it. */
char *assay__demangled(const char *name);

#endif
