/* The content of the record of a profile, and the views of it.
 *
 *   models[0]   the class with its settings, parameters, memory by use, FLOPs by component
 *   subjects    "CLASS forward", "CLASS gradient", "CLASS training_step", sampled in turn;
 *               "CLASS single_step", "CLASS forecast"; "CLASS forward/num-nodes=100" for each size
 *               of an axis; "CLASS forward/encoding=lap 16", and "lap encoding" for computing it
 *   scalings    one for each axis, and its points as the series "median_seconds"
 *   figures     with the names below; each belongs to a pass ("forward"), to the model or to the
 *               whole run
 *   series      "input_shape" of each input
 *   settings    "seed", "threads", "data", "forecast_steps" */
#ifndef ASSAY_STUDIES_PROFILE_VIEW_H
#define ASSAY_STUDIES_PROFILE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/flops.h"
#include "assay/growth.h"
#include "assay/record.h"

struct assay__json;

/* The number of bytes in a MB of the JSON and of the tables. */
#define ASSAY__BYTES_IN_MB          1048576.0

#define ASSAY__FIGURE_BACKWARD      "backward_seconds" /* of the model; then its interval */
#define ASSAY__FIGURE_BACKWARD_LOW  "backward_low_seconds"
#define ASSAY__FIGURE_BACKWARD_HIGH "backward_high_seconds"
#define ASSAY__FIGURE_HOST          "cpu_seconds" /* of a pass, if the model is on a device */
#define ASSAY__FIGURE_FIT           "fit_seconds" /* of the model */
#define ASSAY__FIGURE_STEP_RATE     "steps_per_second"
#define ASSAY__FIGURE_PROCESS_PEAK  "process_peak_bytes"
#define ASSAY__FIGURE_PROCESS_NOW   "process_allocated_bytes"
#define ASSAY__FIGURE_RESERVED      "process_reserved_bytes"
#define ASSAY__FIGURE_FLOPS         "flops" /* of a pass */
#define ASSAY__FIGURE_BYTES         "bytes_moved"
#define ASSAY__FIGURE_RATE          "flops_per_second"
#define ASSAY__FIGURE_INTENSITY     "flops_per_byte"
#define ASSAY__FIGURE_SHARE         "share_of_peak"
#define ASSAY__FIGURE_ROOF          "roof_flops_per_second"
#define ASSAY__FIGURE_PEAK_FLOPS    "peak_flops_per_second"
#define ASSAY__FIGURE_PEAK_BYTES    "peak_bytes_per_second"
#define ASSAY__FIGURE_LEFT_OUT      "left_out_flops" /* of a convention; covers: the operation */
#define ASSAY__FIGURE_STORAGE       "storage_bytes"  /* of an encoding */
#define ASSAY__SETTING_PEAK_OF      "peak_processor"
#define ASSAY__SETTING_PEAK_TIME    "peak_measured_at"
#define ASSAY__SERIES_SHAPE         "input_shape"
#define ASSAY__SERIES_POINTS        "median_seconds"

enum { ASSAY__PASS_FORWARD, ASSAY__PASS_BACKWARD, ASSAY__PASS_TRAINING, ASSAY__PASSES };

/* The name of a pass: "forward", "backward" or "training_step". */
const char *assay__pass_name(int pass);

/* ---- reading ---- */

/* The figures of a timed pass or subject, in seconds. */
typedef struct assay__times {
    uint64_t count; /* 0: it was not timed */
    assay_reading mean, std, min, max, low, high;
} assay__times;

assay__times assay__times_of(const assay_record_subject *subject); /* may be NULL: not timed */
assay__times assay__pass_times(const assay_record *record, int pass);

/* The subject "MODEL WHAT" of the profiled model, or NULL if there is none. */
const assay_record_subject *assay__profile_subject(const assay_record *record, const char *what);

/* The value of a setting, or NULL if there is none; and a setting that is a count, or 0. */
const char *assay__profile_setting(const assay_record *record, const char *key);
uint64_t assay__profile_count(const assay_record *record, const char *key);

/* The parts that the record has: ASSAY__PROFILE_RUNTIME, MEMORY and FLOPS of profile.h. For axes,
 * use assay__axes_view(). */
unsigned assay__profile_parts(const assay_record *record);

/* The memory of the model, summed over all uses. */
double assay__profile_model_bytes(const assay_record_model *model);

/* Whether the figure names an operation that the convention leaves out. Its `covers` is the kind of
 * operation. */
bool assay__figure_leaves_out(const assay_record_figure *figure, const char *convention);

/* The resource that limits the pass at its intensity, "compute" or "memory". NULL if there is no
 * peak. */
const char *assay__pass_bound(const assay_record *record, int pass);

/* FLOPs by component, or by the groups of assay_flop_account_group(). */
typedef struct assay__flop_table {
    assay_flop_component *rows; /* their names belong to the table */
    size_t count;
} assay__flop_table;

ASSAY_MUST_USE assay_status assay__flop_table_make(const assay_record_model *model, bool grouped,
                                                   assay__flop_table *table);
void assay__flop_table_release(assay__flop_table *table);
assay_flops assay__flop_table_total(const assay__flop_table *table, assay_flop_convention which);

/* An axis along which the model was measured. */
typedef struct assay__axis_view {
    const char *name;                    /* "nodes"; "encodings" */
    const char *parameter;               /* "num-nodes"; "encoding" */
    const char *model;                   /* that was made larger */
    const assay_record_scaling *scaling; /* NULL for encodings */
} assay__axis_view;

/* The axes of the profiled model, in the order in which they were measured. Returns their number,
 * at most `room`. */
size_t assay__axes_view(const assay_record *record, assay__axis_view *axes, size_t room);

/* The next subject of the axis, from index *at on. *at is set to the index after it. Returns NULL
 * at the end. */
const assay_record_subject *assay__axis_next(const assay_record *record,
                                             const assay__axis_view *axis, size_t *at);
/* The value of a subject's parameter, such as "100", or "lap" for the parameter "encoding". NULL if
 * there is none. */
const char *assay__parameter_of(const assay_record_subject *subject, const char *key);
/* The subject that computes an encoding, or NULL; and the bytes that the encoding stores. */
const assay_record_subject *assay__encoding_computing(const assay_record *record, const char *name);
assay_reading assay__encoding_storage(const assay_record *record, const char *name);

/* Fit the growth of an axis again, to its points in the record. Free it with assay_growth_free().
 * ASSAY_E_NOT_FOUND if there are no points. */
ASSAY_MUST_USE assay_status assay__axis_growth(const assay_record *record,
                                               const assay__axis_view *axis, assay_growth **growth);

/* ---- writing ---- */

/* Print everything, in 80 columns. */
void assay__profile_print(const assay_record *record, FILE *stream);
/* Print only the tables and plots of the axes. */
void assay__profile_print_scaling(const assay_record *record, FILE *stream);

/* Print the JSON of a profile. This is an assay_file_printer; `record` is an assay_record. */
ASSAY_MUST_USE assay_status assay__profile_print_json(const void *record, FILE *stream,
                                                      assay_error *error);
/* Write only the members of this JSON, into an object that is open. After ASSAY_E_MEMORY some are
 * left out. */
ASSAY_MUST_USE assay_status assay__profile_write_json(struct assay__json *json,
                                                      const assay_record *record);
/* Write times in milliseconds, or null with the reason if there are none. */
void assay__times_write_json(struct assay__json *json, const char *key, const assay__times *times);

#endif
