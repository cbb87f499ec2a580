/* Profiles of Python programs: where their time and memory went, by function and line.
 *
 * The module assay._sampler of the Python package writes one file for each process into a folder;
 * this call adds them to the `python` part of a record (docs/python.md says how `python3 -m assay
 * run` does both).
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

/* Add the profiles in a directory to a record that has none. Their processes may still run, have
 * ended or have been killed. `origin_monotonic_ns` is the zero of the record's times, by
 * CLOCK_MONOTONIC. The record stays as it is when the directory has none. A profile that cannot be
 * read is left out, and so is a process in which the sampler could not start; `error` then has the
 * first reason although ASSAY_OK is returned. Takes some milliseconds, and up to a second for
 * profiles of 64 MiB. */
ASSAY_API ASSAY_MUST_USE assay_status assay_script_profiles_add(assay_record *record,
                                                                const char *directory,
                                                                uint64_t origin_monotonic_ns,
                                                                assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
