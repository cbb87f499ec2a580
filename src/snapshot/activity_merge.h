/* Reads the GPU activity of processes, and merges it into the `gpu` part of a record. */
#ifndef ASSAY_SNAPSHOT_ACTIVITY_MERGE_H
#define ASSAY_SNAPSHOT_ACTIVITY_MERGE_H

#include "assay/record.h"
#include "base/name_index.h"
#include "snapshot/activity_region.h"

/* Check the content of a file, `size` bytes, and copy it into a new region. If the file is shorter
 * than a region, the rest is zero. All row numbers are checked, and all activities are settled.
 * Caller frees the region with free(). assay__activity_read() does the same for a file. */
ASSAY_MUST_USE assay_status assay__activity_parse(const void *data, size_t size, assay_error *error,
                                                  assay__activity_region **region);
ASSAY_MUST_USE assay_status assay__activity_read(const char *path, assay_error *error,
                                                 assay__activity_region **region);

/* Read only the devices of a file, into an empty region. False if the file is not of this version.
 */
bool assay__activity_read_devices(const char *path, assay__activity_region *region);

/* A board, with the lowest number that a process has for it. */
typedef struct assay__activity_board {
    uint8_t uuid[16];
    uint32_t number;
} assay__activity_board;

/* The state of a merge. Set the first three members; the others are zero at first. */
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
    assay__activity_board *boards;
    size_t board_count, board_capacity;
} assay__activity_merge;

/* Note the boards of a process. Do this for all processes first, because the names of devices
 * follow from the boards of all. */
ASSAY_MUST_USE assay_status assay__activity_merge_note(assay__activity_merge *merge,
                                                       const assay__activity_region *region);

ASSAY_MUST_USE assay_status assay__activity_merge_add(assay__activity_merge *merge,
                                                      const assay__activity_region *region);

/* Sort kernels, copies and idle times, and move them into the record. */
ASSAY_MUST_USE assay_status assay__activity_merge_finish(assay__activity_merge *merge);
void assay__activity_merge_release(assay__activity_merge *merge);

/* Demangle a C++ name with the C++ library of this machine: "at::native::relu(float*)". Returns a
 * copy of the name itself if there is no such library or if the name is not mangled. Caller frees
 * the result. */
char *assay__demangled(const char *name);

#endif
