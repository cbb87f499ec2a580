/* The files and the report of the reduced-order-model study, which are views of its record. */
#ifndef ASSAY_STUDIES_ROM_REPORT_H
#define ASSAY_STUDIES_ROM_REPORT_H

#include "assay/record.h"
#include "studies/rom/study.h"

/* Write MVAR/ and LSTM/runtime_profile.json, runtime_comparison.json and summary.json, and print
 * the report to the plan's output. `summary_path` is that of assay__study_rom(). */
ASSAY_MUST_USE assay_status assay__rom_report(assay__study *study,
                                              const assay__rom_settings *settings,
                                              const assay_record *record, const char *summary_path,
                                              assay_error *error);

#endif
