/* Profiles of Python programs: where they spend time and memory, by function and line.
 *
 * The module assay._sampler of the Python package writes one file for each process into a folder.
 * The call below reads these files into the `python` part of a record. `python3 -m assay run` does
 * both (docs/python.md).
 *
 *     if (assay_script_profiles_add(record, "/dev/shm/profiles", start_ns, &error) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Threads: a record has no locks; one thread at a time.
 */
#ifndef ASSAY_SCRIPT_H
#define ASSAY_SCRIPT_H

#include <stdint.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Add the profiles in a directory to a record that has no profile yet. Their processes may still
 * run, have ended or have been killed. `origin_monotonic_ns` is the zero of the record's times, by
 * CLOCK_MONOTONIC. The record does not change if the directory has no profiles.
 *
 * A profile that cannot be read is left out, and so is a process in which the sampler could not
 * start. The call then still returns ASSAY_OK, and `error` has the first reason. The call takes
 * some milliseconds, and up to a second for profiles of 64 MiB. */
ASSAY_API ASSAY_MUST_USE assay_status assay_script_profiles_add(assay_record *record,
                                                                const char *directory,
                                                                uint64_t origin_monotonic_ns,
                                                                assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
